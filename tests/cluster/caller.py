"""A process of a fleet that calls one provider as often as it may. The model server is whoever
started it: each call is a connection, which it answers when the call is over."""

from __future__ import annotations

import asyncio
import sys
import time

from roundtable.cluster.gates import PostgresGates
from roundtable.core import call_gate
from roundtable.core.call_gate import CallLimits
from roundtable.core.values import Usage
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.speakers.hub import SpeakerHub


class Connecting:
    def __init__(self, port: int) -> None:
        self._port = port

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        del on_words
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            await reader.read()
        finally:
            writer.close()
        return Reply(request.model, Usage(calls=1))

    async def close(self) -> None:
        pass


async def main(url: str, port: int, who: str, at_once: int, calls: int, clock_off: float) -> None:
    ledger = await PostgresLedger.open(url)
    gates = PostgresGates(ledger, who, lambda: time.monotonic() + clock_off)
    hub = SpeakerHub(
        api=lambda: Connecting(port),
        others={},
        limits=lambda _: {"openai": CallLimits(at_once=at_once)},
        gates=gates,
        who=who,
    )

    async def call() -> None:
        async with hub.admitted("openai/a") as speaker:
            await speaker.speak(SpeakRequest("openai/a", "", "", 1, 5.0, "k"), lambda _: None)

    await asyncio.gather(*(call() for _ in range(calls)))
    await hub.close()
    await ledger.close()


if __name__ == "__main__":
    url, port, who, at_once, calls, clock_off, holds = sys.argv[1:]
    call_gate.HOLDS = float(holds)
    if float(clock_off):
        true_time = time.time
        time.time = lambda: true_time() + float(clock_off)
    asyncio.run(main(url, int(port), who, int(at_once), int(calls), float(clock_off)))
