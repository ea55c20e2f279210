"""Documents with a question: read, checked for secrets, condensed, and kept whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roundtable.core.errors import NoModel
from roundtable.core.values import Material
from roundtable.models import discovery
from roundtable.surfaces.python import Roundtable
from tests.documents.samples import docx, pdf, saved
from tests.surfaces.desk import Desk

SECRET = "sk-proj-q7Zt9LmX2vKp4RwB8sNd"


def with_secret() -> bytes:
    library = pytest.importorskip("docx", reason="the extra `documents` is not installed")
    document = library.Document()
    document.add_paragraph(f"OPENAI_API_KEY={SECRET}")
    return saved(document)


def test_documents_reach_the_experts_with_the_numbers_of_their_pages(desk: Desk) -> None:
    pytest.importorskip("pypdf", reason="the extra `documents` is not installed")
    (desk.workspace / "plan.pdf").write_bytes(pdf("Costs rise.", "Risk falls."))
    (desk.workspace / "plan.docx").write_bytes(docx())
    (desk.workspace / "cut.pdf").write_bytes(pdf("x")[:99])

    told = desk.ask(
        "--context", "plan.pdf", "--context", "plan.docx", "--context", "cut.pdf", "--dry-run"
    )

    assert told.code == 0, told.err
    assert "[page 2]\nRisk falls." in told.out
    assert "The move costs 40,000 euros." in told.out
    assert "cut.pdf is damaged or not a PDF." in told.out


def test_the_answer_says_that_a_document_could_not_be_read_and_not_what_a_folder_leaves_out(
    desk: Desk,
) -> None:
    pytest.importorskip("pypdf", reason="the extra `documents` is not installed")
    folder = desk.workspace / "plans"
    folder.mkdir()
    (folder / "plan.md").write_text("Costs rise.", "utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    missed = "Some documents could not be read"

    assert missed not in desk.ask("--context", "plans").out
    (desk.workspace / "cut.pdf").write_bytes(pdf("x")[:99])
    assert missed in desk.ask("--context", "plans", "--context", "cut.pdf").out
    # Who wants the answer alone hears of it too, in a line.
    quiet = desk.ask("--context", "plans", "--context", "cut.pdf", "-q")
    assert "cut.pdf is damaged or not a PDF" in quiet.err
    assert quiet.err.count("\n") == 1


@pytest.mark.requirement("Z-39", "Z-36")
def test_each_unread_file_has_a_line_of_its_own_and_all_are_kept(desk: Desk) -> None:
    (desk.workspace / "plan.md").write_text("Costs rise.", "utf-8")
    named = ["--context", "plan.md"]
    for n in range(15):
        (desk.workspace / f"empty{n}.txt").write_text(" ", "utf-8")
        named += ["--context", f"empty{n}.txt"]

    told = desk.ask(*named)
    told_all = desk.ask(*named, "-v")

    lines = told.err.splitlines()
    assert [f"Note: empty{n}.txt holds no text." in lines for n in range(15)].count(True) == 12
    assert "Note: And 3 more of the documents: roundtable show last --full" in lines
    assert all(f"Note: empty{n}.txt holds no text." in told_all.err for n in range(15))
    kept = desk("show", "last", "--full").out
    document = desk("export", "last", "--format", "json").document
    noted = [note["text"] for note in document["notes"] if note["code"] == "unread_documents"]
    assert noted == [f"empty{n}.txt holds no text." for n in range(15)]
    assert all(f"empty{n}.txt holds no text." in " ".join(kept.split()) for n in range(15))


def test_if_nothing_can_be_read_each_file_has_its_line(desk: Desk) -> None:
    for name in ("a.txt", "b.txt"):
        (desk.workspace / name).write_text(" ", "utf-8")

    told = desk.ask("--context", "a.txt", "--context", "b.txt", "--context", "-", stdin=b" ")

    assert told.code == 2
    assert told.err.splitlines()[:4] == [
        "Error: None of the documents could be read.",
        "a.txt holds no text.",
        "b.txt holds no text.",
        "Standard input holds no text.",
    ]


@pytest.mark.requirement("Z-39")
def test_secrets_are_looked_for_in_what_was_read(desk: Desk) -> None:
    (desk.workspace / "notes.docx").write_bytes(with_secret())
    told = desk.ask("--context", "notes.docx")
    assert told.code == 2
    assert "notes.docx, line 1" in told.err
    assert SECRET not in told.err
    assert desk.ask("--context", "notes.docx", "--secrets", "redact").code == 0
    assert SECRET not in desk.stored()


@pytest.mark.requirement("Z-39")
def test_a_document_that_is_added_later_is_read_the_same_way(desk: Desk) -> None:
    (desk.workspace / "notes.docx").write_bytes(with_secret())
    told = desk("add", "rt_00000000", "notes.docx")
    assert told.code == 2
    assert "notes.docx, line 1" in told.err


async def test_what_does_not_fit_is_condensed_said_and_kept_whole(tmp_path: Path) -> None:
    long = "\n\n".join(
        f"# Chapter {n}\n\n" + "Nothing happened here at all, as on most days. " * 30
        for n in range(600)
    )
    long += "\n\n# Chapter 600\n\nTea keeps for two years.\n"

    async with Roundtable(home=tmp_path / "home", env={}, model="scripted/echo") as table:
        state = await table.open(
            "Does tea keep longer than coffee?",
            context=[Material(source="diary.md", text=long), "Coffee keeps for a year."],
            procedure="council",
            all="scripted/echo",
            quick=True,
        )
        [note] = [note for note in state.notes if note.code == "condensed"]
        assert f" of {len(long):,} characters" in note.text
        assert [m.text for m in state.context] == [long, "Coffee keeps for a year."]
        done = await table.run(state.discussion_id)
    # What is condensed by its meaning need not be cut once more when it is sent.
    assert not [note for note in done.notes if note.code.startswith("condensed/")]


def test_the_verdict_says_that_documents_were_condensed_and_one_note_how_much(desk: Desk) -> None:
    (desk.workspace / "diary.md").write_text("Nothing happened here.\n\n" * 60_000, "utf-8")
    told = desk.ask("--context", "diary.md")
    assert told.out.count("The documents did not fit the models") == 1
    assert told.err.count("diary.md") == 1
    assert re.search(r"diary\.md [\d,]+ of 1,440,000 characters", told.err)


async def test_without_any_model_nothing_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("local_servers = false\n")
    async with Roundtable(home=tmp_path / "home", env={}) as table:
        with pytest.raises(NoModel, match="No model can speak here yet"):
            await table.open("Tea or coffee?")
        with pytest.raises(NoModel, match="No model can be used, so no discussion was started"):
            await table.open("Tea or coffee?", all="opus")


async def test_experts_that_were_chosen_by_words_alone_are_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roundtable.models.embedder.find_spec", lambda _: None)
    async with Roundtable(home=tmp_path / "home", env={}, model="scripted/echo") as table:
        question = "Which index does this database need?"
        chosen = await table.open(question, procedure="deliberation", models="scripted/echo")
        named = await table.open(
            question,
            procedure="deliberation",
            models="scripted/echo",
            experts=["database-administrator", "backend-engineer", "nurse"],
        )
    assert "by_words" in [note.code for note in chosen.notes]
    assert "by_words" not in [note.code for note in named.notes]


async def test_the_library_seats_experts_for_what_the_documents_are_about(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path / "home", env={}, model="scripted/echo") as table:
        state = await table.open(
            "Is this convincing?",
            context=["Residential lease: the tenant pays rent; termination with notice; deposit."],
            procedure="deliberation",
            models="scripted/echo",
        )
    assert "legal" in [seat.role for seat in state.start.participants]
