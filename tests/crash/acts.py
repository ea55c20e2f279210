"""What the processes of the crash tests do."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from roundtable.core.errors import LeaseHeld
from roundtable.core.events import NewEvent, StoredEvent
from roundtable.ledger import open_ledger
from roundtable.ports import Ledger
from roundtable.surfaces.cli.app import run as run_command_line
from roundtable.surfaces.python import Roundtable

MODEL = "openai/gpt-5-mini"
QUESTION = "Tea or coffee for a team of five?"
NOT_DRIVING = 75
"""The exit code of a process that found another one driving."""


@dataclass(frozen=True)
class Place:
    """Where the discussion is held: the same for all its processes."""

    home: Path
    db: str
    env: dict[str, str]

    def table(self, ledger: Ledger | None = None) -> Roundtable:
        env = {**self.env, "ROUNDTABLE_LOCAL_SERVERS": "no"}
        return Roundtable(home=self.home, db=self.db, model=MODEL, env=env, ledger=ledger)


@dataclass(frozen=True)
class Death:
    """kill -9 at the n-th append: before it, once it is handed in, or when it is done."""

    at: int
    when: Literal["before", "during", "after"]


def ask(place: Place, death: Death | None = None) -> None:
    """Hold a whole council, or die on the way. The number of appends is left in a file."""

    async def main() -> None:
        ledger = await open_ledger(place.db)
        mortal = _Mortal(ledger, death)
        async with place.table(cast("Ledger", mortal)) as table:
            await table.ask(QUESTION, all=MODEL)
        (place.home / "appends").write_text(str(mortal.appends), "ascii")
        await ledger.close()

    asyncio.run(main())


def resume(place: Place) -> None:
    """Go on with the only discussion of this place, and compare what this process believes in the
    end with what the ledger says."""

    async def main() -> None:
        async with place.table() as table:
            (headline,) = await table.discussions()
            state = await table.run(headline.discussion_id)
            assert state == await table.read(headline.discussion_id)

    try:
        asyncio.run(main())
    except LeaseHeld:
        sys.exit(NOT_DRIVING)


def command_line(place: Place, args: Sequence[str]) -> None:
    """What the `roundtable` command does, with its output in files."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(place.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    os.chdir(place.home)
    os.environ.update(
        place.env,
        ROUNDTABLE_HOME=str(place.home),
        ROUNDTABLE_DB=place.db,
        ROUNDTABLE_MODEL=MODEL,
        ROUNDTABLE_LOCAL_SERVERS="no",
    )
    sys.exit(run_command_line(args))


class _Mortal:
    """A ledger whose process dies at an append."""

    def __init__(self, ledger: Ledger, death: Death | None) -> None:
        self._ledger = ledger
        self._death = death
        self.appends = 0

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **how: Any
    ) -> list[StoredEvent]:
        self.appends += 1
        due = self._death is not None and self._death.at == self.appends
        when = self._death.when if due and self._death else None
        if when == "before":
            _die()
        appending = asyncio.ensure_future(self._ledger.append(discussion_id, events, **how))
        if when == "during":
            await asyncio.sleep(0)
            _die()
        stored = await appending
        if when == "after":
            _die()
        return stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
