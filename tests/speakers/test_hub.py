"""The hub: each model id finds its speaker, and no provider gets too many calls at once."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.call_gate import CallLimits
from roundtable.core.values import Usage
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.speakers.hub import LimitsOf, SpeakerHub
from roundtable.speakers.scripted import ScriptedSpeaker


def asked(model: str) -> SpeakRequest:
    return SpeakRequest(model, "", "Why?", 100, 5.0, "k")


async def call(hub: SpeakerHub, model: str) -> Reply:
    async with hub.admitted(model) as speaker:
        return await speaker.speak(asked(model), lambda _: None)


def at_once(calls: int) -> LimitsOf:
    return lambda model: {model.partition("/")[0]: CallLimits(at_once=calls)}


class Probe:
    """A speaker that notes who is speaking and waits until it is released."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.closed = 0
        self.go_on = asyncio.Event()

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        on_words(request.model)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.go_on.wait()
        finally:
            self.running -= 1
        return Reply(request.model, Usage(calls=1))

    async def close(self) -> None:
        self.closed += 1


async def test_a_model_id_finds_its_speaker_by_its_provider() -> None:
    hub = SpeakerHub(
        api=lambda: ScriptedSpeaker(lambda _: "api"),
        others={
            "local": lambda: ScriptedSpeaker(lambda _: "embedded"),
            "scripted": lambda: ScriptedSpeaker(lambda _: "scripted"),
        },
    )
    models = ("openai/gpt-5-mini", "local/smollm2-135m", "scripted/echo", "ollama/a/b")
    assert [(await call(hub, model)).text for model in models] == [
        "api",
        "embedded",
        "scripted",
        "api",
    ]


async def test_speakers_are_made_once_and_only_when_needed() -> None:
    made: list[str] = []

    def make(name: str) -> ScriptedSpeaker:
        made.append(name)
        return ScriptedSpeaker()

    hub = SpeakerHub(api=lambda: make("api"), others={"scripted": lambda: make("scripted")})
    assert made == []
    for model in ("openai/x", "openai/y", "anthropic/x"):
        async with hub.admitted(model):
            assert made == ["api"]


@pytest.mark.requirement("I-12")
async def test_calls_to_one_provider_are_bounded_and_others_go_on() -> None:
    probe = Probe()
    hub = SpeakerHub(api=lambda: probe, others={}, limits=at_once(3))
    models = ["openai/a"] * 10 + ["xai/a"] * 2
    calls = [asyncio.create_task(call(hub, model)) for model in models]
    for _ in range(10):
        await asyncio.sleep(0)
    assert probe.running == 3 + 2
    probe.go_on.set()
    replies = await asyncio.gather(*calls)
    assert [reply.text for reply in replies] == models
    assert probe.most == 5


async def test_a_cancelled_call_gives_its_place_back() -> None:
    probe = Probe()
    hub = SpeakerHub(api=lambda: probe, others={}, limits=at_once(1))
    first = asyncio.create_task(call(hub, "openai/a"))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    probe.go_on.set()
    async with asyncio.timeout(5):
        await call(hub, "openai/a")


async def test_closing_closes_every_speaker_that_was_made() -> None:
    class Faulty(Probe):
        async def close(self) -> None:
            await super().close()
            raise OSError("cannot close")

    faulty, sound, unused = Faulty(), Probe(), Probe()
    hub = SpeakerHub(
        api=lambda: sound, others={"local": lambda: faulty, "scripted": lambda: unused}
    )
    for model in ("openai/a", "xai/a", "local/a"):
        async with hub.admitted(model):
            pass
    with pytest.raises(OSError, match="cannot close"):
        await hub.close()
    assert (faulty.closed, sound.closed, unused.closed) == (1, 1, 0)
