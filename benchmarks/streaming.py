"""CPU of one call through the API speaker ÷ the same call over httpx2 and json.

An answer of 185 pieces, in bursts (as many pieces in a packet as the server can put into one) and
one by one (each in a packet of its own, as a model speaks). Both sides in this process, in turn, so
that noise hits both; the provider is a process of its own. Medians of several rounds.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from tests.servers import provider_server
from tests.wire import Asked

from benchmarks.bare import Bare
from benchmarks.measured import Measured
from benchmarks.provider import MODEL
from roundtable.core.values import Prompt
from roundtable.models.registry import Registry
from roundtable.ports import SpeakRequest
from roundtable.speakers.api import ApiSpeaker

PIECES = 185
ROUNDS = 9
PACES = {"in bursts": (0.0, 20), "one by one": (0.2, 5)}
"""Seconds from the first piece to the last, and how many calls a round makes, one after another."""
GOAL = 2.0
QUESTION = "Tea or coffee? " * 200
PROMPT = Prompt(template="none", version=1, hash="", system="Be brief.", user=QUESTION)


def answer(_: Asked) -> str:
    return "word " * PIECES


def run() -> list[Measured]:
    rows = []
    for name, (pace, calls) in PACES.items():
        with provider_server(answer, pace=pace, process=True) as server:
            rows.append(asyncio.run(_measure(name, server.env(), calls)))
    return rows


async def _measure(name: str, env: dict[str, str], calls: int) -> Measured:
    registry = Registry.load()
    speaker = ApiSpeaker(registry.providers, registry.cost, env)
    heard: list[str] = []

    async def ours() -> str:
        heard.clear()
        request = SpeakRequest(MODEL, PROMPT.system, PROMPT.user, 4_096, 60.0, "benchmark")
        reply = await speaker.speak(request, heard.append)
        assert len(heard) == PIECES
        return reply.text

    async with Bare(env, concurrency=1) as bare:
        sides = (ours, lambda: bare.call(PROMPT))
        for side in sides:  # imports and connections
            assert await side() == "word " * PIECES
        rounds = [[await _ms_per_call(side, calls) for side in sides] for _ in range(ROUNDS)]
    await speaker.close()
    ratios = [speaker_ms / bare_ms for speaker_ms, bare_ms in rounds]
    mine, floor = (statistics.median(side) for side in zip(*rounds, strict=True))
    return Measured(
        f"CPU per call of {PIECES} pieces, speaker ÷ httpx2 and json, {name}",
        statistics.median(ratios),
        "x",
        GOAL,
        f"{mine:.1f} ms against {floor:.1f} ms; {min(ratios):.2f} to {max(ratios):.2f}",
    )


async def _ms_per_call(call: Callable[[], Awaitable[str]], count: int) -> float:
    begun = time.process_time()
    for _ in range(count):
        await call()
    return 1000 * (time.process_time() - begun) / count
