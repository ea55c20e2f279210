"""The lists of models: each endpoint is asked for its own, and what it said is kept for a while.

All are asked at once, with little patience: a list is a help, and a discussion must not wait for
it. What was said lies in the home, for its owner alone, under a hash of address and key, so that
another key or another address never sees it. While it is fresh nobody is asked; after that it is
asked for again, and if nobody answers the old one stands. An endpoint that failed is left alone for
a minute.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..core.errors import NetError
from ..core.key_shapes import key_trouble, of_another_vendor
from ..core.text import redact
from ..core.values import Value
from ..net import Answer, fit_for_a_header, request
from ..private import private_folder, put_private
from .listing import MOST_MODELS, Listing, read_listing
from .provider import Provider

MOST_BYTES = 8_000_000
"""Of a list: some providers describe hundreds of models at length."""
FIRST_SECONDS = 4.0
"""For an endpoint of which nothing is known."""
AGAIN_SECONDS = 1.5
"""For one whose old list can be used."""
PROBE_SECONDS = 0.4
"""For a server of this machine, which is there or is not."""
FRESH_AT_VENDOR = 24 * 3600.0
FRESH_ELSEWHERE = 600.0
"""Somebody's own server serves what was loaded last."""
LEFT_ALONE = 60.0
NOT_BELIEVED = 3600.0
"""For how long a name that turned out to mean nothing is not tried again."""
KEPT_FILES = 40
_VERSION = 1

Heard = Literal[
    "listed",
    "no list",
    "wrong key",
    "expired key",
    "other vendor",
    "no credit",
    "failing",
    "silent",
    "moved",
    "no model server",
]
"""What came of it. Everything but `listed` leaves the models unknown."""


class EndpointList(Value):
    """What an endpoint said when it was asked for its models."""

    heard: Heard
    provider: str = ""
    """Under whose name its models are called here."""
    listing: Listing = Listing()
    at: float = 0.0
    """When, in seconds since 1970."""
    told: str = ""
    """A sentence for people about what went wrong."""
    remedy: str = ""
    gone: tuple[str, ...] = ()
    """Names that it listed, or that were asked for, and that it does not know."""
    tried: float = 0.0
    """When it was last asked in vain, if it was after `at`."""
    gone_at: float = 0.0
    version: int = _VERSION

    @property
    def newest(self) -> float:
        """When something was last learnt of it."""
        return max(self.at, self.tried, self.gone_at)


