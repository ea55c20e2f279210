"""Settings: which source wins, and what a mistake in each of them is called."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.core.values import Budget
from roundtable.setting_lines import SettingLines
from roundtable.settings import Settings, home_folder, read_settings
from tests.trusted import trust_project

from .desk import QUICK, Desk


class Sources:
    """The files and variables that settings come from."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.home.mkdir()
        self.workspace.mkdir()
        self.env = {"ROUNDTABLE_HOME": str(self.home)}

    def write(self, name: str, text: str) -> None:
        folder = self.workspace if name == "roundtable.toml" else self.home
        (folder / name).write_text(text, "utf-8")
        trust_project(self.home, self.workspace)

    def read(self) -> Settings:
        return read_settings(self.env, self.workspace)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


def test_without_any_source_the_built_in_values_hold(sources: Sources) -> None:
    settings = sources.read()

    assert settings.db == str(sources.home / "roundtable.db")
    assert settings.choices.procedure == "deliberation"
    assert settings.choices.default_model is None
    assert settings.origins == {}


def test_an_empty_variable_is_as_good_as_none(sources: Sources) -> None:
    sources.env["ROUNDTABLE_MODEL"] = ""

    assert sources.read().choices.default_model is None


def test_the_environment_beats_the_project_which_beats_the_user(sources: Sources) -> None:
    sources.write("config.json", '{"preset": "cheap", "round2": false}')
    sources.write("config.toml", 'default_model = "haiku"\nlanguage = "de"\nprocedure = "council"')
    sources.write("roundtable.toml", 'default_model = "sonnet"\n[council]\npreset = "premium"')
    user_and_project = sources.read()
    sources.env["ROUNDTABLE_MODEL"] = "opus"
    settings = sources.read()

    assert user_and_project.choices.default_model == "sonnet"
    assert settings.choices.default_model == "opus"
    assert settings.choices.language == "de"
    assert settings.choices.council == {"preset": "premium", "round2": False}
    assert settings.origins == {
        "default_model": "ROUNDTABLE_MODEL",
        # The preset's models ended there: whoever names one model means everybody.
        "models": str(sources.home / "config.toml"),
        "language": str(sources.home / "config.toml"),
        "procedure": str(sources.home / "config.toml"),
        "council": "roundtable.toml",
        "council.preset": "roundtable.toml",
        "council.round2": str(sources.home / "config.json"),
    }


def test_the_database_can_be_elsewhere(sources: Sources) -> None:
    sources.env["ROUNDTABLE_DB"] = "postgresql://localhost/table"

    assert sources.read().db == "postgresql://localhost/table"


def test_the_older_name_of_the_fallback_variable_works(sources: Sources) -> None:
    sources.env["FALLBACK_MODEL"] = "haiku"

    assert sources.read().choices.fallback_model == "haiku"


def test_a_mark_at_the_beginning_of_a_file_is_no_mistake(sources: Sources) -> None:
    sources.write("config.json", '\ufeff{"preset": "cheap"}')

    assert sources.read().choices.council == {"preset": "cheap"}


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("config.json", "{broken", ["config.json", "valid JSON", "line 1"]),
        ("config.json", "[]", ["config.json", "a JSON object"]),
        ("config.json", '{"prest": "cheap"}', ["config.json", "'prest'", "preset"]),
        ("config.json", '{"preset": "chep"}', ["config.json", "preset", "one of cheap"]),
        ("config.json", '{"round2": "maybe"}', ["config.json:1: round2", "boolean or 'ask'"]),
        ("config.json", '{"models": "opus"}', ["config.json:1: models", "a table"]),
        ("config.json", '{"models": {"poet": "opus"}}', ["config.json", "models.poet"]),
        ("config.json", '{"models": {"muse": null}}', ["config.json:1: models.muse", "a model"]),
        ("config.json", '{"max_budget": "none"}', ["config.json:1: max_budget", "'low'", "'high'"]),
        ("config.toml", "concurrency =\n", ["config.toml", "valid TOML", "line 1"]),
        ("config.toml", "concurency = 3", ["config.toml", "'concurency'", "concurrency"]),
        ("config.toml", "concurrency = 0", ["config.toml:1: concurrency", "greater than"]),
        ("config.toml", 'budget = "low"', ["config.toml:1: budget", "a table"]),
        ("config.toml", "[budget]\nmax_calls = 0", ["budget.max_calls", "equal to 1"]),
        ("config.toml", "[fallbacks]\nopus = 3", ["fallbacks.opus", "a list"]),
        ("roundtable.toml", "[council]\nprest = 1", ["roundtable.toml", "'prest'", "preset"]),
        ("roundtable.toml", "language = 3", ["roundtable.toml:1: language", "string"]),
    ],
)
def test_a_mistake_is_named_with_file_key_and_what_was_expected(
    sources: Sources, name: str, text: str, words: list[str]
) -> None:
    sources.write(name, text)

    with pytest.raises(UsageError) as caught:
        sources.read()

    for each in words:
        assert each in str(caught.value)
    assert "Input should be" not in str(caught.value)
    assert "instance of" not in str(caught.value)


