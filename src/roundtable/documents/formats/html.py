"""HTML: what a reader of the page would read, with its headings, lists and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from ..kinds import decoded
from ..worker import Found
from .marks import END, LOWERED, RAISED, STRUCK, marked

_SILENT = frozenset(
    {"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "datalist",
     "annotation", "annotation-xml"}
)  # fmt: skip
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl",
     "dt", "dd", "table", "blockquote", "pre", "figure", "figcaption", "form", "fieldset", "br",
     "hr", "body", "address", "details", "summary", "legend", "caption", "dialog", "center",
     "hgroup", "search", "menu", "dir", "listing", "xmp"}
)  # fmt: skip
_LINES = frozenset({"br", "option", "optgroup"})
"""What begins a line, and no paragraph."""
_BESIDE = frozenset(
    {"button", "label", "input", "select", "textarea", "output", "meter", "progress", "img", "rt",
     "video", "audio", "canvas", "mi", "mn", "mo", "mtext", "mtd"}
)  # fmt: skip
"""What stands in a line with room around it."""
_MARKS = {"sup": RAISED, "sub": LOWERED, "del": STRUCK, "s": STRUCK, "strike": STRUCK}
_SCRIPTS = {"msup": (RAISED,), "msub": (LOWERED,), "msubsup": (LOWERED, RAISED)}
"""In a formula what is raised or lowered says so by its place: it follows what it hangs on."""
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
     "wbr"}
)  # fmt: skip
_CLOSED_BY = {
    "p": _BLOCKS - {"br"} | {"h1", "h2", "h3", "h4", "h5", "h6", "p"},
    "li": {"li"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "td": {"td", "th", "tr", "tbody"},
    "th": {"td", "th", "tr", "tbody"},
    "tr": {"tr", "tbody"},
    "option": {"option", "optgroup"},
}
"""What ends an element that nobody closed."""
_UNSEEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:font-size|opacity)\s*:\s*[+-]?0*\.?0+(?:%|[a-z]+)?)\s*(?:!\s*important\s*)?",
    re.IGNORECASE,
)
_STYLED = {
    RAISED: re.compile(r"vertical-align\s*:\s*(?:super|text-top)\b.*", re.IGNORECASE),
    LOWERED: re.compile(r"vertical-align\s*:\s*sub\b.*", re.IGNORECASE),
    STRUCK: re.compile(r"text-decoration(?:-line)?\s*:.*\bline-through\b.*", re.IGNORECASE),
}
_REMARK = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_HEADING = re.compile(r"h([1-6])")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset=[\"']?([\w-]{2,20})", re.IGNORECASE)


def read_html(data: bytes, found: Found) -> None:
    page = _Page()
    page.feed(_decoded(data))
    page.close()
    text = re.sub(r"[ \t]+", " ", marked("".join(page.parts)))
    text = re.sub(r" ?\n ?", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    title = " ".join("".join(page.title).split())
    if title and not text.startswith(f"# {title}"):
        text = f"{title}\n\n{text}"
    found.add(iter([("", each) for each in _pieces(text)]))


def _decoded(data: bytes) -> str:
    named = _CHARSET.search(data[:2048])
    if named is not None and named[1].lower() not in (b"utf-8", b"utf8"):
        try:
            return data.decode(named[1].decode("ascii"), "replace")
        except LookupError:
            pass
    return decoded(data)


def _pieces(text: str) -> list[str]:
    return [text[at : at + 100_000] for at in range(0, len(text), 100_000)]


def _hidden(tag: str, given: Mapping[str, str | None], styles: Sequence[str]) -> bool:
    """Whether an element by itself says that nobody sees it. What a style sheet or a script says
    is not known here; a whole page that is hidden is shown by its script."""
    if tag in _SILENT or (tag == "dialog" and "open" not in given):
        return True
    if tag in ("html", "body"):
        return False
    return "hidden" in given or any(_UNSEEN.fullmatch(each) is not None for each in styles)


def _styles(given: Mapping[str, str | None]) -> list[str]:
    return [each.strip() for each in _REMARK.sub("", given.get("style") or "").split(";")]


def _mark(tag: str, styles: Sequence[str]) -> str:
    """What its form says of an element's text."""
    told = (mark for style in styles for mark, said in _STYLED.items() if said.fullmatch(style))
    return _MARKS.get(tag) or next(told, "")


@dataclass(slots=True)
class _Element:
    tag: str
    unseen: bool
    mark: str = ""
    children: int = 0


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self._open: list[_Element] = []
        self._inside: Counter[str] = Counter()
        """The elements that are open, by their names: an end tag without one ends nothing."""
        self._silent = 0
        self._titled = False
        self._first_cell = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._titled = True
            return
        if tag == "body":
            while self._open:  # of a head that nobody closed
                self._end()
        while self._open and tag in _CLOSED_BY.get(self._open[-1].tag, ()):
            self._end()
        place = self._placed()
        if tag not in _VOID:
            given = dict(attrs)
            styles = _styles(given)
            unseen = _hidden(tag, given, styles)
            self._open.append(_Element(tag, unseen))
            self._inside[tag] += 1
            self._silent += unseen
            if not self._silent and (mark := place or _mark(tag, styles)):
                self._open[-1].mark = mark
                if place and self.parts[-1:] == [" "]:
                    self.parts.pop()
                self.parts.append(mark)
        if self._silent:
            return
        if heading := _HEADING.fullmatch(tag):
            self.parts.append(f"\n\n{'#' * int(heading[1])} ")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag == "tr":
            self.parts.append("\n")
            self._first_cell = True
        elif tag in ("td", "th"):
            self.parts.append("" if self._first_cell else " | ")
            self._first_cell = False
        elif tag in _LINES:
            self.parts.append("\n")
        elif tag in _BESIDE:
            self.parts.append(" ")
        elif tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._titled = False
            return
        seen = not self._silent
        if self._inside[tag]:
            while self._end() != tag:
                pass
        if not seen:
            return
        if _HEADING.fullmatch(tag) or (tag in _BLOCKS and tag not in _LINES):
            self.parts.append("\n\n")
        elif tag in _LINES or tag in _BESIDE:
            self.parts.append("\n" if tag in _LINES else " ")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title.append(data)
        elif not self._silent:
            self.parts.append(data if self._inside["pre"] else re.sub(r"\s+", " ", data))

    def _placed(self) -> str:
        """The mark of an element that stands where a formula raises or lowers."""
        if not self._open:
            return ""
        parent = self._open[-1]
        parent.children += 1
        if parent.tag == "mfrac" and parent.children == 2 and not self._silent:
            self.parts.append(" / ")
        return dict(enumerate(_SCRIPTS.get(parent.tag, ()), 2)).get(parent.children, "")

    def _end(self) -> str:
        """End the innermost element: its name."""
        ended = self._open.pop()
        self._inside[ended.tag] -= 1
        self._silent -= ended.unseen
        if ended.mark:
            self.parts.append(END)
        return ended.tag
