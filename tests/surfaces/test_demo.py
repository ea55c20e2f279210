"""The quick verification: the whole pipeline, and no model is called."""

from __future__ import annotations

import inspect

import pytest

from roundtable.surfaces.demo import CONCLUSION, SPEECHES, run_demo

from .desk import Desk

SCRIPTED = ("--model", "scripted/stubborn", "--quick", "--no-log")


@pytest.mark.requirement("D-34")
def test_the_verification_runs_without_a_model_and_leaves_everything_behind(desk: Desk) -> None:
    done = desk("demo", "--no-web")
    assert done.code == 0
    verdict = done.out.rsplit("💬", 1)[1]
    assert CONCLUSION in " ".join(verdict.split())
    assert "3 of 3" in verdict, "it ends with the verdict as it is always shown"
    assert not any(raw in done.out for raw in ("**", "(o1)", "outside"))
    assert done.out.count("complete") == 2, "nobody spoke in the third round"
    id_ = desk.last_id()
    document = desk("show", id_, "--json").document
    assert document["status"] == "concluded"
    assert document["usage"]["calls"] == 0
    (conclusion,) = (desk.home / "demo").rglob("*.md")
    assert not list(desk.workspace.rglob("*.md")), "any folder may be the current one"
    assert CONCLUSION in conclusion.read_text("utf-8")
    assert conclusion.name in done.err
    page = desk("export", id_, "--format", "html").out
    assert all(words.split(".")[0] in page for _, words, _ in SPEECHES)


@pytest.mark.requirement("D-34")
def test_a_further_question_is_put_to_a_table_at_which_somebody_can_answer(desk: Desk) -> None:
    shown = desk("demo", "--no-web").out
    id_ = desk.last_id()
    assert f'roundtable follow-up {id_} "…" --procedure council' in shown
    refused = desk("follow-up", id_, "And on Monday?")
    assert refused.code == 2
    assert "the scripted demonstration, which cannot answer" in refused.err
    assert "--procedure council" in refused.err
    asked = desk("follow-up", id_, "And on Monday?", "--procedure", "council", *SCRIPTED)
    assert asked.code == 0, asked.err


def test_nothing_is_said_to_be_unchanged_of_who_first_voted_after_hearing_others(
    desk: Desk,
) -> None:
    desk("demo", "--no-web")
    told = desk("show", desk.last_id(), "--full").out
    assert "one from the start, two having heard others first" in told
    assert "No vote changed; but backend and ops first voted after hearing others." in told
    assert "everybody holds what it held" not in told


def test_that_the_page_goes_on_is_said_with_what_ends_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def served(*_: object) -> str:
        return "http://127.0.0.1:8199/d"

    monkeypatch.setattr("roundtable.surfaces.demo._page", served)
    assert "roundtable serve --stop" in desk("demo", "--web").err
    assert "--stop" not in desk("demo", "--no-web").err
    assert "--stop" not in desk("demo").err, "nobody sits at a screen"


def test_a_setting_that_wants_no_page_is_obeyed_at_a_screen_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def served(*_: object) -> str:
        return "http://127.0.0.1:8199/d"

    monkeypatch.setattr("roundtable.surfaces.demo._page", served)
    monkeypatch.setattr("roundtable.surfaces.cli.page.is_terminal", lambda _: True)
    monkeypatch.setattr("roundtable.surfaces.cli.page.has_display", lambda _: True)
    monkeypatch.delenv("ROUNDTABLE_WEB", raising=False)
    assert "Watch it: http://127.0.0.1:8199/d" in desk("demo").err
    monkeypatch.setenv("ROUNDTABLE_WEB", "false")
    assert "http" not in desk("demo").err


@pytest.mark.requirement("D-35")
def test_the_page_is_served_unless_it_is_not_wanted() -> None:
    assert inspect.signature(run_demo).parameters["web"].default is True
