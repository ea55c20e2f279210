"""Discovery: what is found, in which order, and what stands in for what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.core.errors import UnknownName
from roundtable.models.discovery import discover
from roundtable.models.endpoint_list import EndpointList
from roundtable.models.found import EMBEDDED_MODEL, Found
from roundtable.models.listing import read_listing
from roundtable.models.lists import ModelLists
from roundtable.models.registry import Registry
from roundtable.models.router import Router
from roundtable.models.routing import Vacancy
from roundtable.models.routing_files import RoutingFiles
from tests.servers import provider_server

REGISTRY = Registry.load()
SECRET = "sk-secret-value-that-must-never-be-shown"


async def found(env: dict[str, str], default: str | None = None) -> Found:
    return await discover(REGISTRY, env, default_model=default, probe=False)


@pytest.mark.requirement("A-17", "A-20")
async def test_without_anything_the_embedded_model_speaks() -> None:
    nothing = await found({})
    assert [provider.id for provider in nothing.providers] == ["local"]
    assert nothing.default_model == EMBEDDED_MODEL
    assert nothing.substitute(REGISTRY.resolve("opus")) == EMBEDDED_MODEL


@pytest.mark.requirement("A-18", "A-19", "A-20")
async def test_with_anthropic_alone_every_other_seat_of_the_panel_is_a_sonnet() -> None:
    claude = await found({"ANTHROPIC_API_KEY": SECRET})
    for name in ("gpt-5.3-codex", "grok-4", "gemini-3.1-pro", "blockrun/grok-4"):
        substitute = claude.substitute(REGISTRY.resolve(name))
        assert substitute.startswith("anthropic/claude-sonnet"), name
    assert claude.substitute(REGISTRY.resolve("opus")) == "anthropic/claude-opus-4-6"


@pytest.mark.requirement("A-18")
async def test_a_key_of_openai_adds_codex() -> None:
    both = await found({"ANTHROPIC_API_KEY": SECRET, "OPENAI_API_KEY": SECRET})
    assert both.substitute(REGISTRY.resolve("codex")) == "openai/gpt-5.3-codex"


@pytest.mark.requirement("A-19", "A-92")
async def test_the_proxy_adds_grok_and_gemini() -> None:
    env = {"ANTHROPIC_API_KEY": SECRET, "BLOCKRUN_PROXY_URL": "http://localhost:8402"}
    proxied = await found(env)
    assert proxied.usable("blockrun/grok-4")
    assert proxied.substitute(REGISTRY.resolve("grok-4")) == "blockrun/grok-4"
    assert proxied.substitute(REGISTRY.resolve("gemini-3.1-pro")) == "blockrun/gemini-3.1-pro"


async def test_keys_come_in_the_order_of_preference_and_before_the_embedded_model() -> None:
    several = await found({"XAI_API_KEY": "x", "OPENAI_API_KEY": "x", "GOOGLE_API_KEY": "x"})
    assert [(p.id, p.how) for p in several.providers] == [
        ("openai", "OPENAI_API_KEY"),
        ("google", "GOOGLE_API_KEY"),
        ("xai", "XAI_API_KEY"),
        ("local", "embedded"),
    ]
    assert several.default_model == "openai/gpt-6.1-sol"
    assert several.usable("openai/anything-new")
    assert not several.usable("opus")


async def test_the_default_model_of_the_settings_comes_first() -> None:
    env = {"OPENAI_API_KEY": "x", "XAI_API_KEY": "x"}
    chosen = await found(env, "grok")
    assert [(p.id, p.how) for p in chosen.providers][:2] == [
        ("xai", "setting, XAI_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
    ]
    assert chosen.default_model == "xai/grok-4-1-fast-reasoning"
    # A default that cannot be used now does not stop anybody.
    without_key = await found(env, "opus")
    assert without_key.default_model == "openai/gpt-6.1-sol"
    assert "ANTHROPIC_API_KEY" in [missing.variable for missing in without_key.missing]
    with pytest.raises(UnknownName):
        await found(env, "opsu")


async def test_a_base_url_without_a_key_opens_an_openai_compatible_provider() -> None:
    assert (await found({"OPENAI_BASE_URL": "http://gpu/v1"})).usable("openai/any")
    assert not (await found({"ANTHROPIC_BASE_URL": "http://gpu"})).usable("opus")


async def test_empty_variables_count_as_unset() -> None:
    assert [p.id for p in (await found({"OPENAI_API_KEY": "  "})).providers] == ["local"]


async def test_a_users_own_provider_comes_before_all(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(
        '[providers.house]\nbase_url = "http://gpu/v1"\n'
        '[providers.club]\nbase_url = "http://club/v1"\nkey_env = "CLUB_KEY"\n'
        '[models."house/qwen3-32b"]\n'
    )
    registry = Registry.load(path)
    own = await discover(registry, {"OPENAI_API_KEY": "x"}, default_model=None, probe=False)
    assert [(p.id, p.how) for p in own.providers][:2] == [
        ("house", "setting"),
        ("openai", "OPENAI_API_KEY"),
    ]
    assert own.default_model == "house/qwen3-32b"
    assert ("club", "CLUB_KEY") in [(m.id, m.variable) for m in own.missing]


async def test_what_is_missing_names_the_variable_to_set() -> None:
    missing = {m.label: m.variable for m in (await found({"OPENAI_API_KEY": "x"})).missing}
    assert "OpenAI" not in missing
    assert missing["Anthropic"] == "ANTHROPIC_API_KEY"
    assert missing["Blockrun proxy"] == "BLOCKRUN_PROXY_URL"


@pytest.mark.requirement("X-24", "I-20", "B-40")
async def test_no_key_is_ever_shown() -> None:
    planted = await found({name: SECRET for p in REGISTRY.providers.values() for name in p.key_env})
    assert len(planted.providers) > 8
    assert SECRET not in repr(planted)


@pytest.mark.requirement("I-01")
async def test_local_servers_that_answer_are_found_with_their_own_models() -> None:
    models = ["nomic-embed-text", "qwen3:8b", "llama3.2:latest"]
    with provider_server(models=models) as server:
        env = {"OLLAMA_HOST": server.base_url.removeprefix("http://")}
        env |= {"LMSTUDIO_BASE_URL": server.openai_url, "LLAMACPP_BASE_URL": "127.0.0.1:9"}
        local = await discover(REGISTRY, env, default_model=None)
    assert [(p.id, p.how, p.models) for p in local.providers] == [
        ("ollama", server.openai_url, ("ollama/qwen3:8b", "ollama/llama3.2:latest")),
        ("lmstudio", server.openai_url, ("lmstudio/qwen3:8b", "lmstudio/llama3.2:latest")),
        ("local", "embedded", (EMBEDDED_MODEL,)),
    ]
    assert local.default_model == "ollama/qwen3:8b"
    assert local.usable("ollama/llama3.2")
    assert not local.usable("ollama/mistral")
    assert local.substitute(REGISTRY.resolve("ollama/mistral")) == "ollama/qwen3:8b"


async def test_something_else_on_the_port_is_not_taken_for_a_server() -> None:
    with provider_server() as server:
        env = {"OLLAMA_BASE_URL": f"{server.base_url}/nothing/here"}
        env |= {"LMSTUDIO_BASE_URL": "not a url at all", "LLAMACPP_BASE_URL": "127.0.0.1:9"}
        local = await discover(REGISTRY, env, default_model=None)
    assert [p.id for p in local.providers] == ["local"]


async def test_without_probing_a_named_server_is_believed() -> None:
    believed = await found({"OLLAMA_HOST": "gpu"})
    assert next((p.id, p.how) for p in believed.providers) == ("ollama", "OLLAMA_HOST")
    assert believed.usable("ollama/anything")


async def test_a_substitute_is_the_same_model_elsewhere_before_its_family_before_its_tags() -> None:
    router = await found({"OPENROUTER_API_KEY": "x", "OPENAI_API_KEY": "x"})
    assert router.substitute(REGISTRY.resolve("opus")) == "openrouter/anthropic/claude-opus-4.6"
    fable = router.substitute(REGISTRY.resolve("fable"))
    assert REGISTRY.resolve(fable).family == "claude"
    openai = await found({"OPENAI_API_KEY": "x"})
    assert openai.substitute(REGISTRY.resolve("haiku")) == "openai/gpt-6-luna"
    unheard_of = REGISTRY.resolve("deepseek/unheard-of")
    assert openai.substitute(unheard_of) == openai.default_model
    of_this_machine = REGISTRY.resolve("lmstudio/unheard-of")
    assert openai.substitute(of_this_machine) == ""


async def test_scripted_speakers_are_usable_only_by_name() -> None:
    nothing = await found({})
    assert nothing.usable("scripted/echo")
    assert all(provider.id != "scripted" for provider in nothing.providers)


def listing(*names: str) -> object:
    return {"data": [{"id": name} for name in names]}


@pytest.mark.requirement("Z-36")
async def test_a_vendor_has_what_it_lists_and_its_short_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Known models in our order, then the others; what we know from former times is gone."""

    async def answer(*_: object) -> EndpointList:
        names = ("claude-next", "claude-sonnet-4-5-20250929", "claude-opus-4-6")
        listed = read_listing(listing(*names))
        assert listed is not None
        return EndpointList(heard="listed", listing=listed)

    monkeypatch.setattr("roundtable.models.lists.ask", answer)
    env = {"ANTHROPIC_API_KEY": SECRET}
    here = await discover(REGISTRY, env, default_model=None, probe=False, lists=ModelLists(None))
    assert here.providers[0].models == (
        "anthropic/claude-opus-4-6",
        "anthropic/claude-sonnet-4-5",
        "anthropic/claude-next",
        "anthropic/claude-sonnet-4-5-20250929",
    )
    assert here.usable("sonnet")
    assert here.usable("anthropic/claude-next")
    assert here.usable("anthropic/unlisted-preview"), "a vendor may have more than it lists"
    assert not here.usable("haiku")
    assert here.substitute(REGISTRY.resolve("haiku")).startswith("anthropic/claude-")
    assert here.default_model == "anthropic/claude-sonnet-4-5"


