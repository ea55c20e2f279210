"""Recorded examples: read by every door without a key, with where they come from, and only read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from roundtable.bootstrap import start
from roundtable.bundle import check_bundle
from roundtable.core.errors import NotAllowed, UnknownName
from roundtable.core.text import SECRETS
from roundtable.examples import examples
from roundtable.examples.ledger import WithExamples
from roundtable.ledger.memory import MemoryLedger
from roundtable.surfaces.exports import Form
from roundtable.surfaces.python import Roundtable
from roundtable.surfaces.recorded import recorded_examples
from roundtable.surfaces.toolset import Toolset
from roundtable.views.prior import PRIOR

from .desk import Desk
from .web.house import house_settings

pytestmark = pytest.mark.requirement("Z-37")
NAMES = list(examples())
README = Path(__file__).parents[2] / "README.md"
FOLDER = Path(__file__).parents[2] / "src" / "roundtable" / "examples"
_HOME = re.compile(r"(?:/home/|/Users/|/root/|[A-Z]:\\Users\\)\w+")
OLDER = re.compile(
    "held under earlier rules|may have had other rules|of another time|not made again from what"
)


def squeezed(text: str) -> str:
    return " ".join(re.sub(r"[*_>#`|\\]", " ", text).split())


def test_the_index_and_the_folder_hold_the_same_examples() -> None:
    held = {path.name.partition(".")[0] for path in FOLDER.glob("*.bundle*")}
    assert held == set(NAMES)
    assert len(NAMES) >= 5
    for example in examples().values():
        assert example.title
        assert example.language
        assert len(example.provenance) > 40


@pytest.mark.parametrize("name", NAMES)
def test_every_example_verifies_or_says_that_it_was_held_under_earlier_rules(name: str) -> None:
    checked = check_bundle(examples()[name].bundle())
    assert checked.outcome in ("sound", "unverified")
    open_questions = [each for each in checked.findings if each.level == "unverified"]
    assert all(OLDER.search(each.text) for each in open_questions), open_questions


@pytest.mark.parametrize("name", NAMES)
def test_nothing_private_is_in_an_example(name: str) -> None:
    text = examples()[name].bundle().decode()
    assert not _HOME.search(text)
    assert not SECRETS.search(text)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_shown_with_its_provenance_and_leaves_nothing_behind(
    name: str, desk: Desk
) -> None:
    provenance = examples()[name].provenance

    shown = desk("show", "--example", name, "--full")
    assert shown.code == 0
    before, _, said = squeezed(shown.out).partition(squeezed(provenance))
    assert "Verdict" in before, "it stands at the head of the verdict"
    assert len(said) > 10 * len(before)

    document = desk("show", f"example:{name}", "--json").document
    assert document["discussion_id"] == f"example:{name}"
    assert document["status"] == "concluded"
    assert [note["code"] for note in document["notes"]].count("example") == 1
    assert desk("show", f"example:{name}", "--follow").code == 0
    assert desk("verify", f"example:{name}").code in (0, 4)
    assert not desk.home.exists() or not any(desk.home.iterdir())


@pytest.mark.parametrize("form", ["md", "json", "html", "page"])
@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_exported_in_every_format_with_its_provenance(
    name: str, form: Form, desk: Desk
) -> None:
    done = desk("export", f"example:{name}", "--format", form)
    assert done.code == 0
    assert "A recorded example (rt" in squeezed(done.out)
    assert not desk.home.exists() or not any(desk.home.iterdir())


def test_a_bundle_made_of_an_example_keeps_its_provenance(desk: Desk) -> None:
    path = desk.workspace / "copy.bundle"
    done = desk("export", f"example:{NAMES[0]}", "--bundle", str(path))
    assert done.code == 0
    assert examples()[NAMES[0]].provenance in path.read_text("utf-8")
    assert check_bundle(path.read_bytes()).outcome in ("sound", "unverified")


def test_the_list_tells_question_procedure_answer_and_how_each_came_about(desk: Desk) -> None:
    told = desk("examples")
    assert told.code == 0
    rows = desk("examples", "--json").document
    assert [row["name"] for row in rows] == NAMES
    for row in rows:
        assert row["name"] in told.out
        assert row["procedure"] in told.out
        assert row["answer"] in told.out
        assert row["provenance"] in told.out
        assert "\n" not in row["answer"]
        assert not row["answer"].startswith(("#", "*"))
    assert not desk.home.exists() or not any(desk.home.iterdir())


@pytest.mark.parametrize(
    "words", [("show", "--example", "nope"), ("show", "example:nope"), ("verify", "example:nope"),
              ("export", "example:nope"), ("compare", "example:nope", f"example:{NAMES[0]}"),
              ("show", "--example", ""), ("show", "--example", "../../index")]
)  # fmt: skip
def test_an_unknown_name_is_answered_with_the_names_there_are(
    words: tuple[str, ...], desk: Desk
) -> None:
    done = desk(*words)
    assert done.code == 2
    assert "Unknown example" in done.err
    assert all(name in done.err for name in NAMES)


@pytest.mark.parametrize(
    "words", [("show",), ("show", f"example:{NAMES[1]}", "--example", NAMES[0])]
)
def test_show_wants_one_discussion(words: tuple[str, ...], desk: Desk) -> None:
    done = desk(*words)
    assert done.code == 2
    assert "--example NAME" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("delete", "--yes"),
        ("speak", "A word."),
        ("add", "README.md"),
        ("outcome", "good"),
        ("follow-up", "And next year?"),
        ("resume", "--again", "synthesis"),
    ],
    ids=lambda words: words[0],
)
def test_an_example_cannot_be_changed(words: tuple[str, ...], desk: Desk) -> None:
    (desk.workspace / "README.md").write_text("Material.", "utf-8")
    done = desk(words[0], f"example:{NAMES[1]}", *words[1:])
    assert done.code == 2, done
    assert done.err.strip()
    assert desk("list", "--json").document == []


async def test_an_example_is_read_and_never_written() -> None:
    ledger = WithExamples(MemoryLedger())
    id_ = f"example:{NAMES[0]}"
    records = await ledger.read(id_)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert await ledger.read(id_, after=3, limit=2) == records[3:5]
    assert [record async for record in ledger.tail(id_, after=1)] == records[1:]
    assert await ledger.summaries() == []
    with pytest.raises(NotAllowed, match="recorded example"):
        await ledger.append(id_, [])
    with pytest.raises(NotAllowed, match="recorded example"):
        await ledger.delete(id_)
    with pytest.raises(NotAllowed, match="recorded example"):
        await ledger.take_lease(id_, "me", ttl=1.0)
    with pytest.raises(UnknownName):
        await ledger.read("example:nope")


async def test_an_example_can_be_in_the_hands_of_a_table_of_ones_own(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path / "home", env={}) as table:
        id_ = f"example:{NAMES[1]}"
        assert (await table.read(id_)).discussion_id == id_
        state = await table.open("And for a larger town?", all="scripted/echo", context_from=[id_])
        assert [each.source for each in state.start.context] == [f"{PRIOR}: {id_}"]
        assert [row.discussion_id for row in await table.discussions()] == [state.discussion_id]


def test_the_demo_shows_one(desk: Desk) -> None:
    done = desk("demo", "--no-web")
    assert done.code == 0
    first = recorded_examples()[0]
    assert first.answer in done.err
    assert f"roundtable show --example {first.name}" in done.err
    assert "roundtable examples" in done.err


def test_who_has_asked_nothing_yet_is_told_of_them(desk: Desk) -> None:
    assert "roundtable examples" in desk("list").err


def test_the_excerpt_in_the_readme_is_what_its_command_prints(desk: Desk) -> None:
    """Line for line and in order; “…” is where lines are left out."""
    text = README.read_text("utf-8")
    shown = re.search(r"^\$ roundtable (show .*)\n```\n\n```text\n(.*?)^```", text, re.M | re.S)
    assert shown is not None
    printed = desk(*shown[1].split()).out
    for part in re.split(r"^…\n", shown[2], flags=re.M):
        _, found, printed = printed.partition(part.rstrip("\n"))
        assert found, part


async def test_tools_read_an_example(tmp_path: Path) -> None:
    async with start(house_settings(tmp_path / "home"), env={}) as app:
        tools = Toolset(app)
        for name in NAMES:
            given = {"discussion_id": f"example:{name}"}
            status = json.loads((await tools.call("status", given)).model_dump_json())
            assert status["discussion_id"] == f"example:{name}"
            assert (await tools.call("read", given)).model_dump_json()
