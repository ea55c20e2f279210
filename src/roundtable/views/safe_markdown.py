"""Markdown that somebody else wrote, as HTML that can do no harm.

Nothing of the text becomes markup except what Markdown itself has: no HTML, no images, no
addresses but http, https and mailto. A link says where it leads, because its text may lie.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from urllib.parse import quote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ..core.quotes import QUOTED, Sources, is_quotation
from ..core.visible import visible
from .emphasis import signs_of_words
from .five_round.references import with_turns

_ALLOWED = re.compile(r"(?:https?://[^/?#\s]|mailto:[^\s])", re.IGNORECASE)
_ADDRESS = r"https?://[^\s<>\"'“”「」（）()\[\]]*[^\s<>\"'“”「」（）()\[\].,;:!?。，；：！？]"
_TURN = r"(?<![\w/.-])\d+/[\w-]+/[\w.-]*[\w-]"
_POINT = r"(?<=\[)[A-Za-z][\w.-]{0,40}(?=\])"
_FIND = re.compile(f"({_ADDRESS})|({_TURN}|{_POINT})|({QUOTED})")
_MAY_FIND = re.compile(r'[/\["“„«»「『]')
"""What is found has one of these: an address and a turn a slash, a point a bracket, a quotation its
mark."""
_FIND_INSIDE = re.compile(f"({_ADDRESS})|({_TURN}|{_POINT})|($^)")
_OPENING, _CLOSING = tuple("([（【［"), tuple(")]）】］")
_ALIGNED = {"text-align:right": "end", "text-align:center": "middle"}
_FLOWING = frozenset(["paragraph_open", "heading_open", "th_open", "td_open"])
_NUMBERED = re.compile(r"\d{1,9}\Z")
_ANY_NUMBER = r"\\d{1,9}"
"""At the end of a label, the round."""
_PROSE_LINE = r"[^\s\\`*_~\[\]<>&|#+\-=:\d](?:[^\n\r\\`*_~\[\]<&|]*[^\s\\`*_~\[\]<&|])?"
_BREAK = "<br />\n"
_BLANK_LINES = re.compile(r"\n{2,}")
_PROSE = re.compile(rf"\n*{_PROSE_LINE} *(?:\n+{_PROSE_LINE} *)*\n*")
"""Paragraphs in which nothing can be Markdown: no line begins as a block of another kind does, and
no character begins anything within a line."""
_LIMIT = 60_000
"""Characters of one text: beyond it nobody reads, and a browser should not have to."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What people call the turns: a text may cite them by it, and is shown by it."""

    by_turn: Mapping[str, str]
    by_label: Mapping[str, str]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, by_turn: Mapping[str, str], turns: Iterable[str] | None = None) -> Labels:
        """Of several turns with one label the first is meant. `turns` are those of the rounds: a
        host is called by its name alone, and that is a word."""
        by_label: dict[str, str] = {}
        for turn in by_turn if turns is None else turns:
            if not turn.startswith("0/"):
                by_label.setdefault(by_turn[turn], turn)
        # One name stands in the labels of many rounds.
        forms = {_NUMBERED.sub(_ANY_NUMBER, re.escape(label)) for label in by_label}
        longest = sorted(forms, key=len, reverse=True)
        found = "|".join(longest) or r"(?!)"  # which matches nothing, not even ""
        return cls(by_turn, by_label, re.compile(rf"(?<!\w)(?:{found})(?!\w)"))

    def cited(self, text: str) -> str:
        """The text with turns in place of what they are called."""
        marked = with_turns(text, lambda name, at: self.by_label.get(f"{name}, round {at}", ""))
        return self.pattern.sub(lambda match: self.by_label.get(match[0], match[0]), marked)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a text may refer to."""

    links: Mapping[str, str] = field(default_factory=dict)
    """Turns and points, each with the id of its place in the page."""
    speeches: Sources = field(default_factory=lambda: Sources({}))
    """Given to have quotations verified: the words of each turn."""
    own: Mapping[str, str] = field(default_factory=dict)
    """Whose words stand in the text as their own, such as a dissent. What somebody quotes in them
    is not proved by that one's turns, where it stands too."""
    labels: Labels | None = None
    unproved_by: frozenset[str] = frozenset()
    """Whose turns prove nothing."""

    def not_by(self, participant: str) -> Surroundings:
        """The same for a text of this participant: its own turns prove nothing that it quotes."""
        return replace(self, unproved_by=self.unproved_by | {participant})

    def proof_of(self, words: str) -> str | None:
        """The turn in which these words were said."""
        return self.speeches.find(
            words, but=lambda turn: turn.rpartition("/")[2] in self.unproved_by
        )


NOWHERE = Surroundings()


def to_html(text: str, *, below: int = 1, around: Surroundings = NOWHERE) -> str:
    """The text as HTML blocks. Its headings come below the document's heading of level `below`."""
    text = _with_turns(visible(text), around)
    if len(text) <= _LIMIT and _PROSE.fullmatch(text):
        return _prose(text, around)
    left_out = len(text) - _LIMIT
    reader = _reader()
    tokens = reader.parse(text[:_LIMIT])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + below)}"
        if token.type in _FLOWING:
            style = str(token.attrs.pop("style", ""))
            token.attrs["dir"] = "auto"
            if style in _ALIGNED:
                token.attrs["class"] = _ALIGNED[style]
        if token.type == "fence":
            token.info = ""
        if token.type == "inline" and token.children:
            token.children = list(_inline(token.children, around))
    html = str(reader.renderer.render(tokens, reader.options, {}))
    if left_out > 0:
        html += f"<p>[{left_out:,} further characters are not shown]</p>\n"
    return html


