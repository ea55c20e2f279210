"""`roundtable tasks` and `--task`: the board hears of a verdict, and no answer is lost for it."""

from __future__ import annotations

import pytest

from tests.search.server import always, answer, search_server

from .desk import Desk


def _board(desk: Desk, url: str) -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / "config.toml").write_text(
        f'[boards.desk]\nkind = "webhook"\nurl = "{url}"\n', "utf-8"
    )


@pytest.mark.requirement("D-96")
def test_the_linked_task_is_told_when_the_discussion_ends(desk: Desk) -> None:
    with search_server(always(answer({"task": "T-1"}))) as server:
        _board(desk, server.url)
        asked = desk.ask("--task", "desk:T-1")
        assert asked.code == 0
        assert "Told desk: T-1" in asked.err
        again = desk("tasks", desk.last_id(), "--json")
    assert [row["kind"] for row in again.document["written"]] == ["comment"]
    (post,) = server.asked
    assert (post.body["kind"], post.body["task"]) == ("comment", "T-1")


def test_a_board_that_is_down_takes_no_answer_away(desk: Desk) -> None:
    _board(desk, "http://127.0.0.1:9/")
    asked = desk.ask("--task", "desk:T-1")
    assert asked.code == 0
    assert asked.out.strip()
    assert "cannot be reached" in asked.err
    assert desk("tasks", desk.last_id()).code == 1


def test_what_is_missing_is_said(desk: Desk) -> None:
    assert "names no task" in desk.ask("--task", "T-1").err
    assert desk.ask().code == 0
    assert "[boards.NAME]" in desk("tasks", desk.last_id()).err
    _board(desk, "http://127.0.0.1:9/")
    assert "Nothing to report" in desk("tasks", desk.last_id()).err
    assert "Did you mean desk" in desk("tasks", desk.last_id(), "--board", "dek").err


def test_a_board_whose_program_is_missing_is_refused_before_anything_is_spent(desk: Desk) -> None:
    desk.home.mkdir(exist_ok=True)
    board = '[boards.desk]\nkind = "command"\ncommand = ["/nonexistent/prog", "x"]\n'
    (desk.home / "config.toml").write_text(board, "utf-8")
    refused = desk.ask("--task", "desk:T-1")
    assert refused.code == 2
    assert refused.out == ""
    assert "The board desk cannot be written to: the program '/nonexistent/prog'" in refused.err
    assert desk("list").err.startswith("No discussions yet")


def test_a_board_that_fails_in_the_end_is_told_of_once(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    _board(desk, "http://127.0.0.1:9/")
    asked = desk.ask("--task", "desk:T-1")
    assert asked.err.count("cannot be reached") == 1
    assert not caplog.records
