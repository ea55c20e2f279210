"""Asking an endpoint for its models, and saying what came of it.

Every way not to answer is said as what it is, with what to do. Ollama and LM Studio say more of
their models to whoever asks, so they are asked: a few at once, within a moment, and each once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..core.addresses import address_parts
from ..core.errors import NetError
from ..core.key_shapes import KeyTrouble, key_trouble, of_another_vendor, shown_key
from ..core.text import redact
from ..net import Answer, Method, fit_for_a_header, request
from ..proxies import CORRECT_IT, proxy_trouble
from .endpoint_list import EndpointList
from .keyed import Keyed
from .listing import Listing, described, read_listing
from .provider import Provider

MOST_BYTES = 8_000_000
"""Of a list: some providers describe hundreds of models at length."""
MOST_DESCRIBED = 32
"""Models of which a server is asked one by one."""
DESCRIBED_AT_ONCE = 8
DESCRIBING_SECONDS = 1.5
"""For all of them together; what is not told by then is asked for the next time."""


async def ask(
    provider: Provider,
    env: Mapping[str, str],
    patience: float,
    before: EndpointList | None = None,
) -> EndpointList:
    """Ask an endpoint for its list, with the key that `env` holds for it. Never raises. `before` is
    what it said earlier: what was told then of single models is not asked for again."""
    asked = _Asked(provider, env)
    if (trouble := asked.unfit()) is not None:
        return trouble
    heard = await asked.list_at(asked.base, patience)
    if heard.heard in ("no list", "no model server") and not address_parts(asked.base).path:
        # Most people leave out what all these addresses end with.
        there = await asked.list_at(f"{asked.base}/v1", patience)
        if there.heard == "listed":
            return asked.one_floor_up()
    if heard.heard == "listed":
        known = before.listing if before is not None else Listing()
        with suppress(TimeoutError):
            async with asyncio.timeout(DESCRIBING_SECONDS):
                return heard.model_copy(update={"listing": await asked.more(heard.listing, known)})
    return heard


def unfit(provider: Provider, env: Mapping[str, str]) -> EndpointList | None:
    """Why nothing is sent to a provider as things are set, if so. Nobody is asked for that."""
    return _Asked(provider, env).unfit()


class _Asked:
    """One endpoint that is asked."""

    def __init__(self, provider: Provider, env: Mapping[str, str]) -> None:
        self.provider = provider
        self.base = (provider.address(env) or "").rstrip("/")
        self._variable = provider.key_variable(env)
        self._key = key_of(provider, env)
        self._address_trouble = provider.address_trouble(env) or proxy_trouble(self.base)
        withheld = env.withheld(provider) if isinstance(env, Keyed) else None
        self._withheld = withheld.told if withheld else ""
        named = provider.label_at(self.base)
        self._where = f"{named} at {redact(self.base)}" if named == provider.label else named

    def unfit(self) -> EndpointList | None:
        """Why nothing is sent at all."""
        if trouble := self._address_trouble:
            return EndpointList(heard="no address", told=trouble, remedy=CORRECT_IT)
        at_vendor = self.provider.at_vendor(self.base)
        vendor = of_another_vendor(self._key, self.provider.id) if at_vendor else None
        if vendor is not None:
            # It is somebody else's secret.
            remedy = f"Set {self._variable} to a key of {self.provider.label}"
            if vendor.provider:
                remedy += f", and use this one for {vendor.label}"
            told = (
                f"{self._variable} holds a key of {vendor.label}, not of {self.provider.label}; "
                "it was not sent."
            )
            return EndpointList(heard="other vendor", told=told, remedy=f"{remedy}.")
        if self._key and not fit_for_a_header(self._key):
            return EndpointList(
                heard="wrong key",
                told=f"{self._variable} holds characters that no key has.",
                remedy="Copy the key again, without spaces and quotation marks.",
            )
        return None

    async def list_at(self, base: str, patience: float) -> EndpointList:
        url, params = f"{base}/models", {}
        if self.provider.kind == "anthropic":
            url, params = f"{base.removesuffix('/v1')}/v1/models", {"limit": "1000"}
        elif self.provider.probe == "ollama":
            url = f"{self._root}/api/tags"
        try:
            answer = await self._request("GET", url, params=params, timeout=patience)
        except NetError as error:
            return self._unheard(error)
        return self._heard(answer)

    async def more(self, listing: Listing, known: Listing) -> Listing:
        """The listing with what else the server tells of its models, if it is of a kind that
        does."""
        if self.provider.probe == "lmstudio" or listing.owner == "organization_owner":
            return await self._as_lm_studio_has_it(listing)
        if self.provider.probe == "ollama" or listing.owner == "library":
            return await self._as_ollama_has_it(listing, known)
        return listing

    async def _as_lm_studio_has_it(self, listing: Listing) -> Listing:
        document = await self._document("GET", f"{self._root}/api/v0/models")
        rows = document.get("data") if isinstance(document, Mapping) else None
        named = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
        details = {str(row.get("id")): {**row, "json_schema": True} for row in named}
        return described(listing, details)

    async def _as_ollama_has_it(self, listing: Listing, known: Listing) -> Listing:
        """Each model is asked for once, as long as its weights are the same."""
        told = {(row.name, row.weights): row for row in known.models if row.described}
        same = [told.get((row.name, row.weights), row) for row in listing.models]
        new = [row.name for row in same if not row.described][:MOST_DESCRIBED]
        turns = asyncio.Semaphore(DESCRIBED_AT_ONCE)
        details: dict[str, Mapping[str, Any]] = {}

        async def describe(name: str) -> None:
            async with turns:
                document = await self._document("POST", f"{self._root}/api/show", {"model": name})
            if isinstance(document, Mapping) and not document.get("error"):
                # It holds any model to a schema: it is the server that does.
                details[name] = {**document, "json_schema": True}

        with suppress(TimeoutError):
            async with asyncio.timeout(DESCRIBING_SECONDS * 0.9):
                await asyncio.gather(*map(describe, new))
        return described(listing.model_copy(update={"models": tuple(same)}), details)

    @property
    def _root(self) -> str:
        return self.base.removesuffix(self.provider.api_path or "/v1")

    async def _document(self, method: Method, url: str, body: object = None) -> object:
        try:
            answer = await self._request(method, url, body=body, timeout=DESCRIBING_SECONDS)
        except NetError:
            return None
        return answer.json_or_none() if answer.good else None

    async def _request(self, method: Method, url: str, **more: Any) -> Answer:
        headers = shown_key(self.provider.kind, self._variable, self._key)
        if self.provider.kind == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
        return await request(
            self.provider.label,
            method,
            url,
            headers=headers,
            max_bytes=MOST_BYTES,
            redirects="same place",
            **more,
        )

    # --- in words -------------------------------------------------------------------------------

    def _heard(self, answer: Answer) -> EndpointList:
        said = answer.body[:4_000].decode("utf-8", "replace")
        if (trouble := key_trouble(answer.status, said)) is not None:
            return self._shut(trouble, answer.status, _reason(answer))
        where = self._where
        if answer.status >= 500 or answer.status in (408, 425, 429):
            told = f"{where} answers with {answer.status}."
            return EndpointList(heard="failing", told=told, remedy=self._or_by_name(LATER))
        if 300 <= answer.status < 400:
            return self._moved()
        document = answer.json_or_none()
        if not answer.good:
            told = f"{where} answers, but does not list its models ({answer.status})."
            return EndpointList(heard="no list", told=told, remedy=self._by_name())
        if document is None:
            told = f"{where} answers, but is not a model server."
            return EndpointList(heard="no model server", told=told, remedy=self._by_name())
        listing = read_listing(document)
        if listing is None:
            told = f"{where} answers, but does not list its models."
            return EndpointList(heard="no list", told=told, remedy=self._by_name())
        if not listing.models:
            told = f"{where} answers, but lists no chat model."
            remedy = LOAD[self.provider.probe or ""]
            remedy = remedy if self.provider.probe else self._or_by_name(remedy)
            return EndpointList(heard="no models", told=told, remedy=remedy)
        return EndpointList(heard="listed", listing=listing)

    def _shut(self, trouble: KeyTrouble, status: int, reason: str) -> EndpointList:
        where, variable = self._where, self._variable
        get = self.provider.get_at(self.base)
        if trouble == "no credit":
            told = f"{where}: the account behind {variable or 'its key'} has no credit left."
            remedy = "Top it up, or use another key."
            return EndpointList(heard="no credit", told=told, remedy=remedy)
        if variable is None:
            names = " or ".join(self.provider.key_env)
            told = f"{where} needs a key, and {names or 'none'} is {'not ' if names else ''}set."
            told = f"{told} {self._withheld}".strip()
            remedy = f"Set {names}, or enter the key in `roundtable setup`." if names else NAME_ONE
            return EndpointList(heard="no key", told=told, remedy=self._or_by_name(remedy))
        if trouble == "expired":
            told = f"{where} says that the key of {variable} has expired."
            return EndpointList(heard="expired key", told=told, remedy=get)
        if trouble == "forbidden":
            told = f"{where} does not let the key of {variable} list its models ({status}){reason}"
            return EndpointList(heard="forbidden", told=told, remedy=self._or_by_name(ALLOWED))
        told = f"{where} refuses the key of {variable}"
        # Some show their list only to whoever runs them.
        told += "." if self.provider.at_vendor(self.base) else " for its list of models."
        return EndpointList(heard="wrong key", told=told, remedy=self._or_by_name(get))

    def _unheard(self, error: NetError) -> EndpointList:
        where = self._where
        match error.cause:
            case "redirect":
                return self._moved()
            case "too_large" | "format":
                told = f"{where} sent a list that cannot be read ({error.cause.replace('_', ' ')})."
                return EndpointList(heard="no list", told=told, remedy=self._by_name())
            case "tls":
                told = f"{where} does not answer over https."
                return EndpointList(heard="silent", told=told, remedy=error.remedy)
            case "proxy":
                told = f"{where} was not reached: {_as_clause(error.message)}"
                return EndpointList(heard="silent", told=told, remedy=error.remedy)
            case "timeout":
                told = f"{where} did not list its models in time."
                return EndpointList(heard="silent", told=told, remedy=self._or_by_name(REACH))
            case _:
                told = f"{where} does not answer ({error.cause})."
                return EndpointList(heard="silent", told=told, remedy=REACH)

    def _moved(self) -> EndpointList:
        told = f"{self._where} redirects to another place, which is not followed."
        return EndpointList(heard="moved", told=told, remedy="Set the address to where it is now.")

    def one_floor_up(self) -> EndpointList:
        """It has its models where most have them."""
        there = f"{redact(self.base)}/v1"
        names = self.provider.base_url_env[:1]
        told = f"{self._where} answers, and has its models at {there}."
        remedy = f"Set {names[0]}={there}." if names else f"Set its base_url to {there}."
        return EndpointList(heard="no list", told=told, remedy=remedy)

    def _by_name(self) -> str:
        hint = "" if self.base.endswith("/v1") else " (most end with /v1)"
        address = f"Check the address {redact(self.base)}{hint}"
        return f"{address}, or name a model that it has: --models {self.provider.id}/NAME."

    def _or_by_name(self, remedy: str) -> str:
        """A list may fail where calls do not; at a vendor its models are known without."""
        if self.provider.at_vendor(self.base):
            return remedy
        named = f"or name a model that it has: --models {self.provider.id}/NAME."
        return f"{remedy.removesuffix('.')}, {named}" if remedy else f"{named[3:].capitalize()}"


def _as_clause(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}"


def _reason(answer: Answer) -> str:
    """What a server says for itself, in one line, after a clause."""
    document = answer.json_or_none()
    error = document.get("error", document) if isinstance(document, Mapping) else None
    said = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(said, str) or not said.strip():
        return "."
    line = " ".join(redact(said).split())
    return f": {line[:LONGEST_REASON].rstrip('.')}."


LONGEST_REASON = 200
LATER = "Try again later."
REACH = "Check the address, the network and the proxy."
ALLOWED = "Ask whoever runs the server what this key may do, and from where."
LOAD = {
    "ollama": "Pull one, such as `ollama pull llama3.2`.",
    "lmstudio": "Load one in LM Studio, or with `lms load`.",
    "openai": "Start it with a model.",
    "": "Load a model there.",
}
NAME_ONE = "Name a variable for it as key_env in models.toml."


def key_of(provider: Provider, env: Mapping[str, str]) -> str:
    """The key that is sent to a provider; empty if there is none."""
    variable = provider.key_variable(env)
    return env[variable].strip() if variable else ""
