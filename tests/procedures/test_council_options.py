"""Which of several wishes wins: flags, presets, budgets, configuration and the cap."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.core.state import State
from roundtable.procedures.council.options import (
    PRESETS,
    CouncilConfig,
    CouncilFlags,
    CouncilPlan,
    settle,
)
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Table, run_in_virtual_time

from .council_table import asked, council, hold

ROLES = ("scholar", "engineer", "muse")
BALANCED = ("codex", "codex", "sonnet")
CHEAP = ("haiku",) * 3
PREMIUM = ("opus",) * 3


def settled(flags: dict[str, Any], config: dict[str, Any] | None = None) -> CouncilPlan:
    return settle(CouncilFlags.parse(flags), CouncilConfig.parse(config or {}, "config.json"))


def models(plan: CouncilPlan) -> tuple[str, ...]:
    return tuple(plan.models[role] for role in ROLES)


def opened(options: dict[str, Any], defaults: dict[str, Any] | None = None) -> State:
    table = Table(defaults=defaults)
    return run_in_virtual_time(table.service.open(OpenRequest(topic="Tea?", options=options)))


def seated(state: State) -> tuple[str, ...]:
    return tuple(p.speaker.model for p in state.start.participants)


@pytest.mark.requirement("C-24", "C-29")
def test_without_flags_the_built_in_models_sit_and_round_two_is_held() -> None:
    state = opened({})
    assert seated(state) == BALANCED
    assert state.start.host.speaker.model == "test/captain"
    assert state.start.options["round2"] is True


@pytest.mark.requirement("C-29")
@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("cheap", CHEAP),
        ("balanced", BALANCED),
        ("premium", PREMIUM),
        ("diverse", ("codex", "sonnet", "opus")),
        ("single", ("test/captain",) * 3),
    ],
)
def test_each_preset_seats_its_models(preset: str, expected: tuple[str, ...]) -> None:
    assert seated(opened({"preset": preset})) == expected


@pytest.mark.requirement("X-36")
def test_there_are_five_presets() -> None:
    assert list(PRESETS) == ["cheap", "balanced", "premium", "diverse", "single"]


@pytest.mark.requirement("C-26")
def test_a_role_flag_sets_one_role_and_the_others_keep_their_default() -> None:
    assert models(settled({"scholar": "codex", "engineer": "opus"})) == ("codex", "opus", "sonnet")
    assert models(settled({"muse": "grok"})) == ("codex", "codex", "grok")


@pytest.mark.requirement("C-28")
def test_a_complete_model_identifier_is_taken_unchanged() -> None:
    state = opened({"scholar": "anthropic/claude-opus-4-6"})
    assert seated(state) == ("anthropic/claude-opus-4-6", "codex", "sonnet")


# The order of precedence, weakest first, with what each wish alone would seat.
WISHES: list[tuple[str, dict[str, Any], dict[str, Any], tuple[str, str, str]]] = [
    ("config preset", {}, {"preset": "diverse"}, ("codex", "sonnet", "opus")),
    ("config models", {}, {"models": dict.fromkeys(ROLES, "kimi")}, ("kimi",) * 3),
    ("role flags", {"scholar": "grok", "engineer": "grok", "muse": "grok"}, {}, ("grok",) * 3),
    ("--all", {"all": "minimax"}, {}, ("minimax",) * 3),
    ("--preset", {"preset": "premium"}, {}, ("opus",) * 3),
    ("--budget", {"budget": "low"}, {}, ("haiku",) * 3),
]  # fmt: skip
PAIRS = [(weak, strong) for i, weak in enumerate(WISHES) for strong in WISHES[i + 1 :]]


@pytest.mark.requirement("C-35", "C-37", "X-22")
@pytest.mark.parametrize(
    ("weak", "strong"), PAIRS, ids=[f"{strong[0]} over {weak[0]}" for weak, strong in PAIRS]
)
def test_of_two_wishes_the_stronger_one_wins(
    weak: tuple[str, dict[str, Any], dict[str, Any], tuple[str, str, str]],
    strong: tuple[str, dict[str, Any], dict[str, Any], tuple[str, str, str]],
) -> None:
    assert models(settled(weak[1], weak[2])) == weak[3]
    plan = settled({**weak[1], **strong[1]}, {**weak[2], **strong[2]})
    assert models(plan) == strong[3]


@pytest.mark.requirement("C-35")
def test_all_beats_a_role_flag() -> None:
    assert models(settled({"all": "sonnet", "scholar": "opus"})) == ("sonnet",) * 3


@pytest.mark.requirement("C-37", "C-26")
def test_the_configuration_fills_only_the_roles_that_no_flag_names() -> None:
    config = {"models": {"scholar": "kimi", "muse": "grok"}, "round2": False, "language": "de"}
    plan = settled({"scholar": "opus"}, config)
    assert models(plan) == ("opus", "codex", "grok")
    assert plan.round2 is False
    assert opened({}, config).start.language == "de"


@pytest.mark.requirement("C-33")
@pytest.mark.parametrize(
    ("level", "expected", "round2"),
    [("low", CHEAP, False), ("medium", BALANCED, True), ("high", PREMIUM, True)],
)
@pytest.mark.parametrize("stored", [True, False, "ask"])
def test_a_budget_names_the_models_and_whether_round_two_is_held(
    level: str, expected: tuple[str, ...], round2: bool, stored: bool | str
) -> None:
    plan = settled({"budget": level}, {"round2": stored})
    assert (models(plan), plan.round2) == (expected, round2)


@pytest.mark.requirement("C-36", "C-33")
@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_quick_drops_round_two_and_leaves_the_models(level: str) -> None:
    slow, quick = settled({"budget": level}), settled({"budget": level, "quick": True})
    assert quick.models == slow.models
    assert (quick.round2, quick.skipped_by) == (False, "via --quick")


@pytest.mark.requirement("C-54", "C-36")
@pytest.mark.parametrize(
    ("options", "stored", "held"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"round2": True}, False, True),
        ({"round2": False}, True, False),
        ({"quick": True}, True, False),
        ({"budget": "low"}, True, False),
        ({"budget": "medium"}, False, True),
        ({"budget": "high", "quick": True}, True, False),
    ],
)
def test_round_two_is_held_unless_a_flag_the_budget_or_the_configuration_says_no(
    options: dict[str, Any], stored: bool, held: bool
) -> None:
    table = council(defaults={"round2": stored})
    state = hold(table, options=options)
    assert any("cross-examination" in turn for turn in asked(table)) is held
    assert state.status == "concluded"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"quick": True, "round2": True}, "--quick and --round2 on"),
        ({"rounds": 1, "round2": "ask"}, "--rounds 1 and --round2 ask"),
        ({"rounds": 2, "round2": False}, "--rounds 2 and --round2 off"),
        ({"budget": "low", "rounds": 2}, "--budget low and --rounds 2"),
        ({"budget": "high", "round2": False}, "--budget high and --round2 off"),
    ],
)
def test_two_words_on_round_two_that_exclude_each_other_are_refused(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=f"{told} exclude each other"):
        opened({"preset": "single", **options})


@pytest.mark.requirement("C-34")
@pytest.mark.parametrize(
    ("options", "cap", "expected", "round2"),
    [
        ({"budget": "high"}, "low", CHEAP, False),
        ({"budget": "high"}, "medium", BALANCED, True),
        ({"preset": "premium"}, "medium", BALANCED, True),
        ({"all": "opus"}, "low", CHEAP, False),
        ({"muse": "opus"}, "medium", BALANCED, True),
        ({}, "low", CHEAP, False),
        ({"preset": "cheap"}, "low", CHEAP, False),
        ({"all": "haiku", "round2": True}, "low", CHEAP, False),
        ({"all": "openai/gpt-6-preview"}, "medium", BALANCED, True),
    ],
)
def test_the_cap_of_the_configuration_cuts_every_dearer_run_and_says_so(
    options: dict[str, Any], cap: str, expected: tuple[str, ...], round2: bool
) -> None:
    plan = settled(options, {"max_budget": cap})
    assert (models(plan), plan.round2) == (expected, round2)
    assert [(note.code, cap in note.text) for note in plan.notes] == [("budget_capped", True)]


@pytest.mark.requirement("C-34")
@pytest.mark.parametrize(
    ("options", "cap"),
    [
        ({"budget": "low"}, "low"),
        ({"preset": "cheap", "quick": True}, "low"),
        ({"all": "haiku", "round2": False}, "low"),
        ({"budget": "medium"}, "medium"),
        ({"scholar": "haiku"}, "medium"),
        ({"budget": "high"}, "high"),
        ({"all": "opus"}, "high"),
    ],
)
def test_the_cap_leaves_a_run_alone_that_keeps_to_it(options: dict[str, Any], cap: str) -> None:
    assert settled(options, {"max_budget": cap}) == settled(options)


@pytest.mark.requirement("C-34", "C-35")
def test_the_cap_also_holds_what_the_configuration_itself_asks_for() -> None:
    plan = settled({}, {"preset": "premium", "max_budget": "low"})
    assert models(plan) == CHEAP


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    "options",
    [
        {"preset": "chaep"},
        {"preset": "chaep", "budget": "low"},
        {"preset": "chaep", "all": "opus"},
    ],
)
@pytest.mark.parametrize("cap", [None, "low"])
def test_a_misspelt_preset_is_an_error_whatever_else_is_asked_for(
    options: dict[str, Any], cap: str | None
) -> None:
    with pytest.raises(UnknownName, match="Did you mean cheap"):
        settled(options, {"max_budget": cap})


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"round2": "sometimes"}, "config.json: round2"),
        ({"max_budget": "huge"}, "config.json: max_budget"),
        ({"models": {"scholar": 3}}, "config.json: models.scholar"),
        ({"preset": "chaep"}, "config.json: preset"),
    ],
)
def test_a_wrong_value_in_the_configuration_is_named_with_its_file_and_key(
    config: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadSetting, match=says):
        settled({}, config)


@pytest.mark.requirement("C-44")
def test_an_unknown_template_leaves_the_roles_as_they_are_and_is_noted() -> None:
    plan = settled({"template": "foo"})
    assert plan.template is None
    (note,) = plan.notes
    assert note.code == "unknown_template"
    assert "foo" in note.text
    assert note.remedy == "Templates: code-review, investment, architecture, research, decision."


@pytest.mark.requirement("C-13")
@pytest.mark.parametrize(
    ("asked_for", "stored", "language"),
    [(None, None, "auto"), (None, "de", "de"), ("es", "de", "es"), ("Klingon", None, "Klingon")],
)
def test_the_language_of_the_request_beats_that_of_the_configuration(
    asked_for: str | None, stored: str | None, language: str
) -> None:
    table = Table(defaults={"language": stored})
    request = OpenRequest(topic="Tea?", language=asked_for)
    assert run_in_virtual_time(table.service.open(request)).start.language == language
