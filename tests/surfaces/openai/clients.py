"""The official client against our server, in this process or in one of its own."""

# ruff: noqa: ASYNC240 - a test may wait for its files
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from roundtable.core.state import State
from roundtable.net import trusted_roots
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.speakers.scripted import ScriptedSpeaker
from tests.surfaces.web.house import PATIENCE, House, client_token, house

QUICK = "roundtable/quick"
QUESTION = "Tea or coffee?"


class Gated:
    """A speaker who waits at a gate; what it was asked is kept."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.requests: list[SpeakRequest] = []
        self._voice = ScriptedSpeaker()

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.requests.append(request)
        await self.gate.wait()
        return await self._voice.speak(replace(request, model="scripted/echo"), on_words)

    async def close(self) -> None:
        pass


@asynccontextmanager
async def gated_house(home: Path) -> AsyncIterator[tuple[House, AsyncOpenAI, Gated]]:
    """A server whose experts and host all wait at one gate."""
    voice = Gated()
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text('default_model = "scripted/gated"\n')
    key = client_token(home)
    async with house(home, scripts={"gated": voice}) as at, client(at.url, key) as c:
        yield at, c, voice


@asynccontextmanager
async def client(url: str, key: str, **more: Any) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        base_url=f"{url}/v1",
        api_key=key,
        timeout=PATIENCE,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(verify=trusted_roots()),
        **more,
    ) as made:
        yield made


async def ask(c: AsyncOpenAI, question: str = QUESTION, **more: Any) -> ChatCompletion:
    given: dict[str, Any] = {
        "model": QUICK,
        "messages": [{"role": "user", "content": question}],
        **more,
    }
    answer = await c.chat.completions.create(**given)
    assert isinstance(answer, ChatCompletion)
    return answer


async def chunks(
    c: AsyncOpenAI, question: str = QUESTION, **more: Any
) -> list[ChatCompletionChunk]:
    given: dict[str, Any] = {
        "model": QUICK,
        "messages": [{"role": "user", "content": question}],
        "stream": True,
        **more,
    }
    return [chunk async for chunk in await c.chat.completions.create(**given)]


def reasoning(chunk: ChatCompletionChunk) -> str:
    return "".join(getattr(each.delta, "reasoning_content", None) or "" for each in chunk.choices)


def content(chunk: ChatCompletionChunk) -> str:
    return "".join(each.delta.content or "" for each in chunk.choices)


async def until(reached: Callable[[], Any]) -> None:
    """A bounded wait for what another task does."""
    async with asyncio.timeout(PATIENCE):
        while not reached():  # noqa: ASYNC110 - a speaker does not tell us
            await asyncio.sleep(0.01)


async def closed(at: House, discussion_id: str) -> State:
    """The discussion at its end."""
    async with asyncio.timeout(PATIENCE):
        async for _ in at.service.events(discussion_id):
            pass
    return await at.service.read(discussion_id)
