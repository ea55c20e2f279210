"""Tokens: capabilities that were given out, in one file of the home, or in the database where the
ledger is on a server. Of each only the hash of its secret is kept; what was given out as a signed
link stands here once it is listed or ended.

Every process reads the same file or the same row and sees a change at its next look, so that what
one ends is ended everywhere.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...config_files import contents, json_object, text_of
from ...core.errors import BadSetting, Forbidden, UnknownName, UsageError
from ...core.text import dollars
from ...private import private_folder, put_private
from ...procedures.opening import checked_amount
from ..web.lock import take_lock
from .capability import OWNER, Act, Capability, acts_of

if TYPE_CHECKING:
    from ...ledger.shared import SharedDocuments
    from ...settings import Settings

FILE = "tokens.json"
KEY = "web.key"
SHARED = "the table shared of the database"
LOCK = "tokens.lock"
PREFIX = "rtk_"
MOST_BYTES = 50_000_000
MOST = 10_000
"""Tokens and links that are kept at once."""
MOST_THROUGH_ONE = 1_000
"""Of them those that somebody gave out who was given one."""
_ID = 12
_SECRET_BYTES = 24
_WAITS = 5.0
_EDITIONS = 1_000_000
"""Of one link between two ends of all."""
_REMEMBERED = timedelta(days=30)
"""For so long whoever brings a token that has run out is told so."""
ENDED = "was ended by whoever gave it"
RAN_OUT = "has run out"
Kind = Literal["token", "link"]


def tokens_of(settings: Settings) -> Tokens:
    """Those of this installation, wherever they are kept."""
    return Tokens(settings.home, shared=shared_of(settings))


def shared_of(settings: Settings) -> SharedDocuments | None:
    """What its processes share in a database on a server; None where the ledger is a file."""
    if settings.server is None:
        return None
    from ...ledger.shared import shared_at

    return shared_at(settings.server)


def id_of(secret: str) -> str:
    """By which a token or a link is listed and ended; it does not open anything."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()[:_ID]


def is_token(secret: str) -> bool:
    return secret.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class Kept:
    """One that was given out."""

    capability: Capability
    kind: Kind
    made: datetime
    hash: str = ""
    """Of the whole secret; a link is proved by its signature instead."""
    costs: Mapping[str, float | None] = field(default_factory=dict)
    """What each discussion that it opened may cost at most, or did; None: without a limit."""
    running: frozenset[str] = frozenset()
    """Those of which it is not known yet."""


@dataclass(frozen=True, slots=True)
class _All:
    kept: Mapping[str, Kept] = field(default_factory=dict)
    ended: Mapping[str, str] = field(default_factory=dict)
    era: int = 0