class ModelLists:
    """Asks, keeps and remembers."""

    def __init__(self, folder: Path | None, clock: Callable[[], float] = time.time) -> None:
        """`folder` is where lists are kept; None: only in this process."""
        self._folder = folder
        self._clock = clock
        self._kept: dict[str, EndpointList] = {}
        self._seen: dict[str, tuple[tuple[int, int, int], EndpointList | None]] = {}
        """The files as they were last read."""

    def kept(self, provider: Provider, env: Mapping[str, str]) -> EndpointList | None:
        """What is known of this endpoint, however old. Nobody is asked."""
        mark = _mark(provider, env)
        known = [each for each in (self._kept.get(mark), self._read(mark)) if each is not None]
        return max(known, key=lambda each: each.newest, default=None)

    async def of(
        self, provider: Provider, env: Mapping[str, str], *, refresh: bool = False
    ) -> EndpointList:
        """The list of an endpoint: the kept one while it is fresh, else what it says now. Never
        raises."""
        before = self.kept(provider, env)
        if before is not None and not refresh and self._is_fresh(before, provider, env):
            return before
        usable = before is not None and before.heard == "listed"
        patience = AGAIN_SECONDS if usable and not refresh else FIRST_SECONDS
        now = await ask(provider, env, patience)
        now = now.model_copy(update={"at": self._clock(), "provider": provider.id})
        if before is not None and usable and now.heard in ("failing", "silent"):
            update = {"tried": now.at, "told": now.told, "remedy": now.remedy}
            now = before.model_copy(update=update)
        elif before is not None and not refresh and self._is_recent(before.gone_at):
            # A server that lists once more what it did not know is not believed so soon.
            now = now.model_copy(update={"gone": before.gone, "gone_at": before.gone_at})
        self._keep(_mark(provider, env), now)
        return now

    def gone(self, provider: Provider, env: Mapping[str, str]) -> frozenset[str]:
        """Names that the endpoint turned out not to know lately."""
        kept = self.kept(provider, env)
        if kept is None or not self._is_recent(kept.gone_at):
            return frozenset()
        return frozenset(kept.gone)

    def note_gone(self, provider: Provider, env: Mapping[str, str], name: str) -> None:
        """An endpoint does not know a model of this name: nobody is seated on it any more, and a
        list that is not of this minute is asked for again."""
        before = self.kept(provider, env) or EndpointList(heard="no list")
        now = self._clock()
        at = before.at if 0 <= now - before.at < LEFT_ALONE else 0.0
        gone = tuple(dict.fromkeys((*before.gone, name)))[-MOST_MODELS:]
        update = {"gone": gone, "gone_at": now, "at": at}
        self._keep(_mark(provider, env), before.model_copy(update=update))

    def _is_recent(self, gone_at: float) -> bool:
        return 0 <= self._clock() - gone_at < NOT_BELIEVED

    def _is_fresh(self, kept: EndpointList, provider: Provider, env: Mapping[str, str]) -> bool:
        now = self._clock()
        if 0 <= now - kept.tried < LEFT_ALONE:
            return True
        # A clock that was set back proves nothing.
        return 0 <= now - kept.at < self._limit(kept, provider, env)

    def _limit(self, kept: EndpointList, provider: Provider, env: Mapping[str, str]) -> float:
        """For how many seconds what was said counts."""
        if kept.heard == "listed" and provider.at_vendor(provider.address(env)):
            return FRESH_AT_VENDOR
        return FRESH_ELSEWHERE if kept.heard in ("listed", "no list") else LEFT_ALONE

    def _read(self, mark: str) -> EndpointList | None:
        if self._folder is None:
            return None
        path = self._folder / f"{mark}.json"
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            if mark not in self._seen or self._seen[mark][0] != stamp:
                too_large = found.st_size > MOST_BYTES
                read = None if too_large else EndpointList.model_validate_json(path.read_bytes())
                self._seen[mark] = (stamp, read)
        except (OSError, ValueError):
            return None  # not there, or somebody else's: it is asked for anew
        kept = self._seen[mark][1]
        return kept if kept is not None and kept.version == _VERSION else None

    def _keep(self, mark: str, found: EndpointList) -> None:
        self._kept[mark] = found
        if self._folder is None:
            return
        with suppress(OSError):  # a home that cannot be written costs only time
            private_folder(self._folder)
            put_private(self._folder / f"{mark}.json", found.model_dump_json())
            _forget_old(self._folder)


async def ask(provider: Provider, env: Mapping[str, str], patience: float) -> EndpointList:
    """Ask an endpoint for its list, with the key that `env` holds for it. Never raises."""
    base, key = (provider.address(env) or "").rstrip("/"), _key(provider, env)
    variable = provider.key_variable(env)
    vendor = of_another_vendor(key, provider.id) if provider.at_vendor(base) else None
    if vendor is not None:
        # It is not sent: it is somebody else's secret.
        return _other_vendor(provider, variable or "", vendor.label, vendor.provider)
    if key and not fit_for_a_header(key):
        return EndpointList(
            heard="wrong key",
            told=f"{variable} holds characters that no key has.",
            remedy="Copy the key once more, without spaces and quotation marks.",
        )
    named = provider.label_at(base)
    where = f"{named} at {redact(base)}" if named == provider.label else named
    url, params, headers = _question(provider, base, key)
    try:
        answer = await request(
            provider.label,
            "GET",
            url,
            params=params,
            headers=headers,
            timeout=patience,
            max_bytes=MOST_BYTES,
            redirects="same place",
            # A server of this machine, or one that the user named, is reached directly.
            proxies=provider.probe is None,
        )
    except NetError as error:
        return _unheard(where, error)
    return _heard(provider, base, where, variable or "its key", answer)


