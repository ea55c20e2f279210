"""One suite for every speaker: whatever produces the words, the engine sees the same behaviour.

A kind of speaker joins by a row in STAGES: a context manager that puts a speaker on stage which
answers with a text, fails, or hangs, together with the model id to ask it by.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest

from roundtable.core.agents import BUILT_IN, CommandAgent
from roundtable.core.errors import FAILURE_CAUSES, SpeakerError
from roundtable.models.registry import Registry
from roundtable.ports import Speaker, SpeakRequest
from roundtable.speakers.api import ApiSpeaker
from roundtable.speakers.command import CommandSpeaker
from roundtable.speakers.scripted import Line, ScriptedSpeaker
from tests.servers import Answer, hang, provider_server, status
from tests.speakers.agents import claude_lines, gemini_lines, on_path, put_agent, speaks

TEXT = (
    "First, consider the cost. What we do not know yet costs more than a month of waiting, and the "
    "month tells us most of it: who would come, what they would pay, and which of our two plans "
    "for the building they would rather have.\n\n## Position\nWe should wait — 等一等."
)
Behaviour = Literal["answers", "fails", "hangs"]
OnStage = AbstractAsyncContextManager[tuple[Speaker, str]]
Stage = Callable[[Behaviour], OnStage]


@asynccontextmanager
async def scripted(behaviour: Behaviour) -> AsyncIterator[tuple[Speaker, str]]:
    lines = {
        "answers": Line(TEXT),
        "fails": Line(failure=SpeakerError("unavailable", "Down.")),
        "hangs": Line("First, ", hangs=True),
    }
    yield ScriptedSpeaker(lambda _: lines[behaviour]), "scripted/any"


def api(model: str) -> Stage:
    registry = Registry.load()
    openai = registry.providers["openai"]
    at_vendor = openai.model_copy(update={"id": "vendor", "vendor_hosts": ("127.0.0.1",)})
    providers = {**registry.providers, "vendor": at_vendor}
    answers: dict[Behaviour, Answer] = {
        "answers": TEXT,
        "fails": status(503),
        "hangs": hang("First, "),
    }

    @asynccontextmanager
    async def on_stage(behaviour: Behaviour) -> AsyncIterator[tuple[Speaker, str]]:
        with provider_server(lambda _: answers[behaviour]) as server:
            speaker = ApiSpeaker(providers, lambda *_: 0.001, server.env())
            yield speaker, model
            await speaker.close()

    return on_stage


def agent(form: str, answer: str) -> Stage:
    """A command-line agent: a small program that speaks in this form."""
    model = BUILT_IN[form] if form in BUILT_IN else CommandAgent(command=(form,))
    bodies: dict[Behaviour, str] = {
        "answers": answer,
        "fails": "sys.exit('Down.')",
        "hangs": f"{answer.replace(TEXT, 'First, ')}\nimport time; time.sleep(600)",
    }

    @asynccontextmanager
    async def on_stage(behaviour: Behaviour) -> AsyncIterator[tuple[Speaker, str]]:
        with TemporaryDirectory() as folder:
            put_agent(Path(folder), form, bodies[behaviour])
            speaker = CommandSpeaker({form: model}, on_path(Path(folder)))
            yield speaker, f"cmd/{form}"
            await speaker.close()

    return on_stage


STAGES: dict[str, Stage] = {
    "scripted": scripted,
    "chat completions": api("openai/some-model"),
    "responses": api("vendor/gpt-6.1-sol"),
    "messages": api("anthropic/claude-opus-4-6"),
    "claude": agent("claude", speaks(claude_lines(TEXT))),
    "gemini": agent("gemini", speaks(gemini_lines(TEXT))),
    "any command": agent("any", f"for word in {TEXT!r}.split(' '): say(word + ' ')"),
}
pytestmark = [
    pytest.mark.requirement("I-01", "X-50"),
    pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES.keys()),
]


def asked(model: str, *, timeout: float = 30.0) -> SpeakRequest:
    return SpeakRequest(model, "Be brief.", "Should we wait?", 300, timeout, "rt_1/1/opening/a/1")


async def test_it_answers_with_a_text_and_says_how_it_ended(stage: Stage) -> None:
    async with stage("answers") as (speaker, model):
        reply = await speaker.speak(asked(model), lambda _: None)
    assert reply.text == TEXT
    assert reply.finish_reason == "stop"
    assert reply.served_by


async def test_the_words_it_streams_are_the_text(stage: Stage) -> None:
    heard: list[str] = []
    async with stage("answers") as (speaker, model):
        reply = await speaker.speak(asked(model), heard.append)
    assert "".join(heard) == reply.text
    assert len(heard) > 3


async def test_it_reports_what_was_spent(stage: Stage) -> None:
    async with stage("answers") as (speaker, model):
        usage = (await speaker.speak(asked(model), lambda _: None)).usage
    assert usage.calls == 1
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0
    assert usage.cost_usd is not None


async def test_a_failure_is_a_speaker_error_with_a_cause(stage: Stage) -> None:
    async with stage("fails") as (speaker, model):
        with pytest.raises(SpeakerError) as caught:
            await speaker.speak(asked(model), lambda _: None)
    assert caught.value.cause == "unavailable"
    assert caught.value.cause in FAILURE_CAUSES
    assert caught.value.message


async def test_a_call_ends_when_its_time_is_over(stage: Stage) -> None:
    async with stage("hangs") as (speaker, model):
        with pytest.raises(SpeakerError) as caught:
            await speaker.speak(asked(model, timeout=0.2), lambda _: None)
    assert caught.value.cause == "timeout"


async def test_a_call_can_be_cancelled_in_the_middle(stage: Stage) -> None:
    async with stage("hangs") as (speaker, model):
        heard = asyncio.Event()
        call = asyncio.create_task(speaker.speak(asked(model), lambda _: heard.set()))
        async with asyncio.timeout(30):
            await heard.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call


async def test_calls_do_not_disturb_each_other(stage: Stage) -> None:
    async with stage("answers") as (speaker, model):
        replies = await asyncio.gather(
            *(speaker.speak(asked(model), lambda _: None) for _ in range(8))
        )
    assert [reply.text for reply in replies] == [TEXT] * 8


async def test_it_can_be_closed_twice(stage: Stage) -> None:
    async with stage("answers") as (speaker, model):
        await speaker.speak(asked(model), lambda _: None)
        await speaker.close()
        await speaker.close()