class Tokens:
    """What was given out by this installation, and what of it was ended."""

    def __init__(
        self,
        home: Path | None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        shared: SharedDocuments | None = None,
    ) -> None:
        """Without a home nothing was given out, and nothing can be. Where there is something
        `shared`, the list is there and not in the home."""
        self._home = home
        self._shared = shared
        self.now = now
        self._seen: object = None
        self._all = _All()

    # What there is

    def find(self, secret: str) -> Capability | None:
        """What a token allows; None if it was not given out here. Whether it still stands is
        another question."""
        kept = self._read().kept.get(id_of(secret))
        if kept is None or kept.kind != "token":
            return None
        given = hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
        return kept.capability if secrets.compare_digest(given, kept.hash) else None

    def refusal(self, held: Capability, now: datetime | None = None) -> str:
        """Why it does not stand any more; empty while it does. It falls with whatever it was given
        out through."""
        if not held.lineage and held.expires is None:
            return ""
        everything = self._read()
        if any(each in everything.ended for each in held.lineage):
            return ENDED
        now = now or self.now()
        above = (everything.kept[each] for each in held.parents if each in everything.kept)
        ends = (held.expires, *(each.capability.expires for each in above))
        if any(each is not None and now >= each for each in ends):
            return RAN_OUT
        return ""

    def is_ended(self, id_: str) -> bool:
        return id_ in self._read().ended

    def listed(self, by: Capability = OWNER) -> list[Kept]:
        """What stands, the newest first: everything, or what was given out through one."""
        return sorted(
            (
                each
                for each in self._read().kept.values()
                if not self.refusal(each.capability)
                and (by.owns or (by.id and by.id in each.capability.parents))
            ),
            key=lambda each: each.made,
            reverse=True,
        )

    # What is given out and ended

    def add(self, wanted: Capability, by: Capability = OWNER) -> tuple[str, Capability]:
        """A new token, which is told this once, and what it allows. Forbidden if that were more
        than `by` allows."""
        _check(wanted, self.now())
        narrowed = by.narrowed(wanted)
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        hashed = hashlib.sha256(secret.encode()).hexdigest()
        made = replace(narrowed, id=id_of(secret), opened=frozenset())
        self._keep(Kept(made, "token", self.now(), hashed))
        return secret, made

    def note_link(self, link: Capability) -> None:
        """Have a link that was given out in the list."""
        self._keep(Kept(link, "link", self.now()))

    def end(self, id_: str, by: Capability = OWNER) -> list[str]:
        """End one, and with it all that was given out through it; the ids that ended. UnknownName
        if there is none, or `by` neither is it nor gave it out."""
        with self._writing() as everything:
            kept = everything.kept.get(id_)
            # Not a link by itself: many may hold the same one.
            allowed = kept is not None and (
                by.owns
                or (kept.kind == "token" and by.id == id_)
                or (by.id != "" and by.id in kept.capability.parents)
            )
            if not allowed:
                ours = [each.capability.id for each in self.listed(by)]
                raise UnknownName("token", id_, ours)
            return self._end(everything, id_)

    def end_given(self, secret: str) -> list[str]:
        """End what somebody holds in hand, listed or not; the caller has proved that it is ours."""
        with self._writing() as everything:
            return self._end(everything, id_of(secret))

    @property
    def era(self) -> int:
        """The first edition of links that counts; all before are ended."""
        return self._read().era

    def end_all(self) -> list[str]:
        """End every token and every link, listed or not."""
        with self._writing() as everything:
            everything.era += _EDITIONS
            ended = [each for id_ in list(everything.kept) for each in self._end(everything, id_)]
            return list(dict.fromkeys(ended))

    # What it costs

    def left(self, held: Capability) -> float | None:
        """US dollars that may still be set aside; None without a limit."""
        return _left(self._read(), held)

    def unsettled(self, held: Capability) -> list[str]:
        """The discussions for which something is set aside that counts against this one; for the
        owner all of them."""
        roots = set(held.lineage)
        return [
            id_
            for each in self._read().kept.values()
            if held.owns or roots & set(each.capability.lineage)
            for id_ in each.running
        ]

    def settle(self, costs: Mapping[str, float | None]) -> None:
        """These discussions are over, and cost so much; None: as much as was set aside."""
        if not costs:
            return
        with self._writing() as everything:
            for id_, kept in everything.kept.items():
                over = {each: costs[each] for each in kept.running if each in costs}
                known = {each: cost for each, cost in over.items() if cost is not None}
                everything.kept[id_] = replace(
                    kept, costs={**kept.costs, **known}, running=kept.running - over.keys()
                )

    def set_aside(self, held: Capability, place: str, amount: float | None) -> None:
        """Have `amount` set aside for a discussion. Forbidden if it is more than what is left; two
        processes cannot both have the last of it."""
        with self._writing() as everything:
            kept = everything.kept.get(held.id)
            if kept is None:
                raise Forbidden("This token was ended.", "Ask for another one.")
            left = _left(everything, held)
            if left is not None and (amount is None or amount > left + 1e-9):
                raise spent(left, amount)
            everything.kept[held.id] = replace(
                kept, costs={**kept.costs, place: amount}, running=kept.running | {place}
            )

    def set_aside_again(self, held: Capability, discussion_id: str, amount: float | None) -> None:
        """Have `amount` set aside in all for a discussion that was over and goes on: it counts
        where it counted before. Forbidden if more is missing than what is left there, or if the
        caller has a limit against which it does not count."""
        with self._writing() as everything:
            roots = set(held.lineage)
            kept = next(
                (
                    each
                    for each in everything.kept.values()
                    if discussion_id in each.costs and roots & set(each.capability.lineage)
                ),
                None,
            )
            if kept is None:
                if (left := _left(everything, held)) is not None:
                    raise Forbidden(
                        "This token has a limit on what it spends, and did not start "
                        f"{discussion_id}: what it costs to ask again would count for nobody.",
                        "Let whoever started it ask again, or start a discussion that follows it.",
                    )
                return
            if discussion_id in kept.running:
                return
            for left in (_left(everything, kept.capability), _left(everything, held)):
                missing = None if amount is None else amount - (kept.costs[discussion_id] or 0.0)
                if left is not None and (left <= 0 or missing is None or missing > left + 1e-9):
                    raise spent(left, missing)
            everything.kept[kept.capability.id] = replace(
                kept,
                costs={**kept.costs, discussion_id: amount},
                running=kept.running | {discussion_id},
            )

    def opened(self, held: Capability, place: str, discussion_id: str) -> Capability:
        """What was set aside is for this discussion, which is the token's own from now on."""
        with self._writing() as everything:
            if held.id in everything.kept:
                return _opened(everything, held.id, place, discussion_id)
        return held

    def give_back(self, held: Capability, place: str) -> None:
        """Nothing came of it."""
        with self._writing() as everything:
            if held.id in everything.kept:
                _give_back(everything, held.id, place)

    def recover(self, became: Mapping[str, str]) -> None:
        """What was set aside by somebody who died since is for these discussions; empty: nothing
        came of it."""
        with self._writing() as everything:
            for id_, kept in list(everything.kept.items()):
                for place in kept.running & became.keys():
                    if became[place]:
                        _opened(everything, id_, place, became[place])
                    else:
                        _give_back(everything, id_, place)

    # The file

    def check(self) -> None:
        """BadSetting or NewerFile if the list cannot be read."""
        self._read()

    @property
    def _path(self) -> Path:
        if self._home is None:
            raise UsageError("Tokens need a home.", "Set ROUNDTABLE_HOME.")
        return self._home / FILE

    def _read(self) -> _All:
        if self._home is None:
            return self._all
        if self._shared is not None:
            copy = self._shared.read(FILE)
            if copy.version != self._seen:
                self._all = _All() if copy.body is None else _told(copy.body, SHARED)
                self._seen = copy.version
            return self._all
        try:
            found = self._path.stat()
        except OSError:
            # None is there; or something that is no file, and reading it says so.
            self._seen, self._all = None, _All() if _absent(self._path) else _loaded(self._path)
            return self._all
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if seen != self._seen:
            self._all, self._seen = _loaded(self._path), seen
        return self._all

    def _keep(self, new: Kept) -> None:
        with self._writing() as everything:
            everything.kept.setdefault(new.capability.id, new)
            above = set(new.capability.parents)
            beside = [k for k in everything.kept.values() if above & set(k.capability.parents)]
            if len(everything.kept) > MOST or len(beside) > MOST_THROUGH_ONE:
                raise UsageError(
                    "There are too many tokens and links already.", "End some: roundtable tokens."
                )

    def _end(self, everything: _Open, id_: str) -> list[str]:
        ended = [id_] if id_ not in everything.ended else []
        below = [each for each, k in everything.kept.items() if id_ in k.capability.parents]
        for each in (id_, *below):
            if each in everything.kept:
                _drop(everything, each)
                ended += [each] if each != id_ else []
            everything.ended[each] = self.now().isoformat(timespec="seconds")
        return ended

    @contextmanager
    def _writing(self) -> Iterator[_Open]:
        """Change the list; nobody else does meanwhile."""
        with self._changing() as put:
            found = self._read()
            everything = _Open(dict(found.kept), dict(found.ended), found.era)
            yield everything
            for id_, each in list(everything.kept.items()):
                expires = each.capability.expires
                if expires is not None and self.now() >= expires + _REMEMBERED:
                    _drop(everything, id_)
            put(_text(everything))
            self._seen = None

    @contextmanager
    def _changing(self) -> Iterator[Callable[[str], None]]:
        path = self._path
        if self._shared is not None:
            with self._shared.changing(FILE) as put:
                yield put
            return
        private_folder(path.parent)
        deadline = time.monotonic() + _WAITS
        while (lock := take_lock(path.with_name(LOCK))) is None:
            if time.monotonic() > deadline:
                raise UsageError("The list of tokens is in use.", "Try again.")
            time.sleep(0.01)
        with lock:
            yield lambda text: put_private(path, text)


