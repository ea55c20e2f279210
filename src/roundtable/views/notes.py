"""Everything the reader should know beside the verdict, each with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.events import SearchFailed
from ..core.state import State


@dataclass(frozen=True, slots=True)
class Note:
    code: str
    text: str
    remedy: str = ""


def notes(state: State) -> list[Note]:
    """The discussion's notes, with what its other events say between the lines."""
    found = [Note(note.code, note.text, note.remedy) for note in state.notes]
    names = {p.id: p.name for p in (*state.ever_seated.values(), state.start.host)}
    found.extend(
        Note(
            "substituted",
            f"PANEL DEGRADED: {names[each.participant]}: {each.to_model} spoke in place of "
            f"{each.from_model} ({each.cause}).",
            each.remedy,
        )
        for each in state.substitutions
    )
    found.extend(_search_failed(each) for each in state.searches if isinstance(each, SearchFailed))
    lost = sum(
        1
        for turn in state.turns.values()
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
                f"The {state.exhausted.limit} limit was reached: {state.exhausted.detail}.",
                "Raise the limit to let the discussion go on.",
            )
        )
    return found


def _search_failed(event: SearchFailed) -> Note:
    why = f": {event.message}" if event.message else "."
    return Note(
        "search_failed",
        f"The web search ({event.provider}) failed{why} So nobody had real-time data.",
        "Sources named are unverified; ask again, or set up another search (docs/search.md).",
    )
