"""How long silence may last while somebody speaks."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.listening import Listening

from .rehearsal import run_in_virtual_time


async def listened(
    silences: list[float], first_word: float = 100.0, silence: float | None = 10.0
) -> tuple[float, Listening]:
    """Pieces after these silences, then nothing more; gives when that was given up."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    listening = Listening(first_word, silence, lambda _: None)

    async def speaks() -> None:
        async with listening:
            for each in silences:
                await asyncio.sleep(each)
                listening.heard("word ")
            await asyncio.sleep(10_000)

    with pytest.raises(TimeoutError):
        await speaks()
    assert listening.expired
    return loop.time() - begun, listening


@pytest.mark.requirement("C-65")
@pytest.mark.parametrize(
    ("silences", "silence", "ends", "told"),
    [
        ([], 10.0, 100, "said nothing within 100 s"),
        ([1], 10.0, 11, "fell silent for 10 s"),
        ([99, 9, 9], 10.0, 127, "fell silent for 10 s"),
        ([1, 1], 200.0, 202, "fell silent for 200 s"),
        ([50, 60], None, 210, "fell silent for 100 s"),
    ],
)
def test_a_call_ends_when_the_last_silence_was_too_long_and_no_sooner(
    silences: list[float], silence: float | None, ends: float, told: str
) -> None:
    took, listening = run_in_virtual_time(listened(silences, silence=silence))
    assert took == pytest.approx(ends)
    assert told in listening.told


@pytest.mark.requirement("C-65")
def test_a_piece_costs_no_timer_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        timers = 0
        set_at = loop.call_at

        def counted(*args: object, **more: object) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return set_at(*args, **more)  # type: ignore[arg-type]

        async with Listening(100, 10, lambda _: None) as listening:
            monkeypatch.setattr(loop, "call_at", counted)
            for _ in range(1_000):
                listening.heard("word ")
                await asyncio.sleep(0)
        return timers

    assert run_in_virtual_time(main()) == 1


def test_whoever_speaks_after_the_end_is_not_waited_for() -> None:
    async def main() -> list[str]:
        heard: list[str] = []
        async with Listening(100, 10, heard.append) as listening:
            listening.heard("in time")
        listening.heard("late")
        await asyncio.sleep(1_000)
        return heard

    assert run_in_virtual_time(main()) == ["in time", "late"]
