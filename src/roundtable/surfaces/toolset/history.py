"""The history as rows and as text, as much of it as an answer may hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ...core.errors import BadSetting
from ...core.state import State
from ...core.text import redact
from .bounds import prefix, written
from .results import SpeechRow


def rows(state: State) -> list[SpeechRow]:
    """Everything that was said, in order, numbered from 1."""
    found = []
    for number, (speech, at) in enumerate(zip(state.speeches, state.spoken_at, strict=True), 1):
        seated = state.participant(speech.participant)
        text = redact(speech.text)
        found.append(
            SpeechRow(
                number=number,
                participant=speech.participant,
                display_name=seated.name if seated else speech.participant,
                role=seated.role if seated else "",
                round=speech.round,
                after_round=speech.after_round,
                time=at.isoformat(),
                text=text,
                characters=len(text),
            )
        )
    return found


def chosen(
    found: Iterable[SpeechRow], *, round_: int | None, since: int | str, limit: int | None
) -> list[SpeechRow]:
    """Those of a round, after a number or a time, and at most so many."""
    after = _since(since)
    picked = [
        row
        for row in found
        if (round_ is None or row.round == round_)
        and (row.number > after if isinstance(after, int) else _at(row) > after)
    ]
    return picked if limit is None else picked[:limit]


def formatted(shown: Iterable[SpeechRow]) -> str:
    """The history as a person, or a prompt, reads it."""
    return "\n\n".join(_line(row) for row in shown)


def fitting(picked: Sequence[SpeechRow], room: int, *, twice: bool = False) -> list[SpeechRow]:
    """As many rows as fit into so many characters of JSON; the first is clipped if it alone is
    too long. `twice`: the formatted text must fit as well."""
    shown: list[SpeechRow] = []
    for row in picked:
        cost = _cost(row, twice)
        if cost > room:
            if not shown:
                overhead = _cost(row.model_copy(update={"text": ""}), twice)
                piece = prefix(row.text, max(0, room - overhead) // (2 if twice else 1))
                shown.append(row.model_copy(update={"text": piece}))
            break
        room -= cost
        shown.append(row)
    return shown


def _cost(row: SpeechRow, twice: bool) -> int:
    return len(row.model_dump_json()) + 1 + (written(_line(row)) + 4 if twice else 0)


def _line(row: SpeechRow) -> str:
    place = f"Round {row.round}"
    if row.after_round and not row.round:
        place += f", after round {row.after_round}"
    return f"[{row.number}] {place} | {row.role} ({row.display_name}): {row.text}"


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
