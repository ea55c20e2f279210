"""list, show, export, stop, speak, delete, resume: discussions that exist."""

from __future__ import annotations

import pytest

from .desk import QUICK, Desk


def test_an_empty_list_says_how_to_begin(desk: Desk) -> None:
    outcome = desk("list")

    assert (outcome.code, outcome.out) == (0, "")
    assert 'Start one: roundtable "Should we …?"' in outcome.err


def test_the_list_can_be_searched_and_cut(desk: Desk) -> None:
    for question in ("Tea?", "Coffee?", "Green TEA?"):
        desk(question, *QUICK)

    def topics(*args: str) -> list[str]:
        return [row["topic"] for row in desk("list", "--json", *args).document]

    assert topics() == ["Green TEA?", "Coffee?", "Tea?"]
    assert topics("tea") == ["Green TEA?", "Tea?"]
    assert topics("--limit", "1") == ["Green TEA?"]
    assert "No question contains 'milk'" in desk("list", "milk").err


def test_the_list_stands_in_columns(desk: Desk) -> None:
    desk("Tea?", *QUICK)
    desk("demo", "--no-web")
    rows = desk("list").out.splitlines()
    assert len({row.index(topic) for row, topic in zip(rows, ("Should", "Tea?"), strict=True)}) == 1


def test_show_prints_everything_that_was_said(desk: Desk) -> None:
    asked = desk.ask("--json").document

    outcome = desk("show", asked["discussion_id"], "--full")

    assert outcome.code == 0
    assert outcome.out.startswith("# Tea or coffee?\n")
    for speech in asked["speeches"]:
        assert f"turn {speech['turn_id']} · {speech['model']}" in outcome.out
    assert "Calls: 5" in outcome.out


def test_following_a_finished_discussion_shows_it_and_ends(desk: Desk) -> None:
    desk.ask()

    outcome = desk("show", desk.last_id(), "--follow")

    assert outcome.code == 0
    assert "Scholar: Try it on a small scale and see. (139 words)" in outcome.err
    assert outcome.out.startswith("Tea or coffee?\n\nThe table chose no answer.\n")


def test_an_export_goes_to_a_new_file_and_never_over_another(desk: Desk) -> None:
    desk.ask()
    found = desk.last_id()
    taken = desk.workspace / "taken.md"
    taken.write_text("mine")

    mistyped = desk("export", found, "-o", "reports/new.md")
    assert mistyped.code == 2
    assert "The folder reports does not exist." in mistyped.err
    assert not (desk.workspace / "reports").exists()
    (desk.workspace / "reports").mkdir()
    fresh = desk("export", found, "-o", "reports/new.md")
    refused = desk("export", found, "-o", "taken.md")
    folder = desk("export", found, "-o", ".")
    under_a_file = desk("export", found, "-o", "taken.md/new.md")

    assert fresh.code == 0
    assert (desk.workspace / "reports/new.md").read_text("utf-8") == desk("export", found).out
    assert (refused.code, folder.code, under_a_file.code) == (2, 2, 2)
    assert "taken.md exists already. Choose another name." in refused.err.replace("\n", " ")
    assert "cannot be written" in under_a_file.err
    assert taken.read_text() == "mine"
    assert desk("export", found, "-o", "-").out == desk("export", found).out
    bundled = desk("export", found, "--bundle", "-")
    assert bundled.out.splitlines()[0].startswith("{")
    assert "Head: " in bundled.err
    assert not (desk.workspace / "-").exists()


@pytest.mark.requirement("I-10")
def test_a_discussion_is_exported_in_three_forms(desk: Desk) -> None:
    asked = desk.ask("--json").document
    found = asked["discussion_id"]

    written = desk("export", found, "--format", "html", "-o", "report.html")
    html = desk("export", found, "--format", "html").out
    other = desk("export", found, "--format", "pdf")

    assert written.code == 0
    assert (desk.workspace / "report.html").read_text("utf-8") == html
    assert html.startswith("<!doctype html>")
    assert desk("export", found, "--format", "md").out.startswith("# Tea or coffee?\n")
    assert desk("export", found, "--format", "json").document == asked
    for speech in asked["speeches"]:
        assert f'id="turn-{speech["turn_id"]}"' in html
    assert other.code == 2
    assert "'pdf' is not one of 'md', 'json', 'html'" in other.err


@pytest.mark.requirement("D-95")
def test_a_finished_discussion_cannot_be_stopped_or_spoken_in(desk: Desk) -> None:
    desk.ask()
    found = desk.last_id()

    stopped = desk("stop", found)
    spoken = desk("speak", found, "One more thing.")

    assert (stopped.code, spoken.code) == (2, 2)
    assert f"{found} is already closed." in stopped.err
    assert f"{found} is closed." in spoken.err
    assert "To ask further, hold a follow-up" in spoken.err


def test_resuming_a_finished_discussion_shows_it_and_writes_nothing(desk: Desk) -> None:
    asked = desk("Tea or coffee?", *QUICK[:-1], "--json").document

    outcome = desk("resume", asked["discussion_id"], "--json")

    assert outcome.code == 0
    assert outcome.document == asked
    assert "came to its end before" in outcome.err
    assert len(list((desk.workspace / "memory/roundtable").iterdir())) == 1


def test_with_nothing_interrupted_resume_says_so(desk: Desk) -> None:
    desk.ask()

    outcome = desk("resume")

    assert outcome.code == 2
    assert "No discussion was interrupted." in outcome.err


def test_speech_for_nobody_or_without_words_is_refused(desk: Desk) -> None:
    desk.ask()
    found = desk.last_id()

    assert "The speech is empty" in desk("speak", found, "  ").err
    assert "is closed" in desk("speak", found, "-", stdin=b"From stdin.").err


def test_deleting_asks_first_and_then_deletes_for_good(desk: Desk) -> None:
    desk.ask()
    found = desk.last_id()

    kept = desk("delete", found, stdin=b"n\n")
    unasked = desk("delete", found)
    slipped = desk("delete", found.removeprefix("rt_")[:1], stdin=b"y\n")
    gone = desk("delete", found, stdin=b"y\n")

    assert (kept.code, unasked.code, slipped.code, gone.code) == (0, 2, 2, 0)
    assert "It asks: Tea or coffee?" in kept.err, "whoever says yes sees to what"
    assert "Nothing was deleted." in kept.err
    assert "and nobody can be asked here.\nAdd --yes" in unasked.err
    assert "There is no discussion" in slipped.err, "a letter is no id"
    assert f"Deleted {found}." in gone.err
    assert desk("show", found).code == 2
    assert desk("list", "--json").document == []


@pytest.mark.requirement("Z-39")
def test_lists_and_lines_of_progress_hold_no_picture_and_no_html(desk: Desk) -> None:
    topic = 'Tea ![x](https://evil.invalid/p) or <img src="https://evil.invalid/i"> coffee?'

    asked = desk(topic, *QUICK, "-v")
    listed = desk("list")

    assert asked.code == 0
    for told in (asked.err, listed.out):
        assert "evil.invalid" in told
        assert "![" not in told
        assert "<img" not in told
