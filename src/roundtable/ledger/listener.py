"""The listener of a PostgreSQL ledger: one connection that hears of every committed append.

A notice sent while the connection was down is lost for good; so whenever it stands again, every
tail is made to look for itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import asyncpg

from .tail import ChangeSignal

CHANNEL = "roundtable"
_HEARTBEAT = 15.0
"""Seconds between signs of life: a connection cut without a word must not stay unnoticed."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_PATIENCE = 30.0
"""Seconds without a connection after which the tails find out for themselves, and raise."""

Connect = Callable[[], Awaitable["asyncpg.Connection[Any]"]]
_FAILURES = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)


@dataclass(frozen=True, slots=True)
class _Session:
    connection: asyncpg.Connection[Any]
    ended: asyncio.Event


class Listener:
    """Announces what comes over the channel, from `start` to `close`."""

    def __init__(self, connect: Connect, signal: ChangeSignal) -> None:
        self._connect = connect
        self._signal = signal
        self._starting = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when it listens, or has listened before and will again."""
        async with self._starting:
            if self._task is None:
                session = await self._listen()
                self._task = asyncio.create_task(self._keep_listening(session))

    async def close(self) -> None:
        async with self._starting:
            if self._task is not None:
                self._task.cancel()
                with suppress(asyncio.CancelledError):
                    await self._task

    async def _keep_listening(self, session: _Session) -> None:
        try:
            while True:
                await self._until_ended(session)
                session.connection.terminate()
                session = await self._listen_again()
                self._signal.announce_all()
        finally:
            with suppress(*_FAILURES):
                await session.connection.close(timeout=1)

    async def _listen(self) -> _Session:
        session = _Session(await self._connect(), asyncio.Event())
        session.connection.add_termination_listener(lambda _: session.ended.set())
        try:
            await session.connection.add_listener(CHANNEL, self._heard)
        except BaseException:
            session.connection.terminate()
            raise
        return session

    async def _listen_again(self) -> _Session:
        loop = asyncio.get_running_loop()
        since, pause = loop.time(), _SHORTEST_PAUSE
        while True:
            try:
                return await self._listen()
            except _FAILURES:
                if loop.time() - since > _PATIENCE:
                    self._signal.announce_all()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _until_ended(self, session: _Session) -> None:
        while not session.ended.is_set():
            try:
                async with asyncio.timeout(_HEARTBEAT):
                    await session.ended.wait()
            except TimeoutError:
                try:
                    await session.connection.execute("SELECT 1", timeout=_HEARTBEAT)
                except _FAILURES:
                    return

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        seq, _, discussion_id = str(payload).partition(" ")
        self._signal.announce(discussion_id, int(seq) if seq.isdecimal() else None)
