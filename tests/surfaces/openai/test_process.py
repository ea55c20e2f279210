"""`roundtable serve` as a process, and the official client in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from roundtable.surfaces.web.links import load_links
from tests.surfaces.web.house import PATIENCE, Process, client_token

from .clients import QUESTION, QUICK, ask, chunks, client, content, reasoning

ENV = {"ROUNDTABLE_MODEL": "scripted/echo", "ROUNDTABLE_SEARCH": "none"}
STREAM_EVENT: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
OWN = """
name = "sprint-vote"
version = 1
summary = "A vote in one stage"

[[participants]]
id = "ada"
name = "Ada"

[[participants]]
id = "ben"
name = "Ben"

[[stages]]
name = "opinion"
prompt = "Say what you would do."

[verdict]
by = "host"
"""


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    home = tmp_path_factory.mktemp("openai") / "home"
    (home / "procedures").mkdir(parents=True)
    (home / "procedures" / "sprint-vote.toml").write_text(OWN)
    (home / "procedures" / "broken.toml").write_text("name = ")
    with Process(home, "--port", "0", **ENV) as up:
        yield up


@pytest.fixture
async def c(process: Process) -> AsyncIterator[AsyncOpenAI]:
    async with client(process.found.url, client_token(process.home)) as made:
        yield made


@pytest.mark.requirement("Z-19")
async def test_procedures_are_models_and_the_users_own_are_among_them(c: AsyncOpenAI) -> None:
    listed = {model.id: model.owned_by for model in (await c.models.list()).data}
    assert listed == {
        "roundtable": "roundtable",
        "roundtable/quick": "roundtable",
        "roundtable/adaptive": "roundtable",
        "roundtable/council": "roundtable",
        "roundtable/deliberation": "roundtable",
        "roundtable/five-round": "roundtable",
        "roundtable/meeting": "roundtable",
        "roundtable/sprint-vote": "user",
    }
    assert (await c.models.retrieve("roundtable/council")).id == "roundtable/council"
    with pytest.raises(openai.NotFoundError):
        await c.models.retrieve("roundtable/coucnil")


@pytest.mark.requirement("Z-19")
@pytest.mark.parametrize(
    "model",
    ["roundtable", "council", "adaptive", "five-round", "meeting", "deliberation", "sprint-vote"],
)
async def test_every_model_answers_with_its_verdict(c: AsyncOpenAI, model: str) -> None:
    name = model if model == "roundtable" else f"roundtable/{model}"
    answer = await ask(c, model=name)
    choice = answer.choices[0]
    assert choice.finish_reason == "stop"
    assert choice.message.content
    assert answer.model == name
    assert answer.usage is not None
    assert answer.usage.total_tokens > 0


@pytest.mark.requirement("Z-19")
async def test_an_answer_says_which_discussion_it_is_and_where_its_page_is(
    c: AsyncOpenAI,
) -> None:
    raw = await c.chat.completions.with_raw_response.create(
        model=QUICK,
        messages=[{"role": "user", "content": QUESTION}],
        metadata={"ticket": "7"},
        temperature=0.2,
        max_tokens=100,
        tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}],
    )
    answer = raw.parse()
    discussion_id = raw.headers["x-roundtable-discussion"]
    assert answer.id == f"chatcmpl-{discussion_id}"
    metadata: dict[str, str] = answer.model_dump()["metadata"]
    assert metadata["ticket"] == "7"
    assert metadata["discussion_id"] == discussion_id
    assert raw.headers["x-roundtable-page"] == metadata["page_url"]
    async with httpx2.AsyncClient() as browser:
        page = await browser.get(metadata["page_url"])
    assert page.status_code == 200


@pytest.mark.requirement("Z-19")
async def test_progress_streams_as_reasoning_and_then_the_verdict_in_words(c: AsyncOpenAI) -> None:
    got = await chunks(c, model="roundtable", stream_options={"include_usage": True})

    first = next(n for n, chunk in enumerate(got) if content(chunk))
    assert not any(reasoning(chunk) for chunk in got[first:])
    thoughts = "".join(reasoning(chunk) for chunk in got)
    assert "Round 1, answer" in thoughts
    assert "The table chose" in thoughts
    text = "".join(content(chunk) for chunk in got)
    discussion_id = got[0].id.removeprefix("chatcmpl-")
    assert text.endswith(f"`{discussion_id}`")
    assert sum(1 for chunk in got if content(chunk)) > 5
    assert got[-2].choices[0].finish_reason == "stop"
    assert got[-1].choices == []
    assert got[-1].usage is not None
    assert got[-1].usage.completion_tokens > 0

    collected = await c.chat.completions.retrieve(got[0].id)
    assert collected.choices[0].message.content == text
    assert collected.usage == got[-1].usage


async def test_progress_comes_as_text_or_not_at_all_where_a_client_wants_that(
    c: AsyncOpenAI,
) -> None:
    wish: dict[str, Any] = {"extra_body": {"roundtable": {"progress": "text"}}}
    as_text = await chunks(c, **wish)
    assert not any(reasoning(chunk) for chunk in as_text)
    assert "Round 1, answer" in "".join(content(chunk) for chunk in as_text)
    plain = await ask(c, **wish)
    assert "Round 1, answer" in (plain.choices[0].message.content or "")

    silent = await chunks(c, extra_body={"roundtable": {"progress": "none"}})
    assert not any(reasoning(chunk) for chunk in silent)
    assert "Round 1, answer" not in "".join(content(chunk) for chunk in silent)


@pytest.mark.requirement("Z-19")
async def test_a_response_streams_the_events_that_the_client_knows(c: AsyncOpenAI) -> None:
    stream = await c.responses.create(model=QUICK, input=QUESTION, stream=True)
    got = [event async for event in stream]

    for event in got:
        STREAM_EVENT.validate_python(event.model_dump())
    assert [event.sequence_number for event in got] == list(range(len(got)))
    kinds = list(dict.fromkeys(event.type for event in got))
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.completed",
    ]
    last = got[-1]
    assert last.type == "response.completed"
    said = "".join(e.delta for e in got if e.type == "response.output_text.delta")
    thought = "".join(e.delta for e in got if e.type == "response.reasoning_summary_text.delta")
    assert last.response.output_text == said
    item = last.response.output[0]
    assert item.type == "reasoning"
    assert item.summary[0].text == thought
    again = await c.responses.retrieve(last.response.id)
    assert again.output == last.response.output
    assert again.usage == last.response.usage


async def test_a_plain_response_has_the_form_that_the_client_knows(c: AsyncOpenAI) -> None:
    answer = await c.responses.create(
        model=QUICK, input=[{"role": "user", "content": QUESTION}], instructions="Be brief."
    )
    assert isinstance(answer, Response)
    Response.model_validate(answer.model_dump())
    assert answer.status == "completed"
    assert answer.output_text
    assert answer.usage is not None
    assert answer.usage.input_tokens > 0
    assert (answer.metadata or {})["discussion_id"] in answer.id


@pytest.mark.requirement("Z-19")
async def test_a_response_in_the_background_is_collected_later(c: AsyncOpenAI) -> None:
    begun = await c.responses.create(model="roundtable", input=QUESTION, background=True)
    assert begun.status == "in_progress"
    async with asyncio.timeout(PATIENCE):
        while (found := await c.responses.retrieve(begun.id)).status == "in_progress":  # noqa: ASYNC110 - polling is what a client does
            await asyncio.sleep(0.05)
    assert found.status == "completed"
    assert found.output_text

    await c.responses.delete(begun.id)
    with pytest.raises(openai.NotFoundError):
        await c.responses.retrieve(begun.id)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.requirement("Z-19")
async def test_a_wrong_token_is_refused_in_the_clients_own_words(process: Process) -> None:
    async with client(process.found.url, "wrong") as c:
        for call in (c.models.list(), ask(c), c.responses.create(model=QUICK, input="x")):
            with pytest.raises(openai.AuthenticationError) as refused:
                await call
            assert refused.value.code == "invalid_api_key"
            assert "roundtable serve" in refused.value.message
    async with httpx2.AsyncClient(base_url=process.found.url) as bare:
        for body in (b"", b"not json", b"{}"):
            headers = {"content-type": "application/json"}
            got = await bare.post("/v1/chat/completions", content=body, headers=headers)
            assert got.status_code == 401
            assert got.json()["error"]["code"] == "invalid_api_key"


async def test_an_unknown_model_is_refused_with_the_nearest_ones(c: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="roundtable/council") as refused:
        await ask(c, model="roundtable/counsil")
    assert refused.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError, match=r"broken\.toml"):
        await ask(c, model="roundtable/broken")


IMAGE = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
]


@pytest.mark.parametrize(
    ("given", "words", "param"),
    [
        ({"messages": []}, "Ask a question", "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "no user message", "messages"),
        ({"messages": [{"role": "user", "content": "  "}]}, "empty", "messages"),
        ({"messages": [{"role": "user", "content": IMAGE}]}, "text only", "messages.0.content.1"),
        ({"messages": [{"role": "pope", "content": "x"}]}, "no role", "messages.0.role"),
        ({"messages": [{"role": "user", "content": "x" * 100_001}]}, "message before", "messages"),
        ({"messages": [{"role": "user", "content": "\x00"}]}, "not text", None),
        ({"n": 2}, "one verdict", "n"),
        ({"stop": ["."]}, "stop", "stop"),
        ({"logprobs": True}, "logprobs", "logprobs"),
        ({"tool_choice": "required"}, "no tools", "tool_choice"),
        ({"response_format": {"type": "json_object"}}, "no JSON", "response_format"),
        ({"modalities": ["text", "audio"]}, "text only", "modalities"),
        ({"extra_body": {"roundtable": {"colour": 1}}}, "colour", "roundtable.colour"),
        ({"extra_body": {"roundtable": {"options": {"seats": 99}}}}, "seats", None),
        ({"metadata": {"a": 1}}, "string", "metadata.a"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_nothing_begins(
    c: AsyncOpenAI, process: Process, given: dict[str, Any], words: str, param: str | None
) -> None:
    before = await _count(process)
    with pytest.raises(openai.BadRequestError, match=words) as refused:
        await ask(c, **given)
    assert refused.value.param == param
    assert await _count(process) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"input": []}, "no user message"),
        ({"input": [{"type": "computer_call"}]}, "computer_call"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "text only"),
        ({"input": "x", "text": {"format": {"type": "json_schema"}}}, "no JSON"),
        ({"input": "x", "conversation": "conv_1"}, "previous_response_id"),
    ],
)
async def test_a_response_that_cannot_be_given_is_refused(
    c: AsyncOpenAI, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=words):
        await c.responses.create(model=QUICK, **given)


async def test_an_unknown_earlier_response_is_told(c: AsyncOpenAI) -> None:
    for name in ("resp_rt_00000000", "rt_00000000", "../../x"):
        with pytest.raises(openai.NotFoundError):
            await c.responses.create(model=QUICK, input="x", previous_response_id=name)
    with pytest.raises(openai.NotFoundError):
        await c.chat.completions.retrieve("chatcmpl-rt_00000000")


async def test_a_message_of_5_megabytes_is_refused_in_the_clients_form(c: AsyncOpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as refused:
        await ask(c, "x" * 5_000_000)
    assert refused.value.status_code == 413
    assert "too large" in refused.value.message


async def test_bodies_that_are_no_proper_json_are_refused(process: Process) -> None:
    key = client_token(process.home)
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    bodies = [
        b"",
        b"{",
        b"[1]",
        b'"x"',
        b'{"model":"roundtable","messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"model":"roundtable","x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"model":"roundtable","messages":"x"}',
        b"\xff\xfe",
    ]
    async with httpx2.AsyncClient(base_url=process.found.url, headers=headers) as bare:
        for path in ("/v1/chat/completions", "/v1/responses"):
            for body in bodies:
                got = await bare.post(path, content=body)
                assert got.status_code == 400, (path, body[:60], got.text)
                assert got.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.requirement("Z-19")
async def test_a_table_that_fails_says_why_and_is_not_asked_again(process: Process) -> None:
    key = client_token(process.home)
    experts = ",".join(["scripted/unauthorised"] * 3)
    wish: dict[str, Any] = {"extra_body": {"roundtable": {"options": {"models": experts}}}}
    before = await _count(process)
    async with client(process.found.url, key) as c:
        eager = c.with_options(max_retries=2)
        with pytest.raises(openai.APIStatusError) as failed:
            await ask(eager, **wish)
        assert failed.value.status_code == 502
        assert failed.value.code == "too_few_answers"
        assert await _count(process) == before + 1

        with pytest.raises(openai.APIError) as streamed:
            await chunks(c, **wish)
        assert streamed.value.code == "too_few_answers"

        stream = await c.responses.create(model=QUICK, input=QUESTION, stream=True, **wish)
        events = [event async for event in stream]
        assert events[-1].type == "response.failed"
        assert events[-1].response.error.message == failed.value.body["message"]  # type: ignore[index]


async def test_a_budget_that_is_used_up_ends_as_length(c: AsyncOpenAI) -> None:
    wish = {"roundtable": {"budget": {"max_calls": 4}}}
    answer = await ask(c, model="roundtable", extra_body=wish)
    assert answer.choices[0].finish_reason == "length"
    assert answer.choices[0].message.content
    response = await c.responses.create(model="roundtable", input=QUESTION, extra_body=wish)
    assert response.status == "incomplete"


# --- the same request again ---------------------------------------------------------------------


@pytest.mark.requirement("Z-19")
async def test_the_same_idempotency_key_returns_the_same_discussion_also_after_a_restart(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    again: dict[str, Any] = {"extra_headers": {"Idempotency-Key": "order-66"}}
    with Process(home, "--port", "0", **ENV) as first:
        key = client_token(home)
        async with client(first.found.url, key) as c:
            twice = await asyncio.gather(ask(c, **again), ask(c, **again))
            assert twice[0].id == twice[1].id
        assert first.ask_to_end() == 0
    with Process(home, "--port", "0", **ENV) as second:
        async with client(second.found.url, key) as c:
            assert (await ask(c, **again)).id == twice[0].id
            with pytest.raises(openai.ConflictError, match="another request"):
                await ask(c, "Another question?", **again)
            assert (await ask(c)).id != twice[0].id
        assert await _count(second) == 2


async def test_a_client_that_tries_again_by_itself_finds_what_it_began(c: AsyncOpenAI) -> None:
    first = await ask(c, "Is once enough?")
    retry = await ask(c, "Is once enough?", extra_headers={"x-stainless-retry-count": "1"})
    meant = await ask(c, "Is once enough?")
    assert retry.id == first.id
    assert meant.id != first.id


async def _count(process: Process) -> int:
    headers = {"authorization": f"Bearer {load_links(process.home).owner_key}"}
    async with httpx2.AsyncClient(base_url=process.found.url, headers=headers) as owner:
        got = await owner.get("/api/discussions", params={"limit": 1000})
    return len(got.json()["discussions"])