@dataclass(slots=True)
class _Open:
    kept: dict[str, Kept]
    ended: dict[str, str]
    era: int


def _opened(everything: _Open, id_: str, place: str, discussion_id: str) -> Capability:
    kept = everything.kept[id_]
    costs = {**kept.costs}
    amount = costs.pop(place, None)
    own = replace(kept.capability, opened=kept.capability.opened | {discussion_id})
    everything.kept[id_] = replace(
        kept,
        capability=own,
        costs={discussion_id: amount, **costs},
        running=kept.running - {place} | {discussion_id},
    )
    return own


def _give_back(everything: _Open, id_: str, place: str) -> None:
    kept = everything.kept[id_]
    costs = {name: each for name, each in kept.costs.items() if name != place}
    everything.kept[id_] = replace(kept, costs=costs, running=kept.running - {place})


def _drop(everything: _Open, id_: str) -> None:
    """Forget one; what it cost stays with whatever it was given out through."""
    gone = everything.kept.pop(id_)
    for parent in reversed(gone.capability.parents):
        if (kept := everything.kept.get(parent)) is not None:
            everything.kept[parent] = replace(
                kept,
                costs={**gone.costs, **kept.costs},
                running=kept.running | gone.running,
            )
            return


def spent(left: float, amount: float | None) -> Forbidden:
    """That so much is not left; without an amount, that it needs a limit."""
    wait = "wait for what still runs, or ask for a new token."
    if left <= 0:
        return Forbidden("What this token may spend is used up.", wait[0].upper() + wait[1:])
    cost = "has no limit" if amount is None else f"may cost {dollars(amount)}"
    return Forbidden(
        f"Of what this token may spend {dollars(left)} are left, and this {cost}.",
        f"Ask for less (max_cost), {wait}",
    )


