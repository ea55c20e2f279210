"""What a provider may send: so much, from the place that was asked.

Neither an answer without end nor a packed one that becomes a thousand times as much can fill the
memory, and no redirect takes the prompt and the key elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from ..core.errors import NetError
from ..net import check_headers, same_place

MOST_BYTES = 64_000_000
"""Of one answer on the wire. A token takes some 300 bytes there: these are 200,000 of them."""
_LABEL = "The provider"


async def look(response: httpx2.Response) -> None:
    """A hook for responses: refuses those that are not read any further. NetError."""
    if response.has_redirect_location:
        _refuse_to_leave(response)
    check_headers(_LABEL, response)


async def blocks(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The bytes of an answer as they come, unpacked and counted. NetError if there are too many."""
    packed = "content-encoding" in response.headers
    seen = 0
    async for block in response.aiter_bytes() if packed else response.aiter_raw():
        seen += len(block)
        if seen > MOST_BYTES:
            raise too_large()
        yield block


def too_large() -> NetError:
    """For what nobody reads to its end."""
    return NetError("too_large", f"{_LABEL} sent more than anybody could read.")


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
