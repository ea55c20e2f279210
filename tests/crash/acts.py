"""What the processes of the crash tests do."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, Literal, cast

from roundtable.core.errors import LeaseHeld
from roundtable.core.events import NewEvent, StoredEvent
from roundtable.ledger import open_ledger
from roundtable.ports import Ledger, OnWords, Reply, Speaker, SpeakRequest
from roundtable.speakers.hub import SpeakerHub
from roundtable.surfaces.cli.app import run as run_command_line
from roundtable.surfaces.python import Roundtable

MODEL = "openai/gpt-5-mini"
QUESTION = "Tea or coffee for a team of five?"
ARRIVED = "arrived"
"""The file in which a process that dies at an answer has named those that it got."""
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
    """kill -9 at the n-th append: before it, once it is handed in, or when it is done. Or at the
    n-th answer: once the ledger has written what it was given by then, before anything else of
    the process runs."""

    at: int
    when: Literal["before", "during", "after", "answered"]


def ask(place: Place, death: Death | None = None) -> None:
    """Hold a whole council, or die on the way. The number of appends is left in a file."""

    async def main() -> None:
        ledger = await open_ledger(place.db)
        mortal = _Mortal(ledger, death)
        if death is not None and death.when == "answered":
            _die_when_answered(ledger, death.at, place.home / ARRIVED)
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
        death = self._death
        when = death.when if death is not None and death.at == self.appends else None
        if when == "before":
            _die()
        appending = self._ledger.append(discussion_id, events, **how)
        if when == "during":
            handed_in = asyncio.ensure_future(appending)
            await asyncio.sleep(0)
            _die()
            return await handed_in
        stored = await appending
        if when == "after":
            _die()
        return stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


def _die_when_answered(ledger: Ledger, at: int, log: Path) -> None:
    """Whatever speaks in this process, the n-th answer is its last."""
    admitted = SpeakerHub.admitted
    answers = count(1)

    async def heard(ledger: Ledger) -> None:
        await ledger.summaries()

    def written_out() -> None:
        # The loop stands still meanwhile. The ledger does one thing after the other, so that what
        # it was given is on disk when it answers a question from elsewhere.
        asking = Thread(target=lambda: asyncio.run(heard(ledger)))
        asking.start()
        asking.join()
        _die()

    class Last:
        def __init__(self, speaker: Speaker) -> None:
            self._speaker = speaker

        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            reply = await self._speaker.speak(request, on_words)
            with log.open("a", encoding="utf-8") as arrived:
                arrived.write(f"{request.idempotency_key}\n")
            if next(answers) == at:
                asyncio.get_running_loop().call_soon(written_out)
            return reply

        def __getattr__(self, name: str) -> Any:
            return getattr(self._speaker, name)

    @asynccontextmanager
    async def admit(self: SpeakerHub, model: str) -> AsyncGenerator[Speaker, None]:
        async with admitted(self, model) as speaker:
            yield cast("Speaker", Last(speaker))

    SpeakerHub.admitted = admit  # type: ignore[method-assign]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
