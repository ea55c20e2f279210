"""A discussion as one row of the list: question, answer, vote, how sure, what it cost.

All of it is what the decision says, so that the list never says something else than the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..core.decide import decide
from ..core.effects import TakeTurn
from ..core.state import State
from ..core.values import OUTSIDE
from ..procedures import procedure_spec
from .cost import Cost, Known
from .decision import Glance
from .decision_json import plain
from .decision_parts import Kind, Sure
from .driving import needs_driver
from .itinerary import itinerary
from .report_parts import line

Group = Literal["turn", "live", "decided", "split", "unfinished", "other"]
"""What a list is filtered by."""
_GROUPS: dict[str, Group] = {
    "turn": "turn",
    "live": "live",
    "decided": "decided",
    "split": "split",
    "paused": "unfinished",
    "interrupted": "unfinished",
    "failed": "unfinished",
    "stopped": "unfinished",
}
_BY_STATUS: dict[str, Group] = {
    "running": "live",
    "queued": "live",
    "interrupted": "unfinished",
    "set_aside": "unfinished",
    "failed": "unfinished",
    "stopped": "unfinished",
}
YOUR_TURN = "Your turn"
"""The state of what waits for somebody outside the program."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, for people."""

    kind: Kind | Literal["turn"]
    """As the decision has it; `turn`: somebody outside the program is waited for."""
    state: str
    """The kind in a word or two, in English."""
    question: str
    whole: str
    """The whole question, where the one above is shorter; else empty."""
    answer: str
    """In a sentence; why there is none, where there is none; empty while it goes on."""
    vote: dict[str, Any] | None
    """The vote on the question, as `decision.votes` has it."""
    others: tuple[dict[str, str], ...]
    """Further votes: `title` and `figure`."""
    confidence: Sure
    cost_usd: float | None
    """None where it was not told of every call."""
    known_cost_usd: float
    """As much of it as was told, or counted by us."""
    cost_known: Known
    dissent: bool
    follows: str
    """The discussion whose table it asks further; empty: none."""
    now: dict[str, Any]
    """What happens now, as the page has it: `now` and `rounds` of the itinerary."""
    round: int
    speaking: int
    """How many are being called or waited for now."""
    waits_for: tuple[str, ...]
    """Names of those among them who are no models of the program's."""

    @classmethod
    def of(cls, state: State, *, interrupted: bool) -> Row:
        interrupted = interrupted and needs_driver(state)
        decision = Glance.of(state, interrupted=interrupted)
        turns = [] if state.closed is not None or state.paused is not None else _open(state)
        outside = [each for each in turns if each.plan.participant.speaker.model == OUTSIDE]
        turn = bool(outside) and decision.kind == "live"
        course = itinerary(state, [(each.plan.stage, each.plan.round) for each in turns])
        vote, *others = decision.votes or (None,)
        cost = Cost.of(state)
        return cls(
            kind="turn" if turn else decision.kind,
            state=YOUR_TURN if turn else decision.state,
            question=decision.question.short,
            whole=decision.question.whole if decision.question.cut else "",
            answer="" if turn else decision.first,
            vote=None if vote is None or not vote.pieces else plain(vote),
            others=tuple({"title": each.title, "figure": each.figure} for each in others if each),
            confidence=decision.confidence,
            cost_usd=cost.usd,
            known_cost_usd=cost.known_usd,
            cost_known=cost.known,
            dissent=decision.dissent,
            follows=state.start.follows,
            now={key: course[key] for key in ("now", "rounds")},
            round=max(
                (each.plan.round for each in turns),
                default=state.said.last_round,
            ),
            speaking=len(turns),
            waits_for=tuple(line(each.plan.participant.name) for each in outside),
        )


def _open(state: State) -> list[TakeTurn]:
    effects = decide(state, procedure_spec(state.start.procedure).procedure)
    return [each for each in effects if isinstance(each, TakeTurn)]


def group_of(row: Row | None, status: str) -> Group:
    """The group of a discussion; by its status alone as long as its row is not known."""
    if row is None:
        return _BY_STATUS.get(status, "other")
    return _GROUPS.get(row.kind, "other")
