"""HTML: what a reader of the page would read, with its headings, lists and tables."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

from ..kinds import decoded
from ..worker import Found

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl",
     "dt", "dd", "table", "blockquote", "pre", "figure", "figcaption", "form", "fieldset", "br",
     "hr", "body", "address"}
)  # fmt: skip
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
_REMARK = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_HEADING = re.compile(r"h([1-6])")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset=[\"']?([\w-]{2,20})", re.IGNORECASE)


def read_html(data: bytes, found: Found) -> None:
    page = _Page()
    page.feed(_decoded(data))
    page.close()
    text = re.sub(r"[ \t]+", " ", "".join(page.parts))
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


def _hidden(tag: str, attrs: list[tuple[str, str | None]]) -> bool:
    """Whether an element by itself says that nobody sees it. What a style sheet or a script says
    is not known here; a whole page that is hidden is shown by its script."""
    if tag in _SILENT:
        return True
    if tag in ("html", "body"):
        return False
    given = dict(attrs)
    style = _REMARK.sub("", given.get("style") or "")
    return "hidden" in given or any(
        _UNSEEN.fullmatch(each.strip()) is not None for each in style.split(";")
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self._open: list[tuple[str, bool]] = []
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
        while self._open and tag in _CLOSED_BY.get(self._open[-1][0], ()):
            self._end()
        if tag not in _VOID:
            unseen = _hidden(tag, attrs)
            self._open.append((tag, unseen))
            self._inside[tag] += 1
            self._silent += unseen
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
        elif tag in _BLOCKS:
            self.parts.append("\n" if tag == "br" else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._titled = False
            return
        seen = not self._silent
        if self._inside[tag]:
            while self._end() != tag:
                pass
        if seen and (_HEADING.fullmatch(tag) or tag in _BLOCKS):
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title.append(data)
        elif not self._silent:
            self.parts.append(re.sub(r"\s+", " ", data))

    def _end(self) -> str:
        """End the innermost element: its name."""
        tag, unseen = self._open.pop()
        self._inside[tag] -= 1
        self._silent -= unseen
        return tag
