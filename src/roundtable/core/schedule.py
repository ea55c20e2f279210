"""A schedule: a question that is put to a table again and again, or once at a later time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from .values import Value

FAILURES = 3
"""So many openings in a row that could not be made pause a schedule."""


class Schedule(Value):
    """What is asked, when, for whom, and how it stands. Times are in UTC."""

    id: str
    question: str
    request: dict[str, Any] = Field(default_factory=dict)
    """What else was asked for, in the words of the surface that took it: procedure, options,
    context, language, budget …"""
    surface: str = "cli"
    cron: str = ""
    """When it recurs: five fields, in the time of `zone`. Empty for one that comes once."""
    zone: str = "UTC"
    owner: str = ""
    """The token that made it; empty: the owner of the installation."""
    made_by: str = ""
    """Who that is, in words."""
    made_at: datetime
    monthly_usd: float | None = None
    """What all its runs of a month may cost together."""
    enabled: bool = True
    why: str = ""
    """Why it is paused, if it is."""
    next_due: datetime | None = None
    """None: it does not come again, or is paused."""
    last_due: datetime | None = None
    last_discussion: str = ""
    last_problem: str = ""
    """Why its last run could not be opened; empty if it was."""
    runs: int = 0
    missed: int = 0
    """Runs that fell out because nobody was there to open them."""
    failures: int = 0
    """Runs in a row that could not be opened."""
    waits: str = ""
    """Why the run that is due was put off, if it was."""

    @property
    def once(self) -> bool:
        return not self.cron

    @property
    def over(self) -> bool:
        """Whether it came once, and that was it."""
        return self.once and self.last_due is not None

    @property
    def key(self) -> str:
        """What the opening of its next run is known by, whoever opens it and however often."""
        assert self.next_due is not None, "only what is due is opened"
        return f"schedule/{self.id}/{self.next_due.isoformat(timespec='seconds')}"

    def ran(self, discussion_id: str, following: datetime | None, missed: int) -> Schedule:
        """Its run was opened, and `missed` others that were due fell out."""
        return self.model_copy(
            update={
                "last_due": self.next_due,
                "last_discussion": discussion_id,
                "last_problem": "",
                "runs": self.runs + 1,
                "missed": self.missed + missed,
                "failures": 0,
                "waits": "",
                "next_due": following,
                "enabled": following is not None,
            }
        )

    def put_off(self, why: str) -> Schedule:
        """Its run could not be opened yet, for a reason that passes. It stays due."""
        return self.model_copy(update={"waits": why})

    def failed(self, problem: str, following: datetime | None, *, for_good: bool) -> Schedule:
        """Its run could not be opened. After several in a row, or `for_good`, it is paused."""
        failures = self.failures + 1
        given_up = for_good or failures >= FAILURES
        changed = self.model_copy(
            update={
                "last_due": self.next_due,
                "last_problem": problem,
                "failures": failures,
                "waits": "",
                "next_due": following,
                "enabled": following is not None,
            }
        )
        if not given_up or following is None:
            return changed
        told = problem if for_good else f"{failures} runs in a row could not be opened. {problem}"
        return changed.paused(told)

    def paused(self, why: str) -> Schedule:
        return self.model_copy(update={"enabled": False, "why": why, "waits": "", "next_due": None})

    def resumed(self, following: datetime) -> Schedule:
        return self.model_copy(
            update={"enabled": True, "why": "", "failures": 0, "next_due": following}
        )
