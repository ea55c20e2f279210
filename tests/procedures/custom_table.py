"""Custom procedures for tests: definitions as data, and tables that hold them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from roundtable.core.errors import SpeakerError
from roundtable.core.events import Event
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.procedures.custom.checks import define
from roundtable.procedures.custom.model import Definition
from tests.declaring import declared
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]
DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")
TOPIC = "How many weeks will it take?"
DELPHI = Path(__file__).parents[2] / "examples" / "delphi.toml"
PEOPLE = ("anna", "ben", "cleo")


class Shelved:
    """A shelf that holds these."""

    def __init__(self, *definitions: Definition) -> None:
        self.held = {each.name: each for each in definitions}

    def names(self) -> tuple[str, ...]:
        return tuple(self.held)

    def find(self, name: str) -> Definition | None:
        return self.held.get(name)


def data(*stages: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A definition as a file would hold it; each stage says what differs from a plain one."""
    plain = {"prompt": "Say what you think."}
    listed = [{"name": f"stage-{n}", **plain, **stage} for n, stage in enumerate(stages or [{}], 1)]
    return {
        "name": "own",
        "summary": "For tests",
        "participants": [{"id": who, "name": who.capitalize()} for who in PEOPLE],
        "stages": listed,
        "verdict": {"by": "extract"},
        **more,
    }


def defined(*stages: Mapping[str, Any], **more: Any) -> Definition:
    return define(data(*stages, **more), "own.toml")


def delphi() -> Definition:
    return define(tomllib.loads(DELPHI.read_text("utf-8")), str(DELPHI))


def turn_of(request: SpeakRequest) -> str:
    return request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]


def marked(request: SpeakRequest) -> str:
    """A dutiful answer that carries its turn as a mark."""
    said = dutiful(request)
    alone = request.form is not None and request.form.alone
    return said if alone else f"MARK<{turn_of(request)}>\n\n{said}"


def acting(turns: Mapping[str, Act] | None = None) -> Voice:
    """A voice that acts so in the turns whose ids contain the key, and is marked in others."""

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        for part, act in (turns or {}).items():
            if part in turn_of(request):
                return act(request) if callable(act) else act
        return marked(request)

    return Voice(script)


def own_table(
    definition: Definition, turns: Mapping[str, Act] | None = None, **table: Any
) -> Table:
    return Table({"*": acting(turns)}, own=Shelved(definition), **table)


def hold(table: Table, name: str = "own", topic: str = TOPIC, **request: Any) -> State:
    return run_in_virtual_time(table.ask(topic, procedure=name, **request))


def held(*stages: Mapping[str, Any], turns: Mapping[str, Act] | None = None) -> tuple[Table, State]:
    table = own_table(defined(*stages), turns)
    return table, hold(table)


def asked(table: Table) -> list[str]:
    return [turn_of(request) for request in table.requests]


def prompt_of(table: Table, turn: str) -> SpeakRequest:
    (found,) = [request for request in table.requests if turn_of(request) == turn]
    return found


def marks(request: SpeakRequest) -> list[str]:
    """The turns whose words stand in a prompt, in order."""
    return [part.partition(">")[0] for part in request.user.split("MARK<")[1:]]


def events(table: Table, state: State) -> list[Event]:
    return [record.event for record in run_in_virtual_time(table.records(state))]


def codes(state: State) -> list[str]:
    return [note.code for note in state.notes]


def estimating(*numbers: Mapping[str, float | str]) -> dict[str, Act]:
    """What each participant estimates in each round."""
    return {
        f"{round_}/estimate/{who}": saying(
            f"## Reasons\nSo says {who}.", values={"estimate": number}
        )
        for round_, row in enumerate(numbers, 1)
        for who, number in row.items()
    }


def saying(words: str, **fields: Any) -> Act:
    """These words, and a declaration with these fields."""

    def act(request: SpeakRequest) -> str:
        block = declared(request.form, request.user, **fields)
        alone = request.form is not None and request.form.alone
        return block if alone else f"{words}\n\n{block}".strip()

    return act
