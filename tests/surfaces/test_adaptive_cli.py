"""The adaptive procedure from the command line: its grammar, its files, its warnings."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.errors import BadSetting, UnknownName
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import read_settings
from roundtable.surfaces.cli.app import cli
from roundtable.surfaces.cli.ask import _question, request_of
from tests.trusted import trust_project

from .desk import Desk

SCRIPTS = ("--panel=scripted/echo,scripted/stubborn", "--model=scripted/echo")
TOPIC = "Should we drink tea?"


def asked(*args: str) -> OpenRequest:
    """The request that a command line makes."""
    # With its parent: a command keeps the help options of the first context it is made in.
    parent = cli.make_context("roundtable", ["ask", *args])
    flags = cli.commands["ask"].make_context("ask", list(args), parent=parent).params
    read = read_settings({"ROUNDTABLE_HOME": "/nowhere"}, Path("/nowhere"))
    return request_of(_question(flags["question"], flags["context"]), flags, read)


FLAGS = {
    ("--redteam",): ("redteam", True),
    ("--quick",): ("quick", True),
    ("--panel", "a/b,c/d"): ("models", "a/b,c/d"),
    ("--validate",): ("validate", True),
    ("--context-from", "old-one"): ("context_from", "old-one"),
    ("--session=x",): ("session", "x"),
}


@pytest.mark.requirement("A-13", "X-02")
@settings(max_examples=60, deadline=None)
@given(
    chosen=st.lists(st.sampled_from(list(FLAGS)), unique=True, min_size=1),
    order=st.randoms(use_true_random=False),
    search=st.booleans(),
)
def test_flags_combine_freely_and_in_any_order_and_the_rest_is_the_question(
    chosen: list[tuple[str, ...]], order: object, search: bool
) -> None:
    parts: list[tuple[str, ...]] = [*chosen, ("Should we",), ("drink tea?",)]
    if not search:
        parts.append(("--no-search",))
    words = [part for part in parts if not part[0].startswith("-")]
    order.shuffle(parts)  # type: ignore[attr-defined]
    said = [part[0] for part in parts if part in words]
    request = asked("--procedure", "adaptive", *(word for part in parts for word in part))
    assert request.topic == " ".join(said)
    assert request.search is search
    assert request.options == dict(FLAGS[flag] for flag in chosen)


@pytest.mark.requirement("X-01", "A-03")
@pytest.mark.parametrize(
    "flag", ["--debate", "--build", "--redteam", "--vote", "--validate", "--panel=a/b"]
)
def test_a_flag_of_the_adaptive_procedure_chooses_it(flag: str) -> None:
    assert asked(TOPIC, flag).procedure == "adaptive"
    assert asked("--procedure=adaptive", TOPIC).procedure == "adaptive"


@pytest.mark.requirement("X-22")
@pytest.mark.parametrize("flag", ["--all=opus", "--scholar=opus", "--preset=cheap"])
def test_a_panel_and_the_councils_model_flags_exclude_each_other(desk: Desk, flag: str) -> None:
    outcome = desk(TOPIC, "--panel=scripted/echo", flag)
    assert outcome.code == 2
    assert "does not belong to the procedure" in outcome.err


@pytest.mark.requirement("A-88", "A-89", "A-23", "A-95", "I-02")
def test_a_run_delivers_its_answer_and_leaves_its_file(desk: Desk) -> None:
    outcome = desk(TOPIC, *SCRIPTS, "--validate", "--verbose")
    assert outcome.code == 0
    assert "\n🎯 **Roundtable** [DEBATE]\n" in outcome.out
    assert "## META" in outcome.out
    (file,) = (desk.workspace / "memory" / "roundtables").iterdir()
    assert f"Written: memory/roundtables/{file.name}" in outcome.err
    assert json.loads(file.read_text("utf-8"))["workflow_type"] == "parallel_debate"


@pytest.mark.requirement("A-10", "A-11", "X-19")
def test_a_run_builds_on_an_earlier_one_and_a_missing_one_only_warns(desk: Desk) -> None:
    desk(TOPIC, *SCRIPTS, "--quick")
    slug = "should-we-drink-tea"
    outcome = desk(TOPIC, *SCRIPTS, "--quick", f"--context-from={slug}", "--json")
    assert outcome.code == 0
    prompts = [s for s in desk("export", desk.last_id(), "--format=md").out.splitlines() if s]
    assert any("PRIOR ROUNDTABLE CONTEXT" in line for line in prompts)
    missing = desk(TOPIC, *SCRIPTS, "--quick", "--context-from=nothing")
    assert missing.code == 0
    assert "There is no earlier roundtable 'nothing'" in missing.err


@pytest.mark.requirement("I-05", "A-09")
@pytest.mark.parametrize("search", [(), ("--no-search",)])
def test_a_dry_run_shows_the_first_prompts_and_calls_nobody(
    desk: Desk, search: tuple[str, ...]
) -> None:
    document = desk(TOPIC, *SCRIPTS, "--dry-run", "--json", *search).document
    labels = [prompt["label"] for prompt in document["prompts"]]
    assert labels == ["rt-r1-advocate", "rt-r1-devils-advocate"]
    assert document["estimate"]["calls"] == 5
    assert desk("list", "--json").document == []


@pytest.mark.requirement("A-83", "I-03")
def test_without_an_answer_the_exit_code_says_so(desk: Desk) -> None:
    outcome = desk(TOPIC, "--panel=scripted/mute,scripted/unauthorised", "--model=scripted/echo")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "0 agents answered" in outcome.err
    assert "--models budget" in outcome.err


@pytest.mark.requirement("A-14", "X-22")
def test_the_project_beats_the_user_and_the_user_the_program(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    for folder in (home, workspace):
        folder.mkdir()
    mine = {"synthesis": "a/one", "rounds": 1, "agents": {"defaults": {"models": ["a/one"]}}}
    (home / "panels.json").write_text(json.dumps(mine), "utf-8")
    (workspace / "panels.json").write_text('{"synthesis": "b/two"}', "utf-8")
    trust_project(home, workspace)
    read = read_settings({"ROUNDTABLE_HOME": str(home)}, workspace)
    assert read.choices.adaptive == {**mine, "synthesis": "b/two"}
    assert read.origins["adaptive"] == str(workspace / "panels.json")


@pytest.mark.requirement("A-14", "A-22", "I-28")
@pytest.mark.parametrize(
    ("place", "text", "says"),
    [
        ("home", "{", "valid JSON"),
        ("home", "[]", "a JSON object"),
        ("home", '{"panles": {}}', "panles"),
        ("home", '{"rounds": 9}', "rounds"),
        ("workspace", '{"agents": {"defaults": {"models": ["x/y"]}}}', "agents"),
    ],
)
def test_a_mistake_in_panels_json_names_file_and_key(
    tmp_path: Path, place: str, text: str, says: str
) -> None:
    for folder in ("home", "workspace"):
        (tmp_path / folder).mkdir()
    (tmp_path / place / "panels.json").write_text(text, "utf-8")
    trust_project(tmp_path / "home", tmp_path / "workspace")
    with pytest.raises((BadSetting, UnknownName)) as caught:
        read_settings({"ROUNDTABLE_HOME": str(tmp_path / "home")}, tmp_path / "workspace")
    assert says in str(caught.value)
    assert "panels.json" in str(caught.value)


@pytest.mark.requirement("A-07", "A-14")
def test_a_profile_of_the_users_file_can_be_named(desk: Desk) -> None:
    desk.home.mkdir(exist_ok=True)
    mine = {"profiles": {"mine": [{"model": "scripted/echo"}, {"model": "scripted/slow"}]}}
    (desk.home / "panels.json").write_text(json.dumps(mine), "utf-8")
    document = desk(TOPIC, "--panel=mine", "--model=scripted/liar", "--quick", "--json").document
    models = [p["model"] for p in document["participants"]]
    assert models[:2] == ["scripted/echo", "scripted/slow"]


def test_the_order_of_the_question_does_not_matter() -> None:
    requests = {asked(*order).topic for order in permutations(["--debate", "Tea?", "--quick"])}
    assert requests == {"Tea?"}
