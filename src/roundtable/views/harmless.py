"""Markdown in which nothing does harm: read as its readers would, and changed where it must be.

Only texts that could hold something come here, and few do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.common.html_re import HTML_TAG_RE
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, autolink, link

from .lying_links import FOLLOWED, in_its_place, is_suspect, lies

_PASSES = 12
_OPENER = re.compile(r"(?<!\\)(?:\\\\)*(?:\[|<(?=\S))")
_OPENED = {"[": "\\[", "<": "&lt;"}
_MOST_OPENERS = 300
"""Of one paragraph. Beyond it nobody writes to be read, and all of them are taken for text."""
_DIVIDES = re.compile(r"[<\[\]\n]")
_INLINE_NAMES = (
    "a|abbr|audio|b|bdi|bdo|br|button|canvas|cite|code|data|datalist|del|dfn|em|embed|font|i|"
    "img|input|ins|kbd|label|map|mark|math|meter|object|output|picture|pre|progress|q|ruby|s|"
    "samp|script|select|slot|small|source|span|strike|strong|style|sub|sup|svg|textarea|time|"
    "tt|u|var|video|wbr"
)
_TAG = re.compile(rf"</?(?:{'|'.join(block_names)}|{_INLINE_NAMES})(?=[\s/>]|$)", re.IGNORECASE)
_NO_TEXT = re.compile(r"<[!?@#]")
"""Comments and declarations, and what chats take for a person or a room."""
_AT_WORK = (
    "applet|audio|base|body|datalist|dialog|embed|form|frame|frameset|head|html|"
    "iframe|img|image|input|isindex|link|listing|math|meta|noembed|noframes|noscript|object|"
    "option|picture|plaintext|pre|script|select|slot|source|style|svg|template|textarea|title|"
    "track|video|xmp"
)
"""Elements that load, run or swallow something with the attributes that they are given."""
_WORKING = re.compile(rf"</?(?:{_AT_WORK})(?=[\s/])[^>]*=", re.IGNORECASE)
"""One of them with a value, also where its end was cut off."""
_DESCRIBING = (
    "type|name|value|placeholder|min|max|step|rows|cols|for|method|lang|dir|role|alt|title|"
    r"aria-[a-z]+"
)
"""Attributes with values that load, run and hide nothing."""
_IDLE = re.compile(
    r"</?(?P<name>[a-z][a-z0-9\-]*)(?:[ \t]+(?:"
    rf"(?:{_DESCRIBING})=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'=<>`]+)"
    r"|(?!(?:hidden|popover)\b)[a-z][a-z0-9\-]*(?=[\s/>])))*\s*/?>",
    re.IGNORECASE,
)
"""A tag that does nothing, as in `List<String>`, `Box<dyn Error>` or a question on `<dialog>`:
whatever does something needs an attribute with a value, or words that it encloses."""
_END = re.compile(
    r"</(dialog|iframe|noembed|noframes|noscript|script|style|template|title)\b", re.IGNORECASE
)
"""The end of an element that runs or hides the words before it."""
_BLOCK = re.compile(rf"</?(?:{'|'.join(block_names)})(?=[\s/>]|$)|<[!?]", re.IGNORECASE)
"""What makes a block of HTML of the line that it begins."""


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """A change of one character of a line."""

    line: int
    column: int
    instead: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A character that begins or divides a construct, by its place in an inline text."""

    at: int
    instead: str


def harmless(text: str, *, words: bool = False) -> str:
    """`words`: tags that do nothing stay, for it is not to be read as Markdown."""
    for _ in range(_PASSES):
        edits = _edits(text, words)
        if not edits:
            return text
        text = _edited(text, edits)
    # Constructs in constructs without end: nobody writes that to be read.
    return _OPENER.sub(lambda each: each[0][:-1] + _OPENED[each[0][-1]], text)


def _edited(text: str, edits: set[_Edit]) -> str:
    lines: list[str] = text.split("\n")
    by_line: dict[int, list[_Edit]] = {}
    for edit in sorted(edits):
        by_line.setdefault(edit.line, []).append(edit)
    for number, its in by_line.items():
        line, parts, end = lines[number], [], 0
        for edit in its:
            parts += [line[end : edit.column], edit.instead]
            end = edit.column + 1
        lines[number] = "".join([*parts, line[end:]])
    return "\n".join(lines)


def _edits(text: str, words: bool) -> set[_Edit]:
    """What has to change, for readers who know tables and for those who do not: where a cell ends,
    so does the code in it. Definitions come first: what they define is something else then."""
    readers = [_reader(tables, words) for tables in ((True, False) if "|" in text else (False,))]
    found = [_edits_for(reader, text) for reader in readers]
    defined, edits = ({each for pair in found for each in pair[n]} for n in (0, 1))
    return defined or edits


def _edits_for(reader: _Reader, text: str) -> tuple[set[_Edit], set[_Edit]]:
    lines = text.split("\n")
    enclosing = frozenset(name.lower() for name in _END.findall(text))
    env: dict[str, Any] = {"defined": []}
    blocks = reader.parse(text, env)
    defined = {_Edit(n, lines[n].index("["), "\\[") for n in env["defined"]}
    edits: set[_Edit] = set()
    places = _Places(lines)
    for token in blocks:
        if token.type == "inline" and token.map is not None:
            found = {each.at: each.instead for each in _inline(reader, token.content, enclosing)}
            edits.update(places.of(found, token.content, token.map[0]))
    return defined, edits


