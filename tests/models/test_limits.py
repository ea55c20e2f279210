"""How many calls each kind of provider is asked, and what the user's file says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.core.call_gate import CallLimits
from roundtable.core.errors import BadSetting
from roundtable.models.limits import gates_of
from roundtable.models.registry import Registry


def registry(tmp_path: Path, text: str = "") -> Registry:
    path = tmp_path / "models.toml"
    path.write_text(text, encoding="utf-8")
    return Registry.load(path)


@pytest.mark.requirement("I-12")
@pytest.mark.parametrize(
    ("model", "at_once"),
    [
        ("openai/gpt-6", 64),
        ("anthropic/claude", 64),
        ("openrouter/any/model", 64),
        ("ollama/llama", 4),
        ("cmd/claude", 4),
        ("local/smollm2-135m", 4),
        ("scripted/echo", None),
    ],
)
def test_each_kind_of_provider_is_asked_as_many_calls_as_suit_it(
    tmp_path: Path, model: str, at_once: int | None
) -> None:
    (limits,) = gates_of(model, registry(tmp_path), {}).values()
    assert limits.at_once == at_once


def test_a_vendor_that_was_moved_to_an_own_server_is_one(tmp_path: Path) -> None:
    moved = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    assert gates_of("openai/x", registry(tmp_path), moved)["openai"].at_once == 32


def test_the_users_word_for_all_counts_except_for_scripts(tmp_path: Path) -> None:
    known = registry(tmp_path)
    assert gates_of("openai/x", known, {}, 2)["openai"] == CallLimits(at_once=2)
    assert gates_of("ollama/x", known, {}, 9)["ollama"] == CallLimits(at_once=9)
    assert gates_of("scripted/x", known, {}, 2)["scripted"].none


def test_models_toml_sets_limits_of_providers_and_of_models(tmp_path: Path) -> None:
    known = registry(
        tmp_path,
        "[providers.openai]\nat_once = 100\nper_minute = 500\n"
        '[models."openai/gpt-6.1-sol"]\nper_minute = 20\n',
    )
    assert gates_of("openai/gpt-6.1-sol", known, {}, 2) == {
        "openai/gpt-6.1-sol": CallLimits(per_minute=20),
        "openai": CallLimits(at_once=100, per_minute=500),
    }
    assert list(gates_of("openai/other", known, {})) == ["openai"]


@pytest.mark.parametrize("wrong", ["at_once = 0", "at_once = 'many'", "per_minute = -1"])
def test_limits_that_are_none_are_told(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(BadSetting, match=wrong.partition(" ")[0]):
        registry(tmp_path, f"[providers.openai]\n{wrong}\n")
