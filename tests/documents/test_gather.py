"""Files and folders that somebody named: what is read, what is left out, and what is said of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from roundtable.core.errors import BadTopic
from roundtable.documents import folder as folders
from roundtable.documents import gather as gathering
from roundtable.documents.gather import gather
from roundtable.documents.gathered import Gathered

from .samples import OLE, pdf

NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *line: str) -> None:
    none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *line], cwd=folder, env={**os.environ, **none}, check=True)


def sources(found: Gathered) -> list[str]:
    return [each.source for each in found.materials]


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git" / "info").mkdir(parents=True)
    (root / ".git" / "info" / "exclude").write_text("private.md\n")
    (root / ".gitignore").write_text("*.log\n/made/\n!kept.log\n")
    for name in ("README.md", "a.log", "kept.log", "private.md", "made/x.txt", "src/main.py",
                 "src/made/y.py", "src/local.txt", "src/b.log", "node_modules/z/i.js", ".env",
                 ".env.example", "deploy.key", "src/id_rsa", "logo.png", "uv.lock"):  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"This is {name}.")
    (root / "src" / ".gitignore").write_text("local.txt\n!b.log\n")
    (root / "data").write_bytes(b"\x00\x01\x02" * 50)
    (root / "huge.csv").write_text("1,2\n" * 300_000)
    (root / "empty.txt").touch()
    monkeypatch.chdir(tmp_path)
    return root


@pytest.mark.parametrize("asked", [pytest.param(True, marks=NEEDS_GIT), False])
def test_a_repository_is_read_without_what_git_ignores_and_nobody_wrote(
    project: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    if not asked:
        monkeypatch.setenv("PATH", "")
    if sys.platform != "win32":
        (project / "out").symlink_to("/etc")
        (project / "passwd").symlink_to("/etc/passwd")
        os.mkfifo(project / "pipe")

    found = gather(["project"])

    assert sources(found) == [
        "project/.env.example",
        "project/.gitignore",
        "project/README.md",
        "project/kept.log",
        "project/src/.gitignore",
        "project/src/b.log",
        "project/src/main.py",
        "project/src/made/y.py",
    ]
    [line] = found.lines
    assert line.startswith("8 files were read from project; left out: ")
    ignored = "4 ignored by git" if asked else "4 matched by a .gitignore"
    for told in (ignored, "3 with a name that suggests secrets", "2 not written by hand",
                 "1 too large", "1 empty (empty.txt)", "2 of an unsupported type"):  # fmt: skip
        assert told in line, line
    if sys.platform != "win32":
        assert "2 linked" in line
        assert "1 special" in line


@NEEDS_GIT
def test_what_git_tracks_or_takes_back_is_read_although_a_pattern_leaves_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, r__logs__a_dot_txt="A", r__logs__b_dot_txt="B", r__kept_dot_log="K",
          r__noise_dot_log="N", r__made__t_dot_txt="T", r__made__u_dot_txt="U",
          r__part__own_dot_log="O", r__part__left_dot_tmp="L")  # fmt: skip
    (tmp_path / "r" / ".gitignore").write_text("logs/**\n!logs/a.txt\n*.log\nmade/\n")
    (tmp_path / "r" / "part" / ".gitignore").write_text("*.tmp\n")
    for repository in ("r", "r/part"):
        git(tmp_path / repository, "init", "-q")
    git(tmp_path / "r", "add", "-f", "kept.log", "made/t.txt")

    found = gather(["r"])

    assert sources(found) == ["r/.gitignore", "r/kept.log", "r/logs/a.txt", "r/made/t.txt",
                              "r/part/.gitignore", "r/part/own.log"]  # fmt: skip
    assert found.lines == ("6 files were read from r; left out: 4 ignored by git",)
    # Whoever names a folder wants it read.
    assert sources(gather(["r/made"])) == ["r/made/t.txt"]
    (tmp_path / "r" / ".git" / "index").unlink()
    assert sources(gather(["r/made"])) == ["r/made/t.txt", "r/made/u.txt"]
    monkeypatch.setenv("PATH", "")
    assert sources(gather(["r/logs"])) == ["r/logs/a.txt"]


def test_empty_files_of_a_folder_are_counted_and_some_of_them_named(tmp_path: Path) -> None:
    for name in ("a.txt", "b\u202e.txt", "c/d.txt", "e.txt", "f.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(" \n\t\n" if name == "a.txt" else "")
    (tmp_path / "empty.pdf").touch()
    (tmp_path / "said.txt").write_text("something")

    found = gather([str(tmp_path)])

    assert sources(found) == [f"{tmp_path}/said.txt"]
    document, line = found.lines
    assert document == f"{tmp_path}/empty.pdf is empty"
    empty = "5 empty (a.txt, b\\u202e.txt, e.txt and 2 more)"
    assert line == f"1 file was read from {tmp_path}; left out: {empty}"
    assert found.missed == {document}, "nobody misses what an empty text file says"


def test_a_folder_within_a_repository_keeps_to_what_stands_above_it(project: Path) -> None:
    (project / "src" / "c.log").write_text("noise")
    (project / "src" / ".gitignore").write_text("local.txt\n")
    assert sources(gather(["project/src"])) == [
        "project/src/.gitignore",
        "project/src/main.py",
        "project/src/made/y.py",
    ]


def test_a_folder_without_end_is_looked_at_up_to_a_limit(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "IN_A_FOLDER", 3)
    assert len(gather(["project"]).materials) == 3
    monkeypatch.setattr(folders, "MOST_ENTRIES", 5)
    found = gather(["project"])
    assert "whatever came after the first" in found.lines[0]
    assert project.exists()


def test_a_broken_document_gets_its_line_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf", reason="the extra `documents` is not installed")
    monkeypatch.chdir(tmp_path)
    write(tmp_path, notes_dot_md="The plan.")
    (tmp_path / "cut.pdf").write_bytes(pdf("Costs.")[:100])
    (tmp_path / "whole.pdf").write_bytes(pdf("Costs."))

    found = gather(["notes.md", "cut.pdf", "whole.pdf"])

    assert sources(found) == ["notes.md", "whole.pdf"]
    assert found.lines == ("cut.pdf is damaged or not a PDF",)
    assert found.notes[0].text == "cut.pdf is damaged or not a PDF."


COLOURED = "\x1b[32mok\x1b[0m, see \x1b]8;;http://a.example\x07the log\x1b]8;;\x07\n"


def test_the_colours_of_a_terminal_are_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, in__good_dot_md="The plan.", in__log_dot_txt=COLOURED)

    found = gather(["in", "-"], lambda: COLOURED)

    assert [each.text for each in found.materials] == ["The plan.", *["ok, see the log\n"] * 2]
    assert [line.partition(" ")[0] for line in found.lines] == ["in/log.txt", "Standard"]
    assert all("without the colours" in line for line in found.lines)
    assert not found.missed


def test_a_text_with_a_control_character_gets_its_line_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, in__good_dot_md="The plan.", in__bell_dot_txt="Ring\x07", half_dot_md="a\x1b")

    found = gather(["in", "half.md"])

    assert sources(found) == ["in/good.md"]
    assert found.lines == (
        "in/bell.txt is no plain text: it holds the control character U+0007",
        "half.md is no plain text: it holds the control character U+001B",
    )
    assert found.missed == set(found.lines)


def test_texts_of_a_folder_in_another_encoding_are_counted_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, notes__a_dot_md="Tea.")
    for name, text, encoding in (
        ("latin.txt", "Größe: 5 €", "cp1252"),
        ("old/kanji.txt", "これは日本語の文書です。", "shift_jis"),
    ):
        path = tmp_path / "notes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode(encoding))
    (tmp_path / "notes" / "noise.dat").write_bytes(b"\xff\x01\x02\xfe" * 9)

    found = gather(["notes"])

    assert sources(found) == ["notes/a.md"]
    counts, names = found.lines
    assert "2 not UTF-8 text" in counts
    assert "1 of an unsupported type" in counts
    assert names.endswith("to be converted first: latin.txt, old/kanji.txt")
    assert names in found.missed


def test_a_document_of_a_folder_that_cannot_be_read_is_named_whatever_kind_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gathering, "MOST_IN_ALL", 1000)
    page = "<script>draw()</script>"
    write(tmp_path, in__a_dot_md="Tea.", in__b_dot_md="b" * 2000, in__page_dot_html=page,
          in__rich_dot_rtf=r"{\rtf1 Costs.}")  # fmt: skip
    (tmp_path / "in" / "contract.doc").write_bytes(OLE + bytes(1_200_000))
    (tmp_path / "in" / "logo").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "in" / "text.odt").write_bytes(b"\x00\x01")

    found = gather(["in"])

    assert sources(found) == ["in/a.md"]
    *documents, counts, crowded = found.lines
    assert documents == [
        "in/contract.doc is in an old Office format; save it as .docx",
        "in/rich.rtf is rich text; save it as .docx or as plain text",
        "in/text.odt is no text, and no kind of document that can be read",
    ]
    assert counts == (
        "1 file was read from in; left out: 1 for which there was no more room, "
        "1 of an unsupported type, 1 empty (page.html)"
    )
    assert crowded == "No room was left for these files of in: b.md"
    assert found.missed == {*documents, crowded}


def test_where_nothing_could_be_read_that_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadTopic, match="is a picture"):
        gather([str(tmp_path / "photo.png")])
    with pytest.raises(BadTopic, match="contains nothing to read"):
        gather([str(tmp_path / "empty")])
    with pytest.raises(BadTopic, match="cannot be read: No such file"):
        gather([str(tmp_path / "photo.png"), str(tmp_path / "mistyped.md")])
    assert gather([]).materials == ()


def test_what_is_too_much_for_one_discussion_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MOST_IN_ALL", 1000)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, a_dot_md="a" * 600, b_dot_md="b" * 600, c_dot_md="c" * 100)
    found = gather(["a.md", "b.md", "c.md"])
    assert sources(found) == ["a.md", "c.md"]
    assert found.lines == ("b.md does not fit any more beside the others",)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_a_pipe_is_read_to_its_end_and_a_device_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("handed on",))
    writer.start()
    assert gather([str(pipe)]).materials[0].text == "handed on"
    writer.join()
    monkeypatch.setattr("roundtable.documents.files.UNWRITTEN_SECONDS", 0)
    with pytest.raises(BadTopic, match="nobody writes"):
        gather([str(pipe)])
    with pytest.raises(BadTopic, match="a device"):
        gather(["/dev/zero"])


def test_a_file_of_blanks_is_no_document(tmp_path: Path) -> None:
    blank, full = tmp_path / "blank.txt", tmp_path / "full.txt"
    blank.write_text(" \n\t\n")
    full.write_text("Costs.")
    found = gather([str(blank), str(full), "-"], lambda: "\n")
    assert sources(found) == [str(full)]
    assert found.lines == (f"{blank} holds no text", "Standard input holds no text")
    with pytest.raises(BadTopic, match="holds no text"):
        gather([str(blank)])
