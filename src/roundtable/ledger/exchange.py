"""The exchange: what processes at one PostgreSQL database tell each other beside what is stored.

What is said is never needed: it is a hint that something has moved, or words that will be stored
when they are whole. It goes out after the commit that it tells of, together with what else was said
meanwhile, for a notice inside a transaction makes all that commit wait for each other. Said while
nobody listens, it is lost for good; so whoever hears by it is told when that may have happened, and
looks for itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import asyncpg

from ..core.errors import LedgerError
from .gathered import Gathered
from .postgres_connection import FAILURES

SAY_EVERY = 0.1
"""Seconds between two notices of one process."""
LONGEST = 7_900
"""Bytes of one notice: PostgreSQL takes 8,000."""
MOST_NOTICES = 8
"""Of one channel at once: beyond them all is said by one word, where that is possible."""
MANY = "*"
"""Said in place of lines with names: more has moved than is worth telling."""
_HEARTBEAT = 15.0
"""Seconds between signs of life: a connection cut without a word must not stay unnoticed."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_LAST_WORDS = 1.0
"""Seconds for which a process that ends still tells what it did."""

Connect = Callable[[], Awaitable["asyncpg.Connection[Any]"]]
Send = Callable[[list[str], list[str]], Awaitable[None]]
"""Sends notices: their channels, and beside them what each says."""
Hear = Callable[[str], None]
"""Told each line of a channel, from whichever process; MANY where lines were left out."""


@dataclass(frozen=True, slots=True)
class _Line:
    channel: str
    text: str
    name: str | None


@dataclass(frozen=True, slots=True)
class _Session:
    connection: asyncpg.Connection[Any]
    ended: asyncio.Event


class Exchange:
    """Says and hears lines on channels. Belongs to one event loop."""

    def __init__(self, connect: Connect | None, send: Send, on_gap: Callable[[], None]) -> None:
        """Without `connect` nothing can be heard here. `on_gap` is called when something may have
        been said that was not heard."""
        self._connect = connect
        self._send = send
        self._on_gap = on_gap
        self._hearers: dict[str, list[Hear]] = {}
        self._said = Gathered(self._send_all, every=SAY_EVERY)
        self._starting = asyncio.Lock()
        self._session: _Session | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def listens(self) -> bool:
        """Whether what is said now will be heard here."""
        return self._session is not None and not self._session.ended.is_set()

    @property
    def can_listen(self) -> bool:
        return self._connect is not None

    def say(self, channel: str, text: str, *, name: str | None = None) -> None:
        """Have all others hear a line soon. Of lines with one name on a channel the newest counts,
        and if there are too many with names, MANY is said in place of them."""
        if not self._closed:
            self._said.add(_Line(channel, text, name))

    @asynccontextmanager
    async def hearing(self, channel: str, hear: Hear) -> AsyncGenerator[None, None]:
        """Hear a channel for a while. Where nobody can be listened to just now, it begins when that
        can be."""
        try:
            await self.hear(channel, hear)
            yield
        finally:
            self._hearers[channel].remove(hear)
            if not self._hearers[channel]:
                del self._hearers[channel]
                if (session := self._session) is not None and not session.connection.is_closed():
                    with suppress(*FAILURES):
                        await session.connection.remove_listener(channel, self._heard)

    async def hear(self, channel: str, hear: Hear) -> None:
        """Hear a channel from now on."""
        first = channel not in self._hearers
        self._hearers.setdefault(channel, []).append(hear)
        await self._start()
        if first and (session := self._session) is not None:
            with suppress(*FAILURES):  # then it has ended, and the next one listens to all
                await session.connection.add_listener(channel, self._heard)

    async def close(self) -> None:
        self._closed = True
        await self._said.close(within=_LAST_WORDS)
        async with self._starting:
            if self._task is not None:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)
            if self._session is not None:
                with suppress(*FAILURES):
                    await self._session.connection.close(timeout=1)

    async def tried(self) -> bool:
        """Begin to listen, and tell whether that can be done now."""
        await self._start()
        return self.listens

    # Hearing

    async def _start(self) -> None:
        async with self._starting:
            if self._task is None and self._connect is not None and not self._closed:
                with suppress(*FAILURES):
                    self._session = await self._listen()
                self._task = asyncio.create_task(self._keep_listening())

    async def _keep_listening(self) -> None:
        while True:
            if self._session is not None:
                await _until_ended(self._session)
                self._session.connection.terminate()
                self._session = None
                self._on_gap()
            self._session = await self._listen_again()
            self._on_gap()

    async def _listen(self) -> _Session:
        assert self._connect is not None
        session = _Session(await self._connect(), asyncio.Event())
        session.connection.add_termination_listener(lambda _: session.ended.set())
        try:
            for channel in list(self._hearers):
                await session.connection.add_listener(channel, self._heard)
        except BaseException:
            session.connection.terminate()
            raise
        return session

    async def _listen_again(self) -> _Session:
        pause = _SHORTEST_PAUSE
        while True:
            try:
                return await self._listen()
            except FAILURES:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _heard(self, _connection: object, _pid: int, channel: str, payload: object) -> None:
        for line in str(payload).split("\n"):
            for hear in list(self._hearers.get(channel, ())):
                hear(line)

    # Saying

    async def _send_all(self, lines: list[_Line]) -> None:
        channels: list[str] = []
        said: list[str] = []
        for channel, texts in _by_channel(lines).items():
            channels += [channel] * len(texts)
            said += texts
        # What cannot be said is not said: others find it when they look.
        with suppress(LedgerError):
            await self._send(channels, said)


def _by_channel(lines: Iterable[_Line]) -> Mapping[str, list[str]]:
    """The notices of each channel."""
    named: dict[str, dict[str, str]] = {}
    others: dict[str, list[str]] = {}
    for line in lines:
        if line.name is None:
            others.setdefault(line.channel, []).append(line.text)
        else:
            named.setdefault(line.channel, {})[line.name] = line.text
    notices = {channel: _notices(texts) for channel, texts in others.items()}
    for channel, by_name in named.items():
        told = _notices(by_name.values())
        notices.setdefault(channel, []).extend([MANY] if len(told) > MOST_NOTICES else told)
    return notices


def _notices(texts: Iterable[str]) -> list[str]:
    """Lines, as many in each notice as it takes."""
    notices: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode()) + 1
        if notices and size + length <= LONGEST:
            notices[-1] += f"\n{text}"
            size += length
        else:
            notices.append(text)
            size = length
    return notices


async def _until_ended(session: _Session) -> None:
    while not session.ended.is_set():
        try:
            async with asyncio.timeout(_HEARTBEAT):
                await session.ended.wait()
        except TimeoutError:
            try:
                await session.connection.execute("SELECT 1", timeout=_HEARTBEAT)
            except (*FAILURES, TimeoutError):
                return
