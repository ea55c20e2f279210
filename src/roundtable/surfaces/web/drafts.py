"""Drafts: words of a speech that is still being spoken, on their way to whoever watches.

They are never stored. The process that drives a discussion has them; a `DraftStore` keeps what was
said so far for the viewers of this process, and a `Poster` in any other process brings them here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.declaration_block import LABEL, spoken_so_far
from ...core.errors import NetError
from ...core.events import AttemptFailed, SpeechGiven, StoredEvent, TurnFailed
from ...core.state import State
from ...core.visible import shown
from ...engine.outage import Notice
from ...engine.tools import Draft, OnDraft
from ...net import request
from ...procedures.casting_terms import CASTING
from ...procedures.clerk import BLOCK
from . import STATE_FILE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ...ledger.exchange import Exchange
    from .found import Found

POST_EVERY = 0.15
LOOK_EVERY = 3.0
_POST_WITHIN = 2.0
_MOST_TURNS = 2_000
_LONGEST = 200_000
_NOT_SPOKEN = frozenset({LABEL, CASTING, BLOCK})
"""Blocks that are written for the program and not for readers."""


@dataclass(slots=True)
class Speaking:
    """One turn's words so far."""

    turn_id: str
    participant: str
    attempt: int
    pieces: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, words: str) -> None:
        if self.length < _LONGEST:
            self.pieces.append(words)
            self.length += len(words)

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def shown(self) -> str:
        """The words without secrets, without what is declared, and nothing hidden in them."""
        return shown(spoken_so_far(self.text, _NOT_SPOKEN))


OnChange = Callable[[str], None]
"""Told of the turn that has new words; of none when the driver has to wait, or goes on."""


