"""Councils for tests: voices that do as they are told in one turn and are dutiful in all others.

Words get the dutiful declaration added, which chooses the first option; what a function says stands
as it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from roundtable.core.errors import SpeakerError
from roundtable.core.events import Event
from roundtable.core.state import State
from roundtable.core.values import SearchHit
from roundtable.ports import SpeakRequest
from tests.declaring import spoken
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]
SPECIALISTS = ("scholar", "engineer", "muse")


def acting(turns: dict[str, Act]) -> Voice:
    """A voice that acts so in the turns whose ids contain the key: words, an error, seconds of
    silence, silence for ever (None)."""

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        for part, act in turns.items():
            if part in request.idempotency_key:
                if callable(act):
                    return act(request)
                return spoken(act, request) if isinstance(act, str) else act
        return dutiful(request)

    return Voice(script)


def council(turns: dict[str, Act] | None = None, **table: object) -> Table:
    return Table({"*": acting(turns or {})}, **table)  # type: ignore[arg-type]


def hold(table: Table, topic: str = "Tea or coffee?", **request: object) -> State:
    """Hold a whole council and return how it ended."""
    return run_in_virtual_time(table.ask(topic, **request))


def turn_of(request: SpeakRequest) -> str:
    """`1/answer/scholar` of the request's key."""
    return request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]


def asked(table: Table) -> list[str]:
    """The turns for which a call was made, in order."""
    return [turn_of(request) for request in table.requests]


def prompt_of(table: Table, turn: str) -> SpeakRequest:
    (found,) = [request for request in table.requests if turn_of(request) == turn]
    return found


def codes(state: State) -> list[str]:
    return [note.code for note in state.notes]


def events(table: Table, state: State) -> list[Event]:
    return [record.event for record in run_in_virtual_time(table.records(state))]


def sections(**bodies: str) -> str:
    """An answer with these sections; an underscore stands for a blank."""
    return "\n\n".join(f"## {name.replace('_', ' ')}\n{body}" for name, body in bodies.items())


def scholar(**bodies: str) -> str:
    whole = {"Findings": "Tea.", "Sources": "none", "Confidence": "high", "Dissent": "none"}
    return sections(**{**whole, **bodies})


def verdict(**bodies: str) -> str:
    whole = {
        "Answer": "Drink tea.",
        "Confidence": "high",
        "Agreement": "All are thirsty.",
        "Dissent": "none",
        "Changed_Minds": "none",
        "Gaps_and_Risks": "none",
        "Sources": "none",
    }
    return sections(**{**whole, **bodies})


class Finder:
    """A search that finds these."""

    name = "finder"

    def __init__(self, *hits: SearchHit) -> None:
        self.hits = hits

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        await asyncio.sleep(0.5)
        assert query
        return self.hits[:count]


def declaring(text: str, **fields: Any) -> Act:
    """These words with a declaration of these fields; all others are filled in dutifully."""
    return lambda request: spoken(text, request, **fields)


def bare(text: str) -> Act:
    """These words, and no declaration."""
    return lambda _: text


def listed(*options: str) -> str:
    """A summary with the list of these options."""
    shown = [{"text": text, "holders": []} for text in options]
    block = {"shared": [], "decisions": [{"question": "?", "options": shown}], "clashes": []}
    return f"They differ.\n\n```decisions\n{json.dumps(block)}\n```"


DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")
