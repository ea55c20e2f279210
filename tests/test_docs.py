"""The pages tell the truth: their links lead somewhere, and the commands that they show exist."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from roundtable import Roundtable
from roundtable.core.errors import UnknownName
from roundtable.core.state import fold
from roundtable.examples import examples
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ledger.sqlite import SqliteLedger
from roundtable.procedures import PROCEDURES
from roundtable.surfaces.cli.app import cli
from roundtable.surfaces.cli.exits import MEANING
from roundtable.surfaces.toolset.toolset import find_operation
from roundtable.views.result import result

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(
        part.startswith(".") or part == "node_modules" for part in page.relative_to(ROOT).parts
    )
    and "prompts" not in page.parts
)
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^ *(`{3,})(\w*)[^\n`]*\n(.*?)^ *\1", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_SHELL = ("", "sh", "bash", "console")
_COMMAND = re.compile(r"roundtable (?=\S)")
_OURS = re.compile(r"^(?:[A-Z_]+=\S+ +)+(?=roundtable )|^[^|#]*\| (?=roundtable )")
"""What may stand before a command of ours: variables, and whatever pipes something into it."""
A_SLIP = "lsit"
"""What the grammar gives as an example of one."""
_IN_CODE = re.compile(r"(?:`|: |with |run )roundtable ([a-z][a-z-]*)\b")
_PAGE_IN_CODE = re.compile(r"\((docs/[\w-]+\.md)\)")


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The language and the text of each fenced block; one in a longer fence may hold others."""
    yield from ((language, block) for _, language, block in _FENCE.findall(text))


def _links(page: Path) -> Iterator[str]:
    for target in _LINK.findall(_INLINE.sub("", _FENCE.sub("", page.read_text("utf-8")))):
        if not re.match(r"[a-z]+:", target):
            yield target


