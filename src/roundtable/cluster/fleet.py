"""The fleet: who works, what each drives, what waits and why, what was set aside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..ledger.postgres_leases import ALIVE_FOR
from . import statements as sql
from .job import discussion_of
from .kinds import needed, understands
from .queue import PostgresQueue


@dataclass(frozen=True, slots=True)
class Waiting:
    discussion_id: str
    topic: str
    since: datetime
    why: str
    """Why nobody has taken it, as far as that is known; empty: it has only just come."""


@dataclass(frozen=True, slots=True)
class SetAside:
    discussion_id: str
    topic: str
    deaths: int
    why: str


@dataclass(frozen=True, slots=True)
class WorkerRow:
    id: str
    name: str
    host: str
    pid: int
    version: str
    at_once: int
    started_at: datetime
    seen_ago: float
    """Seconds since its last sign of life."""
    leaving: bool
    drives: tuple[str, ...]

    @property
    def alive(self) -> bool:
        return self.seen_ago < ALIVE_FOR


@dataclass(frozen=True, slots=True)
class Fleet:
    workers: tuple[WorkerRow, ...]
    waiting: tuple[Waiting, ...]
    """The first of them, in the order in which they are taken."""
    waiting_in_all: int
    set_aside: tuple[SetAside, ...]


async def look(queue: PostgresQueue, *, most: int = 100) -> Fleet:
    """The fleet as it stands. Workers that were not seen for long are left out."""
    async with queue.ledger.transaction() as connection:
        rows = await connection.fetch(sql.FLEET_WORKERS)
        jobs = await connection.fetch(sql.FLEET_JOBS, most)
        in_all = await connection.fetchval("SELECT count(*) FROM jobs WHERE state = 'queued'")
    driven: dict[str, list[str]] = {}
    for job in jobs:
        if job["state"] == "picked":
            driven.setdefault(str(job["worker"]), []).append(discussion_of(job["key"]))
    workers = tuple(
        WorkerRow(
            id=str(row["id"]),
            **{name: row[name] for name in ("name", "host", "pid", "version", "at_once")},
            started_at=row["started_at"],
            seen_ago=float(row["seen_ago"]),
            leaving=row["leaving"],
            drives=tuple(driven.get(str(row["id"]), ())),
        )
        for row in rows
    )
    taking = [each for each in workers if each.alive and not each.leaving]
    return Fleet(
        workers,
        tuple(_waiting(job, taking) for job in jobs if job["state"] == "queued"),
        int(in_all or 0),
        tuple(
            SetAside(discussion_of(job["key"]), job["topic"] or "", job["deaths"], _said(job))
            for job in jobs
            if job["state"] == "failed"
        ),
    )


def _waiting(job: Mapping[str, Any], workers: Iterable[WorkerRow]) -> Waiting:
    return Waiting(
        discussion_of(job["key"]), job["topic"] or "", job["since"], _why(job, list(workers))
    )


def _why(job: Mapping[str, Any], workers: list[WorkerRow]) -> str:
    if not workers:
        return "no worker is there"
    able = [each for each in workers if understands(each.version, job["kind"])]
    if not able:
        return f"it needs {needed(job['kind'])}"
    if job["driven_by_hand"]:
        return "somebody drives it by hand"
    if all(len(each.drives) >= each.at_once for each in able):
        return "all workers have as many as they take"
    return _said(job)


def _said(job: Mapping[str, Any]) -> str:
    return str(json.loads(job["headers"] or "{}").get("why") or "")
