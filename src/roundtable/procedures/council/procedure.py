"""The council's rules: briefing, answers, summary, cross-examination, synthesis.

The longest path is five calls with round 2 and three without: the Captain splits the question,
the three answer side by side, the Captain sums up and lists where they differ, the three
cross-examine side by side, and the Captain concludes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...core.contracts import Contract, says_nothing
from ...core.declaration_form import LAST, OPENING, Key
from ...core.effects import (
    AskPerson,
    Effect,
    LookUp,
    PromptPlan,
    PromptValue,
    Record,
    SectionShape,
    Task,
    TurnPlan,
    TurnPolicy,
    Untrusted,
)
from ...core.events import Event, NoteAdded, SearchFinished, SpeechGiven, TurnFailed
from ...core.grounding import NO_REAL_TIME_DATA, NOTHING_USEFUL, labelled
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...core.text import first_sentences
from ...core.values import Dissent, Participant, SearchHit, Verdict
from .. import clerk, endings, verdicts
from ..casting_terms import terms
from ..closing import closing_ballot
from ..table import Table
from ..work import declaring_work, wants_work, works_to_judge
from .roles import BRIEFING, BY_ID, CROSS, TEMPLATES, VERDICT_SECTIONS

BRIEF, ANSWER, SUMMARY, CROSS_EXAMINATION, SYNTHESIS = (
    "briefing",
    "answer",
    "summary",
    "cross-examination",
    "synthesis",
)
ROUND2_QUESTION = "round2"
MINIMUM = 2
"""How many of the three must answer for a synthesis."""
SPECIALIST = TurnPolicy(timeout=90, deadline=90)
CAPTAIN = TurnPolicy(timeout=90, deadline=90, dispensable=True)
CONCLUDING = TurnPolicy(timeout=180, deadline=180, repairs=1)
SMALL_ANSWER_TOKENS = 220
_URL = re.compile(r"https?://(?:[^\s<>()\[\]\"'`|]|\([^\s<>()]*\))+")
"""Brackets in pairs belong to an address, a single one to the Markdown around it."""


class Council:
    """Scholar, Engineer and Muse, led by a Captain."""

    name = "council"

    def advance(self, state: State) -> tuple[Effect, ...]:
        table = Table(state, self.name)
        if stop := stop_requested(state):
            return _end_early(table, stop)
        return (
            _prepare(table)
            or _first_round(table)
            or _second_round(table)
            or _closing(table)
            or _conclude(table)
        )


# --- stages ------------------------------------------------------------------------------------


def answers(table: Table) -> list[SpeechGiven]:
    return table.state.spoken_in(ANSWER, 1)


def second_answers(table: Table) -> list[SpeechGiven]:
    return table.state.spoken_in(CROSS_EXAMINATION, 2)


def last_words(table: Table) -> list[SpeechGiven]:
    """Each specialist's newest speech; a first answer stands where there is no second."""
    return table.last_words((ANSWER, 1), (CROSS_EXAMINATION, 2))


def _prepare(table: Table) -> tuple[Effect, ...]:
    """The Captain splits the question while the search runs."""
    state = table.state
    if (ANSWER, 1) in state.stages:
        return ()
    effects: list[Effect] = [*clerk.given_options(table)]
    if table.option("search") and not state.searches:
        effects.append(LookUp(state.start.topic))
    if table.host_writes and endings.may_open(state, BRIEF, 0):
        briefing = run_stage(state, [briefing_turn(table)], closing=_briefing_notes)
        effects.extend(briefing.effects)
    return tuple(effects)


def _first_round(table: Table) -> tuple[Effect, ...]:
    state = table.state
    if not endings.may_open(state, ANSWER, 1):
        return _too_few(table)
    stage = closed_stage(state, ANSWER, 1)
    if stage is None:
        plans = [answer_turn(table, seat) for seat in table.seats]
        stage = run_stage(state, plans, closing=_Closing())
    # A council that ran out of budget still concludes from a single answer.
    needed = 1 if budget_exhausted(state) else MINIMUM
    if stage.over and len(stage.speeches) < needed:
        return _too_few(table)
    return stage.effects


