"""Markdown that leaves: whoever shows it loads nothing, runs nothing, and is led where it says.

What a model wrote is nobody's word but the model's, and a gullible one writes what a document told
it to. So in every text that leaves, pictures and HTML are text, definitions of links are text, and
a link whose words show another address than it has is spelled out. Code stays as it is, to the
byte, and so does all other Markdown: only the one character is changed that begins a construct.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.common.html_re import HTML_TAG_RE
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, autolink, link

from ..core.visible import shown

REMEMBERED = 32_000
"""Characters of a text that is kept when it is cleaned; larger ones would fill the memory."""
_PASSES = 12
_SUSPECT = re.compile(r"<[A-Za-z/!?@#]|!\[|\][(\[:]")
"""Without any of these there is nothing to be done, and most texts are without."""
_PLAIN_LINK = re.compile(
    r"(?<![\\!])\[(?P<words>[^\[\]<>`\\\n]*)\]\((?P<target>https?://[^\s()<>\\]+)\)"
)
"""What most links look like: they need no parser to be judged."""
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
_FOLLOWED = re.compile(r"(?:https?://[^/?#\s]|mailto:[^\s])", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:|[/\\]{2}", re.IGNORECASE)
_FILE_SUFFIXES = (
    "cc|cfg|conf|cpp|cs|css|csv|doc|docx|go|gz|hpp|hs|htm|html|ini|ipynb|java|js|json|jsonl|jsx|"
    "kt|lock|log|md|ml|mm|pdf|php|pl|pm|png|jpg|svg|ps|py|pyi|rb|rs|rst|sh|so|sql|st|svelte|"
    "swift|tar|tex|toml|ts|tsv|tsx|txt|vb|vue|xlsx|xml|yaml|yml"
)
"""What ends the name of a file or of a program: nobody takes these for addresses, though some could
be one."""
_CLAIMED = re.compile(
    r"(?:[a-z][a-z0-9+.\-]{0,30}:)?//(?P<address>[^\s/?#<>]+)(?P<path>[/?#][^\s<>]*)?"
    r"|(?<![\w.@\-])(?P<bare>(?:\d{1,3}\.){3}\d{1,3}|localhost(?=:\d)"
    rf"|(?:[\w\-]+\.)+(?!(?:{_FILE_SUFFIXES})\b)(?:[^\W\d_]{{2,63}}|xn--[\w\-]+))(?![\w\-])"
    r"(?P<port>:\d{1,5})?(?P<way>[/?#][^\s<>]*)?"
    r"|[\w.+\-]{1,64}@(?P<mail>[\w.\-]+)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"[^\s()\[\]<>|]{0,200}$")
_AFTER = re.compile(r"[^\s()\[\]<>|]{0,200}")
_EMPHASIS = re.compile(r"[*~`\\]|(?<![a-z0-9])_+|_+(?![a-z0-9])", re.IGNORECASE)
_DOTS = str.maketrans("。｡．․", "....")
"""Other alphabets' full stops, which browsers read as dots of a host."""


def outgoing(text: str) -> str:
    """A text as it may leave where it may become Markdown. Cleaning it again changes nothing."""
    text = shown(text)
    if not _is_suspect(text):
        return text
    return _remembered(text) if len(text) <= REMEMBERED else _harmless(text)


class Verbatim(str):
    """A text that a document carries as data, byte for byte: whoever takes it out makes a file of
    it, and renders nothing."""


_WORD_LENGTH = 64
"""Of names, stages, stances: what a document has again and again."""


