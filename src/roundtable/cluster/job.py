"""A job: the right and the duty of one worker to drive one discussion; and what becomes of one that
is picked. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..ports import Lease

DEATHS = 3
"""Workers that a discussion may end before it is set aside."""
LOOK_AGAIN = 1.0
"""Seconds until a discussion is looked at again that somebody else drives."""
_KEY = "drive/"
_OWNER = re.compile(r"job:\d+:[0-9a-f-]{36}")  # no process is called so


@dataclass(frozen=True, slots=True)
class Job:
    id: int
    discussion_id: str
    lease: Lease
    """Under which it is driven: whoever picks the job after us has a newer one."""
    deaths: int = 0
    """How many workers ended over it since it was last heard."""

    @property
    def suspect(self) -> bool:
        """Whether one more death sets it aside. A worker drives one such job at a time, so that
        nobody is set aside for what its neighbour did."""
        return self.deaths >= DEATHS - 1


@dataclass(frozen=True, slots=True)
class Picked:
    """A job as it is picked, and how its discussion stands."""

    id: int
    discussion_id: str
    deaths: int
    driven_from: int | None
    """The last event when it was picked before; None if that worker gave it back."""
    heard_at: int = 0
    """The last speech, where that matters."""
    there: bool = True
    locked: bool = False
    running: bool = False
    last_seq: int = 0
    owner: str | None = None
    """Who holds a live lease."""

    @property
    def died(self) -> bool:
        return self.driven_from is not None

    def deaths_now(self) -> int:
        """Workers can also be ended from outside: one that said something since was no reason."""
        if self.driven_from is None:
            return self.deaths
        return 1 if self.heard_at > self.driven_from else self.deaths + 1


Fate = Literal["drive", "over", "later", "set aside"]


def fate_of(picked: Picked, *, beside_a_suspect: bool) -> Fate:
    """What becomes of it. Whoever holds the job seizes the lease of whoever had the job before."""
    if not picked.there or not (picked.running or picked.locked):
        return "over"
    if picked.locked or (picked.owner is not None and not is_of_a_job(picked.owner)):
        return "later"
    if picked.deaths_now() >= DEATHS:
        return "set aside"
    if picked.deaths_now() >= DEATHS - 1 and beside_a_suspect:
        return "later"
    return "drive"


def key_of(discussion_id: str) -> str:
    """The key under which a discussion has one job at a time."""
    return f"{_KEY}{discussion_id}"


def discussion_of(key: str) -> str:
    return key.removeprefix(_KEY)


def owner_of(job_id: int, worker: object) -> str:
    return f"job:{job_id}:{worker}"


def is_of_a_job(owner: str) -> bool:
    return _OWNER.fullmatch(owner) is not None