def _second_round(table: Table) -> tuple[Effect, ...]:
    """Cross-examination by those who answered, on the answers and the Captain's joint findings."""
    state = table.state
    if len(answers(table)) < MINIMUM or closed_stage(state, CROSS_EXAMINATION, 2):
        return ()
    begun = (SUMMARY, 0) in state.stages or (CROSS_EXAMINATION, 2) in state.stages
    if budget_exhausted(state) and not begun:
        return ()
    wanted = _round2_wanted(table)
    if wanted is None:
        return (
            AskPerson(
                question=ROUND2_QUESTION,
                text="Hold round 2, the cross-examination? It costs about twice as much.",
                options=("yes", "no"),
                default="no",
            ),
        )
    if not wanted:
        return ()
    summary = None
    if table.host_writes:
        summary = run_stage(state, [summary_turn(table)], closing=_summary_notes)
        if not summary.over:
            return summary.effects
    if budget_exhausted(state) and (CROSS_EXAMINATION, 2) not in state.stages:
        return ()
    spoken = next(iter(summary.speeches), None) if summary else None
    if not state.tabled and any(s.declaration for s in answers(table)):
        return (Record((clerk.tabled_by_clerk(table, spoken),)),)
    # A Captain who lists the options and says nothing else leaves the positions themselves.
    findings = (clerk.without_listing(spoken.text) if spoken else "") or joint_findings(table)
    here = {speech.participant for speech in answers(table)}
    plans = [cross_turn(table, seat, findings) for seat in table.seats if seat.id in here]
    return run_stage(state, plans, closing=_Closing(second=True)).effects


def _round2_wanted(table: Table) -> bool | None:
    """None while the person has not been asked yet."""
    setting = table.option("round2")
    if setting != "ask":
        return bool(setting)
    choice = table.state.choices.get(ROUND2_QUESTION)
    return None if choice is None else choice.answer == "yes"


def _closing(table: Table) -> tuple[Effect, ...]:
    return closing_ballot(table, 2) if second_answers(table) else ()


def _conclude(table: Table) -> tuple[Effect, ...]:
    if not table.host_writes:
        return _close(table, _extracted(table))
    stage = closed_stage(table.state, SYNTHESIS, 0)
    stage = stage or run_stage(table.state, [synthesis_turn(table)])
    if not stage.over:
        return stage.effects
    last_word = next(iter(stage.speeches), None)
    why = verdicts.unusable(last_word, VERDICT_SECTIONS, ())
    if last_word is None or why:
        return _close(table, _extracted(table), verdicts.extracted_because(why, EXTRACTED_NOTE))
    return _close(table, written(table, last_word))


def _close(table: Table, verdict: Verdict, *notes: NoteAdded) -> tuple[Effect, ...]:
    return endings.with_verdict(table.state, verdict, *notes, finish="the council")


def _end_early(table: Table, stop: Stop) -> tuple[Effect, ...]:
    """End now, with what exists and without another call."""
    return endings.with_what_exists(_extracted(table) if last_words(table) else None, stop)


def _too_few(table: Table) -> tuple[Effect, ...]:
    return endings.without_verdict(
        table.state,
        needs=2,
        detail=f"Sorry: {len(answers(table))} of {len(table.seats)} specialists answered, and a "
        f"synthesis needs at least two.{endings.reasons(table.state)}",
        remedy="Try again with --preset=cheap, or with one model for all: --all=MODEL.",
        before="the council before anybody had answered",
    )


# --- turns -------------------------------------------------------------------------------------


def briefing_turn(table: Table) -> TurnPlan:
    variables = {**table.common(), "clarify": terms(table.state) is not None}
    task = Task(PromptPlan("council/briefing", variables), BRIEFING, max_tokens=2048)
    return table.host_turn(BRIEF, task, CAPTAIN, name=_label(BRIEF))


def answer_turn(table: Table, seat: Participant) -> TurnPlan:
    role = BY_ID[seat.id]
    variables: dict[str, PromptValue] = {
        **table.common(),
        "focus": _focus(table, role.id),
        "sub_task": Untrusted("task", _sub_task(table, role.id), "the Captain"),
        "web": _web(table),
    }
    if role.id == "scholar":
        searched = any(isinstance(s, SearchFinished) for s in table.state.searches)
        variables["no_web"] = NOTHING_USEFUL if searched else NO_REAL_TIME_DATA
    small = Task(
        PromptPlan(
            "council/small-answer",
            {
                "question": Untrusted("question", table.state.start.topic),
                "name": role.name,
                "focus": role.small.focus,
            },
        ),
        Contract(sections=(role.position, "Dissent")),
        max_tokens=SMALL_ANSWER_TOKENS,
        shape=(
            SectionShape(role.position, 2, role.small.position_opening),
            SectionShape("Dissent", 1, role.small.dissent_opening),
        ),
    )
    keys: tuple[Key, ...] = ("votes", *OPENING) if table.record.decisions else OPENING
    task = declaring_work(
        table,
        seat,
        1,
        f"council/{role.id}",
        variables,
        table.form(seat, keys),
        Contract(sections=role.sections),
        wanted=wants_work(table),
    )
    return table.seat_turn(seat, ANSWER, 1, task, SPECIALIST, demo=small, independent=True)


