"""Procedures of one's own on the command line: files, names, errors, and holding one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting
from roundtable.procedures import PROCEDURES
from roundtable.trust import Folder
from roundtable.user_procedures import ProcedureFiles
from tests.trusted import trust_project

from .desk import Desk

DELPHI = Path(__file__).parents[2] / "examples" / "delphi.toml"
MODELS = ("--models", "scripted/echo,scripted/stubborn", "--model", "scripted/echo")
SMALL = """
name = "{name}"
summary = "{summary}"
participants = [{{ id = "a", name = "Ann" }}, {{ id = "b", name = "Bob" }}]
stages = [{{ name = "talk", prompt = "{prompt}" }}]
"""


def project(desk: Desk) -> Path:
    folder = desk.workspace / ".roundtable" / "procedures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def trust(desk: Desk) -> None:
    trust_project(desk.home, desk.workspace)


def put(
    folder: Path, name: str, summary: str = "Talk", prompt: str = "Talk.", own: str = ""
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(SMALL.format(name=own or name, summary=summary, prompt=prompt), "utf-8")
    return path


@pytest.mark.requirement("I-27")
def test_the_list_holds_built_in_procedures_and_ones_own(desk: Desk) -> None:
    shutil.copy(DELPHI, project(desk))
    trust(desk)
    put(desk.home / "procedures", "chat", "A short chat")
    out = desk("procedures").out
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert set(PROCEDURES) <= set(lines)
    assert lines["chat"].endswith("A short chat (own)")
    assert "Experts estimate a number alone" in lines["delphi"]
    rows = desk("procedures", "--json").document
    assert [row["name"] for row in rows if not row["built_in"]] == ["chat", "delphi"]


@pytest.mark.requirement("I-28")
def test_a_broken_file_is_listed_with_its_error_and_in_nobodys_way(desk: Desk) -> None:
    put(project(desk), "good")
    (project(desk) / "broken.toml").write_text('name = "broken"\nsumary = "x"\n', "utf-8")
    trust(desk)
    out = desk("procedures").out
    assert "broken  " in out
    assert "Unknown key in" in out
    held = desk("Tea?", "--procedure", "good", *MODELS, "--no-log")
    assert held.code == 0
    refused = desk("Tea?", "--procedure", "broken", *MODELS)
    assert refused.code == 2
    assert "Did you mean summary?" in refused.err


@pytest.mark.requirement("I-27")
def test_one_is_shown_with_its_stages_and_its_file(desk: Desk) -> None:
    shutil.copy(DELPHI, project(desk))
    trust(desk)
    out = desk("procedures", "show", "delphi").out
    assert "1. estimate: all, parallel; sees own, results; counted by statistics" in out
    assert "up to 3 times; until spread_below" in out
    assert f"From: {project(desk) / 'delphi.toml'}" in out
    document = desk("procedures", "show", "delphi", "--json").document
    assert document["definition"]["stages"][0]["repeat"] == 3
    assert desk("procedures", "show", "council").code == 0


@pytest.mark.requirement("I-28")
def test_a_name_that_nobody_has_is_answered_with_the_nearest(desk: Desk) -> None:
    shutil.copy(DELPHI, project(desk))
    trust(desk)
    for command in (("procedures", "show", "delhpi"), ("Tea?", "--procedure", "delhpi")):
        refused = desk(*command)
        assert refused.code == 2
        assert "Did you mean delphi" in refused.err
    assert desk("procedures", "delete", "delphi").code == 2


@pytest.mark.requirement("I-27")
def test_a_name_that_only_an_untrusted_file_has_is_answered_with_how_to_trust_it(
    desk: Desk,
) -> None:
    put(project(desk), "jury")
    put(project(desk), "council")
    for command in (("Tea?", "--procedure", "jury"), ("procedures", "show", "jury"),
                    ("help", "jury")):  # fmt: skip
        refused = desk(*command)
        assert refused.code == 2
        assert "Unknown procedure 'jury'." in refused.err
        assert "jury.toml defines it, but is ignored until you trust it" in refused.err
    assert desk("help", "council").code == 0, "a project hides no built-in one"


def test_help_tells_of_a_command_and_of_a_procedure_that_is_called_the_same(desk: Desk) -> None:
    put(project(desk), "chat", "A short chat")
    untrusted = desk("help", "chat").out
    assert untrusted.startswith("Usage: roundtable chat")
    assert "A short chat" not in untrusted
    trust(desk)
    told = desk("help", "chat").out
    assert told.startswith(untrusted)
    assert "You have a procedure of that name, too" in told
    assert "chat: A short chat (own)" in told


@pytest.mark.requirement("I-27", "I-08")
def test_one_is_held_by_name_and_shown_when_its_file_has_gone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(DELPHI, project(desk))
    trust(desk)
    held = desk("How many weeks?", "--procedure", "delphi", *MODELS, "--json", "--no-log")
    assert held.code == 0
    document = held.document
    assert document["procedure"] == "custom:delphi"
    assert document["options"]["definition"]["name"] == "delphi"
    (project(desk) / "delphi.toml").unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    shown = desk("show", document["discussion_id"])
    assert shown.code == 0
    assert "Verdict of delphi" in shown.out
    assert desk("resume", document["discussion_id"]).code == 0
    assert "custom:delphi" in desk("list").out


@pytest.mark.requirement("I-05", "I-27")
def test_a_dry_run_shows_the_first_prompts_and_the_estimate(desk: Desk) -> None:
    shutil.copy(DELPHI, project(desk))
    trust(desk)
    out = desk("How many weeks?", "--procedure", "delphi", *MODELS, "--dry-run").out
    assert "12 calls to experts, " in out
    assert "Estimate the number that the question asks for." in out


@pytest.mark.requirement("I-27")
def test_a_report_is_left_in_the_workspace(desk: Desk) -> None:
    put(project(desk), "chat")
    trust(desk)
    held = desk("Tea?", "--procedure", "chat", *MODELS)
    assert held.code == 0
    (report,) = (desk.workspace / "memory" / "procedures" / "chat").glob("*.md")
    assert "Tea?" in report.read_text("utf-8")


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize("name", ["council", "deliberation"])
def test_the_name_of_a_built_in_procedure_is_refused(desk: Desk, name: str) -> None:
    path = put(project(desk), name)
    trust(desk)
    refused = desk("Tea?", "--procedure", name, "--quick")
    assert refused.code == 2
    assert str(path) in refused.err
    assert f"another name: {name} is a built-in procedure" in refused.err


@pytest.mark.requirement("I-27")
def test_the_projects_file_is_stronger_than_the_users(tmp_path: Path) -> None:
    weak, strong = tmp_path / "home", tmp_path / "project"
    put(weak, "chat", "of the user")
    shelf = ProcedureFiles([Folder(weak), Folder(strong)])
    found = [shelf.find("chat")]
    put(strong, "chat", "of the project")
    found.append(shelf.find("chat"))
    assert [each.summary for each in found if each] == ["of the user", "of the project"]
    assert shelf.names() == ("chat",)


@pytest.mark.requirement("I-28", "I-18")
@pytest.mark.parametrize(
    ("content", "where", "expected"),
    [
        (b"name = x\n", ":1", "valid TOML"),
        (b"summary = 'x'\nname = [", "", "valid TOML"),
        (b"name = '\xff'", "", "UTF-8 text"),
        (b"x = 1\n" * 100_000, "", "at most 500,000 bytes"),
        (b"a = " + b"[" * 5000, "", "at most 64 tables and lists"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, content: bytes, where: str, expected: str
) -> None:
    (tmp_path / "bad.toml").write_bytes(content)
    with pytest.raises(BadSetting) as caught:
        ProcedureFiles([Folder(tmp_path)]).find("bad")
    assert caught.value.where.startswith(str(tmp_path / "bad.toml") + where)
    assert expected in caught.value.expected


@pytest.mark.requirement("I-28")
def test_a_file_must_bear_the_name_that_it_gives(tmp_path: Path) -> None:
    put(tmp_path, "chat", own="talk")
    with pytest.raises(BadSetting) as caught:
        ProcedureFiles([Folder(tmp_path)]).find("chat")
    assert (caught.value.key, caught.value.expected) == ("name", "“chat”, as the file is called")


@pytest.mark.requirement("I-19")
@pytest.mark.parametrize("name", ["../secret", "a/b", "/etc/passwd", "..", "", "C:x", "a\x00b"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "procedures"
    put(tmp_path, "secret")
    inside.mkdir()
    assert ProcedureFiles([Folder(inside)]).find(name) is None


def test_a_mark_at_the_beginning_of_the_file_does_no_harm(tmp_path: Path) -> None:
    path = put(tmp_path, "chat")
    path.write_text("\ufeff" + path.read_text("utf-8"), "utf-8")
    assert ProcedureFiles([Folder(tmp_path)]).find("chat") is not None
