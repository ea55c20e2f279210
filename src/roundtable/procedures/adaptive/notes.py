"""What the reader of an adaptive run should know, each with an action that fits its cause."""

from __future__ import annotations

from ...core.errors import FailureCause
from ...core.events import NoteAdded, TurnFailed
from .bench import Held

TIMEOUT = "[TIMEOUT]"
API_ACTION = "Check the key and the quota of {model}, then ask again."
PROXY = "blockrun/"
PROXY_DOWN = "Start the Blockrun proxy at localhost:8402, or use --panel budget."
_UNREACHABLE: frozenset[FailureCause] = frozenset(["unavailable", "not_found", "cut"])


def action_for(model: str, cause: FailureCause, remedy: str) -> str:
    """What to do about a call that failed."""
    if cause == "budget":
        return "Raise the limit to let everybody speak."
    if cause == "timeout":
        return remedy or "Ask again, or give this seat a faster model."
    if model.startswith(PROXY) and cause in _UNREACHABLE:
        return PROXY_DOWN
    return f"{remedy} {API_ACTION.format(model=model)}".strip()


def degraded(role: str, held: Held) -> NoteAdded:
    """Somebody else's model holds a seat from the start."""
    first = held.speakers[0]
    return NoteAdded(
        code="panel_degraded",
        text=f"PANEL DEGRADED: role {role}, original {held.slot.model}, fallback {first.model}, "
        f"family {first.family or 'unknown'}.",
        remedy=held.remedy,
    )


def not_allowed(role: str, model: str, then: str) -> NoteAdded:
    return NoteAdded(
        code="not_allowlisted",
        text=f"PANEL DEGRADED: role {role}: {model} is not on the allowlist; {then}.",
        remedy=f"Add {model} to agents.defaults.models in panels.json to allow it.",
    )


def switched_to_budget(usable: int, wanted: int) -> NoteAdded:
    return NoteAdded(
        code="budget_profile",
        text=f"PANEL DEGRADED: only {usable} of the {wanted} models of this panel can be used now, "
        "so the run switched to the profile “budget”.",
        remedy="Set the missing keys, or start the Blockrun proxy (it needs localhost:8402) and "
        "set BLOCKRUN_PROXY_URL; --panel chooses models yourself.",
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
        remedy=action_for(model, failure.cause, failure.remedy),
    )


def meta_failed(names: str) -> NoteAdded:
    return NoteAdded(
        code="meta_failed",
        text=f"No meta-analyst gave a recommendation ({names}); the mode's default panel sits.",
        remedy="Ask again, or choose the panel yourself with --panel.",
    )


def meta_partly(names: str, left: int) -> NoteAdded:
    return NoteAdded(
        code="meta_partly",
        text=f"No recommendation from {names}: the workflow was decided from the other {left}.",
    )


ORCHESTRATOR_ON_PANEL = NoteAdded(
    code="orchestrator_on_panel",
    text="The orchestrator's own model holds a seat on the panel, because there is no other one: "
    "a risk of bias.",
    remedy="Configure a second model, or name another orchestrator in panels.json.",
)
SYNTHESISER_ON_PANEL = NoteAdded(
    code="synthesiser_on_panel",
    text="The synthesis is written by a model that also holds a seat on the panel, because there "
    "is no other one: a risk of bias.",
    remedy="Configure a further model.",
)
META_TOO_DEAR = NoteAdded(
    code="meta_skipped",
    text="The limit of calls leaves no room for a meta-panel; the mode's default panel sits.",
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
    remedy="Ask again, or choose other models with --panel.",
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
    remedy="Ask again, or choose other models with --panel.",
)
NO_PEERS = NoteAdded(
    code="no_cross_critique",
    text="There was no cross-critique: fewer than two agents left a digest to examine.",
)
VALIDATE_HINT = NoteAdded(
    code="validate_hint",
    text="This result may deserve a check by the panel: {why}.",
    remedy="Ask again with --validate.",
)
EVERYBODY_REFUSED = "The allowlist agents.defaults.models leaves nobody for this panel."