def _prose(text: str, around: Surroundings) -> str:
    """Paragraphs without any mark, as the reader would make them of their tokens: it takes several
    times as long."""
    found: list[str] = []
    for block in _BLANK_LINES.split(text.strip("\n")):
        lines = ["".join(_pieces(line.rstrip(" "), around)) for line in block.split("\n")]
        found.append(f'<p dir="auto">{_BREAK.join(lines)}</p>\n')
    return "".join(found)


def linked(text: str, around: Surroundings) -> str:
    """Plain text as HTML: only addresses and what may be cited become links."""
    return "".join(_pieces(_with_turns(visible(text), around), around))


def _with_turns(text: str, around: Surroundings) -> str:
    return around.labels.cited(text) if around.labels else text


def reference(place: str) -> str:
    """An id of the page as the address of a link."""
    return "#" + quote(place, safe="/")


@cache
def _reader() -> MarkdownIt:
    reader = _Reader("commonmark", {"html": False, "breaks": True})
    # A link's address stands beside its text or nowhere: definitions would hide it.
    reader.enable(["table", "strikethrough"]).disable("reference")
    reader.inline.ruler.before("emphasis", "signs", _signs)
    reader.add_render_rule("table_open", _opened('<div class="scroll" tabindex="0"><table>\n'))
    reader.add_render_rule("table_close", _opened("</table></div>\n"))
    return reader


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        return _ALLOWED.match(url) is not None


def _signs(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "*_" or not (many := signs_of_words(state.src, state.pos)):
        return False
    if not silent:
        state.pending += state.src[state.pos : state.pos + many]
    state.pos += many
    return True


def _opened(html: str) -> Callable[..., str]:
    def rule(*_: object) -> str:
        return html

    return rule


def _inline(tokens: Sequence[Token], around: Surroundings) -> Iterator[Token]:
    target, words = "", ""
    for token in tokens:
        if token.type == "link_open":
            target, words = str(token.attrs.get("href", "")), ""
            token.attrs = {"href": target, "rel": "noopener noreferrer nofollow"}
            yield token
        elif token.type == "link_close":
            yield token
            if hint := _where_it_leads(target, words):
                yield _raw(hint)
            target = ""
        elif token.type == "image":
            # What an image shows is its author's word; where it lies would be loaded.
            yield _raw(f'<span class="image">[image: {escape(token.content) or "no text"}]</span>')
        elif token.type == "text" and not target:
            yield from (_raw(piece) for piece in _pieces(token.content, around))
        elif token.type == "code_inline" and not target and token.content in around.links:
            yield _raw(_cited(token.content, around))
        else:
            words += token.content
            yield token


def _pieces(text: str, around: Surroundings, inside: bool = False) -> Iterator[str]:
    if not _MAY_FIND.search(text):
        yield escape(text)
        return
    end = 0
    for match in (_FIND_INSIDE if inside else _FIND).finditer(text):
        address, name, quotation = match.groups()
        if address:
            found = _outside(address) if _ALLOWED.match(address) else None
        elif name:
            within = _bracketed(text, match.start(), match.end())
            found = _cited(name, around, within=within) if name in around.links else None
        else:
            found = _quoted(quotation, around)
        if found is not None:
            yield escape(text[end : match.start()]) + found
            end = match.end()
    yield escape(text[end:])


def _bracketed(text: str, begin: int, end: int) -> bool:
    """Whether a citation stands in brackets of its text: then paper needs none around it."""
    return text[begin - 1 : begin] in _OPENING and text[end : end + 1] in _CLOSING


def _cited(name: str, around: Surroundings, *, within: bool = False) -> str:
    called = _called(name, around)
    kind = "cite within" if within else "cite"
    return f'<a class="{kind}" href="{escape(reference(around.links[name]))}">{escape(called)}</a>'


def _called(name: str, around: Surroundings) -> str:
    return around.labels.by_turn.get(name, name) if around.labels else name


def _outside(address: str) -> str:
    href = escape(quote(address, safe="/:?#@!$&*+,;=%~-._"))
    return f'<a href="{href}" rel="noopener noreferrer nofollow">{escape(address)}</a>'


def _quoted(quotation: str, around: Surroundings) -> str:
    """A quotation, marked if these very words were said, with a way to where."""
    within = "".join(_pieces(quotation, around, inside=True))
    words = quotation[1:-1]
    if not around.speeches or not is_quotation(words):
        return within
    for participant, said in around.own.items():
        if words in said:
            around = around.not_by(participant)
    turn = around.proof_of(words)
    if turn is None or turn not in around.links:
        return within
    href = escape(reference(around.links[turn]))
    said = escape(f"word for word in {_called(turn, around)}")
    return (
        f'<span class="verified">{within}</span>'
        f'<a class="proof" href="{href}" title="{said}" aria-label="{said}">✓</a>'
    )


def _where_it_leads(target: str, words: str) -> str:
    """The place behind a link, unless its text is the very address."""
    if words.strip().rstrip("/") in (target.rstrip("/"), target.removeprefix("mailto:")):
        return ""
    try:
        host = urlsplit(target).netloc or target
    except ValueError:
        host = target
    return f' <span class="leads">({escape(host)})</span>'


def _raw(html: str) -> Token:
    return Token("html_inline", "", 0, content=html)
