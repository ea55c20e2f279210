"""An outage: the database went away under a discussion, and is waited for.

The one place that knows which errors of a ledger pass by themselves. What has arrived meanwhile
stays in memory, which is bounded because no call begins before the ledger has its beginning; and
in a rescue file, so that it outlives this process too. Nobody is called again for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..core.errors import (
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerGone,
    LedgerMissing,
    LedgerReadOnly,
    LedgerUnreachable,
)
from ..core.events import AttemptFailed, AttemptFinished, Event, NewEvent
from ..core.state import State
from ..core.text import counted
from ..ports import Clock, Rescue

if TYPE_CHECKING:
    from .journal import Journal

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds for which a database that went away is waited for, where nobody says otherwise."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
SOON = 0.3
"""Seconds in which a ledger has long stored what it is given. An answer that takes longer is kept
elsewhere first, for this process may end any moment; nobody is told yet."""
HASTE = 1.0
"""Seconds that a ledger has for one thing while somebody wants to end, if it was there so far."""

AWAY = "The database does not answer; what was said is kept."
REMINDED = 60.0
"""Seconds after which whoever waits hears again that nothing has changed, and for how long."""
BACK = "It is back."


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for whoever watches a discussion being driven. Never stored."""

    discussion_id: str
    away: bool
    """Whether its database is."""
    text: str
    waiting: bool = False
    """Whether it waits until it may begin."""
    missing: bool = False
    """Whether the database's file was taken away, and all that was said before with it."""


OnNotice = Callable[[Notice], None]


def no_notices(_: Notice) -> None:
    """For those who are not told."""


