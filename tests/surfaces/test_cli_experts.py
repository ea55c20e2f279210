"""`roundtable experts`: list, search, choose, show, and the user's own files."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.experts.test_library_files import GOOD
from tests.trusted import trust_project

from .desk import Desk, environment


def own(desk: Desk, text: str = GOOD, *, project: bool = False) -> str:
    """Write a file of own experts, and say where."""
    folder = desk.workspace / ".roundtable/experts" if project else desk.home / "experts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "own.toml"
    path.write_text(text, "utf-8")
    if project:
        trust_project(desk.home, desk.workspace)
    return str(path)


def test_the_list_is_by_domain(desk: Desk) -> None:
    outcome = desk("experts")

    assert outcome.code == 0
    lines = outcome.out.splitlines()
    headings = [line.partition(" (")[0] for line in lines if line and not line.startswith(" ")]
    assert headings[:2] == ["business", "data"]
    assert any(line.startswith("  threat-modeller  ") for line in lines)
    assert "roundtable experts --for" in lines[-1]


def test_the_list_loads_nothing_heavy(desk: Desk) -> None:
    code = (
        "import sys\n"
        "from roundtable.surfaces.cli.app import run\n"
        "run(['experts'])\n"
        "heavy = {'numpy', 'wordllama', 'httpx2', 'tokenizers'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=desk.workspace,
        env=environment({}),
        capture_output=True,
        timeout=60,
    )

    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_a_query_finds_ids_names_domains_and_tags_in_any_language(desk: Desk) -> None:
    assert "database-administrator" in desk("experts", "Database").out
    assert "threat-modeller" in desk("experts", "security").out
    assert "energy-systems-engineer" in desk("experts", "wärmepumpe").out
    found = desk("experts", "微服务", "--json").document
    assert "backend-engineer" in [expert["id"] for expert in found]


def test_a_query_in_nobodys_words_finds_the_nearest_in_meaning(desk: Desk) -> None:
    outcome = desk("experts", "somebody broke into our mailbox")

    assert outcome.code == 0
    assert "The nearest in meaning" in outcome.err
    assert len(outcome.out.splitlines()) == 8
    assert "security" in outcome.out
    rows = desk("experts", "somebody broke into our mailbox", "--json").document
    assert rows[0]["relevance"] == 1.0


def test_one_expert_is_shown_whole(desk: Desk) -> None:
    outcome = desk("experts", "show", "Threat Modeller")

    assert outcome.out.startswith("Threat Modeller (threat-modeller), security\n")
    for part in ("Perspective: ", "Always asks:", "Blind spot: ", "Guidance: ", "  zh: "):
        assert part in outcome.out
    assert desk("experts", "show", "threat-modeller", "--json").document["domain"] == "security"
    unknown = desk("experts", "show", "threat-modeler")
    assert unknown.code == 2
    assert "Did you mean threat-modeller" in unknown.err


def test_a_panel_for_a_topic_is_chosen_and_explained(desk: Desk) -> None:
    outcome = desk("experts", "--for", "Lohnt sich eine Wärmepumpe?", "--count", "4")

    assert outcome.code == 0
    assert [line[0] for line in outcome.out.splitlines() if line[:2] in ("1.", "2.", "3.", "4.")]
    assert "1. Energy Systems Engineer (energy-systems-engineer), environment" in outcome.out
    assert "   knows about Wärmepumpe" in outcome.out
    assert "λ = 0.7: 70% relevance." in outcome.out
    assert list((desk.home / "cache").glob("experts-*.bin"))


@pytest.mark.requirement("B-34")
def test_the_user_may_insist_and_weigh(desk: Desk) -> None:
    document = desk(
        "experts", "--for", "Which database?", "--include", "nurse", "--weight", "legal=4",
        "--lambda", "0.9", "--json",
    ).document  # fmt: skip

    assert document["lambda"] == 0.9
    assert len(document["panel"]) == 3
    assert document["panel"][0]["id"] == "nurse"
    assert document["panel"][0]["reason"] == "asked for"
    assert {"relevance", "likeness", "named", "why"} <= set(document["panel"][1])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--for", "Tea?", "--weight", "legal"], "--weight legal=1.5"),
        (["--for", "Tea?", "--weight", "lgal=2"], "Did you mean legal"),
        (["--for", "Tea?", "--lambda", "7"], "between 0 and 1"),
        (["--for", "Tea?", "--include", "nurze"], "Did you mean nurse"),
        (["--for", "Tea?", "--count", "0"], "--count"),
        (["--for", "  "], "The topic is empty"),
        (["law", "--for", "Tea?"], "Use either"),
        (["show"], "Show whom?"),
        (["show", "xyzzy"], "`roundtable experts` lists them"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_next_step(
    desk: Desk, args: list[str], words: str
) -> None:
    outcome = desk("experts", *args)

    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize("project", [False, True])
def test_own_experts_are_listed_chosen_and_shown_with_their_file(desk: Desk, project: bool) -> None:
    path = own(desk, project=project)

    assert "Beekeeper  (own)" in desk("experts").out
    assert f"From: {path}" in desk("experts", "show", "beekeeper").out
    panel = desk("experts", "--for", "Wie viel Honig geben Bienen?", "--json").document["panel"]
    assert panel[0]["id"] == "beekeeper"


def test_the_projects_expert_wins_over_the_users(desk: Desk) -> None:
    own(desk)
    own(desk, GOOD.replace('"Beekeeper"', '"Project Beekeeper"'), project=True)

    assert "Project Beekeeper" in desk("experts", "show", "beekeeper").out


def test_an_error_in_an_own_file_is_pointed_at(desk: Desk) -> None:
    path = own(desk, GOOD.replace("asks = [", "ask = ["))

    outcome = desk("experts")

    assert outcome.code == 2
    assert f"{path}:1: asks: expected a list of what it always asks; it is missing." in outcome.err


def test_an_own_file_cannot_command_the_terminal(desk: Desk) -> None:
    own(desk, GOOD.replace('"Beekeeper"', '"Bee\\u001b[2Jkeeper"'))

    assert "\x1b" not in desk("experts").out
    assert "\x1b" not in desk("experts", "show", "beekeeper").out


def test_a_name_that_no_expert_bears_is_seated_with_a_warning(desk: Desk) -> None:
    plan = ("Should we move?", "--models=scripted/echo", "--model=scripted/echo", "--dry-run")

    def told(experts: str) -> str:
        outcome = desk(*plan, experts)
        return outcome.out + outcome.err

    assert "is called xyzzy" in told("--experts=xyzzy,nurse")
    assert "is called" not in told("--experts=nurse")


def test_methods_of_reasoning_are_listed_found_and_shown(desk: Desk) -> None:
    assert "methods of reasoning (7)" in desk("experts").out
    assert "  precedent  Precedent" in desk("experts", "precedent").out
    assert desk("experts", "first-principles").err == ""
    shown = desk("experts", "show", "First Principles")
    assert shown.code == 0
    assert shown.out.startswith("First Principles (first-principles), a method of reasoning")
    document = desk("experts", "show", "precedent", "--json").document
    assert (document["name"], document["domain"]) == ("Precedent", "")
    ids = [row["id"] for row in desk("experts", "--json").document]
    assert {"precedent", "threat-modeller"} <= set(ids)
    assert "Did you mean precedent?" in desk("experts", "show", "precedant").err
