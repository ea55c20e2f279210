"""Recorded answers of real providers, replayed to our speaker.

The recordings are not part of this repository: without them these tests are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.models.registry import Registry
from roundtable.ports import Reply, SpeakRequest
from roundtable.speakers.api import ApiSpeaker
from tests.servers import provider_server, raw

CASSETTES = Path(__file__).parents[3] / "shared" / "data" / "cassettes"
pytestmark = pytest.mark.skipif(
    not CASSETTES.is_dir(), reason=f"no recorded traffic in {CASSETTES}"
)

REGISTRY = Registry.load()
PROVIDERS = {
    **REGISTRY.providers,
    "vendor": REGISTRY.providers["openai"].model_copy(
        update={"id": "vendor", "vendor_hosts": ("127.0.0.1",)}
    ),
}
Row = dict[str, Any]


def recordings(kind: str) -> list[Any]:
    """Calls that a speaker could have made: one of our three interfaces, a stream, no tools."""
    rows = (row for path in sorted(CASSETTES.glob(f"*.{kind}.jsonl")) for row in lines(path))
    return [pytest.param(row, id=row["id"]) for row in rows if model_for(row) is not None]


def lines(path: Path) -> Iterator[Row]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def model_for(row: Row) -> str | None:
    path = row["uri"].partition("?")[0].partition("#")[0]
    if path.endswith("/chat/completions"):
        return "openai/recorded"
    if path.endswith("/v1/responses"):
        return "vendor/recorded"
    return "anthropic/recorded" if path.endswith("/v1/messages") else None


async def replay(row: Row) -> tuple[Reply | SpeakerError, str]:
    kind = row["response_headers"].get("content-type", "application/json")
    model = model_for(row)
    assert model is not None
    heard: list[str] = []
    with provider_server(lambda _: raw(row["response_body"], row["status"], kind)) as server:
        speaker = ApiSpeaker(PROVIDERS, lambda *_: None, server.env())
        try:
            asked = SpeakRequest(model, "", "Go on.", 4_000, 30.0, "replay")
            return await speaker.speak(asked, heard.append), "".join(heard)
        except SpeakerError as error:
            return error, "".join(heard)
        finally:
            await speaker.close()


def spoken(row: Row) -> str:
    """The text in a recorded stream, read straight from its events."""
    text = ""
    for line in row["response_body"].splitlines():
        if not line.startswith("data: {"):
            continue
        event = json.loads(line.removeprefix("data: "))
        if "choices" in event:
            for choice in event["choices"][:1]:
                content = choice["delta"].get("content") or ""
                parts = content if isinstance(content, list) else [{"text": content}]
                text += "".join(part.get("text", "") for part in parts)
        elif event.get("type") == "response.output_text.delta":
            text += event["delta"]
        elif event.get("type") == "content_block_delta":
            text += event["delta"].get("text", "")
    return text


@pytest.mark.requirement("I-01")
@pytest.mark.parametrize("row", recordings("sse"))
async def test_a_recorded_stream_is_understood(row: Row) -> None:
    outcome, heard = await replay(row)
    said = spoken(row)
    if isinstance(outcome, Reply):
        assert outcome.text == heard
        assert "".join(outcome.text.split()) == "".join(said.split())
        assert outcome.finish_reason in ("stop", "length", "tool_call")
        assert outcome.usage.output_tokens > 0
    elif outcome.cause == "empty":
        assert not said.strip()
    else:
        # What was recorded in error, broken off or refused must be told as such.
        assert outcome.cause in ("refused", "cut", "unavailable", "bad_request", "rate_limited")


def written(row: Row) -> str:
    """The text in a recorded document."""
    document = json.loads(row["response_body"])
    if "choices" in document:
        return str(document["choices"][0]["message"].get("content") or "")
    if "output" in document:
        parts = [part for item in document["output"] for part in item.get("content") or ()]
    else:
        parts = document["content"]
    return "".join(part.get("text", "") for part in parts if part["type"] != "reasoning_text")


@pytest.mark.requirement("I-01")
@pytest.mark.parametrize("row", recordings("json"))
async def test_a_recorded_answer_in_one_document_is_understood(row: Row) -> None:
    outcome, heard = await replay(row)
    text = written(row)
    if isinstance(outcome, Reply):
        assert outcome.text == heard
        assert "".join(outcome.text.split()) in "".join(text.split())
        assert outcome.usage.output_tokens > 0
        assert outcome.served_by
    else:
        assert outcome.cause in ("empty", "cut")
        assert outcome.cause == "cut" or not text.strip()


@pytest.mark.requirement("I-01", "I-20")
@pytest.mark.parametrize("row", recordings("error"))
async def test_a_recorded_error_has_the_cause_its_status_says(row: Row) -> None:
    outcome, _ = await replay(row)
    assert isinstance(outcome, SpeakerError)
    fitting = {
        400: ("bad_request", "too_long", "refused", "auth", "not_found"),
        401: ("auth",),
        402: ("auth",),
        403: ("auth", "refused"),
        404: ("not_found",),
        413: ("bad_request",),
        422: ("bad_request",),
        429: ("rate_limited", "auth"),
    }
    assert outcome.cause in fitting.get(row["status"], ("unavailable",))
    assert not re.search(r"sk-\S{12}", str(outcome))