def outgoing_document(value: Any) -> Any:
    """The same for every text in a JSON document; keys are ours."""
    known: dict[str, str] = {}

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            if isinstance(value, Verbatim):
                return value
            if len(value) > _WORD_LENGTH:
                return outgoing(value)
            if value not in known:
                known[value] = outgoing(value)
            return known[value]
        if isinstance(value, dict):
            return {key: clean(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [clean(each) for each in value]
        return value

    return clean(value)


def _is_suspect(text: str) -> bool:
    if "](" in text:
        text = _PLAIN_LINK.sub(_unless_it_lies, text)
    return _SUSPECT.search(text) is not None


def _unless_it_lies(link: re.Match[str]) -> str:
    words = _in_its_place(link["words"], link.string, link.start(), link.end())
    return link[0] if _lies(words, link["target"]) else ""


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


def _harmless(text: str) -> str:
    for _ in range(_PASSES):
        edits = _edits(text)
        if not edits:
            return text
        text = _edited(text, edits)
    # Constructs in constructs without end: nobody writes that to be read.
    return _OPENER.sub(lambda each: each[0][:-1] + _OPENED[each[0][-1]], text)


_remembered = lru_cache(maxsize=256)(_harmless)


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


def _edits(text: str) -> set[_Edit]:
    """What has to change, for readers who know tables and for those who do not: where a cell ends,
    so does the code in it. Definitions come first: what they define is something else then."""
    readers = [_reader(True), _reader(False)] if "|" in text else [_reader(False)]
    found = [_edits_for(reader, text) for reader in readers]
    defined, edits = ({each for pair in found for each in pair[n]} for n in (0, 1))
    return defined or edits


def _edits_for(reader: MarkdownIt, text: str) -> tuple[set[_Edit], set[_Edit]]:
    lines = text.split("\n")
    env: dict[str, Any] = {"defined": []}
    blocks = reader.parse(text, env)
    defined = {_Edit(n, lines[n].index("["), "\\[") for n in env["defined"]}
    edits: set[_Edit] = set()
    places = _Places(lines)
    for token in blocks:
        if token.type == "inline" and token.map is not None:
            found = {each.at: each.instead for each in _inline(reader, token.content)}
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


def _inline(reader: MarkdownIt, content: str) -> Iterator[_Found]:
    if not _is_suspect(content):
        return
    if len(openers := list(_OPENER.finditer(content))) > _MOST_OPENERS:
        yield from (_Found(each.end() - 1, _OPENED[each[0][-1]]) for each in openers)
        return
    env: dict[str, Any] = {"found": []}
    reader.inline.parse(content, reader, env, [])
    yield from env["found"]
    at = 0
    for line in content.split("\n"):
        # A line that begins with HTML is a block of it, whatever is open around it.
        head = at + len(line) - len(line.lstrip())
        if content.startswith("<", head) and _is_html(content, head):
            yield _Found(head, "&lt;")
        at += len(line) + 1


@cache
def _reader(tables: bool) -> MarkdownIt:
    reader = _Reader("commonmark", {"html": False})
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
    words = _in_its_place(rendered, state.src, start, state.pos)
    if _lies(words, str(opened.attrs.get("href", ""))):
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
    if "|" in inside or not _FOLLOWED.match(inside if ":" in inside else f"mailto:{inside}"):
        if not silent:
            state.env["found"].append(_Found(start, "&lt;"))
        return False
    return autolink(state, silent)


def _html(state: StateInline, silent: bool) -> bool:
    if not silent and state.src[state.pos] == "<" and _is_html(state.src, state.pos):
        state.env["found"].append(_Found(state.pos, "&lt;"))
    return False


def _is_html(source: str, at: int) -> bool:
    return any(pattern.match(source, at) for pattern in (_TAG, _NO_TEXT, HTML_TAG_RE))


def _in_its_place(words: str, source: str, start: int, end: int) -> str:
    """The words of a link with what touches them: a reader sees no border between."""
    before = _BEFORE.search(source[max(0, start - 200) : start])
    after = _AFTER.match(source, end)
    return f"{before[0] if before else ''}{words}{after[0] if after else ''}"


def _lies(words: str, target: str) -> bool:
    """Whether the words show another address than the link has, or it leads where no link should:
    to a script, a file, a place of this machine."""
    plain = unicodedata.normalize("NFKC", unescape(words).translate(_DOTS))
    plain = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    claims = [*_CLAIMED.finditer(plain)]
    if (bare := _EMPHASIS.sub("", plain)) != plain:
        claims += _CLAIMED.finditer(bare)
    if not _FOLLOWED.match(target):
        if _SCHEME.match(target) or target.startswith(("\\", "%5C", "%5c")):
            return True
        return any(claim[0].rstrip(_STOPS) not in target for claim in claims)
    leads = _host(target)
    return any(_claims_another(each, leads, target) for each in claims)


_STOPS = ".,;:!?'\"…)]*_~`"


def _claims_another(claim: re.Match[str], leads: str, target: str) -> bool:
    claimed = claim["address"] or claim["bare"] or claim["mail"]
    host = claimed.rpartition("@")[2].partition(":")[0]
    if _bare(host.rstrip(_STOPS)) != leads:
        return True
    way = claim["path"] or claim["way"] or ""
    shown_way, real = _way(way), _way(re.sub(r"^\w+:/*[^/?#]*", "", target))
    if way.rstrip(_STOPS.replace(".", "").replace("…", "")).endswith(
        ("…", "...")
    ):  # shortened, as long addresses are
        return not real.startswith(shown_way)
    return bool(shown_way) and shown_way != real


def _way(path: str) -> str:
    """What follows the host, however it is written and emphasised."""
    return re.sub(r"[*_~`\\]", "", unquote(path)).rstrip(_STOPS + "/")


def _host(target: str) -> str:
    if target.lower().startswith("mailto:"):
        return _bare(target.partition("?")[0].rpartition("@")[2])
    try:
        # Browsers end a host at a backslash, other readers do not.
        return "" if "\\" in target else _bare(urlsplit(target).hostname or "")
    except ValueError:
        return ""


def _bare(host: str) -> str:
    return host.lower().rstrip(".").removeprefix("www.")
