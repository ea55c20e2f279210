"""Panels: the shipped ones, the user's file, and what happens when models are missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.core.state import State
from roundtable.models.catalogue import Catalogue
from roundtable.models.discovery import discover
from roundtable.models.registry import Registry
from roundtable.procedures.adaptive.panels import Panels, laid_over
from roundtable.procedures.adaptive.seating import seat
from roundtable.procedures.opening import OpenRequest, Seating
from roundtable.views.adaptive_cost import subscription_cost
from tests.foreseen import foreseen
from tests.rehearsal import Cast, run_in_virtual_time

from .adaptive_table import (
    CODEX,
    DEBATE,
    GEMINI,
    GROK,
    OPUS,
    SONNET,
    Market,
    adaptive,
    hold,
    labels,
    meta_section,
    note,
)

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GEMINI_API_KEY",
    "xai": "XAI_API_KEY",
    "blockrun": "BLOCKRUN_PROXY_URL",
}


def table_with(*providers: str, **options: object) -> Seating:
    """How a table is set with the real registry and these providers."""
    env = {
        KEYS[each]: "http://localhost:8402" if each == "blockrun" else "sk-test"
        for each in providers
    }
    registry = Registry.load()

    async def catalogue() -> Catalogue:
        found = await discover(registry, env, default_model=None, probe=False)
        return Catalogue(found, fallbacks={})

    models = run_in_virtual_time(catalogue())
    return seat(OpenRequest(topic=DEBATE, procedure="adaptive", options=options), models, {})


def panel(seating: Seating) -> list[str]:
    return [p.speaker.model for p in seating.participants[:-1]]


# The shipped panels


@pytest.mark.requirement("A-90")
def test_the_debate_panel() -> None:
    slots = Panels.parse({}, "panels.json").panels["debate"]
    assert [(slot.role, slot.model) for slot in slots] == [
        ("Advocate", OPUS),
        ("Devil's Advocate", CODEX),
        ("Analyst", GEMINI),
        ("Contrarian", GROK),
    ]


@pytest.mark.requirement("A-91")
@pytest.mark.parametrize(
    ("mode", "roles"),
    [
        ("build", ["Architect", "Reviewer", "Engineer", "Implementer"]),
        ("redteam", ["Defender", "Analyst", "Attacker", "Red Teamer"]),
        ("vote", ["Voter A", "Voter B", "Voter C", "Voter D"]),
    ],
)
def test_the_other_panels(mode: Any, roles: list[str]) -> None:
    slots = Panels.parse({}, "panels.json").panels[mode]
    assert [slot.role for slot in slots] == roles
    assert [slot.model for slot in slots] == [OPUS, GEMINI, GROK, CODEX]


@pytest.mark.requirement("A-92", "A-14")
def test_every_slot_has_an_exact_id_and_a_fallback_and_the_registry_knows_them() -> None:
    panels = Panels.parse({}, "panels.json")
    registry = Registry.load()
    for slots in (*panels.panels.values(), *panels.profiles.values()):
        for slot in slots:
            assert slot.fallback
            for name in (slot.model, *slot.fallback, *panels.doors[slot.model]):
                assert registry.resolve(name).id == name
    assert panels.meta.models == (OPUS, CODEX, GEMINI, GROK)
    assert len(panels.profiles["budget"]) == 2


# The user's file


@pytest.mark.requirement("A-14")
def test_a_users_file_is_laid_over_the_shipped_one() -> None:
    own = {
        "output": {"channel": "discord", "target": "123", "useThreads": True},
        "orchestrator": "haiku",
        "meta": {"models": ["a/one", "b/two"]},
        "panels": {"debate": [{"role": "Poet", "model": "a/one", "fallback": "b/two"}]},
        "profiles": {"mine": [{"model": "a/one"}]},
    }
    panels = Panels.parse(own, "panels.json")
    assert panels.output.use_threads
    assert panels.meta.models == ("a/one", "b/two")
    assert [slot.role for slot in panels.panels["debate"]] == ["Poet"]
    assert panels.panels["build"][0].role == "Architect"
    assert set(panels.profiles) == {"budget", "mine"}


@pytest.mark.requirement("A-14", "I-28")
@pytest.mark.parametrize(
    ("own", "error", "says"),
    [
        ({"panel": {}}, UnknownName, "panels"),
        ({"panels": {"debat": []}}, BadSetting, "panels.debat"),
        ({"panels": {"debate": []}}, BadSetting, "panels.debate"),
        ({"panels": {"debate": [{"role": "x"}]}}, BadSetting, "panels.debate.0.model"),
        ({"panels": {"debate": [{"model": "x", "rol": "y"}]}}, UnknownName, "panels.debate.0.rol"),
        ({"meta": {"models": "opus"}}, BadSetting, "meta.models"),
        ({"output": {"useThread": True}}, UnknownName, "output.useThread"),
        ({"maxPanel": 0}, BadSetting, "maxPanel"),
        ({"rounds": 4}, BadSetting, "rounds"),
        ({"timeouts": {"round1": -1}}, BadSetting, "timeouts.round1"),
    ],
)
def test_a_wrong_key_is_named(own: Mapping[str, Any], error: type[UsageError], says: str) -> None:
    with pytest.raises(error) as caught:
        Panels.parse(own, "/home/panels.json")
    assert says in str(caught.value)
    assert "/home/panels.json" in str(caught.value)


@pytest.mark.requirement("A-14", "I-28")
def test_an_unknown_model_in_the_file_is_named_with_its_key() -> None:
    market = Market([OPUS, CODEX, GEMINI, GROK, SONNET], unknown=["nobody/knows"])
    own = {"profiles": {"mine": [{"model": OPUS}, {"model": "nobody/knows"}]}}
    with pytest.raises(BadSetting, match=r"profiles\.mine\.1\.model"):
        hold(adaptive(cast=market, defaults=own))


@pytest.mark.requirement("A-07", "I-28")
@pytest.mark.parametrize(
    ("listed", "says"),
    [("budgt", "budget"), ("opus,nobody/knows", "nobody/knows"), (",", "1 to 8 models")],
)
def test_a_misspelt_panel_is_an_error_with_a_suggestion(listed: str, says: str) -> None:
    market = Market([OPUS, SONNET, "opus"], unknown=["budgt", "nobody/knows"])
    with pytest.raises(UsageError) as caught:
        hold(adaptive(cast=market), options={"panel": listed})
    assert says in str(caught.value)


@pytest.mark.requirement("A-27")
def test_the_size_of_the_panel_can_be_set() -> None:
    table = adaptive({"meta-panel": "nothing"}, defaults={"maxPanel": 2, "rounds": 1})
    state = hold(table)
    assert labels(table, state)[4:] == ["rt-r1-advocate", "rt-r1-devils-advocate", "rt-synthesis"]


def test_laying_over_merges_tables_and_replaces_the_rest() -> None:
    assert laid_over({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}}) == {"a": {"b": 1, "c": [2]}}


# What is configured


@pytest.mark.requirement("A-19", "A-92", "I-01")
def test_behind_the_proxy_the_panel_speaks_through_the_proxy() -> None:
    seating = table_with("blockrun")
    assert panel(seating) == [
        "blockrun/opus-4.6",
        "blockrun/gpt-5.3-codex",
        "blockrun/gemini-3.1-pro",
        "blockrun/grok-4",
    ]
    assert seating.options["meta"] is True
    assert not any(n.code == "panel_degraded" for n in seating.notes)


@pytest.mark.requirement("A-19")
def test_with_claude_and_the_proxy_the_others_join_through_it() -> None:
    seating = table_with("anthropic", "openai", "blockrun")
    assert panel(seating) == [OPUS, CODEX, "blockrun/gemini-3.1-pro", "blockrun/grok-4"]
    # A proxy that fails during the run is replaced by Claude: the slot's fallback.
    assert [ref.model for ref in seating.participants[3].speakers][-1] == SONNET


@pytest.mark.requirement("A-18", "A-19", "X-16")
def test_a_listed_slot_that_cannot_be_used_falls_back_to_claude() -> None:
    seating = table_with("anthropic", panel=f"{OPUS},{CODEX},{GEMINI},{GROK}")
    assert panel(seating) == [OPUS, SONNET, SONNET, SONNET]
    degraded = [n for n in seating.notes if n.code == "panel_degraded"]
    assert [n.text.split(",")[1:] for n in degraded] == [
        [f" original {each}", f" fallback {SONNET}", " family claude."]
        for each in (CODEX, GEMINI, GROK)
    ]


@pytest.mark.requirement("A-79", "X-16", "A-17")
@pytest.mark.parametrize(
    ("providers", "expected"),
    [(("anthropic",), [OPUS, SONNET]), (("anthropic", "openai"), [OPUS, CODEX])],
)
def test_without_the_proxy_the_run_warns_and_two_models_still_make_a_meta_panel(
    providers: tuple[str, ...], expected: list[str]
) -> None:
    seating = table_with(*providers)
    assert panel(seating) == expected
    (warning,) = [n for n in seating.notes if n.code == "budget_profile"]
    assert "localhost:8402" in warning.remedy
    assert seating.options["meta"] is True
    assert table_with(*providers, quick=True).options["meta"] is False


@pytest.mark.requirement("A-17", "A-20")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "google", "xai", "blockrun"])
def test_any_one_provider_is_enough(provider: str) -> None:
    seating = table_with(provider)
    assert len(panel(seating)) >= 2
    assert {model.partition("/")[0] for model in panel(seating)} == {provider}
    assert seating.host.speaker.model.startswith(provider)


@pytest.mark.requirement("A-17", "A-20", "I-02")
def test_with_no_provider_the_embedded_model_debates_and_says_so() -> None:
    seating = table_with()
    assert set(panel(seating)) == {"local/smollm2-135m"}
    assert [n.code for n in seating.notes].count("demonstration") == 1
    assert not any("PANEL DEGRADED" in n.text for n in seating.notes)
    assert seating.options["meta"] is False


@pytest.mark.requirement("X-24")
def test_no_key_gets_into_what_is_stored_about_the_seats() -> None:
    seating = table_with("anthropic", "openai", "google", "xai")
    assert len(panel(seating)) == 4
    assert "sk-test" not in repr(seating)


@pytest.mark.requirement("A-20", "A-23")
def test_a_claude_only_run_comes_to_a_result() -> None:
    market = Market([OPUS, SONNET], default=SONNET)
    state = hold(adaptive(cast=market))
    assert state.status == "concluded"
    assert {s.model for s in state.speeches} <= {OPUS, SONNET}


@pytest.mark.requirement("X-17")
def test_quick_takes_the_first_three_whose_own_model_can_be_used() -> None:
    market = Market([OPUS, GEMINI, GROK, SONNET], default=SONNET)
    table = adaptive(cast=market)
    state = hold(table, options={"quick": True})
    assert [p.speaker.model for p in state.participants[:-1]] == [OPUS, GEMINI, GROK]
    assert [p.name for p in state.participants[:-1]] == ["Advocate", "Analyst", "Contrarian"]


@pytest.mark.requirement("X-15")
def test_with_one_model_for_everything_two_notes_warn_of_bias() -> None:
    market = Market(["only/one"])
    state = hold(adaptive(cast=market))
    assert state.status == "concluded"
    assert {s.model for s in state.speeches} == {"only/one"}
    biased = [n.code for n in state.notes if "risk of bias" in n.text]
    assert biased == ["orchestrator_on_panel", "synthesiser_on_panel"]
    assert sum("risk of bias" in line for line in meta_section(state)) == 2


@pytest.mark.requirement("X-12", "A-45")
def test_an_analyst_whose_model_is_missing_is_said_to_be_replaced() -> None:
    market = Market([OPUS, CODEX, GEMINI, SONNET], default="test/host")
    market.usable = [OPUS, CODEX, GEMINI, SONNET, "test/host"]
    state = hold(adaptive(cast=market))
    degraded = note(state, "panel_degraded")
    assert degraded.text.startswith(f"PANEL DEGRADED: role Meta-analyst D, original {GROK}")
    assert GROK not in {p.speaker.model for p in state.participants}


@pytest.mark.requirement("A-22")
def test_an_allowlist_that_leaves_nobody_is_an_error() -> None:
    nobody = {"agents": {"defaults": {"models": ["other/model"]}}}
    with pytest.raises(UsageError, match="leaves nobody"):
        hold(adaptive(defaults=nobody), options={"panel": OPUS})


# Money


@pytest.mark.requirement("A-94")
def test_the_cost_table_of_those_who_subscribe() -> None:
    costs = Panels.parse({}, "panels.json").costs
    full = ["claude", "gpt", "gemini", "grok"]
    assert subscription_cost(["claude"], costs) == (0, 0)
    assert subscription_cost(["gpt"], costs) == (0, 0)
    assert subscription_cost(["gemini"], costs) == (0.05, 0.2)
    assert subscription_cost(["grok"], costs) == (0.08, 0.3)
    assert subscription_cost(full, costs) == (0.13, 0.5)
    assert subscription_cost(full, costs, quick=True) == (0.065, 0.25)
    assert subscription_cost(["claude"] * 4, costs) == (0, 0)
    assert subscription_cost(["qwen"], costs) is None


def opened(**options: object) -> State:
    request = OpenRequest(topic=DEBATE, procedure="adaptive", options=options)
    return run_in_virtual_time(adaptive(cast=Cast()).service.open(request))


@pytest.mark.requirement("X-35", "A-94")
def test_the_estimate_counts_the_calls_and_quick_is_less_than_half() -> None:
    full, quick = foreseen(opened()), foreseen(opened(quick=True))
    assert (full.calls, quick.calls) == (13, 4)
    assert full.cost_usd is not None
    assert quick.cost_usd is not None
    assert quick.cost_usd[1] < full.cost_usd[1] / 2
    assert foreseen(opened(validate=True)).calls == 17
    assert foreseen(opened(panel="budget")).calls == 5
    assert full.multiplier == "~13x"


@pytest.mark.requirement("X-35")
def test_what_was_really_spent_is_said_at_the_end() -> None:
    state = hold(adaptive(), options={"quick": True})
    assert meta_section(state)[-1] == "Spent: 4 calls, 600 tokens, $0.0400."
    assert foreseen(state).calls == state.usage.calls
