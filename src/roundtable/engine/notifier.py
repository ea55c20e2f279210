"""The notifier: tells others of discussions, beside them and never in their way.

It follows the ledger, claims each message that is due by recording NewsTried, sends it, and
records what came of it. Nothing of this is held in memory alone: when a process ends, the next one
sees in the ledger what is left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256

from ..core.errors import ChannelError, RoundtableError, UnknownDiscussion
from ..core.events import Event, NewEvent, NoteAdded, StoredEvent
from ..core.notifications import NEWS, Entry, again, outbox_of, requested
from ..core.values import NewsChannel, NewsPlan
from ..ports import Channels, Clock, Ledger, Post
from .notifier_route import Route, ended
from .notifier_send import Pace, outgoing_parts

AT_ONCE = 4
"""Messages at once to one platform, over all discussions."""
GREETING = 2.0
"""Seconds that a discussion waits at most for its threads, before anybody speaks."""
GRACE = 3.0
"""Seconds for what is under way when a process ends."""
LEFTOVERS = 10
"""The newest discussions that a notifier looks through for what others left."""
LEFTOVERS_WITHIN = timedelta(days=1)

log = logging.getLogger("roundtable.news")
Left = tuple[str, Entry]
"""A message that has not arrived, and its discussion."""


class Notifier:
    """Implements the News port."""

    def __init__(
        self,
        ledger: Ledger,
        channels: Channels,
        clock: Clock,
        *,
        by: str,
        default: Callable[[str], NewsPlan | None] = lambda _: None,
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`by` names this notifier and no other. `default` is the plan for a discussion of a
        procedure that asks for none; `is_gone` tells whether another notifier certainly ended."""
        self.channels = channels
        self.clock = clock
        self.by = by
        self._ledger = ledger
        self._default = default
        self._is_gone = is_gone
        self._routes: dict[str, Route] = {}
        self._paces: dict[str, Pace] = {}
        self._sweeping: asyncio.Task[None] | None = None
        self._told: set[str] = set()
        """The discussions of which somebody was told what is left."""
        self._closed = False

    # The News port

    def planned(
        self, procedure: str, wanted: NewsPlan | None
    ) -> tuple[NewsPlan | None, list[NoteAdded]]:
        plan = wanted if wanted is not None else self._default(procedure)
        notes = self.warnings(plan)
        if plan is None:
            log.info("news=off: nobody is told of a new discussion (%s)", procedure)
        for note in notes:
            log.info("%s %s", note.text, note.remedy)
        return plan, notes

    def start(self, discussion_id: str) -> None:
        if self._closed:
            return
        self._route(discussion_id)
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._sweep(), name="news left by others")

    async def greeted(self, discussion_id: str) -> None:
        route = self._routes.get(discussion_id)
        if route is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(GREETING):
                    await route.until(lambda: route.begun and not route.waits_for_thread())

    # What a person can ask of it

    def warnings(self, plan: NewsPlan | None) -> list[NoteAdded]:
        """What the reader should know about a plan: news must not be missing in silence."""
        if plan is None:
            return []
        if not plan.enabled:
            text = "News are off for this discussion: nobody is told of it, on no channel."
            return [NoteAdded(code=NEWS, text=text)]
        if not plan.channels:
            text = "News are wanted, but no channel is named, so nobody is told."
            return [NoteAdded(code=NEWS, text=text, remedy="Name one: --notify CHANNEL")]
        return [note for each in plan.channels if (note := self._warning(each))]

    async def fire(self, discussion_id: str, kind: str, *, by: str) -> list[str]:
        """Have news of a kind sent by hand, as things stand; the ids of the messages. NotAllowed
        if there is none, or nobody to tell."""
        outbox = outbox_of(await self._ledger.read(discussion_id))
        wish = requested(outbox, kind, by)
        (recorded,) = await self._record(discussion_id, wish)
        self.start(discussion_id)
        return [f"{recorded.seq}/{kind}/{channel.name}" for channel in outbox.channels]

    async def resend(self, discussion_id: str, message_id: str = "", *, by: str) -> list[str]:
        """Have a message sent again, or without an id all that were given up."""
        outbox = outbox_of(await self._ledger.read(discussion_id))
        ids = (
            [message_id]
            if message_id
            else [each.message.id for each in outbox.entries.values() if each.where == "given_up"]
        )
        for each in ids:
            await self._record(discussion_id, again(outbox, each, by))
        if ids:
            self.start(discussion_id)
        return ids

    async def dispatch(self, channel: str, text: str) -> None:
        """Send a message that belongs to no discussion's outbox, once: `platform:chat_id`.
        ChannelError if it cannot be sent."""
        platform, _, chat_id = channel.partition(":")
        found = self.channels.find(platform)
        if found is None:
            raise ChannelError(
                f"No channel {platform!r} is set up.", "`roundtable notify` names those that are."
            )
        place = NewsChannel(platform=platform, chat_id=chat_id)
        for number, part in enumerate(outgoing_parts(text, found.limit)):
            mark = sha256(part.encode("utf-8", "replace")).hexdigest()[:16]
            async with asyncio.timeout(found.timeout):
                await found.post(Post(place, part, "", "task", f"{channel}/{number}/{mark}"))

    async def pump(self, discussion_ids: Iterable[str], *, patience: float = 60.0) -> list[Left]:
        """Send what is due of these discussions, retries within `patience` seconds included;
        what is left then."""
        ids = list(dict.fromkeys(discussion_ids))
        self._told.update(ids)
        return await self._quiet([self._route(each) for each in ids], patience)

    async def close(self, *, grace: float = GRACE) -> list[Left]:
        """Wait a moment for what is under way, then end. What is left stays in the ledger; it is
        returned, without what `pump` has told."""
        self._closed = True
        if self._sweeping is not None:
            await ended(self._sweeping)
        routes = list(self._routes.values())
        left: list[Left] = []
        try:
            left = await self._quiet(routes, grace, retries=False)
        finally:
            for route in routes:
                await route.close()
            await self.channels.close()
        return [(each, entry) for each, entry in left if each not in self._told]

    def _route(self, discussion_id: str) -> Route:
        found = self._routes.get(discussion_id)
        if found is None:
            found = self._routes[discussion_id] = Route(self, self._ledger, discussion_id)
        return found

    # What its routes need

    def pace(self, platform: str) -> Pace:
        found = self._paces.get(platform)
        if found is None:
            channel = self.channels.find(platform)
            interval = channel.interval if channel else 0.0
            found = self._paces[platform] = Pace(self.clock, interval, AT_ONCE)
        return found

    def wait(self, entry: Entry) -> float:
        """Seconds until a message may be tried; 0 is now."""
        due = entry.due_at
        if due is None:
            return 0.0
        if entry.where == "under_way" and not self.is_ours(entry):
            assert entry.tried is not None
            if self._is_gone(entry.tried.by):
                return 0.0
        return max(0.0, (due - self.clock.now()).total_seconds())

    def is_ours(self, entry: Entry) -> bool:
        """Whether this notifier is the one that is sending it."""
        return entry.tried is not None and entry.tried.by == self.by

    def forget(self, discussion_id: str) -> None:
        """Its discussion is closed and all is told."""
        self._routes.pop(discussion_id, None)

    async def _record(
        self, discussion_id: str, event: Event, key: str | None = None
    ) -> list[StoredEvent]:
        return await self._ledger.append(discussion_id, [NewEvent(event, self.clock.now(), key)])

    def _warning(self, place: NewsChannel) -> NoteAdded | None:
        """Why news will not arrive. A note is read by whoever may watch, and the chat is not
        theirs to know: it names the channel alone."""
        channel = self.channels.find(place.platform)
        if channel is None:
            variable = place.platform.upper().replace("-", "_").replace(".", "_")
            text = f"News cannot be sent: no channel {place.platform!r} is set up."
            remedy = (
                f"Set ROUNDTABLE_CHANNEL_{variable}, or {place.platform} under [channels] in "
                f"config.toml (docs/notifications.md), then: roundtable notify pump"
            )
            return NoteAdded(code=NEWS, text=text, remedy=remedy)
        if found := channel.problem(place):
            text = f"News for {place.platform} cannot be sent: {found[0]}"
            return NoteAdded(code=NEWS, text=text, remedy=found[1])
        if place.threads and "threads" not in channel.abilities:
            text = f"{place.platform} has no threads, so news go straight into the channel."
            return NoteAdded(code=NEWS, text=text)
        return None

    async def _quiet(
        self, routes: Sequence[Route], patience: float, *, retries: bool = True
    ) -> list[Left]:
        """Wait until nothing is under way or due any more, but only so long. With `retries` also
        for those whose wait ends by then."""
        end = self.clock.monotonic() + patience
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                for route in routes:
                    await route.until_quiet(end if retries else None)
        return [
            (route.id, entry) for route in routes if not route.gone for entry in route.outbox.left()
        ]

    async def _sweep(self) -> None:
        """Take up what earlier processes left: also of discussions that nobody drives any more."""
        try:
            since = self.clock.now() - LEFTOVERS_WITHIN
            for row in await self._ledger.summaries(limit=LEFTOVERS):
                if row.driver is None and row.updated_at >= since:
                    with suppress(UnknownDiscussion):
                        outbox = outbox_of(await self._ledger.read(row.discussion_id))
                        if any(
                            self.channels.find(e.message.channel.platform) for e in outbox.left()
                        ):
                            self._route(row.discussion_id)
        except RoundtableError as error:
            log.info("what others left could not be read: %s", error)
