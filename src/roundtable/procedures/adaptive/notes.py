"""What the reader of an adaptive run should know, each with an action that fits its cause; and when
a check of the synthesis is suggested."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...core.events import NoteAdded, TurnFailed
from ...core.scores import INFERRED
from ...core.text import counted
from ...core.values import Participant
from ...views.adaptive_meta import DEGRADED, VALIDATED, action
from .options import TaskMode
from .panels import Held, model_key

TIMEOUT = "[TIMEOUT]"
STANDS = (
    "Its digest of Round 1 stands as its final position, and its scores stay out of the consensus."
)
LOW_CONSENSUS = 40
MANY_REVIEWERS = 3
_STAKES = re.compile(r"\b(?:high[\s-]stakes|final decision|publish(?:ing)? this)\b", re.IGNORECASE)
_SPEED = re.compile(
    r"\b(?:asap|urgent(?:ly)?|quick(?:ly)?|right now|in a hurry|fast answer)\b", re.IGNORECASE
)
_TASTE = re.compile(
    r"\b(?:opinions?|taste|favou?rite|prefer|beautiful|feel about|like better)\b", re.IGNORECASE
)


def degraded(role: str, held: Held) -> NoteAdded:
    """Somebody else's model holds a seat from the start."""
    first = held.speakers[0]
    return NoteAdded(
        code="panel_degraded",
        text=f"{DEGRADED}: role {role}, original {held.slot.model}, fallback {first.model}, "
        f"family {first.family or 'unknown'}.",
        remedy=held.remedy,
    )


def not_allowed(role: str, model: str, then: str) -> NoteAdded:
    return NoteAdded(
        code="not_allowlisted",
        text=f"{DEGRADED}: role {role}: {model} is not on the allowlist; {then}.",
        remedy=f"Add {model} to agents.defaults.models in panels.json to allow it.",
    )


def switched_to_budget(usable: int, wanted: int) -> NoteAdded:
    return NoteAdded(
        code="budget_profile",
        text=f"{DEGRADED}: only {usable} of the {wanted} models of this panel can be used now, "
        "so the run switched to the profile “budget”, unless a meta-panel seats others.",
        remedy="Set the missing keys, or start the Blockrun proxy (it needs localhost:8402) and "
        "set BLOCKRUN_PROXY_URL; --models names other models.",
    )


def few_models(different: int, seats: int) -> NoteAdded:
    """Nobody named models, and few are here, or were at the table of the earlier discussion."""
    known = "one model" if different == 1 else f"{different} different models"
    return NoteAdded(
        code="budget_profile",
        text=f"Only {known} can be used at this table, so the profile “budget” fills "
        f"{counted(seats, 'seat')}, unless a meta-panel seats others.",
        remedy="Add another model, or name those who should sit with --models.",
    )


def alone() -> NoteAdded:
    """The one model that was named is the table."""
    return NoteAdded(
        code="one_seat",
        text="One expert sits here, so nobody reviews or contradicts the answer.",
        remedy="Name more models, or let several seats share it with --seats 3.",
    )


def absent(role: str, failure: TurnFailed, model: str, *, stands: str) -> NoteAdded:
    """Somebody did not answer; the survivors go on."""
    mark = f"{TIMEOUT} " if failure.cause == "timeout" else ""
    where = {"answer": "Round 1", "critique": f"Round {failure.round}", "second-stage": "stage 2"}
    place = where.get(failure.stage, failure.stage)
    codes = {"timeout": "timeout", "budget": "budget_seat"}
    skipped = "seat skipped" if failure.stage == "answer" else "not heard"
    return NoteAdded(
        code=codes.get(failure.cause, "seat_skipped"),
        text=f"{mark}{role}: {skipped} in {place}: {failure.message} {stands}".strip(),
        remedy=action(model, failure.cause, failure.remedy),
    )


