"""What endpoints say they have, in each of the forms in which they say it, and in none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.models.listing import MOST_MODELS, ListedModel, Listing, read_listing, speaks
from roundtable.net import Answer

SECRET = "sk-ant-api03-0123456789abcdefghijklmnopqrstuv"


def names(document: object) -> list[str]:
    found = read_listing(document)
    assert found is not None
    return [each.name for each in found.models]


def only(document: object) -> ListedModel:
    found = read_listing(document)
    assert found is not None
    [model] = found.models
    return model


@pytest.mark.requirement("Z-36")
def test_openais_list_has_names_and_nothing_else() -> None:
    document = {"object": "list", "data": [{"id": "gpt-x", "object": "model", "owned_by": "o"}]}
    assert only(document) == ListedModel(name="gpt-x")


@pytest.mark.requirement("Z-36")
def test_openrouters_list_has_windows_abilities_and_prices() -> None:
    row = {
        "id": "vendor/model-1",
        "context_length": 262_144,
        "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
        "supported_parameters": ["reasoning", "structured_outputs", "tools"],
        "pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000001"},
    }
    assert only({"data": [row]}) == ListedModel(
        name="vendor/model-1",
        context_window=262_144,
        usd_per_million_in=2.0,
        usd_per_million_out=10.0,
        usd_per_million_cached=0.1,
        vision=True,
        thinking=True,
        structured=True,
    )


@pytest.mark.requirement("Z-36")
def test_anthropics_list_has_windows_and_capabilities() -> None:
    row = {
        "type": "model",
        "id": "claude-x",
        "display_name": "Claude X",
        "max_input_tokens": 1_000_000,
        "capabilities": {
            "image_input": {"supported": True},
            "thinking": {"supported": False},
            "structured_outputs": {"supported": True},
        },
    }
    assert only({"data": [row], "has_more": False}) == ListedModel(
        name="claude-x", context_window=1_000_000, vision=True, thinking=False, structured=True
    )


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("row", "window"),
    [
        ({"id": "m", "max_model_len": 8192}, 8192),
        ({"id": "m", "max_context_length": 131_072, "loaded_context_length": 4096}, 4096),
        ({"id": "m", "meta": {"n_ctx_train": 32_768, "n_params": 7}}, 32_768),
        ({"id": "m", "context_window": 131_072}, 131_072),
        ({"id": "m", "context_length": -1}, None),
        ({"id": "m", "context_length": "many"}, None),
        ({"id": "m", "context_length": True}, None),
        ({"id": "m", "context_length": 10**40}, None),
    ],
)
def test_a_window_is_read_wherever_a_server_says_it(row: dict[str, Any], window: int) -> None:
    assert only({"data": [row]}).context_window == window


@pytest.mark.requirement("Z-36")
def test_googles_and_ollamas_own_lists_are_read() -> None:
    google = {
        "models": [
            {
                "name": "models/gemini-x",
                "inputTokenLimit": 1_048_576,
                "supportedGenerationMethods": ["generateContent"],
                "thinking": True,
            },
            {"name": "models/vectors-1", "supportedGenerationMethods": ["embedContent"]},
        ]
    }
    assert only(google) == ListedModel(name="gemini-x", context_window=1_048_576, thinking=True)
    ollama = {
        "models": [
            {"name": "llama3.2:latest", "model": "llama3.2:latest", "details": {"family": "llama"}},
            {"name": "all-x:latest", "details": {"family": "bert"}},
            {"name": "seer:1b", "capabilities": ["completion", "vision"]},
        ]
    }
    assert names(ollama) == ["llama3.2:latest", "seer:1b"]
    found = read_listing(ollama)
    assert found is not None
    assert (found.models[1].vision, found.models[1].thinking) == (True, False)


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    "name",
    ["text-embedding-3-large", "nomic-embed-text", "whisper-1", "tts-1-hd", "gpt-4o-mini-tts",
     "dall-e-3", "gpt-image-1", "omni-moderation-latest", "rerank-v3.5", "bge-m3", "imagen-4",
     "gpt-4o-transcribe", "gpt-realtime", "llama-guard-3-8b", "sora-2", "flux.1-dev"],
)  # fmt: skip
def test_models_that_do_not_speak_are_left_out_and_counted(name: str) -> None:
    assert not speaks(name)
    found = read_listing({"data": [{"id": name}, {"id": "speaker"}]})
    assert found is not None
    assert (len(found.models), found.mute) == (1, 1)


@pytest.mark.parametrize(
    "name", ["gpt-6.1-sol", "claude-opus-4-6", "imaginary", "teapot-70b", "qwen3:8b", "o3", "veona"]
)
def test_whoever_speaks_stays(name: str) -> None:
    assert speaks(name)


@pytest.mark.requirement("Z-36", "Z-39")
def test_rows_that_are_no_models_are_left_out_and_counted() -> None:
    rows: list[object] = [
        {"id": "good"}, {"id": "good"}, {"id": ""}, {"id": None}, {"id": 7}, {}, None, 3,
        {"id": "two words"}, {"id": "\x1b[31mred"}, {"id": "a\u202eb"}, {"id": "z\u200bw"},
        {"id": SECRET}, {"id": "x" * 201}, {"id": ["a"]}, "also-good",
    ]  # fmt: skip
    found = read_listing({"data": rows})
    assert found is not None
    assert [each.name for each in found.models] == ["good", "also-good"]
    assert found.unreadable == 13
    assert SECRET not in repr(found)


@pytest.mark.requirement("Z-36", "Z-39")
@pytest.mark.parametrize("document", [None, 1, "text", {}, {"data": {}}, {"data": None}, [1, 2]])
def test_what_is_no_list_is_none(document: object) -> None:
    assert read_listing(document) is None


def test_an_endless_list_ends() -> None:
    found = read_listing({"data": [{"id": f"m{n}"} for n in range(MOST_MODELS + 50)]})
    assert found is not None
    assert (len(found.models), found.more) == (MOST_MODELS, 50)


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("prompt", ["-1", "nan", "inf", "free", None, True, [], "1e400"])
def test_a_price_that_is_none_is_unknown_and_never_zero(prompt: object) -> None:
    row = {"id": "m", "pricing": {"prompt": prompt, "completion": "0.00001"}}
    assert only({"data": [row]}).usd_per_million_in is None
    assert only({"data": [row]}).usd_per_million_out is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "data", "models", "pricing", "capabilities", "meta", "type"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.requirement("Z-39")
@given(_JSON)
def test_no_document_breaks_the_reader(document: object) -> None:
    found = read_listing(document)
    if found is not None:
        assert Listing.model_validate_json(found.model_dump_json()) == found
        assert json.loads(found.model_dump_json())


async def test_a_number_that_nobody_reads_leaves_the_model_in_its_list() -> None:
    row = '{"id": "big", "context_length": %s, "created": 1e999, "pricing": {"prompt": "1e400"}}'
    body = '{"data": [' + row % ("9" * 6000) + "]}"
    answer = Answer("It", 200, {}, body.encode())
    found = read_listing(answer.json_or_none())
    assert found is not None
    assert [(each.name, each.context_window) for each in found.models] == [("big", None)]