class DraftStore:
    """What is being said now, by discussion and turn."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[str, str], Speaking] = OrderedDict()
        self._ears: dict[str, list[OnChange]] = {}
        self.away: set[str] = set()
        """The discussions whose driver waits for the database."""
        self.waiting: set[str] = set()
        """Those that wait until they may begin."""

    def notice(self, notice: Notice) -> None:
        """The driver of a discussion waits, for the database or to begin, or no longer does."""
        (self.away.add if notice.away else self.away.discard)(notice.discussion_id)
        (self.waiting.add if notice.waiting else self.waiting.discard)(notice.discussion_id)
        for tell in self._ears.get(notice.discussion_id, ()):
            tell("")

    def add(self, draft: Draft) -> None:
        """More words of a turn. A later attempt begins anew; an earlier one is over."""
        self.put(
            draft.discussion_id, draft.turn_id, draft.participant, draft.attempt, None, draft.words
        )

    def put(
        self,
        discussion_id: str,
        turn_id: str,
        participant: str,
        attempt: int,
        begins: int | None,
        words: str,
    ) -> bool:
        """Words that follow `begins` characters, or whatever is here already (None). False if
        words in between are missing: whoever sends them must begin anew."""
        key = (discussion_id, turn_id)
        known = self._turns.get(key)
        if known is not None and known.attempt > attempt:
            return True
        if known is None or known.attempt < attempt or begins == 0:
            known = self._turns[key] = Speaking(turn_id, participant, attempt)
            if len(self._turns) > _MOST_TURNS:
                self._turns.popitem(last=False)
        if begins is not None and begins != known.length:
            return False
        known.add(words)
        for tell in self._ears.get(discussion_id, ()):
            tell(turn_id)
        return True

    def drop(self, discussion_id: str, turn_id: str, attempt: int | None = None) -> None:
        """The turn has its outcome, or this attempt at it has."""
        known = self._turns.get((discussion_id, turn_id))
        if known is not None and (attempt is None or known.attempt <= attempt):
            del self._turns[discussion_id, turn_id]

    def on_event(self, record: StoredEvent, _: State) -> None:
        """What has its outcome is no longer being said."""
        event = record.event
        if isinstance(event, SpeechGiven | TurnFailed | AttemptFailed):
            self.drop(record.discussion_id, event.turn_id)

    def drop_all(self, discussion_id: str) -> None:
        """Nobody drives the discussion here any more."""
        for speaking in self.of(discussion_id):
            self.drop(discussion_id, speaking.turn_id)

    def get(self, discussion_id: str, turn_id: str) -> Speaking | None:
        return self._turns.get((discussion_id, turn_id))

    def of(self, discussion_id: str) -> list[Speaking]:
        """Everything that is being said in a discussion."""
        return [said for (where, _), said in self._turns.items() if where == discussion_id]

    def watched(self) -> list[str]:
        """The discussions in which somebody listens."""
        return list(self._ears)

    @contextmanager
    def listening(self, discussion_id: str, tell: OnChange) -> Iterator[None]:
        """`tell` is called at each word of a discussion."""
        ears = self._ears.setdefault(discussion_id, [])
        ears.append(tell)
        try:
            yield
        finally:
            ears.remove(tell)
            if not ears:
                self._ears.pop(discussion_id, None)


class Poster:
    """Brings the drafts of this process to the server of the installation, if there is one. Best
    effort: it never waits for it, and what cannot be delivered is dropped."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._turns: dict[tuple[str, str], Speaking] = {}
        self._sent: dict[tuple[str, str], int] = {}
        self._changed = asyncio.Event()
        self._found: Found | None = None

    def add(self, draft: Draft) -> None:
        key = (draft.discussion_id, draft.turn_id)
        known = self._turns.get(key)
        if known is None or known.attempt != draft.attempt:
            known = self._turns[key] = Speaking(draft.turn_id, draft.participant, draft.attempt)
            self._sent[key] = 0
        known.add(draft.words)
        self._changed.set()

    async def run(self) -> None:
        """Post what is new, at most every so often, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._found is None and (self._home / STATE_FILE).exists():
                from .found import running

                self._found = await asyncio.to_thread(running, self._home)
            if self._found is None:
                await asyncio.sleep(LOOK_EVERY)
            elif not await self._post(self._found, self._pending()):
                # It may be another one next time, which knows nothing yet.
                self._found = None
                self._sent = dict.fromkeys(self._sent, 0)
                await asyncio.sleep(LOOK_EVERY)
            else:
                await asyncio.sleep(POST_EVERY)

    def _pending(self) -> list[dict[str, Any]]:
        pending = []
        for (discussion_id, turn_id), said in self._turns.items():
            sent = self._sent[discussion_id, turn_id]
            if said.length > sent:
                pending.append(
                    {
                        "discussion_id": discussion_id,
                        "turn_id": turn_id,
                        "participant": said.participant,
                        "attempt": said.attempt,
                        "begins": sent,
                        "words": said.text[sent:],
                    }
                )
                self._sent[discussion_id, turn_id] = said.length
        return pending

    async def _post(self, found: Found, drafts: list[dict[str, Any]]) -> bool:
        from .links import load_links

        host = f"[{found.host}]" if ":" in found.host else found.host
        key = (await asyncio.to_thread(load_links, self._home)).owner_key
        try:
            answer = await request(
                "The page's server",
                "POST",
                f"http://{host}:{found.port}/api/drafts",
                body={"drafts": drafts},
                headers={"authorization": f"Bearer {key}"},
                timeout=_POST_WITHIN,
                proxies=False,
            )
            return answer.good and answer.json()["complete"] is True
        except (NetError, LookupError, TypeError):
            return False


@asynccontextmanager
async def posting(
    home: Path, on_draft: OnDraft, exchange: Exchange | None = None
) -> AsyncIterator[OnDraft]:
    """`on_draft`, and the page hears it too while there is one: by an `exchange` every page that
    shows it, else the one of this installation."""
    if exchange is not None:
        from .draft_exchange import DraftExchange

        drafts = DraftExchange(exchange, DraftStore())

        def all_of_them(draft: Draft) -> None:
            on_draft(draft)
            drafts.add(draft)

        async with drafts.running():
            yield all_of_them
        return
    poster = Poster(home)
    work = asyncio.create_task(poster.run())

    def both(draft: Draft) -> None:
        on_draft(draft)
        poster.add(draft)

    try:
        yield both
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
