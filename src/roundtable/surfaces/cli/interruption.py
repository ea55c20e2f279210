"""A command that ends before its time: what it leaves behind, and how to go on with that."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from ...core.errors import LeaseHeld, LedgerError, LedgerGone, LedgerMissing, RoundtableError
from ...engine.outage import Notice, OnNotice
from .exits import INTERRUPTED
from .terminal import echo_error


class Left:
    """What a command has begun, and whether the database that holds it is there."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        """Discussions that somebody has to go on with."""
        self._away: dict[str, Notice] = {}
        """What was heard last by each discussion whose database is away."""
        self._lacking: LedgerError | None = None
        """What a database said that could not be used."""

    def telling(self, say: Callable[[str], None], *, quiet: bool = False) -> OnNotice:
        """For a driver: `say` its notices, and remember what they say of the database. Who wants
        it `quiet` hears of the database all the same, for there a run stands still."""

        def heard(notice: Notice) -> None:
            was_away = self._away.pop(notice.discussion_id, None) is not None
            if notice.away:
                self._away[notice.discussion_id] = notice
            if notice.away or was_away or not quiet:
                say(notice.text)

        return heard

    def failed(self, error: RoundtableError) -> None:
        """What was begun, or was to begin, came to this."""
        self._lacking = error if isinstance(error, LedgerError) else None

    def first(self) -> str:
        """How to begin an order: with what has to be there first; empty if all is."""
        error = self._lacking
        cause = error.__cause__ if isinstance(error, LedgerGone) else error
        if isinstance(cause, LedgerMissing) or any(each.missing for each in self._away.values()):
            return "Put the database back first, then"
        return "Once the database can be used again," if error or self._away else ""

    def say_how_to_go_on(self, same: str = "", then: str = "") -> None:
        """`then`: what to do where it is not by resuming, as an order without its full stop."""
        first = self.first()
        if then:
            echo_error(f"{first} {then}." if first else f"{then[0].upper()}{then[1:]}.")
        go_on = f"{first} go on" if first else "Nothing finished is lost. Go on"
        for discussion_id in self.begun:
            echo_error(f"{go_on} with: roundtable resume {discussion_id}{same}")


def interruptible(
    main: Callable[[Left], Coroutine[Any, Any, int]],
    then: str = "",
    *,
    kept: str = "",
    same: str = "",
) -> int:
    """Run a command so that Ctrl-C and a termination leave a consistent ledger and say how to
    go on: by resuming what it left, with the `same` flags, or by what `then` says. `kept`: what is
    not lost then, if the database is there."""
    left = Left()

    async def guarded() -> int:
        task = asyncio.current_task()
        assert task is not None
        with suppress(NotImplementedError):  # Windows has no such signal handlers
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await main(left)

    try:
        return asyncio.run(guarded())
    except (KeyboardInterrupt, asyncio.CancelledError):
        echo_error("Interrupted.")
        if kept and not left.first():
            echo_error(kept)
        left.say_how_to_go_on(same, then)
        return INTERRUPTED
    except LeaseHeld:
        raise  # it goes on, elsewhere
    except RoundtableError as error:
        left.failed(error)
        left.say_how_to_go_on(same)
        if left.begun and isinstance(error, LedgerError) and error.temporary:
            # It went away after something had begun: that is no fault of the line.
            raise LedgerGone(error.message, error.remedy) from error
        raise
