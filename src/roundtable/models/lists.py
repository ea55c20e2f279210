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

from ..core.model_trouble import ModelTrouble
from ..private import private_folder, put_private
from .asking import MOST_BYTES, ask, key_of, unfit
from .endpoint_list import VERSION, EndpointList, Unusable
from .listing import MOST_MODELS
from .provider import Provider

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
MAY_PASS = 300.0
"""The same where somebody may load the model, or make room for it, at any moment."""
KEPT_FILES = 40
_PASSING = ("failing", "silent")
"""After these the list from before stands."""


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
        self,
        provider: Provider,
        env: Mapping[str, str],
        *,
        refresh: bool = False,
        forget: bool = False,
        patience: float | None = None,
    ) -> EndpointList:
        """The list of an endpoint: the kept one while it is fresh, else what it says now. Never
        raises. With `refresh` it is asked even if the kept one is fresh; to `forget` is to believe
        its list once more, whatever turned out of it. With `patience` it is asked now, for so many
        seconds: whether it is there is the question."""
        if (trouble := unfit(provider, env)) is not None:
            # Not to be kept: it may be set right at any moment.
            return trouble.model_copy(update={"at": self._clock(), "provider": provider.id})
        before = self.kept(provider, env)
        probing = patience is not None
        fresh = before is not None and self._is_fresh(before, provider, env)
        if before is not None and fresh and not (refresh or probing):
            return before
        usable = before is not None and before.heard == "listed"
        if patience is None:
            patience = AGAIN_SECONDS if usable and not refresh else FIRST_SECONDS
        now = await ask(provider, env, patience, before)
        now = now.model_copy(update={"at": self._clock(), "provider": provider.id})
        if before is not None and usable and not probing and now.heard in _PASSING:
            update = {"tried": now.at, "told": now.told, "remedy": now.remedy}
            now = before.model_copy(update=update)
        elif before is not None and not forget:
            unusable = self._still_unusable(before, now, provider, env)
            now = now.model_copy(update={"unusable": unusable})
        # A server of this machine is asked every time: only what it told of its models is kept.
        known = before is not None and before.listing == now.listing
        self._keep(_mark(provider, env), now, store=not probing or not known)
        return now

    def _still_unusable(
        self, before: EndpointList, now: EndpointList, provider: Provider, env: Mapping[str, str]
    ) -> dict[str, Unusable]:
        """A server that lists once more what it did not have is not believed so soon; one that has
        left it out has said so itself, and is believed when it lists it again. A vendor may have
        more than it lists."""
        known = {name: each for name, each in before.unusable.items() if self._counts(each)}
        if now.heard != "listed" or provider.at_vendor(provider.address(env)):
            return known
        listed = {row.name for row in now.listing.models}
        return {name: each for name, each in known.items() if name in listed}

    def unusable(self, provider: Provider, env: Mapping[str, str]) -> dict[str, ModelTrouble]:
        """Names that turned out lately to be of no use at the endpoint, and why."""
        kept = self.kept(provider, env)
        if kept is None:
            return {}
        return {name: each.trouble for name, each in kept.unusable.items() if self._counts(each)}

    def note_unusable(
        self, provider: Provider, env: Mapping[str, str], name: str, trouble: ModelTrouble
    ) -> None:
        """A model of this name cannot be used at an endpoint: nobody is seated on it any more, and
        the list is asked for again."""
        before = self.kept(provider, env) or EndpointList(heard="no list")
        rows = {**before.unusable, name: Unusable(trouble=trouble, at=self._clock())}
        unusable = dict(list(rows.items())[-MOST_MODELS:])
        self._keep(_mark(provider, env), before.model_copy(update={"unusable": unusable}))

    def _counts(self, unusable: Unusable) -> bool:
        passes = unusable.trouble in ("not loaded", "too large")
        return 0 <= self._clock() - unusable.at < (MAY_PASS if passes else NOT_BELIEVED)

    def _is_fresh(self, kept: EndpointList, provider: Provider, env: Mapping[str, str]) -> bool:
        now = self._clock()
        if kept.in_doubt:
            return False
        if 0 <= now - kept.tried < LEFT_ALONE:
            return True
        # A clock that was set back proves nothing.
        return 0 <= now - kept.at < self._limit(kept, provider, env)

    def _limit(self, kept: EndpointList, provider: Provider, env: Mapping[str, str]) -> float:
        """For how many seconds what was said counts."""
        if kept.heard == "listed" and provider.at_vendor(provider.address(env)):
            return FRESH_AT_VENDOR
        return FRESH_ELSEWHERE if kept.heard in ("listed", "no list", "no models") else LEFT_ALONE

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
        return kept if kept is not None and kept.version == VERSION else None

    def _keep(self, mark: str, found: EndpointList, *, store: bool = True) -> None:
        self._kept[mark] = found
        if self._folder is None or not store:
            return
        with suppress(OSError):  # a home that cannot be written costs only time
            private_folder(self._folder)
            put_private(self._folder / f"{mark}.json", found.model_dump_json())
            _forget_old(self._folder)


def _mark(provider: Provider, env: Mapping[str, str]) -> str:
    """Under which name a list is kept. Nobody learns address or key from it."""
    digest = hashlib.sha256(b"roundtable: list of models")
    for part in (provider.kind, provider.address(env) or "", key_of(provider, env)):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(data) + data)
    return digest.hexdigest()[:40]


def _forget_old(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
    for file in files[:-KEPT_FILES]:
        file.unlink(missing_ok=True)