def _anchors(page: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _commands(page: Path) -> Iterator[str]:
    text = page.read_text("utf-8")
    for language, block in blocks(text):
        for line in block.splitlines():
            bare = _OURS.sub("", line.strip().removeprefix("$ "))
            if _COMMAND.match(bare) and language in _SHELL:
                yield bare
            elif _COMMAND.match(bare) and language == "text":  # what it does stands beside it
                yield re.split(r" {2,}", bare)[0]
    yield from filter(_COMMAND.match, _INLINE.findall(_FENCE.sub("", text)))


COMMANDS = sorted({(_name(page), line) for page in PAGES for line in _commands(page)})


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_relative_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in _links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in _anchors(there), target


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = DOCS / "README.md"
    linked = {(DOCS / target.partition("#")[0]).resolve() for target in _links(index)}
    assert {page for page in DOCS.rglob("*.md") if page != index} <= linked
    assert "docs/README.md" in {*_links(ROOT / "README.md")}


def test_every_method_of_the_library_is_listed() -> None:
    text = (ROOT / "examples" / "README.md").read_text("utf-8")
    methods = {name for name in vars(Roundtable) if not name.startswith("_")}
    assert {name for name in methods if f"`{name}`" not in text} == set()


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_every_command_that_a_page_shows_is_understood(page: str, line: str) -> None:
    del page
    parse(line)


def test_a_command_or_flag_that_does_not_exist_would_be_noticed() -> None:
    for line in ("roundtable exprot ID", "roundtable show ID --colour", "roundtable skill polish",
                 "roundtable tool shout '{}'", "roundtable list one two"):  # fmt: skip
        with pytest.raises((click.UsageError, UnknownName, AssertionError)):
            parse(line)
    assert len(COMMANDS) > 80, "they are found"


def test_what_the_program_tells_people_to_run_and_to_read_exists() -> None:
    for file in sorted((ROOT / "src").rglob("*.py")):
        text = file.read_text("utf-8")
        assert set(_IN_CODE.findall(text)) <= {*cli.commands, A_SLIP}, _name(file)
        for page in _PAGE_IN_CODE.findall(text):
            assert (ROOT / page).is_file(), f"{_name(file)}: {page}"


def test_every_extra_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    settings = (DOCS / "settings.md").read_text("utf-8")
    for extra in set(project["optional-dependencies"]) - {"dev"}:
        assert f"| `{extra}` |" in settings, extra


def parse(line: str) -> None:
    """Parse a command line as the program does; nothing is run."""
    shown = line.removeprefix("roundtable ")
    words = shlex.split(re.sub(r"[\[\]]", "", shown), comments=True)
    if "--help" in words:
        words.remove("--help")
        if not words:
            return
    # Shown questions stand in quotes or begin with a capital. Any other bare word must be a
    # command: the grammar would take a slip for a question.
    asks = shown[0] in "\"'-…" or shown[0].isupper()
    assert words[0] in cli.commands or asks, f"no such command: {words[0]}"
    command: click.Command = cli
    while isinstance(command, click.Group):
        if not words and command.invoke_without_command:
            return
        name = words[0] if command is not cli or words[0] in cli.commands else "ask"
        words = words[1:] if words[:1] == [name] else words
        found = command.commands.get(name)
        assert found is not None, f"no such command: {name}"
        command = found
    if not words:  # prose that speaks of the command
        return
    # With its parent: a command keeps the help options of the first context it is made in.
    parent = cli.make_context("roundtable", ["list"])
    context = command.make_context(command.name, words, parent=parent)
    if command.name == "tool" and (tool := context.params["name"]) not in (None, "NAME"):
        find_operation(tool)
    rules = context.params.get("procedure")
    assert rules in (None, "NAME", *PROCEDURES) or f'"{rules}"' in _own(), f"no procedure {rules}"


def _own() -> str:
    """The page on the user's own procedures, whose example other lines use."""
    return (DOCS / "custom-procedures.md").read_text("utf-8")


def test_the_exit_codes_of_the_readme_are_those_of_the_program() -> None:
    table = [f"| {code} | {meaning} |" for code, meaning in MEANING.items()]
    assert "\n".join(table) in (ROOT / "README.md").read_text("utf-8")


BY_NAME = {"options", "scores", "tallies", "conformity", "influence", "deliverables"}
"""Keys of the JSON document below which names are keys, or which another page explains."""


@pytest.mark.parametrize("name", examples())
def test_every_key_of_the_json_document_is_explained(name: str) -> None:
    page = (DOCS / "reports.md").read_text("utf-8")
    told = page[page.index("## The JSON document") :]
    for key, value in result(fold(examples()[name].records())).items():
        rows = [] if key in BY_NAME else value if isinstance(value, list) else [value]
        inner = {each for row in rows if isinstance(row, dict) for each in row}
        row = next(line for line in told.splitlines() if f"`{key}`" in line.split(" | ")[0])
        for each in inner:
            assert f"`{each}`" in row, f"{key}.{each}"


def _note_codes() -> Iterator[str]:
    """The codes of notes that the source writes where it makes one."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "NoteAdded":
                given = {each.arg: each.value for each in node.keywords}
                for part in ast.walk(given["code"]):
                    value = part.value if isinstance(part, ast.Constant) else None
                    # A code that begins with a name is known where that name is made.
                    if isinstance(value, str) and (code := value.partition("/")[0]):
                        yield code


def test_every_code_of_a_note_is_listed_once() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (DOCS / "notes.md").read_text("utf-8"), re.MULTILINE)
    assert listed == sorted(set(listed))
    assert {*_note_codes()} <= {*listed}
    source = "".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))
    for code in listed:
        assert f'"{code}"' in source or f'"{code}/' in source, code


@pytest.mark.requirement("Z-01")
def test_the_page_says_how_long_a_database_is_waited_for_without_a_word() -> None:
    for ledger in (SqliteLedger, PostgresLedger):
        patience = inspect.signature(ledger.open).parameters["patience"].default
        assert patience == 10, ledger
    assert "up to ten seconds without a word" in (DOCS / "ledger.md").read_text("utf-8")