class _Places:
    """Where the characters of inline texts are in the whole one: a line is counted, and in the line
    a character among its like, because what Markdown takes off a line's head has none of them."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._columns: dict[int, dict[str, list[int]]] = {}
        self._seen: Counter[tuple[int, str]] = Counter()

    def of(self, found: dict[int, str], content: str, first: int) -> Iterator[_Edit]:
        """To be asked for every text in order: the cells of a row stand in one line."""
        number = first
        for match in _DIVIDES.finditer(content):
            char = match[0]
            if char == "\n":
                number += 1
                continue
            if (instead := found.get(match.start())) is not None:
                column = self._of_line(number)[char][self._seen[number, char]]
                yield _Edit(number, column, instead)
            self._seen[number, char] += 1

    def _of_line(self, number: int) -> dict[str, list[int]]:
        if number not in self._columns:
            columns: dict[str, list[int]] = {char: [] for char in "<[]"}
            for match in _DIVIDES.finditer(self._lines[number]):
                columns[match[0]].append(match.start())
            self._columns[number] = columns
        return self._columns[number]


def _inline(reader: _Reader, content: str, enclosing: frozenset[str]) -> Iterator[_Found]:
    if not is_suspect(content):
        return
    if len(openers := list(_OPENER.finditer(content))) > _MOST_OPENERS:
        yield from (_Found(each.end() - 1, _OPENED[each[0][-1]]) for each in openers)
        return
    env: dict[str, Any] = {"found": [], "enclosing": enclosing}
    reader.inline.parse(content, reader, env, [])
    yield from env["found"]
    at = 0
    for line in content.split("\n"):
        # A line that begins with HTML is a block of it, whatever is open around it.
        head = at + len(line) - len(line.lstrip())
        if content.startswith("<", head) and reader.is_html(content, head, enclosing, begins=True):
            yield _Found(head, "&lt;")
        at += len(line) + 1


@cache
def _reader(tables: bool, words: bool) -> _Reader:
    reader = _Reader("commonmark", {"html": False})
    reader.words = words
    if tables:
        reader.enable("table")
    reader.core.ruler.enableOnly(["normalize", "block"])
    reader.block.ruler.at("reference", _defines, {"alt": []})
    reader.inline.ruler.at("image", _pictures)
    reader.inline.ruler.at("link", _links)
    reader.inline.ruler.at("autolink", _shows_itself)
    reader.inline.ruler.at("html_inline", _html)
    return reader


class _Reader(MarkdownIt):
    words = False
    """Whether it reads what is not to be read as Markdown."""

    def is_html(
        self, source: str, at: int, enclosing: frozenset[str], *, begins: bool = False
    ) -> bool:
        """Whether HTML is here that has to be text; `enclosing` are the elements that run or hide
        something and end somewhere in the whole text; `begins`: it is the first of its line."""
        if not self.words:
            return any(each.match(source, at) for each in (_TAG, _NO_TEXT, HTML_TAG_RE))
        if idle := _IDLE.match(source, at):
            return idle["name"].lower() in enclosing
        if _WORKING.match(source, at) or HTML_TAG_RE.match(source, at):
            return True
        return begins and _BLOCK.match(source, at) is not None

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - others may follow anything
        return True


def _defines(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    found = reference(state, start, end, silent)
    if found and not silent:
        state.env["defined"].append(start)
    return found


def _pictures(state: StateInline, silent: bool) -> bool:
    """No picture is one; what stands in its brackets is read as anything else is."""
    if not silent and state.src.startswith("![", state.pos):
        state.env["found"].append(_Found(state.pos + 1, "\\["))
    return False


def _links(state: StateInline, silent: bool) -> bool:
    start, first = state.pos, len(state.tokens)
    if state.src[start] != "[":
        return False
    divided = state.md.helpers.parseLinkLabel(state, start, True)
    if not link(state, silent):
        return False
    opened = next((t for t in state.tokens[first:] if t.type == "link_open"), None)
    if silent or opened is None or _is_picture(state.src, start):
        return True
    rendered = "".join(token.content for token in state.tokens[first:])
    words = in_its_place(rendered, state.src, start, state.pos)
    if lies(words, str(opened.attrs.get("href", ""))):
        head = "" if state.src[start + 1].isalnum() else "\\"
        state.env["found"] += [_Found(start, head), _Found(divided, " ")]
    return True


def _is_picture(source: str, start: int) -> bool:
    """It will be none when the mark before it is gone."""
    escaped = start > 1 and source[start - 2] == "\\"
    return start > 0 and source[start - 1] == "!" and not escaped


def _shows_itself(state: StateInline, silent: bool) -> bool:
    start = state.pos
    if state.src[start] != "<" or not autolink(state, True):
        return False
    inside, state.pos = state.src[start + 1 : state.pos - 1], start
    # A chat shows what follows a bar in place of the address.
    if "|" in inside or not FOLLOWED.match(inside if ":" in inside else f"mailto:{inside}"):
        if not silent:
            state.env["found"].append(_Found(start, "&lt;"))
        return False
    return autolink(state, silent)


def _html(state: StateInline, silent: bool) -> bool:
    reader = state.md
    assert isinstance(reader, _Reader), "nobody else reads here"
    if (
        not silent
        and state.src[state.pos] == "<"
        and reader.is_html(state.src, state.pos, state.env["enclosing"])
    ):
        state.env["found"].append(_Found(state.pos, "&lt;"))
    return False