def meta_failed(names: str) -> NoteAdded:
    return NoteAdded(
        code="meta_failed",
        text=f"No meta-analyst gave a recommendation ({names}), so the mode's default panel is "
        "used.",
        remedy="Ask again, or choose the panel yourself with --models.",
    )


def meta_partly(names: str, left: int) -> NoteAdded:
    return NoteAdded(
        code="meta_partly",
        text=f"No recommendation from {names}: the workflow was decided from the other {left}.",
    )


def meta_smaller(seated: int, absent: Iterable[str]) -> NoteAdded:
    return NoteAdded(
        code="meta_smaller",
        text=f"The meta-panel is {seated}. Left out, because they cannot be used now: "
        f"{', '.join(absent)}.",
    )


def left_out(sub_tasks: Iterable[str]) -> NoteAdded:
    """What the design does not give to anybody."""
    told = "; ".join(each.rstrip(" .") for each in sub_tasks)
    return NoteAdded(
        code="sub_tasks_left_out",
        text=f"Recommended by some of the meta-panel, and given no seat: {told}.",
        remedy="Ask for it on its own if it matters.",
    )


def bias(panel: Iterable[Participant], host: Participant, writer: str) -> tuple[NoteAdded, ...]:
    """Rules of neutrality that could not be kept, because there is no other model. Where only a
    demonstration is given, nobody judges and nobody writes."""
    models = {model_key(each.speaker.model) for each in panel if not each.speaker.demonstration}
    found = []
    if model_key(host.speaker.model) in models:
        found.append(ORCHESTRATOR_ON_PANEL)
    if model_key(writer) in models:
        found.append(SYNTHESISER_ON_PANEL)
    return tuple(found)


def inferred(pairs: Iterable[tuple[str, str]]) -> NoteAdded:
    """Scores that were not stated cleanly: who gave them, and for whom."""
    by_critic: dict[str, list[str]] = {}
    for critic, peer in pairs:
        by_critic.setdefault(critic, []).append(peer)
    told = "; ".join(f"{critic} on {', '.join(peers)}" for critic, peers in by_critic.items())
    return NoteAdded(
        code="score_inferred",
        text=f"{INFERRED} Not stated cleanly, so read from what was written, or taken as 3, and "
        f"left out of the consensus: {told}.",
    )


def no_digest(role: str) -> NoteAdded:
    return NoteAdded(
        code="no_digest",
        text=f"{role} left the cross-critique: its answer holds nothing that could be digested.",
    )


def misrepresented(role: str, correction: str) -> NoteAdded:
    return NoteAdded(
        code="misrepresentation",
        text=f"Misrepresentation warning: {role} calls the synthesis inaccurate: "
        f"{correction or 'no correction given'}",
        remedy=f"Read what {role} said before you rely on the synthesis.",
    )


def partly(role: str, correction: str) -> NoteAdded:
    return NoteAdded(
        code="correction",
        text=f"{role} calls the synthesis only partly accurate: {correction}",
    )


def taken_up(role: str, judgement: str, correction: str) -> NoteAdded:
    """A correction of the first draft that the second was written with."""
    return NoteAdded(
        code="correction_used", text=f"{role} on the first draft ({judgement}): {correction}"
    )


def rewritten(roles: str) -> NoteAdded:
    return NoteAdded(
        code="rewritten",
        text=f"The first draft of the synthesis was called inaccurate by {roles}, and was written "
        "anew with their corrections.",
    )


def validated(value: str) -> NoteAdded:
    return NoteAdded(code=VALIDATED, text=f"Validated: {value}")


def unclear(roles: str) -> NoteAdded:
    return NoteAdded(
        code="validation_unclear", text=f"No verdict could be read from the validation by {roles}."
    )