@pytest.mark.requirement("Z-36")
async def test_another_server_has_only_what_it_lists_and_different_seats_get_different_models() -> (
    None
):
    names = ["alpha-70b", "beta/bravo-2", "claude-opus-4-6", "gamma-1b"]
    with provider_server(lists=lambda *_: listing(*names)) as server:
        env = {"OPENAI_BASE_URL": server.openai_url}
        found = await discover(
            REGISTRY, env, default_model=None, probe=False, lists=ModelLists(None)
        )
    assert found.providers[0].models == tuple(f"openai/{name}" for name in names)
    assert not found.usable("openai/gpt-5.5")
    known = found.registry.resolve("openai/claude-opus-4-6")
    assert (known.family, known.tier) == ("claude", "top")
    assert found.registry.priced(known.id).usd_per_million_in is None
    assert [found.registry.resolve(f"openai/{name}").family for name in names] == [
        "alpha",
        "bravo",
        "claude",
        "gamma",
    ]
    routes = Router(found, RoutingFiles()).route([Vacancy(seat) for seat in ("a", "b", "c")])
    assert len({route.model for route in routes}) == 3
    assert found.elsewhere("openai/alpha-70b", 2)
    assert "openai/alpha-70b" not in found.elsewhere("openai/alpha-70b", 9)
