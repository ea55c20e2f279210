"""What a project brings along is inert until it is trusted, and even then it can only tighten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting, RoundtableError
from roundtable.core.values import Budget
from roundtable.settings import Settings, read_settings
from roundtable.surfaces.limits import limits_of
from roundtable.trust import MOST_BYTES, STORE, Trust
from tests.experts.test_library_files import GOOD
from tests.trusted import trust_project

from .desk import Desk

pytestmark = pytest.mark.requirement("Z-39")
REPLACED = GOOD.replace('"beekeeper"', '"backend-engineer"')
PROCEDURE = """
name = "chat"
summary = "Talk"
participants = [{ id = "a", name = "Ann"MODEL }, { id = "b", name = "Bob" }]
stages = [{ name = "talk", prompt = "Talk." }]
"""
_SEATED = PROCEDURE.replace("{", "{{").replace("}", "}}").replace("MODEL", ', model = "{}"')
PROJECT = {
    "roundtable.toml": 'language = "de"\n[budget]\nmax_cost_usd = 1.5\n',
    "panels.json": '{"rounds": 1}',
    "local_models.json": '{"host": "opus"}',
    "roundtable_config.yaml": "models: [{id: opus, tags: [logic]}]",
    ".roundtable/experts/own.toml": REPLACED,
    ".roundtable/procedures/chat.toml": PROCEDURE.replace("MODEL", ""),
}
MODELS = ("--models=scripted/echo,scripted/stubborn", "--model=scripted/echo", "--no-log")


def bring(desk: Desk, **files: str) -> None:
    for name, text in (files or PROJECT).items():
        path = desk.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def settings(desk: Desk) -> Settings:
    return read_settings({"ROUNDTABLE_HOME": str(desk.home)}, desk.workspace)


def users(desk: Desk, text: str, name: str = "config.toml") -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / name).write_text(text, "utf-8")


def test_without_trust_nothing_of_a_project_counts(desk: Desk) -> None:
    before = settings(desk)
    bring(desk)
    after = settings(desk)

    assert (after.choices, after.origins) == (before.choices, before.origins)
    assert [file.name for file in after.trust.ignored()] == list(PROJECT)
    assert "(own)" not in desk("experts").out
    assert "chat" not in desk("procedures").out
    assert desk("Tea?", "--procedure=chat", *MODELS).code == 2
    rows = desk("config", "show", "--origin", "--json").document
    assert not [row for row in rows if row["key"] == "models from"]
    theirs = [row for row in rows if row["origin"].startswith((str(desk.workspace), "roundtable"))]
    assert theirs
    assert all("not trusted" in row["ignored"] for row in theirs)


@pytest.mark.parametrize("text", ["{", "\0", "x = [" * 9_000, '[commands.x]\ncommand = "rm"'])
def test_without_trust_not_even_a_mistake_counts(desk: Desk, text: str) -> None:
    bring(desk, **dict.fromkeys(PROJECT, text))

    assert desk("models").code == 0
    assert desk.ask().code == 0


def test_what_is_ignored_is_said_in_one_line(desk: Desk) -> None:
    bring(desk, **{"roundtable.toml": 'language = "de"'})

    listed = desk("experts")
    asked = desk.ask("--json")
    shown = desk.ask()

    line = "Ignored, because you have not trusted it: roundtable.toml."
    assert [each for each in listed.err.splitlines() if "Ignored" in each] == [
        f"{line} See what it would change, and trust it if you like: roundtable trust"
    ]
    [note] = [each for each in asked.document["notes"] if each["code"] == "project_ignored"]
    assert note["text"] == line
    assert note["remedy"].endswith("roundtable trust")
    assert shown.err.count(line) == 1
    [found] = [row for row in desk("doctor", "--json").document["findings"]
               if row["area"] == "project"]  # fmt: skip
    assert found["text"] == line


def test_trust_shows_what_would_change_and_asks(desk: Desk) -> None:
    bring(desk)

    unasked = desk("trust")
    assert unasked.code == 2
    assert "and nobody can be asked here" in unasked.err
    assert settings(desk).trust.ignored()
    for words in (
        'language = "de"',
        "budget.max_cost = 1.5",
        "adaptive.rounds = 1",
        "host speaks by anthropic/claude-opus-4-6",
        "anthropic/claude-opus-4-6 is preferred for logic",
        "Beekeeper (backend-engineer): replaces the library's expert",
        "a procedure, chat: Talk",
        "| max_cost_usd = 1.5",
    ):
        assert words in unasked.out

    agreed = desk("trust", "--yes")
    assert agreed.code == 0
    assert settings(desk).choices.language == "de"
    assert settings(desk).trust.ignored() == []
    assert "(own)" in desk("experts").out
    assert "chat" in desk("procedures").out
    assert "Everything here is trusted" in desk("trust").err
    assert (desk.home / STORE).exists()
    assert not list(desk.workspace.rglob(STORE))


def test_what_changes_is_inert_again(desk: Desk) -> None:
    bring(desk)
    assert desk("trust", "--yes").code == 0
    bring(desk, **{"roundtable.toml": 'language = "fr"', ".roundtable/experts/new.toml": GOOD})

    changed = settings(desk)
    told = desk("experts").err

    assert changed.choices.language is None
    assert changed.choices.adaptive == {"rounds": 1}, "what did not change still counts"
    assert "roundtable.toml (changed since), .roundtable/experts/new.toml." in told
    assert "  roundtable.toml (changed since, and ignored)" in desk("trust", "--list").out
    bring(desk, **{"roundtable.toml": PROJECT["roundtable.toml"]})
    assert settings(desk).choices.language == "de", "it is the content that is trusted"


def test_trust_is_for_one_folder_and_can_be_forgotten(desk: Desk, tmp_path: Path) -> None:
    bring(desk)
    assert desk("trust", "--yes").code == 0
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "roundtable.toml").write_text(PROJECT["roundtable.toml"], "utf-8")

    assert Trust(desk.home, copy).ignored()
    assert str(desk.workspace) in desk("trust", "--list").out
    assert "Nothing in" in desk("trust", "--forget").err
    assert len(settings(desk).trust.ignored()) == len(PROJECT)
    assert "Nothing is trusted" in desk("trust", "--list").err
    assert desk("trust", "--list", "--forget").code == 2


def test_a_link_to_the_folder_is_the_same_folder(desk: Desk, tmp_path: Path) -> None:
    bring(desk)
    trust_project(desk.home, desk.workspace)
    link = tmp_path / "link"
    link.symlink_to(desk.workspace)

    assert Trust(desk.home, link).ignored() == []


def test_limits_can_only_be_lowered(desk: Desk) -> None:
    users(desk, "[budget]\nmax_cost_usd = 1.0\nmax_calls = 50\n[council]\nmax_budget = 'medium'\n")
    text = "[budget]\nmax_cost_usd = 9.0\nmax_calls = 10\nmax_tokens = 5000\n"
    bring(desk, **{"roundtable.toml": f"{text}[council]\nmax_budget = 'high'\n"})

    shown = desk("trust", "--yes").out
    choices = settings(desk).choices

    assert choices.budget.model_dump(exclude_none=True) == {
        "max_cost_usd": 1.0,
        "max_calls": 10,
        "max_tokens": 5000,
    }
    assert choices.council["max_budget"] == "medium"
    assert settings(desk).origins["budget.max_cost_usd"] == str(desk.home / "config.toml")
    assert "budget.max_cost is unchanged" in shown
    assert "max_budget" not in shown.partition("  |")[0]


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("roundtable.toml", 'db = "postgresql://theirs"', "db"),
        ("roundtable.toml", 'searxng_url = "http://theirs"', "searxng_url"),
        ("roundtable.toml", 'browser = "rm"', "browser"),
        ("roundtable.toml", '[commands.x]\ncommand = "rm"', "commands"),
        ("roundtable.toml", '[channels]\nx = "slack://a/b/c"', "channels"),
        ("roundtable.toml", '[boards.x]\nkind = "command"\ncommand = ["rm"]', "boards"),
        ("roundtable.toml", '[news]\nchannels = ["x"]', "news"),
        ("roundtable.toml", '[chat]\nallow = ["1"]', "chat"),
        ("roundtable.toml", '[profiles.x]\ntoolsets = ["all"]', "profiles"),
        ("roundtable.toml", '[council]\nlog_path = "../elsewhere"', "council.log_path"),
        ("roundtable.toml", "[council]\nlog_sessions = true", "council.log_sessions"),
        ("roundtable.toml", 'default_model = " CMD/claude:opus"', "default_model"),
        ("roundtable.toml", '[council.models]\nmuse = "cmd/claude"', "council.models.muse"),
        ("panels.json", '{"output": {"channel": "x"}}', "output"),
        ("panels.json", '{"agents": {"defaults": {"models": ["a/b"]}}}', "agents"),
        ("panels.json", '{"doors": {"opus": ["openrouter/opus"]}}', "doors"),
        ("panels.json", '{"costs": {"opus": [0, 0]}}', "costs"),
        ("panels.json", '{"synthesis": "cmd/claude"}', "synthesis"),
        ("panels.json", '{"meta": {"models": ["a/b", "cmd/claude"]}}', "meta.models[1]"),
    ],
)
def test_a_trusted_project_cannot_choose_what_is_the_users(
    desk: Desk, name: str, text: str, key: str
) -> None:
    bring(desk, **{name: text})

    refused = desk("trust", "--yes")
    assert refused.code == 2
    assert key in refused.err
    assert settings(desk).trust.ignored(), "what cannot be used is not trusted"
    trust_project(desk.home, desk.workspace)
    with pytest.raises(BadSetting) as caught:
        settings(desk)
    assert caught.value.key == key


@pytest.mark.parametrize("model", ["cmd/claude", "Cmd/Claude", "helper"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("roundtable.toml", 'default_model = "{}"'),
        ("panels.json", '{{"orchestrator": "{}"}}'),
        ("local_models.json", '{{"host": "{}"}}'),
        ("roundtable_config.yaml", "models: [{{id: '{}', tags: [logic]}}]"),
        (".roundtable/procedures/chat.toml", _SEATED),
    ],
)
def test_no_project_lets_a_program_run(desk: Desk, name: str, text: str, model: str) -> None:
    """Not by the name of an agent, nor by a name that the user has given it."""
    users(desk, '[aliases]\nhelper = "cmd/claude"\n', "models.toml")
    bring(desk, **{name: text.format(model)})
    assert "a project cannot let a program" in desk("trust", "--yes").err
    trust_project(desk.home, desk.workspace)

    rules = ("--procedure=chat", *MODELS) if "procedures" in name else ("--model=scripted/echo",)
    outcome = desk("Tea?", *rules, "--no-log", "--dry-run")

    assert outcome.code == 2
    assert "a project cannot let a program" in outcome.err


def test_a_replaced_expert_is_said_in_the_run(desk: Desk) -> None:
    bring(desk, **{".roundtable/experts/own.toml": REPLACED})
    trust_project(desk.home, desk.workspace)
    seats = ("--procedure=deliberation", "--seats=2")

    with_it = desk("Tea?", *seats, "--experts=backend-engineer", *MODELS, "--json").document
    without = desk("Tea?", *seats, "--experts=threat-modeller,tax-adviser", *MODELS, "--json")

    [note] = [each for each in with_it["notes"] if each["code"] == "expert_replaced"]
    assert note["text"] == (
        "Beekeeper is not the library's own: .roundtable/experts/own.toml replaces it."
    )
    assert "expert_replaced" not in {each["code"] for each in without.document["notes"]}


def test_the_users_own_files_need_no_trust(desk: Desk) -> None:
    users(desk, 'language = "de"')
    users(desk, '{"rounds": 1}', "panels.json")
    (desk.home / "experts").mkdir()
    users(desk, GOOD, "experts/own.toml")

    assert settings(desk).choices.language == "de"
    assert settings(desk).choices.adaptive == {"rounds": 1}
    assert "beekeeper" in desk("experts").out
    at_home = read_settings({"ROUNDTABLE_HOME": str(desk.home)}, desk.home)
    assert at_home.trust.files() == [], "the user's own folder is no project"


def test_a_file_that_the_user_names_needs_no_trust(desk: Desk) -> None:
    (desk.workspace / "plan.md").write_text("A plan.", "utf-8")

    assert desk.ask("--context", "plan.md").code == 0


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_what_is_no_plain_file_is_not_even_opened(desk: Desk) -> None:
    os.mkfifo(desk.workspace / "roundtable.toml")
    (desk.workspace / "panels.json").mkdir()
    (desk.workspace / "local_models.json").write_text("x" * (MOST_BYTES + 1))

    assert settings(desk).trust.files() == []


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 3}', "\ud800"])
def test_a_damaged_store_trusts_nothing_and_says_so(desk: Desk, text: str) -> None:
    bring(desk)
    desk.home.mkdir()
    (desk.home / STORE).write_bytes(text.encode("utf-8", "surrogatepass"))

    with pytest.raises(RoundtableError, match="remove it to trust nothing"):
        settings(desk)


def test_the_store_is_for_the_user_alone(desk: Desk) -> None:
    bring(desk)
    trust_project(desk.home, desk.workspace)

    assert (desk.home / STORE).stat().st_mode & 0o077 == 0
    [digests] = json.loads((desk.home / STORE).read_text("utf-8")).values()
    assert set(digests) == set(PROJECT)


def test_the_name_of_a_file_cannot_write_to_the_terminal(desk: Desk) -> None:
    text = GOOD.replace('"Beekeeper"', '"Bee\u202e"')
    bring(desk, **{".roundtable/experts/\x1b[2Jx\nTrust me!.toml": text})

    told = desk("experts").err
    assert "\x1b" not in told
    assert "x?Trust?me?.toml" in told
    outcome = desk("trust", "--yes")
    assert not {"\x1b", "\u202e"} & set(outcome.out + outcome.err)
    assert r"Bee\u202e" in outcome.out


@pytest.mark.requirement("Z-35")
def test_a_cloned_project_cannot_lift_what_the_user_allows(desk: Desk) -> None:
    users(desk, "[budget]\nmax_cost_usd = 0.01\n[caps]\nmax_calls = 30\n")
    bring(desk, **{"roundtable.toml": "[budget]\nmax_cost_usd = 1000.0\nmax_calls = 500\n"})
    desk("trust", "--yes")
    limits, notes = limits_of(settings(desk), {}, surface="cli")
    assert limits.budget == Budget(max_cost_usd=0.01, max_calls=30)
    assert notes == ()
    assert limits.origins["max_cost_usd"] == "[budget] in config.toml"
    # What was only the usual may be raised by a flag, a cap may not.
    asked = {"max_cost_usd": 5.0, "max_calls": 99}
    limits, (note,) = limits_of(settings(desk), asked, surface="cli")
    assert limits.budget == Budget(max_cost_usd=5.0, max_calls=30)
    assert "[caps] in config.toml" in note.text


@pytest.mark.requirement("Z-35")
def test_a_limit_of_a_project_that_only_caps_what_is_asked_for_says_so(desk: Desk) -> None:
    users(desk, "[budget]\nmax_calls = 4\n")
    text = 'language = "de"\n[budget]\nmax_calls = 5\nmax_cost_usd = 1000\n'
    bring(desk, **{"roundtable.toml": text})
    shown = desk("trust", "--yes").out
    assert "budget.max_calls is unchanged: yours is as low" in shown
    assert "whoever asks for more gets at most 5" in shown
    limits, (note,) = limits_of(settings(desk), {"max_calls": 200}, surface="cli")
    assert limits.budget.max_calls == 5
    assert "the project's roundtable.toml" in note.text
    rows = desk("config", "--origin").out.splitlines()
    (cap,) = [row for row in rows if row.startswith("caps.max_calls")]
    assert cap.endswith("5  (roundtable.toml:3)")
    usual, vain = [row for row in rows if row.startswith("budget.max_calls")]
    assert "4  (" in usual
    assert "whoever asks for more gets at most this (caps.max_calls)" in vain


@pytest.mark.requirement("Z-35")
def test_what_a_project_lowers_stays_low_for_flags(desk: Desk) -> None:
    bring(desk, **{"roundtable.toml": "[budget]\nmax_cost_usd = 0.5\n"})
    desk("trust", "--yes")
    limits, (note,) = limits_of(settings(desk), {"max_cost_usd": 9.0}, surface="cli")
    assert limits.budget.max_cost_usd == 0.5
    assert limits.origins["max_cost_usd"] == "the project's roundtable.toml"
    assert "$0.5" in note.text
