"""Session logs: their one place, their names, what they hold, and nothing overwritten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roundtable.core.errors import NotAllowed
from roundtable.surfaces.files import write_new, write_outputs
from tests.rehearsal import Table, run_in_virtual_time

from .desk import ECHO, Desk

LOGS = Path("memory/roundtable")


def logs(desk: Desk) -> list[Path]:
    folder = desk.workspace / LOGS
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.mark.requirement("C-70", "C-71", "A-23")
def test_a_log_is_written_where_logs_belong(desk: Desk) -> None:
    outcome = desk("Should we use Postgres?", *ECHO, "--quick")

    [log] = logs(desk)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d\d-\d\d-should-we-use-postgres\.md", log.name)
    assert f"Written: {LOGS / log.name}" in outcome.err


@pytest.mark.requirement("C-70")
def test_no_log_is_written_when_logging_is_off(desk: Desk) -> None:
    desk("Tea?", *ECHO, "--quick", "--no-log")
    desk.config('{"log_sessions": false}')
    desk("Tea?", *ECHO, "--quick")

    assert logs(desk) == []


@pytest.mark.requirement("C-72", "C-73")
def test_the_log_holds_what_an_audit_needs(desk: Desk) -> None:
    desk("Tea or coffee?", *ECHO)

    text = logs(desk)[0].read_text("utf-8")
    assert re.findall(r"^#+ .+$", text, re.MULTILINE) == [
        "# Roundtable Session Log",
        "## Original Question",
        "## Round 1 Summaries",
        "### Scholar",
        "### Engineer",
        "### Muse",
        "## Round 2 Summaries",
        "### Scholar",
        "### Engineer",
        "### Muse",
        "## Final Synthesis",
    ]
    assert "Tea or coffee?" in text
    assert "- Round 2: enabled" in text
    assert re.search(r"^- Time: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ \([+-]\d{4}\)$", text, re.M)
    assert (
        "- Models: Captain scripted/echo, Scholar scripted/echo, Engineer scripted/echo, "
        "Muse scripted/echo" in text
    )


@pytest.mark.requirement("C-72")
def test_the_log_of_a_quick_run_says_that_round_2_was_skipped(desk: Desk) -> None:
    desk("Tea or coffee?", *ECHO, "--quick")

    text = logs(desk)[0].read_text("utf-8")
    assert "- Round 2: skipped (--quick)" in text
    assert "## Round 2" not in text


@pytest.mark.requirement("C-71", "I-19")
@pytest.mark.parametrize(
    "topic",
    [
        "🍵 or ☕?",
        "茶か珈琲か",
        "../../etc/passwd",
        "C:\\Windows\\system32",
        "con",
        "a" * 3_000,
        "-rf /",
        "Über den Fluß\nund in die Wälder",
        ".hidden",
    ],
)
def test_any_topic_makes_a_safe_file_name(desk: Desk, topic: str) -> None:
    desk(*ECHO, "--quick", "--", topic)

    [log] = logs(desk)
    stamp, name = log.stem[:16], log.stem[17:]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d\d-\d\d", stamp)
    assert re.fullmatch(r"[^\W_]+(-[^\W_]+)*", name), "readable in its own script"
    assert name == name.lower()
    assert len(name) <= 60
    assert name != "con"


@pytest.mark.requirement("C-74")
def test_the_log_holds_no_keys(desk: Desk) -> None:
    keys = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz safe with password=hunter2hunter2"
    desk(f"Is {keys}?", *ECHO, "--secrets", "send")

    [log] = logs(desk)
    text = log.read_text("utf-8")
    assert "abcdefghij" not in text + log.name
    assert "hunter2" not in text
    assert "[redacted]" in text


@pytest.mark.requirement("C-15", "I-19")
@pytest.mark.parametrize("path", ["../../etc", "/tmp/logs", "memory/elsewhere"])
def test_another_path_in_the_configuration_is_ignored_with_a_warning(desk: Desk, path: str) -> None:
    desk.config(f'{{"log_path": "{path}"}}')

    outcome = desk("Tea?", *ECHO, "--quick")

    assert outcome.code == 0
    assert f"log_path '{path}' is ignored: logs go to memory/roundtable/ only." in outcome.err
    assert len(logs(desk)) == 1


@pytest.mark.requirement("C-15", "I-19")
@pytest.mark.parametrize("linked", ["memory", "memory/roundtable"])
def test_a_link_out_of_the_workspace_is_not_followed(
    desk: Desk, tmp_path: Path, linked: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = desk.workspace / linked
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)

    outcome = desk("Tea?", *ECHO, "--quick")

    assert outcome.code == 0
    assert outcome.out.startswith("The table chose no answer.")
    assert "leads out of the workspace" in outcome.err
    assert list(outside.iterdir()) == []


def test_a_log_that_cannot_be_written_does_not_take_the_answer_away(desk: Desk) -> None:
    (desk.workspace / "memory").write_text("a file where the folder should be")

    outcome = desk("Tea?", *ECHO, "--quick")

    assert outcome.code == 0
    assert outcome.out.startswith("The table chose no answer.")
    assert "Note: not everything could be written to the workspace" in outcome.err


@pytest.mark.requirement("I-18")
def test_an_existing_log_is_not_overwritten(tmp_path: Path) -> None:
    state = run_in_virtual_time(Table().ask("Tea?"))

    first = write_outputs(state, tmp_path)[0]
    first.write_text("annotated")
    second = write_outputs(state, tmp_path)[0]

    assert first.read_text() == "annotated"
    assert second.name == f"{first.stem}-2.md"


def test_a_name_with_a_thousand_namesakes_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_: object, **__: object) -> None:
        raise FileExistsError

    monkeypatch.setattr("roundtable.surfaces.files.open", taken, raising=False)

    with pytest.raises(NotAllowed, match="Too many files"):
        write_new(tmp_path / "log.md", "text")
