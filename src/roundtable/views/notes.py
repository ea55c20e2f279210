"""Everything the reader should know beside the verdict, each with what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.budget import LEFT_OUT, LIMITS, allowed
from ..core.causes import reason
from ..core.cut_short import CUT_SHORT, cut_short
from ..core.events import NoteAdded, ParticipantSubstituted, SearchFailed
from ..core.naming import with_names
from ..core.state import NOT_THERE, State
from ..core.stopping import beyond, spent_so_far
from ..core.voter_groups import served_alike

DEGRADED = "PANEL DEGRADED"
"""How the text of a note on an adaptive panel begins that lacks a model."""


@dataclass(frozen=True, slots=True)
class Note:
    code: str
    text: str
    remedy: str = ""


def notes(state: State) -> list[Note]:
    """The discussion's notes, with what its other events say between the lines."""
    found = [
        Note(note.code, f"{plain(with_names(state, note.text))}{_raised(state, note)}", note.remedy)
        for note in state.notes
    ]
    found.extend(_substituted(state))
    found.extend(_served_alike(state))
    found.extend(Note(CUT_SHORT, told, remedy) for told, remedy in cut_short(state))
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
                f"{'1 call was' if lost == 1 else f'{lost} calls were'} under way when an earlier "
                "process ended; made again.",
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
    elif state.closed is not None:
        found.extend(_beyond(state))
    return found


BEYOND_LIMIT = "beyond_limit"


def _beyond(state: State) -> Iterator[Note]:
    """The limits that were passed in a discussion that no limit ended."""
    for limit, told in beyond(state):
        yield Note(
            BEYOND_LIMIT,
            f"The {limit} limit was passed: {told}.",
            "See what the provider charges; next time give that seat another model.",
        )


def _raised(state: State, note: NoteAdded) -> str:
    """That a limit is not the one any more under which something was left out."""
    if state.limits is None or LEFT_OUT not in note.text:
        return ""
    now = (allowed(state.budget, limit) for limit in LIMITS)
    still = any(f"{LEFT_OUT} ({each})" in note.text for each in now if each)
    return "" if still else " The limit has been raised since."


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
    gave_up: dict[str, ParticipantSubstituted] = {}
    in_turn: dict[str, ParticipantSubstituted] = {}
    for each in state.substitutions:
        gave_up.setdefault(each.from_model, each)
        # Whoever was to stand in may have failed as well: it is the first who was to speak.
        in_turn.setdefault(each.turn_id, each)
    pairs: dict[tuple[str, str, str], list[ParticipantSubstituted]] = {}
    for each in in_turn.values():
        turn = state.turn(each.turn_id)
        last = turn.attempts[-1] if turn and turn.attempts else None
        if last is None or last.failed is None:
            to_model = last.started.model if last else each.to_model
            seat = state.participant(each.participant)
            own = seat.speaker.model if seat else each.from_model
            # A model that cannot be used is not asked again in later turns; it was its seat's.
            first = gave_up[own] if own in state.missing_models and own in gave_up else each
            why = reason(first.cause, first.trouble)
            pairs.setdefault((first.from_model, to_model, why), []).append(
                each.model_copy(update={"remedy": first.remedy})
            )
    return [
        Note(
            "substituted",
            f"{to_model} spoke for {_list(names[each.participant] for each in found)} in place of "
            f"{from_model}, which {why}.{_held_by(state, to_model, found)}",
            found[0].remedy,
        )
        for (from_model, to_model, why), found in pairs.items()
    ]


def _held_by(state: State, model: str, found: Iterable[ParticipantSubstituted]) -> str:
    """That one model speaks for several seats, where a model that was not there is why."""
    held = [state.speaking.get(each.id) for each in state.participants].count(model)
    if held < 2 or all(each.cause != NOT_THERE for each in found):
        return ""
    return f" It holds {held} seats: no other that works there was free."


def _served_alike(state: State) -> list[Note]:
    return [
        Note(
            "served_alike",
            f"The server answered for {_list(each.asked)} with one model, {each.by}: these seats "
            "count as one voter.",
            "Load the models that you want to hear, or name models of another server.",
        )
        for each in served_alike(state)
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