class Outage:
    """Brings a driver's work with the ledger through the times in which there is none."""

    def __init__(
        self,
        discussion_id: str,
        clock: Clock,
        *,
        patience: float = PATIENCE,
        rescue: Rescue | None = None,
        on_notice: OnNotice = no_notices,
    ) -> None:
        self._id = discussion_id
        self._clock = clock
        self._patience = patience
        self._rescue = rescue
        self._on_notice = on_notice
        self._since: float | None = None
        self._error = LedgerError("The database does not answer.")
        """What it said last."""
        self._waiting = 0
        """How much of ours has failed and not succeeded since. One success is not the end: a
        database that is locked can still be read."""
        self._answers = False
        """Whether what was last tried succeeded."""
        self._hurried = False
        self._ending = False
        self._limits: set[asyncio.Timeout] = set()
        """Of what is being tried now: none, until somebody wants to end."""
        self._said_away = False
        self._told = ""
        self._reminded = 0.0
        """At which second of the outage that was said last."""
        self._settled = asyncio.Event()
        """Set when the ledger has all that happened, or nobody waits for it any more."""
        self._unstored: dict[str, str] = {}
        """The outcomes that the ledger does not have, or takes long to store, by their first key,
        and where each is kept; nowhere if there is no room for it but in memory."""
        self._given_up: list[str] = []
        """Where those are that it will not have from here."""

    async def through(
        self, work: Callable[[], Awaitable[T]], outcome: Sequence[NewEvent] = ()
    ) -> T:
        """Do `work`, again and again while the ledger is away. It must be safe to do twice.

        `outcome` is what would be lost with it, each event with its key; it is kept outside the
        ledger until the ledger has it. LedgerGone when patience is over, or after `hurry`.
        """
        try:
            if self._since is not None and self._unstored and not outcome:
                # What was decided comes after what happened: till then, calls whose answers are
                # here would count as under way, and their time as spent.
                result = await self._again(work, outcome)
            else:
                result = await self._first(work, outcome)
        except asyncio.CancelledError:
            raise
        except LedgerGone:
            if outcome:  # it stays where it is kept, and nobody here waits for it any more
                self._given_up.append(self._forget(outcome))
            raise
        except BaseException:  # as where somebody else drives it now, and wins
            self._forget(outcome)
            raise
        self._stored(outcome)
        return result

    async def at_last(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do the last thing with the ledger, which may be left undone: it is not waited for where
        the ledger is away, or whoever drives has gone. LedgerUnreachable then."""
        if self._since is not None:
            self._ending = True
        try:
            await self._tried(work, ())
        except LedgerError as error:
            if error.temporary and self._since is None and self._ending:
                self._error = error
                self._tell_end()
            raise

    async def _first(self, work: Callable[[], Awaitable[T]], outcome: Sequence[NewEvent]) -> T:
        try:
            return await self._tried(work, outcome)
        except LedgerError as error:
            if not error.temporary:
                raise
            self._error = error
            self._answers = False
        if self._since is None:
            self._since, self._reminded = self._clock.monotonic(), 0.0
            if not self._in_haste:
                self._said_away = True
                self._tell_away(_away(self._error, self._patience))
        self._keep(outcome)
        return await self._again(work, outcome)

    async def _tried(self, work: Callable[[], Awaitable[T]], outcome: Sequence[NewEvent]) -> T:
        """Once. A ledger may itself wait long for what is locked: what would be lost is kept
        meanwhile, and who wants to end does not wait for it. LedgerUnreachable then; it may be
        stored all the same."""
        loop = asyncio.get_running_loop()
        keeping = loop.call_later(SOON, self._keep, outcome) if outcome else None
        limit = asyncio.timeout(self._haste if self._in_haste else None)
        try:
            async with limit:
                self._limits.add(limit)
                return await work()
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise LedgerUnreachable(self._error.message, self._error.remedy) from error
        finally:
            self._limits.discard(limit)
            if keeping is not None:
                keeping.cancel()

    def hurry(self) -> None:
        """Somebody wants to end: nothing is waited for any more, once it is kept. It holds until
        the ledger answers."""
        self._hurried = True
        self._settled.set()
        by = asyncio.get_running_loop().time() + self._haste
        for limit in self._limits:
            if limit.when() is None:
                limit.reschedule(by)

    def end(self) -> None:
        """The same, and for good: whoever drives has gone."""
        self._ending = True
        self.hurry()

    @property
    def _haste(self) -> float:
        return SOON if self._unstored or self._since is not None else HASTE

    @property
    def _in_haste(self) -> bool:
        return self._hurried or self._ending

    async def _again(self, work: Callable[[], Awaitable[T]], outcome: Sequence[NewEvent]) -> T:
        self._waiting += 1
        pause = _SHORTEST_PAUSE
        try:
            while True:
                self._refuse_to_wait()
                if self._unstored and not outcome:
                    self._settled.clear()
                    await self._settled.wait()
                else:
                    await self._clock.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                self._refuse_to_wait()
                try:
                    return await self._tried(work, outcome)
                except LedgerError as error:
                    if not error.temporary:
                        raise
                    self._error = error
                    self._answers = False
        except asyncio.CancelledError:
            # With the last of those who wait, nobody else would tell that it is over.
            if self._answers and self._waiting == 1:
                self._tell_back()
            raise
        finally:
            self._waiting -= 1

    def _keep(self, outcome: Sequence[NewEvent]) -> None:
        if outcome and not self._unstored.get(_name(outcome)):
            place = self._rescue.keep(self._id, outcome) if self._rescue is not None else ""
            self._unstored[_name(outcome)] = place

    def _stored(self, outcome: Sequence[NewEvent]) -> None:
        self._hurried = False
        self._answers = True
        place = self._forget(outcome)
        if place and self._rescue is not None and not (self._unstored or self._given_up):
            self._rescue.drop(self._id)
        if not self._waiting:
            self._tell_back()

    def _tell_away(self, text: str) -> None:
        missing = isinstance(self._error, LedgerMissing)
        self._on_notice(Notice(self._id, True, text, missing=missing))

    def _tell_end(self) -> None:
        """Whoever ends it by hand hears of no error."""
        self._tell_away(self.kept if self._said_away else f"{self._error.message} {self.kept}")

    def _tell_back(self) -> None:
        if self._since is not None and not self._unstored:
            self._since = None
            if self._said_away:
                self._said_away = False
                self._on_notice(Notice(self._id, False, BACK))

    def _forget(self, outcome: Sequence[NewEvent]) -> str:
        """It is not waited for any more; where it is kept, if anywhere."""
        place = self._unstored.pop(_name(outcome), "") if outcome else ""
        if not self._unstored:
            self._settled.set()
        return place

    def _refuse_to_wait(self) -> None:
        error = self._error
        assert self._since is not None, "an outage has begun"
        waited = self._clock.monotonic() - self._since
        if waited < self._patience and not self._in_haste:
            if waited - self._reminded >= REMINDED:
                self._reminded = waited
                left = _span(self._patience - waited)
                told = f"{self._error.message} Waited for {_span(waited)}; trying for {left} more."
                self._tell_away(told)
            return
        if waited < self._patience and self._told != self.kept:
            self._told = self.kept
            self._tell_end()
        self._settled.set()
        raise LedgerGone(
            f"The database has not come back: {error.message}",
            f"{self.kept} {error.remedy}".strip(),
        ) from error

    @property
    def kept(self) -> str:
        """What became of the answers that the ledger does not have."""
        outcomes = [*self._unstored.values(), *self._given_up]
        if lost := outcomes.count(""):
            return (
                f"There was no room anywhere for {counted(lost, 'answer')}, to be asked for again."
                " Everything before is safe."
            )
        places = " and ".join(dict.fromkeys(outcomes))
        if isinstance(self._error, LedgerMissing):
            meanwhile = f"What was said meanwhile is kept in {places}. " if places else ""
            return f"{meanwhile}All that was said before is in that database, and nowhere else."
        if places:
            return f"What was said meanwhile is kept in {places}; the next start takes it in."
        return "Nothing that was said is lost."


def _away(error: LedgerError, patience: float) -> str:
    """What to say of it: who has to make room, to let us write or to put it back must hear that at
    once, and how long there is for it."""
    again = f"Trying again for up to {_span(patience)}…"
    if isinstance(error, LedgerMissing):  # with what was said before
        return f"{error.message} {error.remedy} What is said meanwhile is kept. {again}"
    if isinstance(error, LedgerBusy | LedgerFull | LedgerReadOnly):
        return f"{error.message} What was said is kept. {again}"
    return f"{AWAY} {again}"


def _span(seconds: float) -> str:
    """As one says it, rounded."""
    minutes = round(seconds / 60)
    return counted(minutes, "minute") if minutes else counted(max(1, round(seconds)), "second")


def _name(outcome: Sequence[NewEvent]) -> str:
    return outcome[0].key or ""


async def take_in(journal: Journal, rescue: Rescue | None) -> None:
    """Append what an earlier driver kept because there was no ledger: nobody is asked again for
    it. What the ledger has already, or no longer waits for, is left out."""
    state = journal.state
    if rescue is None:
        return
    for outcome in rescue.kept(state.discussion_id):
        known = any(new.key in journal.keys for new in outcome)
        if not known and all(_is_awaited(state, new.event) for new in outcome):
            await journal.append_kept(outcome)
    rescue.drop(state.discussion_id)


def _is_awaited(state: State, event: Event) -> bool:
    if state.closed is not None:
        return False
    if not isinstance(event, AttemptFinished | AttemptFailed):
        return True
    turn = state.turn(event.turn_id)
    number = event.attempt - 1
    return turn is not None and 0 <= number < len(turn.attempts) and turn.attempts[number].in_flight
