"""The itinerary of a discussion: which steps it takes, where it is, what is still to come.

In kinds that a surface has plain words for; only a stage of a user's own procedure has a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.state import State
from .five_round.rounds import planned
from .meeting_status import max_rounds
from .report_parts import line

KINDS = {
    "casting": "casting",
    "brief": "brief",
    "opening": "brief",
    "answer": "answers",
    "proposal": "answers",
    "critique": "replies",
    "cross-examination": "replies",
    "cross-reference": "replies",
    "revision": "replies",
    "second-stage": "replies",
    "discussion": "discussion",
    "summary": "summary",
    "clerk": "list",
    "confirm": "vote",
    "ballot": "vote",
    "ranking": "vote",
    "draft": "answer",
    "synthesis": "answer",
    "conclusion": "answer",
    "arbitration": "answer",
    "validation": "check",
}
_ROUNDS = ("answers", "replies", "discussion", "")
"""The kinds that participants hold round by round."""


def itinerary(state: State, waited: Sequence[tuple[str, int]] = ()) -> dict[str, Any]:
    """`steps`, each `done`, `skipped`, `now` or `next`; what happens `now`, which may be a small
    thing between two steps; and the number of `rounds`, 0 where nobody knows it. `hidden`: who
    wrote what is kept from those who read each other. `waited`: stage and round of the turns that
    are open; they tell where it is as long as no stage was opened, at a table that nobody
    drives."""
    unnamed = state.start.procedure == "deliberation"
    steps: list[dict[str, Any]] = [
        {"kind": kind, "round": round_, "hidden": unnamed and kind == "replies"}
        for kind, round_ in _steps(state)
    ]
    now: dict[str, Any] | None = None
    here = -1
    held: set[int] = set()
    for name, round_ in state.stages or waited:
        kind = KINDS.get(name, "")
        now = {"kind": kind, "round": round_, "name": line(name.replace("_", " "))}
        now["hidden"] = unnamed and kind == "replies"
        place = _place(steps, now)
        held.add(place)
        here = max(here, place)
    last = len(steps) if state.closed is not None else here
    return {
        "steps": [
            {**step, "state": _state(n, here, last, held=n in held)} for n, step in enumerate(steps)
        ],
        "now": now if state.closed is None else None,
        "rounds": len({step["round"] for step in steps if step["kind"] in _ROUNDS}),
    }


def _state(n: int, here: int, last: int, *, held: bool) -> str:
    if n < last:
        return "done" if held else "skipped"
    return "now" if n == here else "next"


def _place(steps: list[dict[str, Any]], now: dict[str, Any]) -> int:
    """Which step something belongs to; -1 for what is none."""
    found = [
        n
        for n, step in enumerate(steps)
        if step["kind"] == now["kind"]
        and (step["round"] == now["round"] or step["kind"] not in _ROUNDS)
    ]
    return found[0] if found else -1


def _steps(state: State) -> Iterator[tuple[str, int]]:
    """The steps that this discussion set out to take."""
    options = state.start.options
    match state.start.procedure:
        case "deliberation":
            yield "answers", 1
            if options.get("critique", True):
                yield "replies", 2
                yield "vote", 0
        case "council":
            yield "answers", 1
            if options.get("round2") or ("cross-examination", 2) in state.stages:
                yield "replies", 2
        case "adaptive":
            yield "answers", 1
            yield "replies", 2
        case "five-round":
            for number, stage in planned(state):
                yield KINDS[stage], number
        case "meeting":
            for number in range(1, max_rounds(state) + 1):
                yield "discussion", number
        case _:
            return
    yield "answer", 0
