"""What all channels share: their limits, requests to a platform, and work that may hang in a thread
of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ..core.errors import ChannelError, NetError
from ..core.text import clip, redact
from ..core.values import NewsChannel
from ..net import Answer, Method, request, seconds_to_wait
from ..ports import Ability

T = TypeVar("T")
TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class ChannelLimits:
    """How a platform wants to be talked to."""

    limit: int = 4000
    """Characters of one post."""
    interval: float = 0.0
    """Seconds from one post to the next."""
    timeout: float = TIMEOUT


class PlainChannel:
    """A channel that can post and nothing else; others build on it."""

    abilities: frozenset[Ability] = frozenset()

    def __init__(self, limits: ChannelLimits) -> None:
        self.limit = limits.limit
        self.interval = limits.interval
        self.timeout = limits.timeout

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:  # noqa: ARG002 - others look at it
        return None

    async def close(self) -> None:
        """Nothing to give back."""


async def send_json(
    label: str,
    method: Method,
    url: str,
    *,
    body: object = None,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float,
) -> Any:
    """The parsed answer; None if it is no JSON. ChannelError if the platform did not take it."""
    try:
        answer = await request(
            label, method, url, body=body, params=params, headers=headers, timeout=timeout
        )
    except NetError as error:
        permanent = error.cause == "address"
        raise ChannelError(error.message, error.remedy, permanent=permanent) from None
    if not answer.good:
        raise refused(answer)
    return answer.json_or_none()


def refused(answer: Answer) -> ChannelError:
    """What a refusal means: wait, try again, or set something right. What the platform says is
    shown in few words and redacted: it may repeat what it was given."""
    label, status, document = answer.label, answer.status, answer.json_or_none()
    told = document if isinstance(document, dict) else {}
    said = told.get("message") or told.get("msg")
    why = f": {clip(redact(said), 200)}" if isinstance(said, str) and said else "."
    if status == 429:
        stated = seconds_to_wait(told.get("retry_after"))
        return ChannelError(
            f"{label} wants fewer messages (HTTP 429){why}",
            retry_after=answer.retry_after if stated is None else stated,
        )
    if status in (401, 403):
        remedy = "Check its token or address, and that it may write there; then send it again."
        return ChannelError(f"{label} refused access (HTTP {status}){why}", remedy, permanent=True)
    if status >= 500 or status in (408, 425):
        return ChannelError(
            f"{label} has failed (HTTP {status}){why}", retry_after=answer.retry_after
        )
    remedy = "Check the channel's address and chat; then send it again."
    return ChannelError(f"{label} refused it (HTTP {status}){why}", remedy, permanent=True)


class Aside:
    """Runs blocking calls in threads that hold up neither the loop nor the end of the program.

    A call that hangs keeps its thread, so their number is bounded: a channel that never answers
    must not fill the process.
    """

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._busy = 0

    async def run(self, call: Callable[[], T]) -> T:
        if self._busy >= self._most:
            raise ChannelError(
                f"It still holds {self._busy} earlier messages without an answer.",
                "It is tried again later.",
            )
        self._busy += 1
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: BaseException | None) -> None:
            self._busy -= 1
            if done.done():
                return
            if error is None:
                done.set_result(value)  # type: ignore[arg-type]  # None only if T allows it
            else:
                done.set_exception(error)

        def work() -> None:
            value: T | None = None
            error: BaseException | None = None
            try:
                value = call()
            except StopIteration as stop:  # a future takes it for something else
                error = RuntimeError(f"StopIteration: {stop}")
            except BaseException as failure:
                error = failure
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, value, error)

        threading.Thread(target=work, daemon=True, name="news").start()
        return await done