def _left(everything: _All | _Open, held: Capability) -> float | None:
    found: list[float] = []
    for id_ in held.lineage:
        kept = everything.kept.get(id_)
        if kept is None or kept.capability.spend is None:
            continue
        used = sum(
            amount or 0.0
            for each in everything.kept.values()
            if id_ in each.capability.lineage
            for amount in each.costs.values()
        )
        # A server may have counted more than was set aside: nobody owes that.
        found.append(max(0.0, kept.capability.spend - used))
    return min(found, default=None)


def usual_acts(seat: str, discussions: frozenset[str] | None) -> frozenset[Act]:
    """What a token may do where nobody says: speak for its seat, watch its discussions, or start
    its own."""
    if seat:
        return frozenset({"speak"})
    return frozenset({"watch"}) if discussions or discussions is None else frozenset({"open"})


def _check(wanted: Capability, now: datetime) -> None:
    if not wanted.acts:
        raise UsageError("A token that may do nothing is of no use.", "Say --may ACT.")
    if wanted.seat and (wanted.discussions is None or len(wanted.discussions) != 1):
        raise UsageError("A seat is in one discussion.", "Name it: --discussion ID.")
    if wanted.seat and not wanted.acts <= {"results", "watch", "speak"}:
        raise UsageError(
            "Who holds a seat may watch and speak, and nothing else.", "Leave --may out."
        )
    if "speak" in wanted.acts and not wanted.seat:
        raise UsageError("Who speaks has a seat.", "Name it: --seat NAME, or allow to lead.")
    if wanted.expires is not None and wanted.expires <= now:
        raise UsageError("That time is over already.", "Choose a later one.")
    if wanted.spend is not None:
        checked_amount(wanted.spend, "what a token may spend")
    if wanted.spend is not None and not wanted.may("open"):
        raise UsageError("Only who starts discussions spends.", "Say --may open.")


