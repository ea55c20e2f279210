"""Everything the reader should know beside the verdict, each with what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.causes import TOLD
from ..core.errors import FailureCause
from ..core.events import ParticipantSubstituted, SearchFailed
from ..core.state import State
from ..core.stopping import spent_so_far

DEGRADED = "PANEL DEGRADED"
"""How the text of a note on an adaptive panel begins that lacks a model."""


@dataclass(frozen=True, slots=True)
class Note:
    code: str
    text: str
    remedy: str = ""


def notes(state: State) -> list[Note]:
    """The discussion's notes, with what its other events say between the lines."""
    found = [Note(note.code, plain(note.text), note.remedy) for note in state.notes]
    found.extend(_substituted(state))
    found.extend(_search_failed(each) for each in state.searches if isinstance(each, SearchFailed))
    lost = sum(
        1
        for turn in state.called_turns
        for attempt in turn.attempts
        if attempt.failed is not None and attempt.failed.cause == "lost"
    )
    if lost:
        found.append(
            Note(
                "lost_calls",
                f"{lost} call(s) were under way when an earlier process ended; made again.",
            )
        )
    if state.exhausted is not None:
        found.append(
            Note(
                "budget",
                f"The {state.exhausted.limit} limit ended it: {spent_so_far(state)}.",
                "Raise the limit to let the discussion go on.",
            )
        )
    return found


_SEAT = re.compile(
    r"role (?P<role>.+?), original (?P<model>\S+), fallback (?P<instead>\S+), family .+\.$"
)


def plain(text: str) -> str:
    """A note for people, without the words under which the META section of an adaptive result
    keeps it."""
    if not text.startswith(f"{DEGRADED}: "):
        return text
    said = text.removeprefix(f"{DEGRADED}: ")
    if seat := _SEAT.fullmatch(said):
        return (
            f"{seat['instead']} speaks for {seat['role']} in place of {seat['model']}, which "
            "cannot be used now."
        )
    said = said.removeprefix("role ")
    return said[:1].upper() + said[1:]


def _substituted(state: State) -> list[Note]:
    """Who spoke in place of whom: once for each pair of models, however many turns it held."""
    names = {p.id: p.name for p in (*state.ever_seated.values(), state.start.host)}
    pairs: dict[tuple[str, str, FailureCause], list[ParticipantSubstituted]] = {}
    for each in state.substitutions:
        # Whoever was to stand in may not have been there either.
        turn = state.turn(each.turn_id)
        last = turn.attempts[-1] if turn and turn.attempts else None
        if last is None or last.failed is None:
            to_model = last.started.model if last else each.to_model
            pairs.setdefault((each.from_model, to_model, each.cause), []).append(each)
    return [
        Note(
            "substituted",
            f"{to_model} spoke for {_list(names[each.participant] for each in found)} in place of "
            f"{from_model}, which {TOLD[cause]}.",
            found[0].remedy,
        )
        for (from_model, to_model, cause), found in pairs.items()
    ]


def _list(names: Iterable[str]) -> str:
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def _search_failed(event: SearchFailed) -> Note:
    why = f": {event.message}" if event.message else "."
    return Note(
        "search_failed",
        f"The web search ({event.provider}) failed{why} So nobody had real-time data.",
        "Sources named are unverified; ask again, or set up another search (docs/search.md).",
    )
