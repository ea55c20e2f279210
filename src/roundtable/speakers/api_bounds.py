"""What a provider may send: so much, in pieces so large, from the place that was asked.

The vendors' packages read whatever comes. They do it through a client that has this hook, so that
neither an answer without end, nor one in a single piece, nor a packed one that becomes a thousand
times as much can fill the memory; and so that no redirect takes the prompt and the key elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import httpx2

from ..core.errors import NetError
from ..net import check_headers, same_place

MOST_BYTES = 64_000_000
"""Of one answer on the wire. A token takes some 300 bytes there: these are 200,000 of them."""
LONGEST_EVENT = 12_000_000
"""Bytes between two blank lines, which the packages gather before they look at them. Some providers
repeat the whole answer in one such event at the end."""
MOST_LINES = 2_000
"""Lines of one event: they are gathered one by one, each with a copy of those before it."""
_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LABEL = "The provider"
_WRAPPED = 10


async def bound(response: httpx2.Response) -> None:
    """A hook for responses: sees to it that no more is read of one than it may hold."""
    if response.has_redirect_location:
        _refuse_to_leave(response)
    check_headers(_LABEL, response)
    packed = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    response.stream = _Bounded(packed)
    # It comes unpacked from here on, and its length is another one.
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)


def refusal_in(error: BaseException | None) -> NetError | None:
    """The refusal from here that an error has at its root, whatever the packages wrapped around."""
    for _ in range(_WRAPPED):
        if error is None or isinstance(error, NetError):
            return error
        error = error.__cause__ or error.__context__
    return None


class _Bounded(httpx2.AsyncByteStream):
    """An answer's bytes, unpacked and counted. Whoever goes over them a second time, as the
    packages do to have the rest out of the way, goes on where the first stopped."""

    def __init__(self, packed: httpx2.Response) -> None:
        self._packed = packed
        self._blocks = packed.aiter_bytes()
        self._whole = self._size = self._lines = 0
        self._before = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._blocks:
            self._count(block)
            yield block

    def _count(self, block: bytes) -> None:
        *events, last = _BLANK_LINE.split(self._before + block)
        if events:
            self._size = self._lines = 0
        else:  # what was held back is in it once more
            last = block
        self._whole += len(block)
        self._size += len(last)
        self._lines += last.count(b"\n") + last.count(b"\r")
        self._before = (self._before + block)[-3:]  # a blank line may be cut in two
        if self._whole > MOST_BYTES or self._size > LONGEST_EVENT or self._lines > MOST_LINES:
            raise NetError("too_large", f"{_LABEL} sent more than anybody could read.")

    async def aclose(self) -> None:
        await self._packed.aclose()


def _refuse_to_leave(response: httpx2.Response) -> None:
    asked = response.request.url
    try:
        stays = same_place(asked, asked.join(response.headers["location"]))
    except (httpx2.InvalidURL, ValueError):
        stays = False
    if not stays:
        raise NetError(
            "redirect",
            f"{_LABEL} redirects to another place, which is not followed.",
            "Set its base URL to where it is now.",
        )
