"""Prices belong to an address, come from the public lists, and are unknown otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.models.endpoint import Endpoint
from roundtable.models.listing import ListedModel
from roundtable.models.lists import ModelLists
from roundtable.models.lookout import Lookout
from roundtable.models.prices import market_price
from roundtable.models.registry import Registry

REGISTRY = Registry.load()


@pytest.mark.requirement("Z-36")
def test_every_listed_model_of_a_vendor_has_a_price_from_the_public_lists() -> None:
    for model, entry in REGISTRY.models.items():
        provider = REGISTRY.providers[entry.provider]
        if not provider.vendor_hosts:
            continue
        assert entry.usd_per_million_in is None, f"{model} repeats what the lists know"
        priced = REGISTRY.priced(model)
        assert priced.usd_per_million_in is not None, model
        assert priced.usd_per_million_out is not None, model


@pytest.mark.requirement("Z-36")
def test_the_same_name_on_somebodys_own_server_has_no_known_price() -> None:
    moved = REGISTRY.at({"openai": Endpoint("http://gpu.example/v1", foreign=True)})
    assert REGISTRY.priced("openai/gpt-5.5").usd_per_million_in is not None
    assert moved.priced("openai/gpt-5.5").usd_per_million_in is None
    assert moved.cost("openai/gpt-5.5", 1000, 1000) is None
    assert market_price("http://gpu.example/v1", "gpt-5.5") is None


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("address", "known"), [("http://gpu.example/v1", False), ("https://api.openai.com/v1", True)]
)
def test_whoever_calls_without_having_looked_around_pays_what_it_costs_at_the_address_in_use(
    address: str, known: bool
) -> None:
    env = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": address}
    lookout = Lookout(
        REGISTRY,
        env,
        ModelLists(None),
        default_model=None,
        local_servers=False,
        ask=False,
        agents={},
    )
    assert (lookout.cost("openai/gpt-5.5", 1000, 1000) is not None) is known


@pytest.mark.requirement("Z-36")
def test_behind_another_address_the_prices_are_those_of_that_address() -> None:
    address = "https://openrouter.ai/api/v1"
    moved = REGISTRY.at({"openai": Endpoint(address, foreign=True)})
    assert moved.priced("openai/anthropic/claude-opus-4.6").usd_per_million_in == 5.0


@pytest.mark.requirement("Z-36")
def test_the_users_file_then_the_endpoint_then_the_public_list(tmp_path: Path) -> None:
    own = tmp_path / "models.toml"
    own.write_text('[models."openai/gpt-5.5"]\nusd_per_million_in = 1.0\n')
    listed = {
        "gpt-5.5": ListedModel(
            name="gpt-5.5", context_window=7000, usd_per_million_in=2.0, usd_per_million_out=3.0
        )
    }
    there = Endpoint("https://api.openai.com/v1", foreign=False, listed=listed)
    entry = Registry.load(own).at({"openai": there}).priced("openai/gpt-5.5")
    assert (entry.usd_per_million_in, entry.usd_per_million_out) == (1.0, 3.0)
    assert entry.context_window == 7000


def test_a_price_that_rises_with_the_hour_is_the_dearest_of_the_day() -> None:
    found = market_price("https://api.deepseek.com", "deepseek-v4-pro")
    assert found is not None
    assert (found.per_million_in, found.per_million_out) == (1.32, 3.96)


def test_a_price_that_rises_with_the_prompt_is_that_of_the_usual_lengths() -> None:
    found = market_price("https://api.openai.com/v1", "gpt-6.1-sol")
    assert found is not None
    assert (found.per_million_in, found.per_million_out) == (2.0, 10.0)
    # But a call costs what it costs.
    assert REGISTRY.cost("openai/gpt-6.1-sol", 100_000, 0) == pytest.approx(0.2)
    assert REGISTRY.cost("openai/gpt-6.1-sol", 300_000, 0) == pytest.approx(1.2)


def test_unknown_is_unknown() -> None:
    assert market_price("https://api.openai.com/v1", "nobody-heard-of-it") is None
    assert REGISTRY.priced("openai/nobody-heard-of-it").usd_per_million_in is None
