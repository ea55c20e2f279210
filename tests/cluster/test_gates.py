"""The gates of a fleet: the limits of a provider hold for all processes together."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roundtable.cluster.gates import PostgresGates
from roundtable.core.call_gate import Asking, CallGate, CallLimits, Granted, slots_told
from roundtable.core.errors import SpeakerError
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ports import Gates
from roundtable.speakers.gates import LocalGates
from roundtable.speakers.turnstile import Turnstile

from ..postgres import NoPostgres, postgres_that_restarts

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["local", "postgres"])
async def gates(request: pytest.FixtureRequest) -> AsyncIterator[Gates]:
    if request.param == "local":
        yield LocalGates()
        return
    ledger = await PostgresLedger.open(request.getfixturevalue("postgres_url"))
    try:
        yield PostgresGates(ledger, "here")
    finally:
        await ledger.close()


async def ask(gates: Gates, limits: CallLimits, *said: object) -> Granted:
    asking = Asking(*said)  # type: ignore[arg-type]
    return await gates.change("openai", lambda gate, now: gate.ask(asking, limits, now))


# One suite for both


async def test_what_was_said_at_a_gate_is_known_to_whoever_comes_next(gates: Gates) -> None:
    limits = CallLimits(at_once=3)
    assert (await ask(gates, limits, "a", 0, 2)).calls == 2
    assert (await ask(gates, limits, "b", 0, 2)).calls == 1
    assert (await ask(gates, limits, "c", 0, 2)).calls == 0
    assert slots_told((await gates.look())["openai"]) == "3 under way of 3, 3 waiting"


async def test_gates_of_different_names_know_nothing_of_each_other(gates: Gates) -> None:
    for name in ("openai", "xai"):
        granted = await gates.change(
            name, lambda gate, now: gate.ask(Asking("a", 0, 9), CallLimits(at_once=1), now)
        )
        assert granted.calls == 1


async def test_what_fails_at_a_gate_leaves_no_trace(gates: Gates) -> None:
    await ask(gates, CallLimits(at_once=1), "a", 0, 1)

    def fails(gate: CallGate, now: float) -> tuple[CallGate, float]:
        return gate, now / 0

    with pytest.raises(ZeroDivisionError):
        await gates.change("openai", fails)
    assert (await ask(gates, CallLimits(at_once=1), "b", 0, 1)).calls == 0


async def test_a_refusal_is_heard_by_everybody(gates: Gates) -> None:
    limits = CallLimits(at_once=16)
    first = Turnstile(gates, "openai", limits, "a")
    begun = await first.enter()
    first.failed(SpeakerError("rate_limited", "", retry_after=40.0), begun)
    first.leave()
    await first.close()
    told = await ask(gates, limits, "b", 0, 1)
    assert told.calls == 0
    assert told.paused == pytest.approx(40.0, abs=5)


async def test_turnstiles_of_two_processes_share_what_there_is(gates: Gates) -> None:
    limits = CallLimits(at_once=2)
    running, most = 0, 0
    ended: dict[str, int] = {"a": 0, "b": 0}

    async def call(who: str, turnstile: Turnstile) -> None:
        nonlocal running, most
        await turnstile.enter()
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        ended[who] += 1
        turnstile.leave()

    stiles = {who: Turnstile(gates, "openai", limits, who) for who in "ab"}
    async with asyncio.timeout(60):
        await asyncio.gather(*(call(who, stiles[who]) for who in "ab" for _ in range(15)))
    for each in stiles.values():
        await each.close()
    assert (most, ended) == (2, {"a": 15, "b": 15})
    assert slots_told((await gates.look())["openai"]) == "0 under way of 2"


# A fleet


class ModelServer:
    """Counts how many calls are under way, as only the provider can."""

    def __init__(self, places: int = 2) -> None:
        self._places = places
        self.now = 0
        self.most = 0
        self.served = 0
        self.full = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    async def heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == self._places:
            self.full.set()
        gone = asyncio.create_task(reader.read())
        held = asyncio.create_task(self.hold.wait())
        await asyncio.wait([gone, held], return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        held.cancel()
        self.now -= 1
        self.served += 1
        writer.close()


Start = Callable[..., Awaitable[asyncio.subprocess.Process]]


@asynccontextmanager
async def fleet(url: str, server: ModelServer) -> AsyncIterator[Start]:
    listening = await asyncio.start_server(server.heard, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    started: list[asyncio.subprocess.Process] = []

    async def start(
        who: str, *, at_once: int, calls: int, clock_off: float = 0.0, holds: float = 15.0
    ) -> asyncio.subprocess.Process:
        words = (url, port, who, at_once, calls, clock_off, holds)
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.cluster.caller", *(str(each) for each in words), cwd=ROOT
        )
        started.append(child)
        return child

    try:
        yield start
    finally:
        for each in started:
            if each.returncode is None:
                each.kill()
                await each.wait()
        listening.close()


@pytest.mark.requirement("Z-21")
async def test_four_processes_never_pass_the_limit_whatever_their_clocks_say(
    postgres_url: str,
) -> None:
    server = ModelServer(places=3)
    server.hold.clear()  # until the limit is reached: answered at once, they might never meet
    await (await PostgresLedger.open(postgres_url)).close()
    async with fleet(postgres_url, server) as start, asyncio.timeout(200):
        # A machine that stands still for a quarter of a minute, or whose clock is set, looks like
        # three processes that were killed: that is the next test's subject.
        children = [
            await start(f"p{n}", at_once=3, calls=40, clock_off=off, holds=600)
            for n, off in enumerate((0.0, 300.0, -300.0, 0.0))
        ]
        await server.full.wait()
        server.hold.set()
        assert [await each.wait() for each in children] == [0, 0, 0, 0]
    assert server.served == 160
    assert server.most == 3


async def test_places_of_a_killed_process_are_free_again(postgres_url: str) -> None:
    server = ModelServer()
    server.hold.clear()
    await (await PostgresLedger.open(postgres_url)).close()
    async with fleet(postgres_url, server) as start, asyncio.timeout(100):
        first = await start("first", at_once=2, calls=2, holds=2.0)
        await server.full.wait()
        first.send_signal(signal.SIGKILL)
        await first.wait()
        server.hold.set()
        second = await start("second", at_once=2, calls=4, holds=2.0)
        assert await second.wait() == 0
    assert server.served == 6


async def test_without_the_database_a_process_keeps_to_its_share_and_says_so(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roundtable.cluster.gates.AWAY", 0.0)
    limits = CallLimits(at_once=8)
    try:
        running = postgres_that_restarts()
        server = running.__enter__()
    except NoPostgres as error:
        pytest.skip(str(error))
    try:
        ledger = await PostgresLedger.open(server.url, patience=1.0)
        gates = PostgresGates(ledger, "a")
        await ask(gates, limits, "b", 0, 2)
        await ask(gates, limits, "c", 0, 2)
        await ask(gates, limits, "d", 0, 2)
        assert (await ask(gates, limits, "a", 0, 1)).calls == 1
        await asyncio.to_thread(server.stop)
        with caplog.at_level(logging.WARNING):
            assert (await ask(gates, limits, "a", 1, 50)).calls == 1  # two of eight, among four
            assert (await ask(gates, limits, "a", 2, 50)).calls == 0
            assert [each.message[:28] for each in caplog.records] == [
                "The database does not answer"
            ]
            await asyncio.to_thread(server.start)
            # What was under way all along is said again: nothing is forgotten.
            assert (await ask(gates, limits, "a", 2, 50)).calls <= 6
        assert caplog.records[-1].message.startswith("The database answers again")
        await ledger.close()
    finally:
        running.__exit__(None, None, None)
