"""The connections of one event loop, and one call through them.

Requests are plain JSON, and answers are read from the bytes as they come: a piece of an answer
costs one parsed line. Importing this brings the HTTP client: only `api` does it, when a call is
due.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2

from ..core.addresses import address_parts, is_this_machine
from ..core.errors import NetError, SpeakerError
from ..net import RootsWhenNeeded
from ..ports import CUT, SpeakRequest
from ..version import __version__
from . import wire_chat, wire_messages, wire_responses
from .abilities import Abilities, Dialect, Extra, abilities
from .answer import BROKEN, REFUSED, Answer, Json, ProviderError, Tokens
from .api import Endpoint
from .api_bounds import blocks, look, too_large
from .hearing import Hearing
from .sse import LONGEST_EVENT
from .strict_schema import strict

_SLACK = 5.0
_LAST_BYTES = 0.25
"""Seconds for what follows an answer's end, so that its connection can be used again."""
_A_MOMENT = 0.02
"""Seconds for which a call waits at most for connections that are about to be free."""


class Wire(NamedTuple):
    """One of the interfaces that providers have."""

    path: str
    headers: Callable[[dict[str, str]], dict[str, str]]
    """All that the interface wants, with the header that shows the key."""
    body: Callable[[str, SpeakRequest, Abilities, Json | None], dict[str, Any]]
    answer: Callable[[], Answer]


_WIRES: dict[Dialect, Wire] = {
    "chat": Wire(wire_chat.PATH, wire_chat.headers, wire_chat.body, wire_chat.ChatAnswer),
    "messages": Wire(
        wire_messages.PATH,
        wire_messages.headers,
        wire_messages.body,
        wire_messages.MessagesAnswer,
    ),
    "responses": Wire(
        wire_responses.PATH,
        wire_responses.headers,
        wire_responses.body,
        wire_responses.ResponsesAnswer,
    ),
}


class ApiClient:
    """The connections to all providers."""

    def __init__(self) -> None:
        self._leaving: set[asyncio.Task[None]] = set()
        self._pools: dict[bool, httpx2.AsyncClient] = {}
        """Of the servers of this machine, and of all others: those of the first go through no proxy
        of the environment, which could not reach them."""

    def _pool(self, address: str) -> httpx2.AsyncClient:
        here = is_this_machine(address_parts(address).hostname or "")
        if (known := self._pools.get(here)) is not None:
            return known
        made = self._pools[here] = httpx2.AsyncClient(
            verify=RootsWhenNeeded(),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32),
            follow_redirects=True,
            trust_env=not here,
            headers={
                "accept": "application/json",
                # Unpacked, a small answer could become a very large one.
                "accept-encoding": "identity",
                "content-type": "application/json",
                "user-agent": f"roundtable/{__version__}",
            },
            event_hooks={"response": [look]},
        )
        return made

    def call(
        self, endpoint: Endpoint, name: str, request: SpeakRequest, refused: Collection[Extra]
    ) -> ApiCall:
        """Prepare one call to the provider's model `name`, without what is `refused` there."""
        return ApiCall(self, endpoint, name, request, refused)

    @asynccontextmanager
    async def send(self, address: str, **how: Any) -> AsyncGenerator[httpx2.Response, None]:
        """A request, and the beginning of what is answered."""
        if self._leaving:  # connections that are free in a moment need not be made
            await asyncio.wait(self._leaving, timeout=_A_MOMENT)
        async with self._pool(address).stream("POST", address, **how) as response:
            yield response

    def let_run_out(self, line: AsyncExitStack, received: AsyncIterator[bytes]) -> None:
        """An answer is here: have what follows its end out of the way, beside all else, so that its
        connection can be used again."""
        leaving = asyncio.create_task(_let_run_out(line, received))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        for leaving in (all_leaving := list(self._leaving)):
            leaving.cancel()
        await asyncio.gather(*all_leaving, return_exceptions=True)
        for pool in self._pools.values():
            await pool.aclose()


