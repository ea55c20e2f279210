"""Several questions from a file: each a discussion of its own, none paid twice, and the exit code
says what became of all of them."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from .desk import Desk, wait_for

TABLE = ("--models=scripted/echo", "--host=scripted/echo", "--quick", "--no-log")


def file(desk: Desk, *lines: str) -> Path:
    path = desk.workspace / "questions.txt"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_every_line_is_a_question_and_the_end_sums_them_up(desk: Desk) -> None:
    path = file(desk, "# of this week", "Should we drink tea?", "", "Should we walk?")
    outcome = desk("ask", "--questions", str(path), *TABLE)
    assert outcome.code == 0
    rows = [line for line in outcome.out.splitlines() if " rt_" in line]
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert "Should we walk?" in rows[1]
    assert outcome.out.count("Yes, 3 of 3.") == 2
    assert "2 questions: 2 answered." in outcome.err
    assert " free " in rows[0]
    assert "$0.00" not in outcome.out
    assert len(desk("list", "--json").document) == 2


def test_what_was_answered_is_not_asked_again_unless_that_is_wanted(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?", "Should we drink tea?")
    line = ("ask", "--questions", str(path), *TABLE)
    asked = desk(*line, "--json")
    assert "Line 2 repeats line 1, and every line is asked and paid for." in asked.err
    first = asked.document["questions"]
    assert len({row["discussion_id"] for row in first}) == 2, "a line is a question"
    again = desk(*line, "--json", "--max-cost", "3")
    assert [row["discussion_id"] for row in again.document["questions"]] == [
        row["discussion_id"] for row in first
    ]
    assert {row["ended"] for row in again.document["questions"]} == {"answered before"}
    assert "--fresh asks them anew" in again.err
    assert len(desk("list", "--json").document) == 2
    fresh = desk(*line, "--fresh", "--json").document["questions"]
    assert not {r["discussion_id"] for r in fresh} & {r["discussion_id"] for r in first}
    newest = desk(*line, "--json").document["questions"]
    assert [r["discussion_id"] for r in newest] == [r["discussion_id"] for r in fresh]


def test_a_quiet_batch_prints_each_answer_with_its_votes_and_nothing_else(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?", "Should we walk?")
    outcome = desk("ask", "--questions", str(path), *TABLE, "-q")
    assert outcome.code == 0
    assert outcome.err == ""
    assert [line for line in outcome.out.splitlines() if "?" in line] == [
        "1. Should we drink tea?",
        "2. Should we walk?",
    ]
    assert outcome.out.count("3 of 3") == 2
    assert "rt_" not in outcome.out
    assert "$" not in outcome.out


@pytest.mark.requirement("I-36")
def test_the_answer_of_a_row_is_the_answer_and_never_a_warning_or_an_error(desk: Desk) -> None:
    silent = '{"question": "Should we rest?", "options": {"models": ["scripted/mute"]}}'
    tea = '{"question": "Should we drink tea?", "options": {"models": ["scripted/echo"]}}'
    path = file(desk, tea, silent)
    table = ("--host=scripted/echo", "--quick", "--no-log")
    rows = desk("ask", "--questions", str(path), *table, "--json").document["questions"]
    answered, failed = rows
    assert answered["answer"] == answered["result"]["answer"] == "Yes"
    assert answered["headline"] == answered["result"]["headline"]
    assert (answered["error"], failed["answer"], failed["headline"]) == (None, None, None)
    assert failed["error"]


def test_other_options_are_another_question(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?")
    desk("ask", "--questions", str(path), *TABLE)
    desk("ask", "--questions", str(path), *TABLE, "--seats", "2")
    assert len(desk("list", "--json").document) == 2


def test_a_line_of_json_has_its_own_procedure_and_options(desk: Desk) -> None:
    path = file(
        desk,
        '{"question": "Should we drink tea?", "procedure": "council", "context": "We like tea.",'
        ' "language": "de"}',
        '{"question": "Should we walk?", "options": {"seats": 4}}',
    )
    outcome = desk("ask", "--questions", str(path), *TABLE, "--at-once", "2", "--json")
    assert outcome.code == 0, outcome.err
    council, walk = (row["result"] for row in outcome.document["questions"])
    assert (council["procedure"], council["language"]) == ("council", "de")
    assert len(walk["participants"]) == 4


def test_one_that_fails_ends_no_other_and_is_tried_again(desk: Desk) -> None:
    path = file(
        desk,
        '{"question": "Should we drink tea?", "options": {"models": ["scripted/mute"]}}',
        '{"question": "Should we walk?", "options": {"models": ["scripted/echo"]}}',
    )
    table = ("--host=scripted/echo", "--quick", "--no-log", "-q")
    line = ("ask", "--questions", str(path), *table, "--json")
    outcome = desk(*line)
    assert outcome.code == 1
    first, second = outcome.document["questions"]
    assert first["ended"] == "failed"
    assert second["discussion_id"]
    again = desk(*line).document["questions"]
    assert again[0]["discussion_id"] != first["discussion_id"]
    assert again[1]["discussion_id"] == second["discussion_id"]


def test_a_limit_that_cuts_one_short_is_exit_code_3(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?", "Should we walk?")
    outcome = desk("ask", "--questions", str(path), *TABLE, "--max-calls", "3", "--json")
    ended = {row["ended"] for row in outcome.document["questions"]}
    assert (outcome.code, ended) == (3, {"cut short"})


def test_with_a_higher_limit_it_goes_on_where_the_lower_one_ended_it(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?")
    line = ("ask", "--questions", str(path), *TABLE)
    short = desk(*line, "--max-calls", "3")
    (id_,) = (row["discussion_id"] for row in desk("list", "--json").document)
    assert f"roundtable resume {id_} --max-calls" in short.out
    assert "1 question: 1 cut short." in short.err
    (same,) = desk(*line, "--max-calls", "3", "--json").document["questions"]
    assert (same["ended"], same["result"]["usage"]["calls"]) == ("cut short", 3)
    longer = desk(*line, "--max-calls", "60", "--json")
    (row,) = longer.document["questions"]
    assert (longer.code, row["ended"], row["discussion_id"]) == (0, "answered", id_)
    assert len(desk("list", "--json").document) == 1
    (before,) = desk(*line, "--max-calls", "60", "--json").document["questions"]
    assert before["ended"] == "answered before"
    assert before["result"]["usage"] == row["result"]["usage"]


def test_one_that_a_limit_ended_before_there_was_an_answer_goes_on_too(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?")
    line = ("ask", "--questions", str(path), *TABLE, "--json")
    (short,) = desk(*line, "--max-tokens", "10").document["questions"]
    assert short["ended"] == "failed"
    (row,) = desk(*line, "--max-tokens", "600000").document["questions"]
    assert (row["ended"], row["discussion_id"]) == ("answered", short["discussion_id"])


def test_the_command_that_goes_on_is_whole_however_much_stands_before_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(desk, "Should we drink tea?")
    monkeypatch.setenv("ROUNDTABLE_MAX_CALLS", "3")
    monkeypatch.setenv("COLUMNS", "60")
    short = desk("ask", "--questions", str(path), *TABLE)
    (told,) = [line for line in short.out.splitlines() if "roundtable resume" in line]
    assert "First raise ROUNDTABLE_MAX_CALLS, if it still holds. Then raise the limit" in told
    assert re.search(r": roundtable resume rt_\w{8} --max-calls \d+$", told), told


@pytest.mark.parametrize(
    ("lines", "args", "told"),
    [
        (("# nothing",), (), ("no question",)),
        (('{"question": 3}', "{", "Fine?"), (), ('Line 1: "question" must be text.', "Line 2")),
        (('{"context": "x"}',), (), ('Line 1: "question" is missing.',)),
        (
            (
                "# one\u2028two",
                "A\x0cB?",
                '{"question": "C?"',
                '{"question": "D?", "procedure": "x"}',
            ),
            (),
            (
                "Line 3: It begins with a brace and is no JSON: Expecting",
                "delimiter. Line 4: ",
                "'x'",
            ),
        ),
        (
            ('{"question": "A?", "context": "OPENAI_API_KEY=sk-proj-q7Zt9LmX2vKp4RwB8sNd"}',),
            (),
            ("Line 1", "seems to contain secrets"),
        ),
        (('{"question": "A?", "modle": "x"}',), (), ("'modle' is not known",)),
        (('{"question": "A?", "options": {"seats": 99}}', "B?"), (), ("Line 1", "from 2 to 7")),
        (
            ('{"question": "A?", "options": {"max_cost": 1}}',),
            (),
            ("Line 1: max_cost is no option", "on the command line, for all questions: --max-cost"),
        ),
        (
            ('{"question": "A?", "options": {"max_seconds": 1, "quick": true}}',),
            (),
            ("for all questions: --max-time",),
        ),
        (
            ('{"question": "A?", "options": {"language": "de"}}',),
            (),
            ('Write "language" beside "options".',),
        ),
        (
            ('["Is it this?"]', "[urgent] B?", '"C?"', '{"question": "D?"}'),
            (),
            ("Line 1 and 1 more: It is JSON and no object in braces.",),
        ),
        (("A?",), ("--context", ""), ("The name of a document is empty.",)),
        (("A?",), ("--procedure", "delibration"), ("Did you mean deliberation",)),
        (("A?",), ("--context", "absent.md"), ("absent.md",)),
        (("A?",), ("--notify", "nowhere"), ("nowhere",)),
        (("A?",), ("--confirm",), ("--dry-run",)),
        (("A?",), ("And another?",), ("do not go together",)),
    ],
)
def test_everything_is_checked_before_the_first_is_asked(
    desk: Desk, lines: tuple[str, ...], args: tuple[str, ...], told: tuple[str, ...]
) -> None:
    path = file(desk, *lines)
    outcome = desk("ask", "--questions", str(path), *TABLE, *args)
    assert outcome.code == 2, outcome.err
    assert all(each in outcome.err for each in told), outcome.err
    assert desk("list", "--json").document == []


def test_a_file_that_is_not_there_is_refused(desk: Desk) -> None:
    outcome = desk("ask", "--questions", "absent.txt", *TABLE)
    assert outcome.code == 2
    assert "absent.txt cannot be read" in outcome.err


def test_a_dry_run_tells_what_each_would_cost(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?", "Should we walk?")
    outcome = desk("ask", "--questions", str(path), *TABLE, "--dry-run")
    assert outcome.code == 0
    assert outcome.out.count("Estimate") == 2
    assert desk("list", "--json").document == []


def test_a_dry_run_tells_which_limits_are_too_low_and_which_a_cap_lowered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(desk, "Should we drink tea?", "Should we walk?")
    monkeypatch.setenv("ROUNDTABLE_MAX_CALLS", "3")
    line = (*TABLE, "--max-calls", "60", "--dry-run")
    single = desk("ask", "Should we drink tea?", *line)
    batch = desk("ask", "--questions", str(path), *line)
    (over,) = [
        each for each in single.out.splitlines() if each.startswith("This may exceed the limits ")
    ]
    (capped,) = [each for each in single.out.splitlines() if "ROUNDTABLE_MAX_CALLS" in each]
    assert batch.out.count(over) == 2
    assert batch.out.splitlines().count(capped) == 1, "said once for all"
    one = desk("ask", "Should we drink tea?", *line, "--json").document
    rows = desk("ask", "--questions", str(path), *line, "--json").document["questions"]
    assert [row["notes"] for row in rows] == [one["notes"], one["notes"]]
    assert "budget_capped" in [note["code"] for note in one["notes"]]
    monkeypatch.setenv("ROUNDTABLE_MAX_CALLS", "5")
    desk("ask", "--questions", str(path), *TABLE, "--max-calls", "3")
    rows = desk("ask", "--questions", str(path), *line, "--json").document["questions"]
    assert [[note["code"] for note in row["notes"]] for row in rows] == [["budget_capped"]] * 2


def test_a_dry_run_tells_what_was_answered_and_what_is_left(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?", "Should we drink tea?", "Should we walk?")
    line = ("ask", "--questions", str(path), *TABLE)
    first = desk(*line, "--dry-run")
    assert "Line 2 repeats line 1" in first.err
    assert desk(*line, "-q").code == 0
    path.write_text(path.read_text("utf-8") + "\nShould we rest?\n", "utf-8")
    told = desk(*line, "--dry-run")
    assert (told.out.count("Answered before"), told.out.count("Estimate")) == (3, 1)
    assert "repeats" not in told.err
    document = desk(*line, "--dry-run", "--json").document
    rows = document["questions"]
    assert document["dry_run"] is True
    assert [row["status"] for row in rows] == ["answered before"] * 3 + ["to be asked"]
    assert [bool(row["discussion_id"]) for row in rows] == [True, True, True, False]
    assert [row["estimate"] is None for row in rows] == [True, True, True, False]
    assert rows[3]["estimate"]["calls"] > 0
    fresh = desk(*line, "--dry-run", "--fresh")
    assert (fresh.out.count("Estimate"), "Line 2 repeats line 1" in fresh.err) == (4, True)
    assert len(desk("list", "--json").document) == 3


def test_a_dry_run_tells_what_is_left_of_one_that_goes_on(desk: Desk) -> None:
    path = file(desk, "Should we drink tea?")
    line = ("ask", "--questions", str(path), *TABLE)
    whole = desk(*line, "--dry-run", "--json").document["questions"][0]["estimate"]
    assert desk(*line, "--max-calls", "3").code == 3
    ended = desk(*line, "--max-calls", "3", "--dry-run")
    assert "Cut short (rt_" in ended.out
    more = desk(*line, "--max-calls", "60", "--dry-run")
    assert "Goes on (rt_" in more.out
    (row,) = desk(*line, "--max-calls", "60", "--dry-run", "--json").document["questions"]
    assert row["status"] == "goes on"
    assert row["estimate"]["calls"] < whole["calls"]
    (same,) = desk(*line, "--json").document["questions"]
    assert same["ended"] == "cut short", "a dry run changes nothing"


def test_a_cap_alone_raises_nothing_that_somebody_limited(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(desk, "Should we drink tea?")
    line = ("ask", "--questions", str(path), *TABLE, "--json")
    desk(*line, "--max-calls", "3")
    monkeypatch.setenv("ROUNDTABLE_MAX_CALLS", "60")
    (same,) = desk(*line).document["questions"]
    assert (same["ended"], same["result"]["usage"]["calls"]) == ("cut short", 3)
    (more,) = desk(*line, "--max-calls", "90").document["questions"]
    assert more["ended"] == "answered"


def test_a_fresh_batch_that_is_interrupted_says_how_to_go_on_without_paying_twice(
    desk: Desk,
) -> None:
    path = file(desk, "Should we drink tea?", "Should we walk?")
    stuck = ("--models=scripted/echo", "--host=scripted/hang", "--quick", "--no-log")
    line = ("ask", "--questions", str(path), *stuck, "--experts", "statistician,macroeconomist")
    with desk.start(*line, "--fresh") as running:
        running.wait_until_it_says("Statistician: ")
        running.process.send_signal(signal.SIGINT)
        outcome = running.end()
    assert outcome.code == 130
    assert "the same command without --fresh to go on" in outcome.err
    assert "give the same command again" not in outcome.err
    (id_,) = (row["discussion_id"] for row in desk("list", "--json").document)
    rows = desk(*line, "--max-calls", "1", "--json").document["questions"]
    assert rows[0]["discussion_id"] == id_


@pytest.mark.requirement("I-08")
def test_killed_between_two_questions_it_goes_on_with_the_same_command(desk: Desk) -> None:
    path = file(desk, *(f"Should we take road {n}?" for n in range(1, 7)))
    line = ("ask", "--questions", str(path), *TABLE)
    with desk.start(*line) as running:
        running.wait_until_it_says("Question 3 of 6")
        running.process.kill()
        running.process.wait(60)
    wait_for(lambda: running.process.poll() is not None)
    known = {row["discussion_id"] for row in desk("list", "--json").document}
    outcome = desk(*line, "--json")
    assert outcome.code == 0
    rows = outcome.document["questions"]
    assert {row["discussion_id"] for row in rows} >= known
    assert [row["ended"] for row in rows[:2]] == ["answered before"] * 2
    assert len(desk("list", "--json").document) == 6