def summary_turn(table: Table) -> TurnPlan:
    """The Captain sums up; where no options were given, it lists them in the same call."""
    listing = not table.state.tabled
    variables: dict[str, PromptValue] = {
        **table.common(),
        **clerk.material(table, answers(table), names=True),
        "listing": listing,
        "web": _web(table),
    }
    task = Task(PromptPlan("council/summary", variables), max_tokens=3072)
    return table.host_turn(SUMMARY, task, CAPTAIN, name=_label(SUMMARY))


def cross_turn(table: Table, seat: Participant, findings: str) -> TurnPlan:
    role = BY_ID[seat.id]
    others = {
        BY_ID[speech.participant].name: speech
        for speech in answers(table)
        if speech.participant != seat.id
    }
    form = table.form(seat, LAST, round_=2)
    variables: dict[str, PromptValue] = {
        **table.common(),
        "name": role.name,
        "perspective": role.perspective,
        "findings": Untrusted("findings", findings, "the Captain"),
        "others": table.anonymous(seat.id, answers(table), names=True),
        "own": table.own_words(seat.id, form),
        "web": _web(table),
    }
    small = Task(
        PromptPlan(
            "council/small-cross-examination",
            {
                "question": Untrusted("question", table.state.start.topic),
                "name": role.name,
                "focus": role.small.focus,
                "others": tuple(
                    Untrusted("speech", first_sentences(position(speech), 1, 300), name)
                    for name, speech in others.items()
                ),
            },
        ),
        Contract(sections=("Critique of Others", "Updated Position")),
        max_tokens=SMALL_ANSWER_TOKENS,
        shape=(
            SectionShape("Critique of Others", 2, f"The {next(iter(others))} overlooks that"),
            SectionShape("Updated Position", 1, "After hearing the others, my view is that"),
        ),
    )
    task = declaring_work(
        table,
        seat,
        2,
        "council/cross-examination",
        variables,
        form,
        CROSS,
        wanted=wants_work(table),
    )
    return table.seat_turn(seat, CROSS_EXAMINATION, 2, task, SPECIALIST, demo=small)


def synthesis_turn(table: Table) -> TurnPlan:
    second = second_answers(table)
    second = second if len(second) >= MINIMUM else []
    here = {speech.participant for speech in answers(table)}
    variables: dict[str, PromptValue] = {
        **table.common(),
        "answers": table.by_name(answers(table), later=second, listed=table.condition_texts),
        "second_answers": table.by_name(second, listed=table.condition_texts),
        "missing": ", ".join(seat.name for seat in table.seats if seat.id not in here),
        "web": _web(table),
        "deliverables": works_to_judge(table),
    }
    task = verdicts.verdict_task(table, "council/synthesis", variables, VERDICT_SECTIONS)
    return table.host_turn(SYNTHESIS, task, CONCLUDING, name=_label(SYNTHESIS))


def _label(stage: str) -> str:
    return f"council-captain-{stage}"


def _focus(table: Table, role_id: str) -> str:
    template = table.option("template")
    return TEMPLATES[template][role_id] if isinstance(template, str) else ""


def _sub_task(table: Table, role_id: str) -> str:
    """The Captain's sub-task for a role, or the role's own where the Captain gave none."""
    briefing = next(iter(table.state.spoken_in(BRIEF, 0)), None)
    given = briefing.sections.get(BY_ID[role_id].name) if briefing else None
    return given or BY_ID[role_id].sub_task


def _hits(table: Table) -> tuple[SearchHit, ...]:
    """What the web search brought."""
    found = (s.hits for s in table.state.searches if isinstance(s, SearchFinished))
    return next(found, ())


def _web(table: Table) -> tuple[Untrusted, ...]:
    return tuple(
        Untrusted("web", f"{hit.title}\n{hit.text}", labelled(hit)) for hit in _hits(table)
    )


# --- the verdict -------------------------------------------------------------------------------