@pytest.mark.requirement("I-28")
def test_a_mistake_in_a_variable_is_named(sources: Sources) -> None:
    sources.env["ROUNDTABLE_CONCURRENCY"] = "many"

    with pytest.raises(
        BadSetting, match="ROUNDTABLE_CONCURRENCY: concurrency: expected a whole number"
    ):
        sources.read()


@pytest.mark.parametrize("name", ["config.json", "config.toml"])
def test_a_folder_in_place_of_a_file_is_named(sources: Sources, name: str) -> None:
    (sources.home / name).mkdir()

    with pytest.raises(BadSetting, match=name):
        sources.read()


@pytest.mark.parametrize(
    "line",
    [
        'db = "/tmp/theirs.db"',
        'fallback_model = "openai/x"',
        "concurrency = 1000",
        "local_servers = true",
        '[fallbacks]\nopus = ["haiku"]',
    ],
)
def test_a_project_may_not_decide_where_things_are_kept_and_served(
    sources: Sources, line: str
) -> None:
    sources.write("roundtable.toml", line)

    with pytest.raises(BadSetting, match="only default_model, procedure") as caught:
        sources.read()

    assert str(sources.home / "config.toml") in str(caught.value)


@pytest.mark.requirement("I-28")
def test_an_unknown_key_of_the_set_up_is_told_with_all_that_it_could_be(sources: Sources) -> None:
    sources.write("config.json", '{"procedures": "council"}')
    with pytest.raises(UnknownName) as meant:
        sources.read()
    assert meant.value.remedy == "Did you mean procedure?"

    sources.write("config.json", '{"zzz": 1}')
    with pytest.raises(UnknownName) as unknown:
        sources.read()
    for key in ("host", "procedure", "budget", "search", "web", "version", "models", "preset"):
        assert key in unknown.value.remedy


def test_an_unknown_key_of_a_project_is_told_apart_from_a_forbidden_one(sources: Sources) -> None:
    sources.write("roundtable.toml", 'databse = "x"')

    with pytest.raises(UnknownName, match=r"roundtable\.toml:1: 'databse'"):
        sources.read()


def test_without_a_variable_the_home_is_the_platforms_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert home_folder({}).name == "roundtable"
    assert home_folder({"ROUNDTABLE_HOME": "~/table"}) == Path.home() / "table"


def test_the_users_models_file_is_found(sources: Sources) -> None:
    assert sources.read().models_file is None

    sources.write("models.toml", "")

    assert sources.read().models_file == sources.home / "models.toml"


@pytest.mark.parametrize("command", [("list",), ("doctor",), ("Tea or coffee?", *QUICK)])
def test_a_home_that_is_somebody_elses_is_said_once_and_not_of_each_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    desk.home.mkdir(exist_ok=True)
    closed = lambda _, how: how == os.F_OK  # noqa: E731
    monkeypatch.setattr("roundtable.config_files.os.access", closed)
    monkeypatch.setattr("roundtable.config_files._is_anothers", lambda _: True)
    told = desk(*command)
    assert told.code == 2
    assert told.err.count(str(desk.home)) == 1
    assert "expected a folder that you may read; it belongs to another user" in told.err
    assert "config.json" not in told.err


