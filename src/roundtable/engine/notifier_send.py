"""Sending one message: its parts, its thread, its time, and what came of it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Literal

from ..core.errors import ChannelError
from ..core.events import NewsSettled
from ..core.notifications import Entry
from ..core.text import clip, redact
from ..ports import Channel, CheckableChannel, Clock, Post, ThreadChannel

MAX_PARTS = 10
log = logging.getLogger("roundtable.news")


class Pace:
    """Keeps posts to one channel apart, and their number at once in bounds."""

    def __init__(self, clock: Clock, interval: float, at_once: int) -> None:
        self._clock = clock
        self._interval = interval
        self._free_at = 0.0
        self.room = asyncio.Semaphore(at_once)

    async def wait(self) -> None:
        now = self._clock.monotonic()
        begin = max(now, self._free_at)
        self._free_at = begin + self._interval
        if begin > now:
            await self._clock.sleep(begin - now)


@dataclass(frozen=True, slots=True)
class Sender:
    """Hands one message to its channel."""

    channel: Channel
    clock: Clock
    pace: Pace

    async def send(
        self,
        discussion_id: str,
        entry: Entry,
        attempt: int,
        thread_id: str,
        *,
        doubtful: bool,
        last: bool,
    ) -> NewsSettled:
        """Send what of a message has not arrived yet. Never raises: a failure is an outcome.

        `doubtful`: an earlier attempt may have arrived although nobody recorded it. `last`: if
        it fails now, it is given up.
        """
        from ..views.outgoing import outgoing

        message = entry.message
        begun = self.clock.monotonic()
        whole = message.kind == "thread"
        parts = (
            [outgoing(message.text)] if whole else outgoing_parts(message.text, self.channel.limit)
        )
        done = min(entry.parts, len(parts) - 1)
        receipt, error = "", None
        try:
            for number in range(done, len(parts)):
                post = Post(
                    place=message.channel,
                    text=parts[number],
                    discussion_id=discussion_id,
                    kind=message.kind,
                    key=f"{discussion_id}/{message.id}/{entry.before}/{number}",
                    thread_id=thread_id,
                )
                if number > done:
                    await self.pace.wait()
                async with asyncio.timeout(self.channel.timeout):
                    receipt = await self._hand_over(post, doubtful and number == done)
                done = number + 1
        except ChannelError as failure:
            error = failure
        except TimeoutError:
            error = ChannelError(f"No answer within {self.channel.timeout:g} s.")
        except Exception as failure:  # whatever a sender does, it must not end the notifier
            error = ChannelError(f"{type(failure).__name__}: {failure}")
        settled = NewsSettled(
            message_id=message.id,
            channel=message.channel.name,
            attempt=attempt,
            outcome=_outcome(error, last=last),
            detail=redact(error.message) if error else "",
            remedy=redact(error.remedy) if error else "",
            retry_after=error.retry_after if error else None,
            receipt=receipt if error is None else f"{done}/{len(parts)}",
            seconds=round(self.clock.monotonic() - begun, 3),
        )
        _trace(entry, settled)
        return settled

    async def _hand_over(self, post: Post, doubtful: bool) -> str:
        channel = self.channel
        if post.kind == "thread":
            if not isinstance(channel, ThreadChannel):
                raise ChannelError("It has no threads.", permanent=True)
            return await channel.open_thread(post.place, post.text)
        if doubtful and isinstance(channel, CheckableChannel):
            found = await channel.arrived(post)
            if found is not None:
                return found
        return await channel.post(post)


def outgoing_parts(text: str, limit: int) -> list[str]:
    """A message as it leaves, in as many posts as it needs. Each is cleaned by itself: where a post
    begins in the middle of code, what was code is none any more."""
    from ..core.notifications_text import parted
    from ..views.outgoing import outgoing

    parts = parted(clip(outgoing(text), limit * MAX_PARTS), limit)
    clean = [outgoing(part) for part in parts]
    if all(len(part) <= limit for part in clean):
        return clean
    return [part for long in clean for part in parted(long, limit)]


def _outcome(
    error: ChannelError | None, *, last: bool
) -> Literal["delivered", "failed", "given_up"]:
    if error is None:
        return "delivered"
    return "given_up" if error.permanent or last else "failed"


def _trace(entry: Entry, settled: NewsSettled) -> None:
    place = entry.message.channel
    level = {"delivered": logging.DEBUG, "failed": logging.INFO}.get(
        settled.outcome, logging.WARNING
    )
    log.log(
        level,
        "platform=%s chat=%s kind=%s length=%d attempt=%d seconds=%.3f %s",
        place.platform,
        redact(place.chat_id) or "-",
        entry.message.kind,
        len(entry.message.text),
        settled.attempt,
        settled.seconds,
        "ok" if settled.outcome == "delivered" else f"{settled.outcome}: {settled.detail}",
    )