def _question(
    provider: Provider, base: str, key: str
) -> tuple[str, dict[str, str], dict[str, str]]:
    if provider.kind == "anthropic":
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        return f"{base.removesuffix('/v1')}/v1/models", {"limit": "1000"}, headers
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if provider.probe == "ollama":
        return f"{base.removesuffix(provider.api_path)}/api/tags", {}, headers
    return f"{base}/models", {}, headers


def _heard(
    provider: Provider, base: str, where: str, variable: str, answer: Answer
) -> EndpointList:
    said = answer.body[:4_000].decode("utf-8", "replace")
    trouble = key_trouble(answer.status, said)
    get = provider.get_at(base)
    if trouble == "expired":
        told = f"{where} says that the key of {variable} has expired."
        return EndpointList(heard="expired key", told=told, remedy=get)
    if trouble == "wrong":
        told = f"{where} refuses the key of {variable}."
        return EndpointList(heard="wrong key", told=told, remedy=get)
    if trouble == "no credit":
        told = f"{where}: the account behind {variable} has no credit left."
        return EndpointList(heard="no credit", told=told, remedy="Top it up, or use another key.")
    if answer.status >= 500 or answer.status in (408, 425, 429):
        told = f"{where} answers with {answer.status}."
        remedy = "Try again later, or name another model."
        return EndpointList(heard="failing", told=told, remedy=remedy)
    if 300 <= answer.status < 400:
        return _moved(where)
    document = answer.json_or_none()
    if not answer.good:
        told = f"{where} answers, but does not list its models ({answer.status})."
        return EndpointList(heard="no list", told=told, remedy=_by_name(provider, base))
    if document is None:
        return EndpointList(
            heard="no model server",
            told=f"{where} answers, but is no model server.",
            remedy="Check the address; most end with /v1.",
        )
    listing = read_listing(document)
    if listing is None or not listing.models:
        told = f"{where} answers, but lists no model that speaks."
        return EndpointList(heard="no list", told=told, remedy=_by_name(provider, base))
    return EndpointList(heard="listed", listing=listing)


def _by_name(provider: Provider, base: str) -> str:
    address = f"Check the address {redact(base)} (most end with /v1)"
    return f"{address}, or name a model that it has: {provider.id}/NAME."


def _unheard(where: str, error: NetError) -> EndpointList:
    if error.cause == "redirect":
        return _moved(where)
    if error.cause in ("too_large", "format"):
        told = f"{where} sent a list that cannot be read ({error.cause.replace('_', ' ')})."
        return EndpointList(heard="no list", told=told, remedy="Name a model by its full id.")
    how = error.cause.replace("_", " ")
    return EndpointList(
        heard="silent",
        told=f"{where} does not answer ({how}).",
        remedy="Check the address, the network and the proxy.",
    )


def _moved(where: str) -> EndpointList:
    told = f"{where} redirects to another place, which is not followed."
    return EndpointList(heard="moved", told=told, remedy="Set the address to where it is now.")


def _other_vendor(provider: Provider, variable: str, label: str, theirs: str) -> EndpointList:
    remedy = f"Set {variable} to a key of {provider.label}"
    if theirs:
        remedy += f", and use this one for {label}"
    told = f"{variable} holds a key of {label}, not of {provider.label}; it was not sent."
    return EndpointList(heard="other vendor", told=told, remedy=f"{remedy}.")


def _key(provider: Provider, env: Mapping[str, str]) -> str:
    variable = provider.key_variable(env)
    return env[variable].strip() if variable else ""


def _mark(provider: Provider, env: Mapping[str, str]) -> str:
    """Under which name a list is kept. Nobody learns address or key from it."""
    digest = hashlib.sha256(b"roundtable: list of models")
    for part in (provider.kind, provider.address(env) or "", _key(provider, env)):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(data) + data)
    return digest.hexdigest()[:40]


def _forget_old(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
    for file in files[:-KEPT_FILES]:
        file.unlink(missing_ok=True)
