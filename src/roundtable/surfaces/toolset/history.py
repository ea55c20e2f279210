"""What was said at a table, as the tools show it: rows or lines, as many as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from ...core.errors import BadSetting
from ...core.events import SpeechGiven
from ...core.state import State
from ...core.text import redact
from ...core.values import HOST_WIRE_NAME
from ...views.deliverables import words_and_works
from ...views.meeting import is_heard, spoken_words
from ...views.meeting_status import SUMMARY, side_by_side
from .results import SpeechRow, prefix, written
from .status import beside_in

Line = Callable[[SpeechRow], str]


def rows(state: State) -> list[SpeechRow]:
    """Everything that was said, in order, numbered from 1."""
    return [each.row for each in _numbered(state) if each.row is not None]


def number_of(state: State, speech: SpeechGiven) -> int:
    """The number of a speech; 0 if it was not said to the table."""
    numbered = _numbered(state)
    for place in range(len(numbered) - 1, -1, -1):
        if state.speeches[place].turn_id == speech.turn_id:
            return numbered[place].heard if numbered[place].row is not None else 0
    return 0


class _Numbered(NamedTuple):
    """A speech: how many were heard with it, and its row if it is one of them."""

    heard: int
    row: SpeechRow | None


def _numbered(state: State) -> Sequence[_Numbered]:
    def step(before: _Numbered | None, place: int, speech: SpeechGiven) -> _Numbered:
        heard = before.heard if before is not None else 0
        if not is_heard(speech):
            return _Numbered(heard, None)
        return _Numbered(heard + 1, _row(state, speech, heard + 1, state.spoken_at[place]))

    return state.said.grown.of("rows", state.speeches, step)


def _row(state: State, speech: SpeechGiven, number: int, at: datetime) -> SpeechRow:
    words = (
        spoken_words(speech) if speech.stage.startswith(SUMMARY) else words_and_works(state, speech)
    )
    return SpeechRow(
        number=number,
        participant=speech.participant,
        round=speech.round,
        after_round=speech.after_round,
        time=at.isoformat(),
        text=redact(words),
        flags=list(speech.flags),
    )


def chosen(
    found: Iterable[SpeechRow], *, round_: int | None, since: int | str, before: int | None
) -> list[SpeechRow]:
    """Those of a round, after a number or a time and before a number; the newest first."""
    after = _since(since)
    picked = [
        row
        for row in found
        if (round_ is None or row.round == round_)
        and (before is None or row.number < before)
        and (row.number > after if isinstance(after, int) else _at(row) > after)
    ]
    return picked[::-1]


def audible(state: State, found: Sequence[SpeechRow], caller: str) -> list[SpeechRow]:
    """What a caller may hear now: whoever is to speak side by side with others hears their words of
    this round once it has spoken itself."""
    round_ = beside_in(state, caller)
    return [row for row in found if row.round != round_] if round_ else list(found)


def counted(state: State, caller: str) -> tuple[int, int]:
    """How many speeches a caller may hear now, and how many of them it has not heard."""
    own = state.start.host.id if caller == HOST_WIRE_NAME else caller
    if not side_by_side(state):
        # Whoever speaks in turn has heard all that came before its last speech.
        numbered, last = _numbered(state), state.said.last_place(own)
        total = numbered[-1].heard if numbered else 0
        return total, total - (numbered[last].heard if caller and last is not None else 0)
    said = audible(state, rows(state), caller)
    heard = heard_until(said, own, side_by_side=True)
    return len(said), sum(row.number > heard and row.participant != own for row in said)


def heard_until(found: Sequence[SpeechRow], caller: str, *, side_by_side: bool) -> int:
    """The number up to which a caller has heard everything. Whoever speaks in turn had heard all
    that came before its last speech; whoever speaks side by side nothing of that round."""
    own = [row for row in found if caller and row.participant == caller]
    if not own:
        return 0
    last = own[-1]
    if not side_by_side or not last.round:
        return last.number
    return min(row.number for row in found if row.round == last.round) - 1


def fitting(picked: Sequence[SpeechRow], room: int, line: Line | None = None) -> list[SpeechRow]:
    """As many rows as fit into so many characters of JSON, as rows or as lines of a text; the
    first is clipped if it alone is too long."""
    shown: list[SpeechRow] = []
    for row in picked:
        cost = _cost(row, line)
        if cost > room:
            if not shown:
                overhead = _cost(row.model_copy(update={"text": ""}), line)
                piece = prefix(row.text, max(0, room - overhead - 24))
                clipped = {"text": piece, "characters": len(row.text)}
                shown.append(row.model_copy(update=clipped))
            break
        room -= cost
        shown.append(row)
    return shown


def _cost(row: SpeechRow, line: Line | None) -> int:
    if line is not None:
        return written(line(row)) + 4
    return written(row.model_dump(mode="json", exclude_defaults=True)) + 1


def lines_of(state: State) -> Line:
    """How the history reads as a text: who spoke in which round."""
    seats = {p.id: f"{p.role} ({p.name})" for p in (*state.participants, state.start.host)}

    def line(row: SpeechRow) -> str:
        place = f"Round {row.round}"
        if row.after_round and not row.round:
            place += f", after round {row.after_round}"
        who = seats.get(row.participant, row.participant)
        return f"[{row.number}] {place} | {who}: {row.text}"

    return line


def _since(since: int | str) -> int | datetime:
    if isinstance(since, int):
        return since
    if since.strip().isdecimal():
        return int(since)
    try:
        at = datetime.fromisoformat(since)
    except ValueError:
        expected = "the number of a speech, or a time such as 2026-01-31T12:00:00Z"
        raise BadSetting("read", "since", expected) from None
    return at.astimezone()


def _at(row: SpeechRow) -> datetime:
    return datetime.fromisoformat(row.time)
