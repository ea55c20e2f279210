"""Past one machine by the command line: leave a question to workers, follow it, see the fleet."""

from __future__ import annotations

import asyncio
import json
from uuid import uuid4

import pytest

from roundtable.cluster.job import DEATHS
from roundtable.cluster.queue import PostgresQueue
from roundtable.engine.system import SystemClock
from roundtable.ledger.postgres import PostgresLedger
from tests.surfaces.desk import QUICK, Desk


@pytest.mark.requirement("Z-21")
def test_leaving_it_to_a_worker_needs_postgresql_and_says_so(desk: Desk) -> None:
    for done in (desk.ask("--detach"), desk("worker"), desk("fleet")):
        assert done.code == 2
        assert "Workers need PostgreSQL" in done.err
        assert "roundtable serve" in done.err
    assert desk("list", "--json").document == []


@pytest.mark.requirement("Z-21")
def test_a_question_that_is_left_to_workers_waits_and_is_shown_so(
    desk: Desk, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", postgres_url)
    empty = desk("fleet")
    assert "No worker is there" in empty.out
    left = desk.ask("--detach")
    id_ = left.out.strip()
    assert id_.startswith("rt_")
    assert "roundtable worker" in left.err
    assert f"roundtable show {id_} --follow" in left.err
    assert "waiting" in desk("list").out
    assert desk("list", "--json").document[0]["status"] == "queued"
    assert "It waits for a worker" in desk("show", id_).err
    fleet = desk("fleet", "--json").document
    assert [each["discussion_id"] for each in fleet["waiting"]] == [id_]
    assert fleet["waiting"][0]["why"] == "no worker is there"
    assert id_ in desk("fleet").out
    done = desk("resume", id_, "--no-log", "--quiet")
    assert done.code in (0, 1), done.err
    assert desk("list", "--json").document[0]["status"] != "queued"


@pytest.mark.requirement("Z-21")
def test_what_is_to_be_confirmed_waits_for_no_worker_before_it_is(
    desk: Desk, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", postgres_url)
    declined = desk.ask("--detach", "--confirm", stdin=b"n\n")
    assert declined.code == 1
    assert desk("fleet", "--json").document["waiting_in_all"] == 0
    left = desk("Tea or coffee?", *QUICK, "--detach", "--json", "--quiet")
    assert json.loads(left.out)["status"] == "queued"
    assert desk("resume", json.loads(left.out)["discussion_id"], "--detach").code == 0
    assert desk("fleet", "--json").document["waiting_in_all"] == 1


@pytest.mark.requirement("Z-21")
def test_what_is_more_urgent_comes_first_where_it_waits_and_is_refused_where_it_does_not(
    desk: Desk, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", postgres_url)
    for idle in (desk.ask("--priority", "high"), desk.ask("--priority", "low", "--dry-run")):
        assert idle.code == 2
        assert "Add --detach" in idle.err
    assert desk("list", "--json").document == []
    usual = desk.ask("--detach").out.strip()
    urgent = desk.ask("--detach", "--confirm", "--priority", "high", stdin=b"y\n")
    assert urgent.code == 0, urgent.err
    waiting = desk("fleet", "--json").document["waiting"]
    assert [each["discussion_id"] for each in waiting] == [urgent.out.split()[-1], usual]


@pytest.mark.requirement("Z-21")
def test_a_discussion_that_was_set_aside_is_shown_so_until_somebody_goes_on_with_it(
    desk: Desk, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", postgres_url)
    id_ = desk.ask("--detach").out.strip()
    asyncio.run(_ends_three_workers(postgres_url))
    told = "set aside after it ended its workers three times"
    listed = desk("list")
    assert f"{id_}  " in listed.out
    assert "  set aside  " in listed.out
    assert f"roundtable resume {id_}" in listed.err
    assert told in listed.err.lower()
    assert desk("list", "--json").document[0]["status"] == "set_aside"
    shown = desk("show", id_)
    assert told in shown.out
    assert f"roundtable resume {id_}" in shown.out + shown.err
    (row,) = desk("tool", "list").document["discussions"]
    assert (row["driven"], row.get("queued", False), row["set_aside"]) == (False, False, True)
    for tool in ("status", "poll", "collect"):
        hint = desk("tool", tool, json.dumps({"discussion_id": id_})).document["hint"]
        assert told in hint, tool
        assert f"roundtable resume {id_}" in hint
    assert "Set aside" in desk("fleet").out
    done = desk("resume", id_, "--no-log", "--quiet")
    assert done.code in (0, 1), done.err
    assert desk("list", "--json").document[0]["status"] != "set_aside"
    assert told not in desk("show", id_).out


async def _ends_three_workers(url: str) -> None:
    ledger = await PostgresLedger.open(url)
    queue = PostgresQueue(ledger, SystemClock())
    for _ in range(DEATHS):
        (job,) = await queue.pick(uuid4(), 1)
        assert await queue.give_back(job, died=True)
    assert await queue.pick(uuid4(), 1) == []
    await ledger.close()
