"""Five rounds from the command line."""

from __future__ import annotations

import json

import pytest

from .desk import Desk

TOPIC = "Smart Customer Service Technical Proposal"
FIVE = ("--procedure", "five-round", "--model", "scripted/echo")
AGENTS = ("--agents", "Engineering Expert,Product Expert,Architecture Expert")


@pytest.mark.requirement("B-02", "B-55", "X-01", "X-20")
def test_a_pre_analysis_prints_its_plan_and_writes_its_reports(desk: Desk) -> None:
    done = desk(TOPIC, *FIVE, *AGENTS, "--depth", "pre-ac")
    assert done.code == 0
    assert "Pre-analysis" in done.out
    assert "Engineering Expert" in done.out
    folder = desk.workspace / "data" / "roundtable"
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".md"]
    data = json.loads(next(folder.glob("*.json")).read_text("utf-8"))
    assert (data["depth"], data["statistics"]["calls"]) == ("pre-ac", 0)


@pytest.mark.requirement("B-59", "X-08")
def test_a_whole_run_writes_only_into_the_chosen_folder(desk: Desk) -> None:
    done = desk(TOPIC, *FIVE, *AGENTS, "--strict-rounds", "--output-dir", "mine", "-v")
    assert done.code == 0, done.err
    assert "Host Summary" in done.out
    assert sorted(p.suffix for p in (desk.workspace / "mine").iterdir()) == [".json", ".md"]
    assert not (desk.workspace / "data").exists()
    data = json.loads(next((desk.workspace / "mine").glob("*.json")).read_text("utf-8"))
    assert [r["number"] for r in data["rounds"]] == [1, 2, 3, 4, 5]


@pytest.mark.requirement("B-02", "I-28")
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--depth", "deep"), "pre-ac"),
        (("--agents", "One"), "2 to 7"),
        (("--preset", "cheap"), "does not belong to the procedure five-round"),
    ],
)
def test_wrong_flags_are_refused(desk: Desk, flags: tuple[str, ...], words: str) -> None:
    done = desk(TOPIC, *FIVE, *flags)
    assert done.code == 2
    assert words in done.err


def test_the_councils_files_cannot_be_led_elsewhere(desk: Desk) -> None:
    done = desk.ask("--procedure", "council", "--output-dir", "mine")
    assert done.code == 2
    assert "--output-dir does not belong to the procedure council" in done.err


@pytest.mark.requirement("B-61")
def test_a_trivial_question_gets_advice_and_an_answer(desk: Desk) -> None:
    done = desk("What is the capital of France?", *FIVE, "--depth", "pre-ac")
    assert done.code == 0
    assert "15 to 20 minutes" in done.err


@pytest.mark.requirement("I-05")
def test_a_dry_run_shows_the_first_prompts(desk: Desk) -> None:
    done = desk(TOPIC, *FIVE, *AGENTS, "--dry-run")
    assert done.code == 0, done.err
    assert "First prompt, five-round-engineering-expert-r1" in done.out
    assert "13" in done.out or "12 calls" in done.out