class ApiCall:
    """One call in flight: its words as they come, and afterwards what is known of it."""

    def __init__(
        self,
        client: ApiClient,
        endpoint: Endpoint,
        name: str,
        request: SpeakRequest,
        refused: Collection[Extra],
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._name = name
        self._request = request
        self._wire = _WIRES[endpoint.dialect]
        self._can = abilities(endpoint.dialect, endpoint.provider.id, name).without(refused)
        self._refused = refused
        self._answer = self._wire.answer()
        self.hung_up = False
        """Whether it was we who ended it, before it came to its end."""
        self.served_by = ""
        self.finish_reason = ""
        self.refusal: object = None
        """What a server answered that did not take the call."""

    async def words(self) -> AsyncGenerator[list[str], None]:
        """The answer as it comes, the pieces of each packet together. Raises SpeakerError unless it
        came to its proper end, or is longer than anybody reads or waits for: then it ends there,
        and its `finish_reason` says so."""
        answer = self._answer
        try:
            async with AsyncExitStack() as line:
                response = await line.enter_async_context(self._sent())
                received = blocks(response)
                if not response.is_success:
                    body = self.refusal = await _document(received)
                    raise ProviderError(body, response.status_code, response.headers)
                hearing = Hearing(answer, self._request)
                async for block in received:
                    if pieces := hearing.hear(block):
                        yield pieces
                    if hearing.ended:
                        break
                else:
                    yield hearing.close()
                if hearing.hung_up:
                    self._hang_up()
                    return
                # An answer that is here waits for nothing any more, not even for its last bytes.
                self._client.let_run_out(line.pop_all(), received)
            self._finish()
        except SpeakerError:
            raise
        except Exception as error:
            if answer.pieces:
                yield answer.take()
            # The original may quote the key: it is told in our words, and not kept as a cause.
            too_much = isinstance(error, NetError) and error.cause == "too_large"
            if not (answer.begun and too_much):
                from .api_failures import failure

                asked = self._request.model
                raise failure(error, self._endpoint, asked, begun=answer.begun) from None
            self._hang_up()

    def _sent(self) -> AbstractAsyncContextManager[httpx2.Response]:
        endpoint, request = self._endpoint, self._request
        schema = strict(request.schema) if self.structured and request.schema else None
        return self._client.send(
            f"{endpoint.base_url.rstrip('/')}{self._wire.path}",
            content=json.dumps(self._wire.body(self._name, request, self._can, schema)).encode(),
            headers={
                **self._wire.headers(endpoint.shown_key),
                # A header is ASCII; ids are not always.
                "idempotency-key": quote(request.idempotency_key, safe="/:#@+,;= "),
            },
            # Of each read from the network: the silence of a call is ours to judge.
            timeout=max(request.timeout, request.silence or 0.0) + _SLACK,
        )

    def _hang_up(self) -> None:
        self.hung_up, self.finish_reason = True, CUT

    @property
    def came(self) -> float:
        """Tokens of all that came, thoughts too, by our own count."""
        return self._answer.came

    @property
    def at_least(self) -> float:
        """The same if its tokenizer is one that makes few of this script."""
        return self._answer.at_least

    @property
    def tokens(self) -> Tokens:
        """What the provider counted; nothing if it does not count, or did not come to it."""
        return Tokens() if self.hung_up else self.told

    @property
    def counted(self) -> Tokens:
        """What the provider counted of a call that came to its end, whatever came of it; nothing of
        one that broke off, for that may have used more."""
        ended = self._answer.ended or self._answer.reason
        return self.tokens if ended else Tokens()

    @property
    def told(self) -> Tokens:
        """What the provider has counted so far."""
        return self._answer.tokens

    @property
    def extras(self) -> frozenset[Extra]:
        """What of the request a provider may refuse although it answers without."""
        chat = self._endpoint.dialect == "chat"
        told_effort = self._request.effort is not None and bool(self._can.efforts)
        warm = self._request.temperature is not None and self._can.temperature
        sent: dict[Extra, bool] = {
            "effort": told_effort,
            "schema": self.structured,
            "temperature": warm and not told_effort,
            "limit": chat and "limit" not in self._refused,
            "count": chat and self._can.counts,
        }
        return frozenset(extra for extra, is_sent in sent.items() if is_sent)

    @property
    def structured(self) -> bool:
        """Whether the provider itself holds the answer to a schema."""
        return self._request.schema is not None and self._can.schema

    def _finish(self) -> None:
        answer = self._answer
        reason = answer.finish_reason
        if reason == REFUSED:
            from .api_failures import refused

            raise refused(self._endpoint, answer.refusal)
        if not reason or reason == BROKEN:
            from .api_failures import unfinished

            # Without the vendor's own last word this is half an answer, however whole it looks.
            raise unfinished(self._endpoint)
        self.served_by = answer.served_by or self._name
        self.finish_reason = reason


async def _document(received: AsyncIterator[bytes]) -> object:
    """What came instead of an answer: a document, or else its text."""
    body = bytearray()
    async for block in received:
        body += block
        if len(body) > LONGEST_EVENT:
            raise too_large()
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace").strip()


async def _let_run_out(line: AsyncExitStack, received: AsyncIterator[bytes]) -> None:
    async with line:
        with suppress(TimeoutError, httpx2.HTTPError, NetError):
            async with asyncio.timeout(_LAST_BYTES):
                async for _ in received:
                    pass
