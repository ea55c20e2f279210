"""ApiSpeaker: models behind an HTTP interface, all of them through one class.

OpenAI is spoken to by its Responses interface, Anthropic by its Messages interface, and everybody
else, Google and xAI included, by chat completions: their compatible endpoints need no further
package, take our base URLs and headers, and fail in ways that the tests can reproduce. A base URL
that is not OpenAI's own gets chat completions too, for that is what proxies understand.

Importing this module is cheap. The HTTP client behind it is loaded when the first call is due.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from ..core.errors import SpeakerError, used_up_in_thought
from ..core.key_shapes import of_another_vendor, shown_key
from ..core.model_trouble import REMEDIES, VERBS, ModelTrouble
from ..core.pattern import pattern
from ..core.text import fewest_tokens, likely_tokens
from ..core.thoughts import spoken
from ..core.values import Usage
from ..listening import Listening
from ..net import fit_for_a_header, trusted_roots
from ..ports import CHARACTERS_PER_TOKEN, OnWords, Reply, SpeakRequest
from ..proxies import CORRECT_IT, proxy_trouble
from .abilities import Dialect, Extra, culprit

if TYPE_CHECKING:
    from .api_client import ApiCall, ApiClient


MOST_UNSEEN = 128_000
"""Tokens that may be paid for although nobody shows them: a server's own words before a prompt, and
thoughts. No model thinks more for one answer."""
_RUN = pattern(r"(\s)\s+|([^\w\s])\2+")
FEWER = 4
"""Times fewer tokens than a text has at least: less was not counted but made up."""


class ApiProvider(Protocol):
    """What a speaker must know of a provider; the registry's rows fit."""

    @property
    def id(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def key_env(self) -> tuple[str, ...]: ...
    @property
    def get(self) -> str: ...
    def key_variable(self, env: Mapping[str, str], /) -> str | None: ...
    def base_url_variable(self, env: Mapping[str, str], /) -> str | None: ...
    def address(self, env: Mapping[str, str], /) -> str | None: ...
    def address_trouble(self, env: Mapping[str, str], /) -> str: ...
    def at_vendor(self, base_url: str | None, /) -> bool: ...
    def label_at(self, base_url: str | None, /) -> str: ...
    def get_at(self, base_url: str | None, /) -> str: ...


class CostOf(Protocol):
    """The price list: US dollars for one call, or None when nobody knows."""

    def __call__(
        self, model_id: str, input_tokens: int, output_tokens: int, cached_tokens: int, /
    ) -> float | None: ...


class UnusableModels(Protocol):
    """Which models turned out to be of no use at their endpoints, and why."""

    def why_unusable(self, provider_id: str, name: str, /) -> ModelTrouble | None: ...
    def note_unusable(self, provider_id: str, name: str, trouble: ModelTrouble, /) -> None: ...


class Endpoint:
    """How to reach one provider now. The key is never shown."""

    __slots__ = ("base_url", "dialect", "key", "key_variable", "label", "provider")

    def __init__(self, provider: ApiProvider, env: Mapping[str, str]) -> None:
        base_url = provider.address(env)
        if base_url is None:
            raise SpeakerError("auth", f"{provider.label} has no address.", provider.get)
        if trouble := provider.address_trouble(env) or proxy_trouble(base_url):
            raise SpeakerError("auth", trouble, CORRECT_IT)
        at_vendor = provider.at_vendor(base_url)
        self.provider = provider
        self.base_url = base_url
        self.label = provider.label_at(base_url)
        self.key_variable = provider.key_variable(env)
        self.key = env[self.key_variable].strip() if self.key_variable else ""
        self.dialect: Dialect = (
            "messages"
            if provider.kind == "anthropic"
            else "responses"
            if provider.kind == "openai" and at_vendor
            else "chat"
        )
        # Only somebody's own server may be open to all; a vendor never is.
        if not self.key and (at_vendor or provider.kind == "anthropic"):
            names = " or ".join(provider.key_env)
            raise SpeakerError(
                "auth", f"There is no key for {provider.label}: {names} is not set.", provider.get
            )

        if self.key and not fit_for_a_header(self.key):
            message = f"{self.key_variable} holds something that cannot be a key."
            raise SpeakerError("auth", message, provider.get)
        vendor = of_another_vendor(self.key, provider.id) if at_vendor else None
        if vendor is not None:
            # It is not sent: it is a secret between somebody else and the user.
            message = f"{self.key_variable} holds a key of {vendor.label}, not of {provider.label}."
            raise SpeakerError("auth", message, provider.get)

    @property
    def shown_key(self) -> dict[str, str]:
        """The header that shows the key to the server."""
        return shown_key(self.provider.kind, self.key_variable, self.key)

    def __repr__(self) -> str:
        return f"Door({self.provider.id!r}, {self.base_url!r})"


class ApiSpeaker:
    """Makes one call to a model's HTTP interface, and says precisely how it failed."""

    def __init__(
        self,
        providers: Mapping[str, ApiProvider],
        cost: CostOf,
        env: Mapping[str, str] | None = None,
        unusable: UnusableModels | None = None,
    ) -> None:
        """Keys and base URLs are looked up in `env` at each call; by default the process's.
        `unusable` remembers the models that cannot be used: they are not asked for again."""
        self._unusable = unusable
        self._providers = providers
        self._cost = cost
        self._env = os.environ if env is None else env
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, ApiClient] = WeakKeyDictionary()
        self._refused: dict[tuple[str, str], set[Extra]] = {}
        """By address and model: what those do not accept that answer without."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        provider_id, _, name = request.model.partition("/")
        if provider_id not in self._providers:
            raise SpeakerError("not_found", f"There is no provider {provider_id!r}.")
        endpoint = Endpoint(self._providers[provider_id], self._env)
        known = self._unusable.why_unusable(provider_id, name) if self._unusable else None
        if known is not None:
            message = f"{endpoint.label} {VERBS[known]} {name!r}, as it said lately."
            raise SpeakerError("not_found", message, REMEDIES[known], trouble=known)
        # Loading takes a moment and happens once: it is not the model's time.
        client = await self._client(endpoint)
        listening = Listening.to(request, on_words)
        try:
            async with listening:
                return await self._answer(client, endpoint, name, request, listening.heard)
        except TimeoutError:
            message = f"{endpoint.label} {listening.told}."
            raise SpeakerError("timeout", message) from None
        except SpeakerError as error:
            if error.trouble is not None and self._unusable is not None:
                self._unusable.note_unusable(provider_id, name, error.trouble)
            raise

    async def _answer(
        self,
        client: ApiClient,
        endpoint: Endpoint,
        name: str,
        request: SpeakRequest,
        on_words: OnWords,
    ) -> Reply:
        """The answer, with all of the request that the provider takes: the effort, a schema, a
        temperature. One that does not accept something is asked once more without, and from then
        on always."""
        wanted = request.effort
        known = self._refused.setdefault((endpoint.base_url, name), set())
        refused = set(known)
        while True:
            call = client.call(endpoint, name, request, frozenset(refused))
            try:
                reply = await self._made(call, endpoint, request, on_words)
            except SpeakerError as error:
                if error.cause != "bad_request":
                    raise
                guilty = culprit(call.extras, call.refusal)
                if guilty is None:
                    raise
                refused.add(guilty)
                # Nothing was said yet. Another key: a server may remember the refusal by this one.
                request = replace(request, idempotency_key=f"{request.idempotency_key}/plain")
                continue
            known |= refused
            ignored = wanted is not None and "effort" not in call.extras
            return replace(reply, unheeded=("effort",)) if ignored else reply

    async def _made(
        self, call: ApiCall, endpoint: Endpoint, request: SpeakRequest, on_words: OnWords
    ) -> Reply:
        words: list[str] = []
        try:
            async with aclosing(call.words()) as packets:
                async for pieces in packets:
                    words += pieces
                    for piece in pieces:
                        on_words(piece)  # an empty one, too: it thinks
            text = spoken("".join(words))
            if not text.strip():
                raise _empty(endpoint, call)
        except SpeakerError as error:
            if call.counted or call.hung_up:  # it is paid, though nothing came of it
                error.usage, _ = self._usage(request, call)
            raise
        usage, unbelieved = self._usage(request, call)
        return Reply(
            text=text,
            usage=usage,
            served_by=call.served_by,
            finish_reason=call.finish_reason,
            unbelieved=unbelieved,
        )

    async def prepare(self, model: str) -> None:
        """Load what a call to this model needs, so that the call itself takes only its own time.
        SpeakerError if there is no way to it."""
        provider = self._providers[model.partition("/")[0]]
        await self._client(Endpoint(provider, self._env))

    async def close(self) -> None:
        """Close the connections of this event loop; those of ended loops are gone already."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        self._clients.clear()
        if client is not None:
            await client.close()

    async def _client(self, endpoint: Endpoint) -> ApiClient:
        secure = not endpoint.base_url.startswith("http://")
        if secure not in _loaded:
            # In a thread, so that pages and other discussions go on meanwhile.
            await asyncio.to_thread(_load, secure)
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            from .api_client import ApiClient

            client = self._clients[loop] = ApiClient()
        return client

    def _usage(self, request: SpeakRequest, call: ApiCall) -> tuple[Usage, str]:
        """What the call took, and what its provider told of that if it cannot be."""
        told, prompt = call.told, request.system + request.user
        allowed = request.max_tokens + CHARACTERS_PER_TOKEN * call.came
        # Of an answer that we hung up on the count never came: what was told of it is a beginning.
        whole = not call.hung_up
        reads = _was_read(told.read, prompt)
        writes = _is_count(told.written, call.at_least if whole else 0.0, allowed)
        odd = (told.read and not reads) or (told.written and not writes)
        unbelieved = f"{told.read:,} tokens in and {told.written:,} out" if odd else ""
        if reads and writes and whole:
            cost = self._cost(request.model, told.read, told.written, told.cached)
            usage = Usage(
                calls=1,
                input_tokens=told.read,
                output_tokens=told.written,
                cached_tokens=told.cached,
                priced_usd=cost or 0.0,
                unpriced_calls=1 if cost is None else 0,
            )
            return usage, unbelieved
        # Some servers do not count, some count only what goes in or what comes out, and some count
        # what cannot be. Our own keeps budgets working; it is not a bill. What came is charged all
        # the same, also what nobody wanted.
        read, written, cached = told.read, told.written, told.cached
        if not (reads and whole):
            read, cached = int(likely_tokens(prompt)) + 1, 0
            if request.set_aside is not None:
                read = min(read, request.set_aside.input_tokens)  # as this provider counts
        if not (writes and whole):
            written = max(int(call.came) + 1, told.written if writes else 0)
        counted = self._cost(request.model, read, written, cached)
        free = counted == 0  # whatever the count
        usage = Usage(
            calls=1,
            input_tokens=read,
            output_tokens=written,
            cached_tokens=cached,
            unpriced_calls=0 if free else 1,
            counted_usd=0.0 if free else counted or 0.0,
            counted_calls=1,
        )
        return usage, unbelieved