def validate_hint(
    topic: str, mode: TaskMode, consensus: float | None, reviewers: int
) -> tuple[NoteAdded, ...]:
    """The hint to have the synthesis checked next time, if something speaks for that and nothing
    against it."""
    if (mode == "debate" and _TASTE.search(topic)) or _SPEED.search(topic):
        return ()
    why = ""
    if consensus is not None and consensus < LOW_CONSENSUS:
        why = f"the consensus is only {consensus:.0f} %"
    elif mode == "redteam":
        why = "it is a red-team result"
    elif mode == "build" and reviewers >= MANY_REVIEWERS:
        why = f"{reviewers} models worked on it in stage 2"
    elif _STAKES.search(topic):
        why = "the question says that much depends on it"
    if not why:
        return ()
    return (
        NoteAdded(
            code="validate_hint",
            text=f"This result may deserve a check by the panel: {why}.",
            remedy="Ask again with --validate.",
        ),
    )


REWRITE_FAILED = NoteAdded(
    code="rewrite_failed",
    text="The synthesis should have been rewritten, but that failed, so the draft stands.",
    remedy="Ask again with --validate.",
)
REWRITE_WORSE = NoteAdded(
    code="rewrite_worse",
    text="The synthesis was rewritten, but more of the panel call that inaccurate than the "
    "draft: the draft stands.",
    remedy="Read what they correct before you rely on it.",
)
NOT_RECHECKED = NoteAdded(
    code="rewrite_unchecked",
    text="The rewritten synthesis could not be checked again.",
    remedy="Raise the limit, and ask again with --validate.",
)
ORCHESTRATOR_ON_PANEL = NoteAdded(
    code="orchestrator_on_panel",
    text="The orchestrator's own model also holds a seat on the panel: a risk of bias.",
    remedy="Name another one with --host, or configure a further model.",
)
SYNTHESISER_ON_PANEL = NoteAdded(
    code="synthesiser_on_panel",
    text="The synthesis is written by a model that also holds a seat on the panel: a risk of bias.",
    remedy="Name another one with --host, or configure a further model.",
)
META_ALONE = NoteAdded(
    code="meta_alone",
    text="Only one model can be used at this table, so no meta-panel designs the workflow: the "
    "mode's default panel is used.",
    remedy="Configure a second model.",
)
META_TOO_DEAR = NoteAdded(
    code="meta_skipped",
    text="The limit of calls leaves no room for a meta-panel: the mode's default panel is used.",
    remedy="Raise --max-calls to let the meta-panel design the workflow.",
)
BY_ORCHESTRATOR = NoteAdded(
    code="bias_risk",
    text="Bias risk: the synthesiser failed, so the orchestrator, who is not neutral towards the "
    "course of the discussion, wrote the synthesis.",
    remedy="Ask again to get a neutral one.",
)
EXTRACTED = NoteAdded(
    code="extracted_verdict",
    text="No model could write the synthesis, so the result is an extract of what the panel said, "
    "made without a model.",
    remedy="Ask again to get a written one.",
)
STAGE_2_FAILED = NoteAdded(
    code="stage2_failed",
    text="Stage 2 failed: nobody answered in it. The synthesis uses stage 1 only.",
    remedy="Ask again, or name other models with --models.",
)
NO_DRAFT = NoteAdded(
    code="validation_skipped",
    text="Validation was skipped: there is no draft of the synthesis to check.",
    remedy="Ask again with --validate.",
)
NO_VALIDATOR = NoteAdded(
    code="validation_failed",
    text="Validation failed: no validator gave a verdict that could be read.",
    remedy="Ask again with --validate.",
)
ONE_SURVIVOR = NoteAdded(
    code="one_survivor",
    text="Only one agent answered: no cross-critique, and no consensus can be measured.",
    remedy="Ask again, or name other models with --models.",
)
NO_PEERS = NoteAdded(
    code="no_cross_critique",
    text="There was no cross-critique: fewer than two agents left a digest to examine.",
)
EVERYBODY_REFUSED = "The allowlist agents.defaults.models leaves nobody for this panel."
