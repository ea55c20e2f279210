"""How a council's answer is delivered, and its session log."""

from __future__ import annotations

from datetime import datetime

from ..core.state import State
from ..core.text import file_slug, first_sentences, redact
from .delivery import Delivery
from .delivery_md import common, markdown, models, spoke_as, written
from .emphasis import meant
from .outgoing import outgoing
from .output_file import OutputFile

_IN_THE_LOG = {"performed": "enabled", "skipped via --quick": "skipped (--quick)"}
SESSION_LOGS = "memory/roundtable"
"""The only place for session logs, whatever a configuration says."""
ANSWER_STAGES = {1: ("answer", "Round 1 Summaries"), 2: ("cross-examination", "Round 2 Summaries")}


def delivery(state: State, version: str) -> str:
    """The council's answer as a person reads it; empty if there is no verdict."""
    if state.verdict is None:
        return ""
    return markdown(
        Delivery.of(state),
        "🏛️ **Council Answer**",
        own=[("Round 2", round2(state))],
        footer=footer(state, version),
    )


def round2(state: State) -> str:
    """Whether round 2 was held, and if not, why."""
    if len(state.spoken_in("cross-examination", 2)) >= 2:
        return "performed"
    stage = state.stages.get(("cross-examination", 2))
    if stage is not None and stage.closed is not None and not _refused_by_budget(state):
        return "left out, because too few specialists answered"
    if state.exhausted is not None:
        return "skipped for lack of budget"
    if state.stop_requested is not None:
        return "skipped: the discussion was stopped"
    choice = state.choices.get("round2")
    if choice is not None:
        return "skipped on request" if choice.by == "person" else "skipped: nobody was there to ask"
    return f"skipped {state.start.options.get('round2_skipped') or ''}".strip()


def _refused_by_budget(state: State) -> bool:
    return any(f.cause == "budget" for f in state.failures if f.stage == "cross-examination")


def footer(state: State, version: str) -> str:
    """Who spoke with which model, and by which version of the program."""
    return models(state, (*state.start.participants, state.start.host), version)


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """The session log, unless the configuration says no."""
    if state.start.options.get("log_sessions") is False:
        return ()
    # A key in the question must not get into a name that every listing shows.
    name = f"{at.strftime('%Y-%m-%d-%H-%M')}-{file_slug(redact(state.start.topic))}.md"
    return (OutputFile(f"{SESSION_LOGS}/{name}", session_log(state, at)),)


def session_log(state: State, at: datetime) -> str:
    """The session log: enough for an audit, without secrets. `at` carries its zone."""
    start = state.start
    held = round2(state)
    models = ", ".join(f"{p.name} {spoke_as(state, p)}" for p in (start.host, *start.participants))
    lines = [
        "# Roundtable Session Log",
        "",
        f"- Discussion: {state.discussion_id}",
        f"- Time: {at.strftime('%Y-%m-%d %H:%M:%S %Z (%z)')}",
        f"- Models: {models}",
        f"- Round 2: {_IN_THE_LOG.get(held, held)}",
        "",
        "## Original Question",
        "",
        start.topic,
    ]
    for round_, (stage, heading) in ANSWER_STAGES.items():
        speeches = {s.participant: s for s in state.spoken_in(stage, round_)}
        if round_ == 2 and not speeches:
            continue
        lines += ["", f"## {heading}"]
        for seated in start.participants:
            speech = speeches.get(seated.id)
            lines += ["", f"### {seated.name}", ""]
            if speech is None:
                failure = next(
                    (f for f in state.failures if f.participant == seated.id and f.round == round_),
                    None,
                )
                lines.append(f"No answer: {failure.message if failure else 'not asked'}")
                continue
            # Redacted before it is cut: half a key would no longer look like one.
            said = first_sentences(redact(_body(speech.text)), 4, 900)
            lines.append(" ".join([*speech.flags, said]))
    verdict = state.verdict
    lines += ["", "## Final Synthesis", ""]
    if verdict is None:
        lines.append(f"None: {state.closed.detail if state.closed else 'not finished'}")
    else:
        told = Delivery.of(state)
        lines += [
            f"**{meant(told.headline)}**",
            "",
            told.written,
            "",
            *written(part for part in common(told) if part[0] in _LOGGED),
        ]
    return outgoing("\n".join(lines)) + "\n"


_LOGGED = ("Confidence", "Agreement", "Who holds what", "Dissent")


def _body(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
