"""Drafts between processes at one database: words go to where somebody watches, and nowhere else.

A process in which somebody watches a discussion says so, again and again; whoever drives it then
says the words as they come, from the beginning for whoever was not there. Nothing of it is stored,
and a word that is lost is asked for again.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from ...engine.tools import Draft
from .drafts import DraftStore

if TYPE_CHECKING:
    from ...ledger.exchange import Exchange

WORDS = "roundtable_drafts"
WANTED = "roundtable_wanted"
"""The channels: what is being said, and where somebody listens."""
ASK_EVERY = 5.0
"""Seconds after which it is said again who is listened to."""
LISTENED_TO = 15.0
"""Seconds for which that counts."""
_EVERY = 0.1
_PIECE = 600
"""Characters of one line: a notice is bounded in bytes."""
_ANEW = "!"


class DraftExchange:
    """Says what is said here where it is wanted, and takes in what is wanted here."""

    def __init__(self, exchange: Exchange, store: DraftStore) -> None:
        """`store` holds what is being said, here and elsewhere."""
        self._exchange = exchange
        self._store = store
        self._me = secrets.token_hex(6)
        self._wanted: dict[str, dict[str, float]] = {}
        """Who wants the words of a discussion elsewhere, and until when."""
        self._said: dict[tuple[str, str], tuple[int, int]] = {}
        """How far each turn that is spoken here was told: its attempt, and characters."""
        self._asked: set[str] = set()
        self._more = asyncio.Event()

    def add(self, draft: Draft) -> None:
        """More words of a turn that is spoken here."""
        self._store.add(draft)
        self._said.setdefault((draft.discussion_id, draft.turn_id), (draft.attempt, 0))
        if draft.discussion_id in self._wanted:
            self._more.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._exchange.hearing(WANTED, self._want))
            await stack.enter_async_context(self._exchange.hearing(WORDS, self._take))
            work = [asyncio.create_task(each) for each in (self._say(), self._ask())]
            try:
                yield
            finally:
                for task in work:
                    task.cancel()
                await asyncio.gather(*work, return_exceptions=True)

    # Saying

    def _want(self, line: str) -> None:
        sender, _, discussion_id = line.partition(" ")
        if sender == self._me:
            return
        anew = discussion_id.startswith(_ANEW)
        discussion_id = discussion_id.removeprefix(_ANEW)
        wanting = self._wanted.setdefault(discussion_id, {})
        if anew or sender not in wanting:
            for place, (attempt, _) in self._said.items():
                if place[0] == discussion_id:
                    self._said[place] = (attempt, 0)
        wanting[sender] = asyncio.get_running_loop().time() + LISTENED_TO
        self._more.set()

    async def _say(self) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            self._forget(asyncio.get_running_loop().time())
            for place in list(self._said):
                self._tell(*place)
            await asyncio.sleep(_EVERY)

    def _forget(self, now: float) -> None:
        """Whoever has not said for long that it listens."""
        for discussion_id, wanting in list(self._wanted.items()):
            for sender in [each for each, until in wanting.items() if until <= now]:
                del wanting[sender]
            if not wanting:
                del self._wanted[discussion_id]

    def _tell(self, discussion_id: str, turn_id: str) -> None:
        speaking = self._store.get(discussion_id, turn_id)
        if speaking is None:  # it is over
            del self._said[discussion_id, turn_id]
            return
        attempt, told = self._said[discussion_id, turn_id]
        if attempt != speaking.attempt:
            told = 0
        if discussion_id in self._wanted:
            text = speaking.text
            while told < len(text):
                words = text[told : told + _PIECE]
                line = [self._me, discussion_id, turn_id, speaking.participant]
                self._exchange.say(WORDS, json.dumps([*line, speaking.attempt, told, words]))
                told += len(words)
        self._said[discussion_id, turn_id] = (speaking.attempt, told)

    # Hearing

    async def _ask(self) -> None:
        """Say which discussions are watched here: new ones soon, all of them now and then."""
        loop = asyncio.get_running_loop()
        again = loop.time()
        while True:
            watched = set(self._store.watched())
            if loop.time() >= again:
                self._asked.clear()
                again = loop.time() + ASK_EVERY
                self._said = {
                    place: told for place, told in self._said.items() if self._store.get(*place)
                }
            for discussion_id in watched - self._asked:
                self._exchange.say(WANTED, f"{self._me} {discussion_id}")
            self._asked = watched
            await asyncio.sleep(_EVERY)

    def _take(self, line: str) -> None:
        sender, discussion_id, turn_id, participant, attempt, begins, words = json.loads(line)
        if sender == self._me or discussion_id not in self._asked:
            return
        known = self._store.get(discussion_id, turn_id)
        if known is not None and known.attempt == attempt and begins < known.length:
            # It is told from the beginning, for somebody else: what is here already stays.
            words = words[known.length - begins :]
            begins = known.length
            if not words:
                return
        place = (discussion_id, turn_id, participant, attempt)
        if not self._store.put(*place, begins, words) and begins:
            self._exchange.say(WANTED, f"{self._me} {_ANEW}{discussion_id}")
