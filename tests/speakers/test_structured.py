"""A declaration that is asked for alone is held to its schema by providers that can do that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from roundtable.core.declaration import Decision, Option
from roundtable.core.declaration_form import LATER, VERDICT, Form, Listed
from roundtable.core.errors import SpeakerError
from roundtable.speakers.strict_schema import strict
from tests.declaring import filled
from tests.servers import Answer, provider_server, status
from tests.speakers.test_api import CHAT, MESSAGES, RESPONSES, ask, request, speaker
from tests.wire import Asked

pytestmark = pytest.mark.requirement("Z-22")

FORM = Form(
    keys=(*LATER, "scores", "end", "actions", "for_the_record"),
    decisions=(
        Decision(id="d1", question="Which?", options=(Option(id="o1", text="Tea"),)),
        Decision(id="d2", question="When?", options=(Option(id="o2", text="Now"),)),
    ),
    listed=(Listed("p1", "It is cheap.", asked=True),),
    peers={"A": "ada"},
    scored={"Ada Lovelace": "ada"},
    alone=True,
)
OPENROUTER = "openai/anthropic/claude-sonnet-4-5"
OLD = "anthropic/claude-3-haiku-20240307"
REFUSED = status(400, "Invalid schema for response_format 'declaration'.")


def declaring(model: str, form: Form = FORM) -> Any:
    return request(model, "Declare.", form=form, schema=form.schema())


def sent_schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that a request carries, wherever its wire format has it."""
    chat = body.get("response_format")
    responses = body.get("text", {}).get("format")
    messages = body.get("output_config", {}).get("format") or body.get("output_format")
    found: dict[str, Any] | None = (
        chat["json_schema"]["schema"]
        if chat
        else responses["schema"]
        if responses
        else messages["schema"]
        if messages
        else None
    )
    return found


def parts(schema: object) -> Iterator[dict[str, Any]]:
    """Every schema within a schema."""
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key == "properties":
                for part in value.values():
                    yield from parts(part)
            elif key != "enum":
                yield from parts(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from parts(each)


@pytest.mark.parametrize("model", [CHAT, RESPONSES, MESSAGES, "blockrun/grok-4", OPENROUTER])
async def test_the_schema_travels_in_the_words_of_the_wire_format(model: str) -> None:
    answer = json.dumps(filled(FORM))
    with provider_server(lambda _: answer) as server:
        reply = await ask(server, declaring(model))
        (received,) = server.requests
    schema = sent_schema(received.body)
    assert schema is not None
    assert set(schema["properties"]) == set(FORM.keys)
    read = FORM.read(reply.text)
    assert read.declaration is not None
    assert [vote.choice for vote in read.declaration.votes] == ["o1", "o2"]


@pytest.mark.parametrize("model", [CHAT, RESPONSES, MESSAGES])
async def test_an_ordinary_speech_is_never_held_to_a_schema(model: str) -> None:
    with provider_server(lambda _: "Words.") as server:
        await ask(server, request(model, form=FORM))
        (received,) = server.requests
    assert sent_schema(received.body) is None


async def test_a_model_that_knows_no_schema_is_only_asked_in_words() -> None:
    with provider_server(lambda _: "{}") as server:
        await ask(server, declaring(OLD))
        (received,) = server.requests
    assert sent_schema(received.body) is None


@pytest.mark.parametrize("model", [CHAT, RESPONSES, MESSAGES])
async def test_a_server_that_refuses_the_schema_is_asked_without_it_once_and_for_all(
    model: str,
) -> None:
    def reply(asked: Asked) -> Answer:
        return REFUSED if sent_schema(asked.body) else "{}"

    heard: list[str] = []
    with provider_server(reply) as server:
        async with speaker(server.env()) as speaking:
            for _ in range(2):
                said = await speaking.speak(declaring(model), heard.append)
                assert said.text == "{}"
        asked = server.requests
    assert [sent_schema(each.body) is not None for each in asked] == [True, False, False]
    assert asked[0].idempotency_key != asked[1].idempotency_key, "else the refusal may be replayed"
    assert heard == ["{}", "{}"]


async def test_a_request_that_is_bad_in_itself_stays_so_and_teaches_nothing() -> None:
    with provider_server(lambda _: status(400, "No such parameter.")) as server:
        async with speaker(server.env()) as speaking:
            for _ in range(2):
                with pytest.raises(SpeakerError) as caught:
                    await speaking.speak(declaring(CHAT), lambda _: None)
                assert caught.value.cause == "bad_request"
        assert [sent_schema(each.body) is not None for each in server.requests] == [
            True, False, True, False,
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "cause"), [(401, "auth"), (429, "rate_limited"), (500, "unavailable")]
)
async def test_other_failures_are_not_blamed_on_the_schema(code: int, cause: str) -> None:
    with provider_server(lambda _: status(code)) as server:
        with pytest.raises(SpeakerError) as caught:
            await ask(server, declaring(CHAT))
        assert caught.value.cause == cause
        assert len(server.requests) == 1


@pytest.mark.parametrize("form", [FORM, Form(VERDICT, FORM.decisions, alone=True)])
def test_a_strict_schema_has_no_word_that_a_strict_mode_may_refuse(form: Form) -> None:
    schema = strict(form.schema())
    known = {"type", "enum", "properties", "required", "additionalProperties", "items", "anyOf"}
    for part in parts(schema):
        assert set(part) <= known
        assert ("type" in part) is not ("anyOf" in part), part
        assert isinstance(part.get("type", ""), str)
        if part.get("type") == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
    assert set(schema["properties"]) == set(form.schema()["properties"])
