"""Every place where words leave: one hostile discussion is driven through all of them.

The table is held by a speaker who wrote whatever a document told it to. Nothing of what leaves may
load a picture, run HTML, lead elsewhere than it says, command a terminal or turn letters around.
A new exit belongs into this list; the last tests fail where one was made past the sanitiser.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from roundtable.core.events import StoredEvent
from roundtable.core.state import State
from roundtable.core.values import NewsChannel, NewsPlan
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.exports import exported_text
from roundtable.surfaces.files import write_outputs
from roundtable.surfaces.mcp.server import make_server
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.toolset.driving import NobodyDrives
from tests.surfaces.desk import Desk
from tests.surfaces.openai.clients import ask, chunks, content, reasoning
from tests.surfaces.openai.clients import client as openai_client
from tests.surfaces.web.house import House, client_token, feed, house

pytestmark = pytest.mark.requirement("Z-12", "Z-39")
SOURCES = Path(__file__).parents[2] / "src" / "roundtable"
GULLIBLE = {"all": "scripted/gullible"}
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class _Anything(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


@cache
def _reader(*, tables: bool) -> MarkdownIt:
    made = _Anything("commonmark", {"html": True})
    return made.enable("table") if tables else made


def assert_plain(text: str, *, where: str) -> None:
    """Nothing hidden, nothing for a terminal."""
    found = _HIDDEN.search(text)
    assert found is None, f"{where}: {found and found[0]!r}"


_IDLE = re.compile(r"</?(?!script|style|iframe)[A-Za-z][A-Za-z0-9-]*(?: [A-Za-z]+)*\s*/?>")


def assert_words(text: str, *, where: str) -> None:
    """Data, or a line of a terminal: a tag that does nothing may be in it."""
    assert_markdown(_IDLE.sub("", text), where=where)


def assert_markdown(text: str, *, where: str) -> None:
    """Nothing that any reader of Markdown would load, run or be deceived by."""
    assert_plain(text, where=where)
    for tables in (True, False):
        tokens = _reader(tables=tables).parse(text)
        for token in (*tokens, *(child for t in tokens for child in t.children or ())):
            assert token.type not in ("image", "html_inline", "html_block"), (where, token.content)
            href = str(token.attrs.get("href", ""))
            assert not href.startswith("javascript:"), where
    assert "[https://bank.example](" not in text, where


def texts_of(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from texts_of(each)
        case list():
            for each in value:
                yield from texts_of(each)


def assert_document(value: Any, *, where: str) -> None:
    for text in texts_of(value):
        assert_words(text, where=where)


class _Page(HTMLParser):
    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("img", "iframe", "object", "embed"), self.where
        for name, value in attrs:
            assert not name.startswith("on"), (self.where, name)
            if name in ("src", "href"):
                assert not (value or "").lower().startswith(("javascript:", "data:text")), (
                    self.where
                )
            if name == "src":
                assert "leak.invalid" not in (value or ""), self.where


def assert_html(text: str, *, where: str) -> None:
    assert_plain(text, where=where)
    _Page(where).feed(text)
    assert "<script>alert" not in text, where


def assert_shown(value: Any, *, where: str, name: str = "") -> None:
    """What the page gets: HTML under names that say so, and plain text that it shows as text."""
    match value:
        case str() if "html" in name:
            assert_html(value, where=f"{where} {name}")
        case str():
            assert_plain(value, where=f"{where} {name}")
        case dict():
            for key, each in value.items():
                assert_shown(each, where=where, name=key)
        case list():
            for each in value:
                assert_shown(each, where=where, name=name)


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[tuple[House, State, list[StoredEvent]]]:
    async with house(tmp_path / "home") as at:
        state = await at.service.open(
            OpenRequest(topic="Tea <b>or</b> ![x](https://leak.invalid/t.png)?", options=GULLIBLE)
        )
        state = await at.service.run(state.discussion_id)
        assert state.verdict is not None
        assert any("\x1b" in speech.text for speech in state.speeches), "it is as hostile as it was"
        yield at, state, await at.service.records(state.discussion_id)


Told = tuple[House, State, list[StoredEvent]]


async def test_exports_files_and_downloads(told: Told, tmp_path: Path) -> None:
    at, state, records = told
    assert_markdown(exported_text(records, "md"), where="export md")
    assert_document(json.loads(exported_text(records, "json")), where="export json")
    assert_html(exported_text(records, "html"), where="export html")
    page = exported_text(records, "page")
    assert_plain(page, where="export page")
    assert_shown(json.loads(page.split('id="saved">')[1].split("</script>")[0]), where="page")
    for written in write_outputs(state, tmp_path):
        text = written.read_text("utf-8")
        if written.suffix == ".json":
            assert_document(json.loads(text), where=written.name)
        else:
            assert_markdown(text, where=written.name)
    for form in ("md", "json", "html", "page"):
        answer = await at.client.get(f"{at.at(state)}/export.{form}")
        assert answer.status_code == 200
        # A page says when it was exported.
        saved = re.compile(r'"at":"[^"]*","version"')
        assert saved.sub("", answer.text) == saved.sub("", exported_text(records, form)), form


@pytest.mark.parametrize(
    "procedure", ["deliberation", "council", "adaptive", "five-round", "meeting"]
)
async def test_the_delivery_and_the_files_of_every_procedure(
    procedure: str, tmp_path: Path
) -> None:
    from roundtable.procedures import procedure_spec

    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('default_model = "scripted/gullible"\n')
    async with house(tmp_path / "home") as at:
        options: dict[str, Any] = {}
        if procedure == "meeting":
            seats = [{"profile": f"s{n}", "role": "x", "model": "scripted/gullible"} for n in "12"]
            options = {"participants": seats, "max_rounds": 1}
        request = OpenRequest(topic="Tea or coffee?", procedure=procedure, options=options)
        state = await at.service.open(request)
        state = await at.service.run(state.discussion_id)
        assert_markdown(procedure_spec(procedure).deliver(state, "0"), where=procedure)
        for written in write_outputs(state, tmp_path):
            text = written.read_text("utf-8")
            if written.suffix == ".json":
                assert_document(json.loads(text), where=written.name)
            else:
                assert_markdown(text, where=written.name)


async def test_http(told: Told) -> None:
    at, state, _ = told
    link = at.at(state)
    for path in ("", "/events", "/derived"):
        answer = await at.client.get(f"{link}{path}")
        assert_shown(answer.json(), where=path)
    for frame in await feed(at.client, f"{link}/feed"):
        assert_shown(frame.data, where="feed")
    listed = await at.client.get("/api/discussions", headers=dict(at.owner))
    assert_shown(listed.json(), where="list")
    for tool in ("read", "status", "list", "poll", "collect", "summarize"):
        body = {} if tool == "list" else {"discussion_id": state.discussion_id}
        answer = await at.client.post(f"/api/tools/{tool}", json=body, headers=dict(at.owner))
        assert_document(answer.json(), where=f"tool {tool}")


async def test_openai_whole_and_streamed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('default_model = "scripted/gullible"\n')
    async with house(home) as at, openai_client(at.url, client_token(home)) as c:
        message = (await ask(c)).choices[0].message
        assert_markdown(message.content or "", where="completion")
        assert_markdown(getattr(message, "reasoning_content", ""), where="reasoning")
        streamed = await chunks(c)
        assert_markdown("".join(map(content, streamed)), where="streamed")
        assert_markdown("".join(map(reasoning, streamed)), where="streamed reasoning")
        response = await c.responses.create(model="roundtable/quick", input="Tea or coffee?")
        assert_document(response.model_dump(mode="json"), where="response")


async def test_mcp_tools_and_resources(told: Told) -> None:
    from mcp import Client

    at, state, _ = told
    toolset = Toolset(at.app, NobodyDrives())
    async with Client(make_server(toolset)) as client:
        for tool in ("read", "status", "list", "poll", "collect", "summarize"):
            body = {} if tool == "list" else {"discussion_id": state.discussion_id}
            answer = await client.call_tool(f"roundtable_{tool}", body)
            assert_document(answer.structured_content, where=tool)
            for part in answer.content:
                assert_document(json.loads(part.text), where=tool)  # type: ignore[union-attr]
        for resource in (await client.list_resources()).resources:
            assert_markdown(f"{resource.title}", where="resource title")
        seat = state.participants[0].id
        prompt = await client.get_prompt(
            "participate", {"discussion_id": state.discussion_id, "profile": seat}
        )
        for told_so in prompt.messages:
            assert_markdown(told_so.content.text, where="prompt")  # type: ignore[union-attr]
        base = f"roundtable://{state.discussion_id}"
        for uri in (f"{base}/transcript", f"{base}/events", "roundtable://discussions"):
            for read in (await client.read_resource(uri)).contents:
                text = read.text  # type: ignore[union-attr]
                if uri.endswith("transcript"):
                    assert_markdown(text, where=uri)
                else:
                    assert_document(json.loads(text), where=uri)


async def test_every_post_of_the_notifier(tmp_path: Path) -> None:
    """Whatever the channel: posts are cleaned before any channel sees them."""
    async with house(tmp_path / "home") as at:
        plan = NewsPlan(channels=(NewsChannel(platform="dry-run"),), speech_limit=4000)
        request = OpenRequest(topic="Tea or coffee?", options=GULLIBLE, news=plan)
        state = await at.service.open(request)
        await at.service.run(state.discussion_id)
        await at.app.notifier.pump([state.discussion_id])
        await at.app.notifier.dispatch("dry-run", "![x](https://leak.invalid) <b>\x1b[2J")
        posts = at.app.notifier.channels.find("dry-run").posts  # type: ignore[union-attr]
    assert any("leak.invalid" in post.text for post in posts)
    for post in posts:
        assert_markdown(post.text, where=post.kind)


@pytest.mark.parametrize("args", [("show",), ("show", "--json"), ("export",), ("list",)])
def test_the_command_line_when_piped(desk: Desk, args: tuple[str, ...]) -> None:
    asked = desk("Tea or coffee?", "--all=scripted/gullible", "--model", "scripted/gullible")
    assert asked.code == 0
    assert_words(asked.out, where="ask")
    assert_plain(asked.err, where="progress")
    found = re.search(r"rt_[0-9a-f]{8}", desk("list").out)
    assert found is not None
    more = () if args[0] == "list" else (found[0],)
    shown = desk(args[0], *more, *args[1:])
    if "--json" in args:
        assert_document(shown.document, where="json")
    elif args[0] == "export":
        assert_markdown(shown.out, where=args[0])
    else:
        assert_words(shown.out, where=args[0])


TYPES = ("List<String>", "Box<dyn Error> <Button>", "Map<K, V>", "a <b and c", "List<?>")
ELEMENTS = "<form>, <dialog>, <img>, <script> or <input type=date>"


@pytest.mark.parametrize("word", [*TYPES, ELEMENTS])
def test_words_with_angle_brackets_are_data_as_they_were_written(desk: Desk, word: str) -> None:
    question = f"Does {word} fit better than nothing here?"
    asked = desk(question, "--all=scripted/echo", "--model", "scripted/echo", "--json", "--no-log")
    assert asked.document["topic"] == question
    assert json.dumps(question) in desk.stored()
    assert "&lt;" not in asked.out + asked.err
    for args in (("show", "last"), ("show", "last", "--json"), ("list",)):
        assert "&lt;" not in desk(*args).out, args
    exported = desk("export", "last").out
    assert_markdown(exported, where="export")
    read = MarkdownIt("commonmark").parse(exported)
    texts = "".join(c.content for t in read for c in t.children or () if c.type.startswith("text"))
    assert question in texts, "a reader of it sees what was asked"


def test_the_screen_shows_where_a_link_leads_and_gets_no_codes_but_its_own() -> None:
    import io

    from rich.console import Console

    from roundtable.surfaces.cli.terminal import rendered

    paper = io.StringIO()
    words = "[docs](https://docs.example) \x1b]8;;https://leak.invalid\x07x\x1b[2J \u202e ![p](q)"
    Console(file=paper, force_terminal=True, width=200).print(rendered(words))
    text = paper.getvalue()
    assert "https://docs.example" in text
    assert "\x1b]8" not in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text


async def test_chat(tmp_path: Path) -> None:
    from tests.surfaces.chat.test_bot import Room, served

    room = Room("/council Tea or coffee? --quick --all=scripted/gullible --no-search")
    await served(tmp_path, room)
    assert any("leak.invalid" in text for text in room.texts)
    for text in room.texts:
        assert_markdown(text, where="chat")


async def test_a_bundle_that_is_shown(told: Told, desk: Desk, tmp_path: Path) -> None:
    from roundtable.bundle import make_bundle

    _, _, records = told
    file = tmp_path / "x.roundtable"
    file.write_bytes(make_bundle(records))
    shown = await asyncio.to_thread(desk, "verify", str(file))
    assert_plain(shown.out + shown.err, where="verify")


# --- a new exit ---------------------------------------------------------------------------------

WRITERS = {"cli/terminal.py", "cli/app.py", "options_reference.py", "commands_reference.py"}
"""Files that may write to the terminal; all others go through cli/terminal.py."""


@cache
def _callers() -> Mapping[str, set[str]]:
    """By what is called, the files that call it."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = path.relative_to(SOURCES).as_posix()
                found.setdefault(ast.unparse(node.func), set()).add(name)
    return found


def test_nobody_but_the_terminal_writes_to_the_terminal() -> None:
    found = {path.removeprefix("surfaces/") for path in _callers()["click.echo"]}
    assert found <= WRITERS | {"chat/terminal.py"}, "use echo, print_json or print_markdown"


def test_every_post_is_made_where_it_is_cleaned() -> None:
    for path in _callers()["Post"]:
        text = (SOURCES / path).read_text("utf-8")
        assert "outgoing_parts" in text or path == "surfaces/cli/notify.py", path


def test_every_file_that_a_procedure_leaves_is_made_of_clean_text() -> None:
    for path in _callers()["OutputFile"]:
        text = (SOURCES / path).read_text("utf-8")
        assert re.search(r"outgoing|markdown_report|_document\(|document\(", text), path