@pytest.mark.parametrize("command", [("list",), ("doctor",), ("Tea or coffee?", *QUICK)])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_home_that_another_user_lets_us_into_is_not_used_either(
    desk: Desk, command: tuple[str, ...]
) -> None:
    desk.home.mkdir(mode=0o755)
    os.chown(desk.home, 12_345, -1)
    told = desk(*command)
    assert told.code == 2
    assert "expected a folder of yours; it belongs to another user (12345)" in told.err
    assert "ROUNDTABLE_HOME" in told.err


@pytest.mark.requirement("Z-35")
def test_of_the_limits_in_both_files_of_the_user_the_lowest_counts(desk: Desk) -> None:
    desk.config('{"budget": {"max_cost_usd": 0.5, "max_calls": 30}}')
    toml = desk.home / "config.toml"
    toml.write_text("[budget]\nmax_cost = 5\nmax_calls = 20\nmax_tokens = 9000\n", "utf-8")
    settings = read_settings({"ROUNDTABLE_HOME": str(desk.home)}, desk.workspace)
    assert settings.choices.budget == Budget(max_cost_usd=0.5, max_calls=20, max_tokens=9000)
    origins = settings.usual_limits.origins
    assert (origins["max_cost_usd"], origins["max_calls"]) == (
        "[budget] in config.json",
        "[budget] in config.toml",
    )
    rows = desk("config", "--origin", "--json").document
    (vain,) = [row for row in rows if row.get("ignored")]
    assert (vain["key"], vain["value"], vain["line"]) == ("budget.max_cost", 5, 2)
    assert "config.json has one as low" in vain["ignored"]
    toml.write_text("[budget]\nmax_cost_usd = 'much'\n", "utf-8")
    broken = desk("config", "--origin")
    assert (broken.code, "config.toml:2: budget.max_cost_usd" in broken.err) == (1, True)


@pytest.mark.parametrize("file", ["config.toml", "roundtable.toml", "config.json"])
@pytest.mark.parametrize(
    "written", [{"max_cost": 0.3, "max_time": 60}, {"max_cost_usd": 0.3, "max_seconds": 60}]
)
def test_limits_have_the_same_names_in_files_as_wherever_they_are_given(
    sources: Sources, file: str, written: dict[str, float]
) -> None:
    if file == "config.json":
        sources.write(file, json.dumps({"budget": written}))
    else:
        lines = "".join(f"{name} = {value}\n" for name, value in written.items())
        sources.write(file, f"[budget]\n{lines}")
    settings = sources.read()
    assert settings.choices.budget == Budget(max_cost_usd=0.3, max_seconds=60)
    assert SettingLines(settings).line("budget.max_cost_usd") > 0


def test_caps_too(sources: Sources) -> None:
    sources.write("config.toml", "[caps]\nmax_cost = 2\n")
    assert sources.read().caps.budget == Budget(max_cost_usd=2)


def test_one_limit_by_both_of_its_names_is_refused_where_they_differ(sources: Sources) -> None:
    sources.write("config.toml", "[budget]\nmax_cost = 1.0\nmax_cost_usd = 1.0\n")
    assert sources.read().choices.budget == Budget(max_cost_usd=1)
    sources.write("config.toml", "[budget]\nmax_cost = 1.0\nmax_cost_usd = 2.0\n")
    with pytest.raises(BadSetting, match="max_cost and max_cost_usd are the same limit, and diff"):
        sources.read()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("[budget]\nmax_costs = 1\n", "Did you mean budget.max_cost"),
        ("[caps]\nmax_call = 1\n", "Did you mean caps.max_calls"),
        ("[monthly]\neach_us = 1\n", "Did you mean monthly.each_usd"),
    ],
)
def test_the_nearest_key_of_an_inner_table_is_told(
    sources: Sources, written: str, told: str
) -> None:
    sources.write("config.toml", written)
    with pytest.raises(UnknownName, match=r"config\.toml:2") as refused:
        sources.read()
    assert told in str(refused.value)


def test_an_amount_that_is_none_is_named_as_it_is_written(sources: Sources) -> None:
    sources.write("config.toml", "[budget]\nmax_cost = -1\n")
    with pytest.raises(BadSetting, match=r"config\.toml:2.*budget\.max_cost\b(?!_)"):
        sources.read()