def written(table: Table, synthesis: SpeechGiven) -> Verdict:
    """The verdict as the Captain wrote it, with the addresses it names merged with the answers'."""
    parts = {name: synthesis.sections.get(name, "") for name in VERDICT_SECTIONS}
    verdict = verdicts.written(
        table,
        synthesis,
        agreement=parts["Agreement"],
        gaps=parts["Gaps and Risks"],
        changed_minds=parts["Changed Minds"],
        on_dissent=parts["Dissent"],
        sources=_sources(table, parts["Sources"]),
        among=answers(table),
    )
    return verdict.model_copy(update={"dissent": verdict.dissent or _reservations(table)})


def _extracted(table: Table) -> Verdict:
    verdict = verdicts.extracted(table, last_words(table), sources=_sources(table, ""))
    return verdict.model_copy(update={"dissent": verdict.dissent or _reservations(table)})


def joint_findings(table: Table) -> str:
    """A summary of round 1 made without a model: each position in its own words."""
    return "\n".join(
        f"{table.name(s.participant)}: {position(s)}"
        + (f" Reservation: {reservation(s)}" if reservation(s) else "")
        for s in answers(table)
    )


def position(speech: SpeechGiven) -> str:
    """What a speech stands for: its declared position, its position section, or its beginning."""
    if speech.declaration is not None and speech.declaration.position:
        return speech.declaration.position
    names = ("Updated Position", BY_ID[speech.participant].position)
    body = next((speech.sections[n] for n in names if speech.sections.get(n)), speech.text)
    return first_sentences(body)


def reservation(speech: SpeechGiven) -> str:
    """What a first answer would not sign, or nothing."""
    body = speech.sections.get("Dissent", "")
    return "" if says_nothing(body) else first_sentences(body, 3, 600)


def _reservations(table: Table) -> tuple[Dissent, ...]:
    """Where nothing was put to the vote there is no dissent from it: what each of them would not
    sign stands in its place."""
    if table.standing.question is not None:
        return ()
    return tuple(
        Dissent(participant=s.participant, position=told, turn_id=s.turn_id)
        for s in answers(table)
        if (told := reservation(s))
    )


def _sources(table: Table, captains: str) -> tuple[str, ...]:
    """The addresses named, merged. Those that no search brought are marked as unverified, and
    those that it brought from a weak source as that."""
    found = {hit.url: labelled(hit) for hit in _hits(table)}
    texts = [captains, *(s.sections.get("Sources", "") for s in answers(table))]
    named = (url.rstrip(".,;:!?*_") for text in texts for url in _URL.findall(text))
    return tuple(found.get(url, f"{url} (unverified)") for url in dict.fromkeys(named))


# --- notes -------------------------------------------------------------------------------------


class _Closing:
    """What is recorded when a round closes: who is missing from it."""

    def __init__(self, *, second: bool = False) -> None:
        self.second = second

    def __call__(
        self, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        notes = [_missing_note(failure, second=self.second) for failure in failures]
        refused = any(failure.cause == "budget" for failure in failures)
        if self.second and len(speeches) < MINIMUM and not refused:
            notes.append(ROUND2_OMITTED_NOTE)
        return tuple(notes)


def _missing_note(failure: TurnFailed, *, second: bool) -> NoteAdded:
    name = BY_ID[failure.participant].name
    mark = f"[Agent {name} timed out] " if failure.cause == "timeout" else ""
    stands = (
        "its first answer stands"
        if second
        else f"its perspective ({BY_ID[failure.participant].perspective}) is missing"
    )
    return NoteAdded(
        code="timed_out" if failure.cause == "timeout" else "missing",
        text=f"{mark}The {name} did not answer in round {failure.round}: {failure.message} "
        f"So {stands}.",
        remedy=failure.remedy,
    )


def _briefing_notes(
    _speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    return tuple(
        NoteAdded(
            code="briefing_failed",
            text="The Captain could not split the question, so each role took its standing task: "
            f"{failure.message}",
            remedy=failure.remedy,
        )
        for failure in failures
    )


def _summary_notes(
    _speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    return tuple(
        NoteAdded(
            code="summary_failed",
            text="The Captain could not sum up round 1, so the cross-examination is held on an "
            f"extract of the answers, made without a model: {failure.message}",
            remedy=failure.remedy,
        )
        for failure in failures
    )


ROUND2_OMITTED_NOTE = NoteAdded(
    code="round2_omitted",
    text="The cross-examination was left out, because too few specialists answered; the first "
    "answers stand.",
    remedy="Ask again, or choose other models.",
)
EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The Captain could not write the synthesis, so the verdict is an extract of what the "
    "specialists said, made without a model.",
    remedy="Ask again to get a written one.",
)