def _absent(path: Path) -> bool:
    return not path.exists() and not path.is_symlink()


def _loaded(path: Path) -> _All:
    trouble = BadSetting(
        str(path),
        "the file",
        "the list of tokens",
        "Fix it; or delete it to end all of them, and links that were ended will open again "
        "unless web.key is deleted too.",
    )
    where = str(path)
    data = contents(path, most=MOST_BYTES, ours=True)
    try:
        return _parsed(text_of(data or b"", where), where)
    except _UNREADABLE:
        raise trouble from None


def _told(text: str, where: str) -> _All:
    try:
        return _parsed(text, where)
    except _UNREADABLE:
        remedy = f"End all of them: delete the row {FILE} of the table shared, and {KEY}, too."
        raise BadSetting(where, "the row", "the list of tokens", remedy) from None


_UNREADABLE = (BadSetting, ValueError, LookupError, TypeError, AttributeError, UnknownName)


def _parsed(text: str, where: str) -> _All:
    document = json_object(text, where)
    kept = {row["id"]: _kept(row) for row in document["tokens"]}
    ended = {str(k): str(v) for k, v in document["ended"].items()}
    return _All(kept, ended, int(document["era"]))


def _kept(row: Mapping[str, Any]) -> Kept:
    def names(key: str) -> frozenset[str] | None:
        return None if row[key] is None else frozenset(str(each) for each in row[key])

    held = Capability(
        acts=acts_of(row["acts"]),
        id=str(row["id"]),
        label=str(row["label"]),
        discussions=names("discussions"),
        opened=frozenset(str(each) for each in row["opened"]),
        seat=str(row["seat"]),
        spend=None if row["spend"] is None else float(row["spend"]),
        channels=names("channels"),
        expires=None if row["expires"] is None else datetime.fromisoformat(row["expires"]),
        parents=tuple(str(each) for each in row["parents"]),
        locked=bool(row["locked"]),
    )
    kind: Kind = "link" if row["kind"] == "link" else "token"
    costs = {str(k): None if v is None else float(v) for k, v in row["costs"].items()}
    running = frozenset(str(each) for each in row["running"])
    return Kept(held, kind, datetime.fromisoformat(row["made"]), str(row["hash"]), costs, running)


def _text(everything: _Open) -> str:
    rows = []
    for each in everything.kept.values():
        held = each.capability
        rows.append(
            {
                "id": held.id,
                "kind": each.kind,
                "label": held.label,
                "hash": each.hash,
                "acts": sorted(held.acts),
                "discussions": None if held.discussions is None else sorted(held.discussions),
                "opened": sorted(held.opened),
                "seat": held.seat,
                "spend": held.spend,
                "channels": None if held.channels is None else sorted(held.channels),
                "made": each.made.isoformat(),
                "expires": held.expires.isoformat() if held.expires else None,
                "parents": list(held.parents),
                "locked": held.locked,
                "costs": dict(each.costs),
                "running": sorted(each.running),
            }
        )
    document = {
        "version": 1,
        "era": everything.era,
        "tokens": rows,
        "ended": dict(everything.ended),
    }
    return json.dumps(document, ensure_ascii=False, indent=1)
