"""Intake: the body of a request, read whole before any route sees it, or refused.

It must be JSON, not too large, and here in time. What all requests together hold is bounded too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from .limits import Places
from .refusal import Refused

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope

LARGEST_BODY = 2 * 1024 * 1024
LARGEST_DOCUMENT = 16 * 1024 * 1024
"""Of a document that is to be read, as it comes: a third more than the file has."""
DOCUMENTS = "/api/documents"
BODY_WITHIN = 30.0
"""Seconds for all of it, however much of it there is."""
HELD_IN_ALL = 24 * 1024 * 1024
"""Bytes of all bodies that are being sent or answered."""
MOST_PARTS = 200_000
"""Objects and lists in one body: each takes many times the room that it has on the wire."""
BODIES_PER_LINK = 8
BODIES_PER_ADDRESS = 32
BODIES_IN_ALL = 128
_LENGTH = re.compile(r"[0-9]{1,15}")


class Intake:
    """Reads bodies."""

    def __init__(self) -> None:
        self._held = 0
        self._sending = Places(
            "requests whose body is still on its way",
            link=BODIES_PER_LINK,
            address=BODIES_PER_ADDRESS,
            in_all=BODIES_IN_ALL,
        )

    @asynccontextmanager
    async def body(
        self,
        scope: Scope,
        headers: Mapping[bytes, str],
        receive: Receive,
        *,
        by: str,
        address: str,
    ) -> AsyncIterator[Receive]:
        """A `receive` that has the whole body, for as long as the request is answered. `by` is the
        id of what it is asked with; the owner has none. Refused if it cannot be taken."""
        largest = LARGEST_DOCUMENT if scope["path"] == DOCUMENTS else LARGEST_BODY
        length = headers.get(b"content-length", "0")
        if not _LENGTH.fullmatch(length) or int(length) > largest:
            raise _too_large(largest)
        taken = bytearray()
        size = 0
        try:
            try:
                with self._sending.one(by, address):
                    await self._take(receive, taken, largest)
            finally:
                size = len(taken)
            whole = bytes(taken)
            taken.clear()
            _refuse_other_kinds(scope, headers, whole)
            yield _replay(whole, receive)
        finally:
            self._held -= size

    async def _take(self, receive: Receive, taken: bytearray, largest: int) -> None:
        more = True
        try:
            async with asyncio.timeout(BODY_WITHIN):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    piece = message.get("body", b"")
                    taken += piece
                    self._held += len(piece)
                    if len(taken) > largest:
                        raise _too_large(largest)
                    if self._held > HELD_IN_ALL:
                        raise Refused(
                            503,
                            "The server is busy with the requests of others.",
                            "Try again in 5 s.",
                            headers={"retry-after": "5"},
                        )
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Refused(
                408,
                f"The request did not arrive within {BODY_WITHIN:g} s.",
                "Send it whole, then wait for the answer.",
                headers={"connection": "close"},
            ) from None


def _replay(whole: bytes, receive: Receive) -> Receive:
    body: list[Message] = [{"type": "http.request", "body": whole, "more_body": False}]

    async def replay() -> Message:
        return body.pop() if body else await receive()

    return replay


def _too_large(largest: int) -> Refused:
    return Refused(
        413,
        f"The request is too large: at most {largest // (1024 * 1024)} MiB fit.",
        "Send an excerpt.",
    )


def _refuse_other_kinds(scope: Scope, headers: Mapping[bytes, str], whole: bytes) -> None:
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and (scope["method"] != "DELETE" or whole):
        raise Refused(
            415, "The body must be JSON.", "Send it with the header Content-Type: application/json."
        )
    if whole.count(b"{") + whole.count(b"[") > MOST_PARTS:
        raise Refused(
            413,
            f"The request has too many parts: at most {MOST_PARTS:,} lists and objects fit.",
            "Send long material as one text.",
        )