def _was_read(told: int, prompt: str) -> bool:
    """Whether a prompt can have had so many tokens. Of the blanks and lines of a wide table a long
    run is a single one."""
    most = len(prompt.encode("utf-8", "surrogatepass"))
    if _is_count(told, fewest_tokens(prompt), most):
        return True
    return told > 0 and _is_count(told, fewest_tokens(_RUN.sub(r"\1\2", prompt)), most)


def _is_count(told: int, fewest: float, most: float) -> bool:
    """Whether that many tokens can have gone in, or come out: a count that is only strange may well
    be charged. A token is a byte at least, or stands for something that nobody shows; and no
    tokenizer makes far fewer of a text than the one that makes fewest. Zero of something is no
    count."""
    return fewest / FEWER <= told <= most + MOST_UNSEEN


_loading = threading.Lock()
_loaded: set[bool] = set()
"""Ready for calls over an open line, and over a secure one."""


def _load(secure: bool) -> None:
    # One at a time: threads that import the same packages from several ends see them half made.
    with _loading:
        from . import api_client  # noqa: F401

        if secure:
            trusted_roots()  # most of what a first client costs
        _loaded.add(secure)


def warm() -> None:
    """Import beforehand what the first calls need: whoever takes over from others cannot wait."""
    _load(secure=True)


def _empty(endpoint: Endpoint, call: ApiCall) -> SpeakerError:
    if call.finish_reason == "length":
        return used_up_in_thought(endpoint.label)
    return SpeakerError("empty", f"{endpoint.label} answered without a word.")
