"""What is sent to which model: by its name, whoever serves it."""

from __future__ import annotations

import pytest

from roundtable.core.values import Effort
from roundtable.models.registry import Registry
from roundtable.speakers.abilities import EFFORTS, Abilities, Dialect, abilities

pytestmark = pytest.mark.requirement("I-01")
PLAIN = Abilities()


@pytest.mark.parametrize(
    ("dialect", "provider", "name", "efforts", "schema", "temperature"),
    [
        ("responses", "openai", "gpt-6.1-sol", EFFORTS, True, False),
        ("responses", "openai", "gpt-5.4", EFFORTS, True, True),
        ("responses", "openai", "gpt-5.4-pro", ("medium", "high"), True, False),
        ("responses", "openai", "gpt-5.2-chat-latest", ("medium",), True, False),
        ("responses", "openai", "gpt-5-chat-latest", (), True, True),
        ("responses", "openai", "gpt-4o", (), True, True),
        ("messages", "anthropic", "claude-opus-5-5", EFFORTS, True, False),
        ("messages", "anthropic", "claude-sonnet-4-6", EFFORTS, True, True),
        ("messages", "anthropic", "claude-3-haiku-20240307", EFFORTS, False, True),
        ("chat", "openai", "some-model", (), True, True),
        ("chat", "openai", "gpt-5-mini", EFFORTS, True, False),
        ("chat", "google", "gemini-3.8-flash", EFFORTS, True, True),
        ("chat", "ollama", "llama3.2", (), True, True),
        ("chat", "openrouter", "anthropic/claude-opus-5", EFFORTS, True, False),
        ("chat", "openrouter", "meta-llama/llama-3.3-70b", EFFORTS, False, True),
        ("chat", "blockrun", "google/gemini-2.0-flash", (), True, True),
        ("chat", "blockrun", "google/gemini-2.5-pro", EFFORTS, True, True),
        ("chat", "blockrun", "deepseek/deepseek-v4-pro", EFFORTS, False, True),
        ("chat", "blockrun", "groq/openai/gpt-oss-20b", EFFORTS, False, True),
        ("chat", "blockrun", "x-ai/grok-4.5", EFFORTS, True, True),
        ("chat", "blockrun", "nobody/knows-it", (), True, True),
        ("chat", "blockrun", "", (), True, True),
        ("chat", "blockrun", "/", (), True, True),
    ],
)
def test_a_model_is_told_what_it_takes(
    dialect: Dialect,
    provider: str,
    name: str,
    efforts: tuple[Effort, ...],
    schema: bool,
    temperature: bool,
) -> None:
    can = abilities(dialect, provider, name)
    assert (can.efforts, can.schema, can.temperature) == (efforts, schema, temperature)


def test_an_effort_that_a_model_does_not_know_becomes_the_next_one() -> None:
    assert Abilities(("medium", "high")).effort("low") == "medium"
    assert Abilities(("medium",)).effort("high") == "medium"
    assert [Abilities(EFFORTS).effort(each) for each in EFFORTS] == list(EFFORTS)


def test_the_new_name_of_the_limit_is_for_openais_own_names_that_reason() -> None:
    for name, new in (("gpt-5-mini", True), ("gpt-4o", False), ("openai/gpt-5-mini", False)):
        assert abilities("chat", "openrouter", name).new_limit is new


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("provider", "dialect"), [("openai", "responses"), ("anthropic", "messages")]
)
def test_the_registry_says_of_a_vendors_models_what_they_are_told(
    provider: str, dialect: Dialect
) -> None:
    rows = [each for each in Registry.load().models.values() if each.provider == provider]
    assert rows
    for row in rows:
        can = abilities(dialect, provider, row.name)
        assert (row.thinking, row.structured) == (bool(can.efforts), can.schema), row.id
