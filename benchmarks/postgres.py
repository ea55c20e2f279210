"""What many processes and many discussions cost a PostgreSQL server.

A thousand discussions driven by one process, all of them waiting for an answer: transactions a
second, as the server counts them, and the connections of that process. How soon an append is heard
of in another process, directly and behind PgBouncer. Appends a second of sixty-four discussions at
once, as they are and with a notice inside of each transaction, in turn. How much
later the page of another web process shows events and words.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
from tests.debian import Missing
from tests.ledger.events import note, opened
from tests.pgbouncer import pgbouncer
from tests.postgres import NoPostgres, PostgresServer, postgres_server
from tests.rehearsal import Table, Voice
from tests.servers import provider_server
from tests.surfaces.web.house import Process, frames

from benchmarks.measured import Measured
from roundtable.ledger import postgres_append
from roundtable.ledger.postgres import PostgresLedger
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web.links import load_links

WAITING = 1_000
SECONDS = 30.0
LOOKS = 40
AT_ONCE, EACH = 64, 30
PAIRS = 3
SAID_WITHIN = 5.0
TEXT = "A sentence of the usual length, said by one expert to the others. " * 8
_COUNT = """
    SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()
"""
_OURS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'roundtable'"


async def waiting(url: str) -> list[Measured]:
    """What it costs that nothing happens."""
    ledger = await PostgresLedger.open(url)
    table = Table({"*": Voice(lambda _: None)}, ledger=ledger)
    watcher = await asyncpg.connect(url)
    driven: list[asyncio.Task[Any]] = []
    try:
        for _ in range(WAITING):
            request = OpenRequest(topic="Tea or coffee?", procedure="council")
            state = await table.service.open(request)
            driven.append(asyncio.create_task(table.service.run(state.discussion_id)))
        while len(table.requests) < WAITING:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.1)
        await asyncio.sleep(2)
        before, cpu = await watcher.fetchval(_COUNT), time.process_time()
        await asyncio.sleep(SECONDS)
        spent = time.process_time() - cpu
        rate = (await watcher.fetchval(_COUNT) - before) / SECONDS
        connections = await watcher.fetchval(_OURS)
    finally:
        for task in driven:
            task.cancel()
        await asyncio.gather(*driven, return_exceptions=True)
        await watcher.close()
        await ledger.close()
    return [
        Measured(f"transactions with {WAITING:,} discussions waiting", rate, "/s", 100,
                 f"{1000 * spent / SECONDS:.1f} ms CPU a second of the process"),
        Measured("connections of one process", float(connections), "", 6),
    ]  # fmt: skip


async def heard(name: str, url: str, *, listen: str | None = None) -> Measured:
    """How long it takes until an append is heard of elsewhere."""
    async with AsyncExitStack() as stack:
        ledgers = []
        for _ in range(2):
            ledger = await PostgresLedger.open(url, listen=listen)
            stack.push_async_callback(ledger.close)
            ledgers.append(ledger)
        one, other = ledgers
        id_ = f"rt_{name}"
        await one.append(id_, [opened()])
        took: list[float] = []
        async with other.listening(id_) as ear:
            for seq in range(1, LOOKS):
                began = time.perf_counter()
                waits = asyncio.create_task(ear.change_beyond(lambda: seq))  # noqa: B023
                await one.append(id_, [note(TEXT)])
                await waits
                took.append(1000 * (time.perf_counter() - began))
                await asyncio.sleep(0.013 * (seq % 7))
    worst = sorted(took)[-2]
    told = f"median {statistics.median(took):.0f} ms, of {len(took)}"
    return Measured(f"an append heard of elsewhere, {name}", worst, "ms", 500, told)


async def appended(url: str, run: str) -> float:
    """Appends a second."""
    ledger = await PostgresLedger.open(url)
    ids = [f"rt_{run}_{number}" for number in range(AT_ONCE)]
    try:
        for id_ in ids:
            await ledger.append(id_, [opened()])
        leases = {id_: await ledger.take_lease(id_, "me", ttl=60) for id_ in ids}

        async def write(id_: str) -> None:
            for number in range(EACH):
                await ledger.append(id_, [note(TEXT, key=str(number))], lease=leases[id_])

        began = time.perf_counter()
        await asyncio.gather(*(write(id_) for id_ in ids))
        return AT_ONCE * EACH / (time.perf_counter() - began)
    finally:
        await ledger.close()


async def side_by_side(url: str) -> list[Measured]:
    """As it is, and as it would be with a notice inside of each transaction."""
    plain = postgres_append.AT_ONCE
    inside = plain.replace(
        "SELECT last_seq FROM free\n", "SELECT last_seq, pg_notify('roundtable', $1) FROM free\n"
    )
    assert inside != plain, "it is another statement by now"
    rates: dict[str, list[float]] = {plain: [], inside: []}
    try:
        for number in range(PAIRS):
            for way, measured in rates.items():
                postgres_append.AT_ONCE = way
                measured.append(await appended(url, f"{number}_{len(way)}"))
    finally:
        postgres_append.AT_ONCE = plain
    ours, theirs = (statistics.median(measured) for measured in rates.values())
    told = f"{theirs:.0f} /s with a notice in each transaction"
    return [Measured(f"appends of {AT_ONCE} discussions at once", round(ours), "/s", detail=told)]


async def between_pages(url: str, folder: Path) -> list[Measured]:
    """How much later the page of another web process shows what happens on the one that drives."""
    with ExitStack() as stack:
        said = "One word after the other, as an expert thinks of them. " * 40
        models = stack.enter_context(provider_server(lambda _: said, pace=SAID_WITHIN))
        env = {**models.env(), "ROUNDTABLE_DB": url}
        one, other = (
            stack.enter_context(Process(folder / name / "home", "--port", "0", **env))
            for name in ("one", "other")
        )
        links = load_links(one.home)
        headers = {"Authorization": f"Bearer {links.owner_key}"}
        options = {"all": "openai/x", "quick": True}
        body = {"topic": "Tea or coffee?", "procedure": "council", "options": options}
        async with httpx2.AsyncClient(base_url=one.found.url, timeout=60) as client:
            made = (await client.post("/api/discussions", json=body, headers=headers)).json()
        path = f"/api/r/{links.token(made['discussion_id'])}/feed"
        here, there = await asyncio.gather(_seen(one, path), _seen(other, path))
    rows = []
    begun = max(min(here.values()), min(there.values()))
    for kind in ("event", "draft"):
        # What was there when the second page came is not late, it is history.
        both = [key for key in here if key[0] == kind and key in there and here[key] > begun]
        late = [1000 * (there[key] - here[key]) for key in both]
        told = f"median {statistics.median(late):.0f} ms, of {len(late)}"
        name = f"{kind} on the page of another process, later by"
        rows.append(Measured(name, sorted(late)[-2], "ms", 500, told))
    return rows


async def _seen(page: Process, path: str) -> dict[tuple[str, str], float]:
    """When each event came, and every two hundredth character of what was being said."""
    seen: dict[tuple[str, str], float] = {}
    async with httpx2.AsyncClient(base_url=page.found.url, timeout=120) as client:
        async for frame in frames(client, path):
            now = time.perf_counter()
            if frame.event == "event":
                seen.setdefault(("event", str(frame.id)), now)
            elif frame.event == "draft":
                turn = frame.data["turn_id"]
                length = frame.data["begins"] + len(frame.data["words"])
                for place in range(200, length, 200):
                    seen.setdefault(("draft", f"{turn} {place}"), now)
    return seen


async def measure(server: PostgresServer, pooled_port: int | None) -> list[Measured]:
    url = server.new_database()
    rows = await waiting(url)
    rows.append(await heard("directly", url))
    if pooled_port is not None:
        through = url.replace(f":{server.port}/", f":{pooled_port}/")
        rows.append(await heard("behind PgBouncer", through))
        told = "behind PgBouncer with an address to listen at"
        rows.append(await heard(told, through, listen=url))
    rows += await side_by_side(server.new_database())
    with tempfile.TemporaryDirectory() as folder:
        return rows + await between_pages(server.new_database(), Path(folder))


def run() -> list[Measured]:
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server())
        except NoPostgres as error:
            print(error)
            return []
        port = None
        try:
            port = stack.enter_context(pgbouncer(server.port))
        except Missing as error:
            print(error)
        return asyncio.run(measure(server, port))
