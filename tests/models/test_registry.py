"""The registry: names resolve, user files extend it, and bad ones are told precisely."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roundtable.core.errors import AmbiguousName, BadSetting, UnknownName
from roundtable.core.values import SpeakerRef
from roundtable.models.endpoint import Endpoint
from roundtable.models.entry import TAGS
from roundtable.models.listing import ListedModel
from roundtable.models.prices import Price
from roundtable.models.registry import Registry


@pytest.fixture
def registry() -> Registry:
    return Registry.load()


def extended(tmp_path: Path, text: str) -> Registry:
    path = tmp_path / "models.toml"
    path.write_text(text, encoding="utf-8")
    return Registry.load(path)


@pytest.mark.requirement("C-27", "X-25")
@pytest.mark.parametrize(
    ("alias", "model_id", "family"),
    [
        ("opus", "anthropic/claude-opus-4-6", "claude"),
        ("sonnet", "anthropic/claude-sonnet-4-5", "claude"),
        ("haiku", "anthropic/claude-haiku-4-5", "claude"),
        ("codex", "openai/gpt-5.3-codex", "gpt"),
        ("grok", "xai/grok-4-1-fast-reasoning", "grok"),
        ("kimi", "moonshot/kimi-k2.5", "kimi"),
        ("minimax", "minimax/MiniMax-M2.5", "minimax"),
        ("opus-4.6", "anthropic/claude-opus-4-6", "claude"),
        ("gpt-5.3-codex", "openai/gpt-5.3-codex", "gpt"),
        ("gemini-3.1-pro", "google/gemini-3.1-pro-preview", "gemini"),
        ("grok-4", "xai/grok-4", "grok"),
    ],
)
def test_every_short_name_of_the_seeds_resolves(
    registry: Registry, alias: str, model_id: str, family: str
) -> None:
    entry = registry.resolve(alias)
    assert (entry.id, entry.family) == (model_id, family)
    assert registry.priced(alias).usd_per_million_in is not None
    assert registry.resolve(f"  {alias.upper()} ") == entry


@pytest.mark.requirement("C-28", "X-25", "A-92", "B-37")
@pytest.mark.parametrize(
    ("model_id", "family"),
    [
        ("anthropic/claude-opus-4-6", "claude"),
        ("blockrun/opus-4.6", "claude"),
        ("blockrun/gpt-5.3-codex", "gpt"),
        ("blockrun/gemini-3.1-pro", "gemini"),
        ("blockrun/grok-4", "grok"),
        ("deepseek/deepseek-v4-flash", "deepseek"),
        ("deepseek/deepseek-v4-pro", "deepseek"),
        ("minimax/minimax-latest", "minimax"),
        ("ollama/llama3.2", "llama"),
        ("local/smollm2-135m", "smollm"),
        ("scripted/stubborn", "scripted"),
        ("openrouter/mistralai/mistral-large-2512", "mistral"),
        ("openai/ft:gpt-9-nobody-heard-of", "gpt"),
        ("lmstudio/some.local-thing", "some"),
    ],
)
def test_a_complete_id_is_taken_unchanged(registry: Registry, model_id: str, family: str) -> None:
    entry = registry.resolve(model_id)
    assert (entry.id, entry.family) == (model_id, family)


def test_an_unlisted_model_of_a_known_provider_has_an_unknown_price(registry: Registry) -> None:
    assert registry.cost("openai/brand-new", 1000, 1000) is None
    assert registry.speaker_ref("openai/brand-new").usd_per_million_in is None


def test_a_model_behind_a_proxy_has_its_abilities_but_not_its_price(registry: Registry) -> None:
    behind = registry.resolve("blockrun/sonnet-5.5")
    direct = registry.resolve("sonnet-5.5")
    assert (behind.family, behind.tags, behind.context_window) == (
        direct.family,
        direct.tags,
        direct.context_window,
    )
    assert registry.priced(behind.id).usd_per_million_in is None
    assert registry.priced(direct.id).usd_per_million_in is not None


def test_unknown_names_are_refused_with_suggestions(registry: Registry) -> None:
    with pytest.raises(UnknownName) as alias:
        registry.resolve("sonet")
    assert alias.value.kind == "model"
    assert "sonnet" in alias.value.suggestions
    with pytest.raises(UnknownName) as provider:
        registry.resolve("antropic/claude-opus-4-6")
    assert (provider.value.kind, provider.value.suggestions) == ("provider", ["anthropic"])
    with pytest.raises(UnknownName):
        registry.resolve("openai/")


def test_a_speaker_ref_carries_what_rules_depend_on(registry: Registry) -> None:
    assert registry.speaker_ref("haiku") == SpeakerRef(
        model="anthropic/claude-haiku-4-5",
        family="claude",
        context_window=200_000,
        usd_per_million_in=1.0,
        usd_per_million_out=5.0,
    )
    assert registry.speaker_ref("local/smollm2-135m") == SpeakerRef(
        model="local/smollm2-135m",
        family="smollm",
        context_window=2048,
        usd_per_million_in=0.0,
        usd_per_million_out=0.0,
        demonstration=True,
    )
    assert registry.speaker_ref("scripted/echo").usd_per_million_out == 0.0


def test_a_call_costs_what_its_tokens_cost(registry: Registry) -> None:
    assert registry.cost("haiku", 1_000_000, 1_000_000) == pytest.approx(6.0)
    assert registry.cost("haiku", 1_000_000, 0, 1_000_000) == pytest.approx(0.1)
    assert registry.cost("ollama/anything", 10**6, 10**6) == 0.0


def test_an_unknown_price_is_taken_for_the_dearest(registry: Registry) -> None:
    dearest = registry.dearest_price()
    assert dearest == Price(10.0, 50.0)
    prices = [registry.priced(model).usd_per_million_out or 0.0 for model in registry.models]
    assert max(prices) <= dearest[1]


def test_the_shipped_file_is_sound(registry: Registry) -> None:
    used = {tag for entry in registry.models.values() for tag in entry.tags}
    assert used == set(TAGS)
    for provider in registry.providers.values():
        assert provider.get, provider.id
        assert provider.default_model is None or provider.default_model in registry.models
        if provider.kind not in ("command", "local", "scripted"):
            assert provider.base_url, provider.id
    for entry in registry.models.values():
        priced = (entry.usd_per_million_in is None, entry.usd_per_million_out is None)
        assert priced[0] == priced[1], entry.id


@pytest.mark.requirement("X-25")
def test_a_user_file_adds_providers_models_aliases_and_prices(tmp_path: Path) -> None:
    registry = extended(
        tmp_path,
        """
        [providers.house]
        base_url = "http://gpu.house:8000/v1"
        key_env = "HOUSE_KEY"

        [models."house/qwen3-32b"]
        aliases = ["qwen-house", "sonnet"]
        tags = ["code"]

        [models."openai/gpt-5.3-codex"]
        usd_per_million_in = 0.5

        [aliases]
        boss = "anthropic/claude-opus-5-5"
        far = "openai/not-listed"
        """,
    )
    house = registry.providers["house"]
    assert (house.kind, house.label, house.key_env) == (
        "openai-compatible",
        "house",
        ("HOUSE_KEY",),
    )
    assert next(iter(registry.providers)) == "house"
    assert registry.resolve("qwen-house").family == "qwen"
    assert registry.resolve("sonnet").id == "house/qwen3-32b"
    assert registry.resolve("boss").id == "anthropic/claude-opus-5-5"
    assert registry.resolve("FAR").id == "openai/not-listed"
    codex = registry.priced("codex")
    assert (codex.usd_per_million_in, codex.usd_per_million_out) == (0.5, 14.0)


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("[modles]", "modles", "one of the tables"),
        ("models = 3", "models", "a table"),
        ('models."a/b" = 3', 'models."a/b"', "a table"),
        ("aliases.x = 3", 'aliases."x"', "a text in quotes"),
        ('aliases.x = "opus"', "aliases.x", "a full model id"),
        ('aliases.x = "nowhere/opus"', "aliases.x", "a full model id"),
        ('[models."openai/x"]\nprice = 1', 'models."openai/x".price', "one of the keys aliases"),
        (
            '[models."openai/x"]\nusd_per_million_in = "cheap"',
            'models."openai/x".usd_per_million_in',
            "a number",
        ),
        *(
            (
                f'[models."openai/x"]\n{key} = true',
                f'models."openai/x".{key}',
                "a number, not true or false",
            )
            for key in (
                *("usd_per_million_in", "usd_per_million_out", "usd_per_million_cached"),
                *("context_window", "first_word", "at_once", "per_minute"),
            )
        ),
        ("[providers.openai]\nat_once = false", "providers.openai.at_once", "a number, not true"),
        ('[models."openai/x"]\ntags = ["clever"]', 'models."openai/x".tags', "'code'"),
        ('[models."nowhere/x"]\nfamily = "x"', 'models."nowhere/x"', "a known provider"),
        ('[models."opus"]\nfamily = "x"', 'models."opus".id', "match pattern"),
        ('[providers.mine]\nkind = "soap"', "providers.mine.kind", "'openai'"),
        (
            '[models."openai/x"]\naliases = ["z"]\n[models."openai/y"]\naliases = ["Z"]',
            'models."openai/y".aliases',
            "names of its own",
        ),
        ("[models", "the file", "TOML"),
        *(
            (
                f'[providers.house]\nbase_url = "{url}"',
                "providers.house.base_url",
                expected,
            )
            for url, expected in (
                ("notaurl", "begins with http:// or https://"),
                ("http://", "names a server"),
                ("ftp://house/v1", "begins with http:// or https://"),
                ("http://house:99999/v1", "port is a number from 1 to 65535"),
                ("http://[::1", "IPv6 number in its brackets"),
                ("http://ho use/v1", "without spaces"),
                ("", "begins with http:// or https://"),
            )
        ),
    ],
)
def test_a_bad_user_file_is_told_by_file_key_and_expectation(
    tmp_path: Path, text: str, key: str, expected: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        extended(tmp_path, text)
    assert caught.value.where == str(tmp_path / "models.toml")
    assert caught.value.key == key
    assert expected in caught.value.expected


def test_a_missing_user_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="readable"):
        Registry.load(tmp_path / "none.toml")


def test_provider_addresses_are_completed_from_what_people_write(registry: Registry) -> None:
    ollama, openai, google = (registry.providers[name] for name in ("ollama", "openai", "google"))
    cases = {
        "localhost": "http://localhost:11434/v1",
        "0.0.0.0:11500": "http://127.0.0.1:11500/v1",
        "0.0.0.0": "http://127.0.0.1:11434/v1",
        ":11500": "http://127.0.0.1:11500/v1",
        "http://:11500": "http://127.0.0.1:11500/v1",
        "[::]:11500": "http://127.0.0.1:11500/v1",
        "[::1]:11500": "http://[::1]:11500/v1",
        "::": "http://127.0.0.1:11434/v1",
        "::1": "http://[::1]:11434/v1",
        "127.0.0.1:": "http://127.0.0.1:11434/v1",
        '"0.0.0.0:11500"': "http://127.0.0.1:11500/v1",
        "'127.0.0.1'": "http://127.0.0.1:11434/v1",
        "http://gpu:1/": "http://gpu:1/v1",
        # Behind a path, too: its list is asked for there, so it is called there.
        "https://gpu.example/custom": "https://gpu.example/custom/v1",
    }
    for written, address in cases.items():
        assert ollama.address({"OLLAMA_HOST": written}) == address
    assert ollama.address({}) == "http://127.0.0.1:11434/v1"
    # OpenAI documents its base URL as complete, so nothing is added to it.
    assert openai.address({"OPENAI_BASE_URL": "http://localhost:1"}) == "http://localhost:1"
    assert google.address({"GOOGLE_GEMINI_BASE_URL": "https://proxy.example"}) == (
        "https://proxy.example/v1beta/openai"
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0.0.0.0:abc", "port"),
        (":abc", "port"),
        (":0", "port"),
        ("::1:11434", "brackets"),
        ('"127.0.0.1', "quotation marks"),
    ],
)
def test_an_address_that_is_none_is_told_by_the_part_that_is_wrong(
    registry: Registry, written: str, expected: str
) -> None:
    assert expected in registry.providers["ollama"].address_trouble({"OLLAMA_HOST": written})


def test_loading_brings_no_heavy_package_along() -> None:
    code = (
        "import sys; from roundtable.models.registry import Registry; Registry.load();"
        "from roundtable.models import discovery;"
        "print(sorted({'genai_prices', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_a_bare_name_that_several_servers_list_is_refused_with_the_full_ones(
    registry: Registry, tmp_path: Path
) -> None:
    def at(of: Registry, far: str) -> Registry:
        rows = {"qwen3:8b": ListedModel(name="qwen3:8b")}
        near = Endpoint("http://127.0.0.1:11434/v1", foreign=True, listed=rows)
        return of.at({"openai": Endpoint(far, foreign=True, listed=rows), "ollama": near})

    with pytest.raises(AmbiguousName) as caught:
        at(registry, "http://gpu.test/v1").resolve("Qwen3:8b")
    assert caught.value.message == "'Qwen3:8b' could mean openai/qwen3:8b or ollama/qwen3:8b."
    # The same server under two names, and a name that the user gave.
    assert at(registry, "http://localhost:11434/v1").resolve("qwen3:8b").id == "openai/qwen3:8b"
    own = extended(tmp_path, '[aliases]\n"qwen3:8b" = "ollama/qwen3:8b"\n')
    assert at(own, "http://gpu.test/v1").resolve("qwen3:8b").id == "ollama/qwen3:8b"
