"""The turnstile: the calls of a process go through a gate in their order, and it hears of them."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.call_gate import LONGEST_PAUSE, CallLimits
from roundtable.core.errors import SpeakerError
from roundtable.core.values import Usage
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.speakers.gates import LocalGates
from roundtable.speakers.hub import SpeakerHub
from roundtable.speakers.turnstile import Turnstile

from ..rehearsal import run_in_virtual_time
from .test_hub import asked, call


def now() -> float:
    return asyncio.get_running_loop().time()


class Busy:
    """A provider that carries so many calls at once for a second each, and refuses the rest."""

    def __init__(self, carries: int, retry_after: float | None = None) -> None:
        self.carries = carries
        self.retry_after = retry_after
        self.running = 0
        self.calls: list[float] = []
        self.refused: list[float] = []

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        del on_words
        self.calls.append(now())
        if self.running >= self.carries:
            self.refused.append(now())
            raise SpeakerError("rate_limited", "Too many.", retry_after=self.retry_after)
        self.running += 1
        try:
            await asyncio.sleep(1.0)
        finally:
            self.running -= 1
        return Reply(request.model, Usage(calls=1))

    async def close(self) -> None:
        pass


def hub_of(speaker: Busy, limits: CallLimits) -> SpeakerHub:
    return SpeakerHub(
        api=lambda: speaker,
        others={},
        limits=lambda model: {model.partition("/")[0]: limits},
        gates=LocalGates(now),
    )


async def stubborn(hub: SpeakerHub, model: str) -> None:
    while True:
        try:
            await call(hub, model)
        except SpeakerError:
            continue
        return


@pytest.mark.requirement("I-12", "Z-21")
def test_a_provider_that_asks_for_a_pause_is_left_alone_by_everybody() -> None:
    async def main() -> Busy:
        busy = Busy(4, retry_after=20.0)
        hub = hub_of(busy, CallLimits(at_once=8))
        await asyncio.gather(*(stubborn(hub, f"openai/{n}") for n in range(30)))
        await hub.close()
        return busy

    busy = run_in_virtual_time(main())
    first = busy.refused[0]
    assert not [each for each in busy.calls if first < each < first + 20.0]
    assert len(busy.refused) < 10
    assert max(busy.calls) - first < 90


def test_the_number_of_calls_at_once_settles_near_what_the_provider_carries() -> None:
    async def main() -> Busy:
        busy = Busy(5)
        hub = hub_of(busy, CallLimits(at_once=64, first=16))
        await asyncio.gather(*(stubborn(hub, "openai/a") for _ in range(400)))
        await hub.close()
        return busy

    busy = run_in_virtual_time(main())
    assert len(busy.refused) < 0.25 * 400
    assert now_of(busy) < 3 * 400 / 5


def now_of(busy: Busy) -> float:
    return max(busy.calls) - min(busy.calls)


def test_calls_per_minute_are_kept_and_nothing_is_refused() -> None:
    async def main() -> Busy:
        busy = Busy(1_000)
        hub = hub_of(busy, CallLimits(at_once=100, per_minute=60))
        await asyncio.gather(*(call(hub, "openai/a") for _ in range(150)))
        await hub.close()
        return busy

    busy = run_in_virtual_time(main())
    for first in busy.calls:
        assert sum(1 for each in busy.calls if first <= each < first + 60) <= 60
    assert now_of(busy) < 180


def test_a_pause_that_is_too_long_refuses_the_call_so_that_another_speaker_is_asked() -> None:
    async def main() -> tuple[SpeakerError, int]:
        busy = Busy(0, retry_after=LONGEST_PAUSE * 60)
        hub = hub_of(busy, CallLimits(at_once=4))
        with pytest.raises(SpeakerError):
            await call(hub, "openai/a")
        await asyncio.sleep(10)
        with pytest.raises(SpeakerError) as told:
            await call(hub, "openai/a")
        await hub.close()
        return told.value, len(busy.calls)

    error, calls = run_in_virtual_time(main())
    assert calls == 1  # the second was not made
    assert error.cause == "rate_limited"
    assert "it is not called for another 3590 s" in error.message
    assert error.retry_after == pytest.approx(LONGEST_PAUSE * 60 - 10, abs=1)


def test_a_model_with_limits_of_its_own_goes_through_both_gates() -> None:
    async def main() -> tuple[int, int]:
        busy = Busy(100)
        most: list[int] = []
        hub = SpeakerHub(
            api=lambda: busy,
            others={},
            limits=lambda model: {
                **({model: CallLimits(at_once=1)} if model == "openai/big" else {}),
                "openai": CallLimits(at_once=3),
            },
            gates=LocalGates(now),
        )
        big = [asyncio.create_task(call(hub, "openai/big")) for _ in range(3)]
        small = [asyncio.create_task(call(hub, "openai/small")) for _ in range(4)]
        await asyncio.sleep(0.5)
        most.append(busy.running)
        await asyncio.gather(*big, *small)
        await hub.close()
        return most[0], round(now_of(busy))

    running, seconds = run_in_virtual_time(main())
    assert running == 3
    assert seconds <= 3


def test_whoever_is_cancelled_while_it_waits_takes_no_place() -> None:
    async def main() -> None:
        turnstile = Turnstile(LocalGates(now), "openai", CallLimits(at_once=1), "here")
        await turnstile.enter()
        waiting = [asyncio.create_task(turnstile.enter()) for _ in range(5)]
        await asyncio.sleep(1)
        for each in waiting[:4]:
            each.cancel()
        turnstile.leave()
        async with asyncio.timeout(5):
            await waiting[4]
        turnstile.leave()
        await asyncio.gather(*waiting, return_exceptions=True)
        async with asyncio.timeout(5):
            await turnstile.enter()
        turnstile.leave()
        await turnstile.close()

    run_in_virtual_time(main())


def test_a_gate_without_limits_is_none() -> None:
    async def main() -> int:
        busy = Busy(1_000)
        hub = hub_of(busy, CallLimits())
        await asyncio.gather(*(call(hub, "scripted/a") for _ in range(200)))
        await hub.close()
        return len(busy.refused)

    assert run_in_virtual_time(main()) == 0
    assert asked("scripted/a").model == "scripted/a"
