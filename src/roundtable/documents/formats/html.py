"""HTML: what a reader of the page would read, with its headings, lists and tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from ..kinds import decoded
from ..worker import Found

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl",
     "dt", "dd", "table", "blockquote", "pre", "figure", "figcaption", "form", "fieldset", "br",
     "hr", "body", "address"}
)  # fmt: skip
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


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self._silent = 0
        self._titled = False
        self._first_cell = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's
        if tag == "title":
            self._titled = True
        elif tag in _SILENT:
            self._silent += 1
        elif tag == "body":
            self._silent = 0  # of a head that nobody closed
        elif heading := _HEADING.fullmatch(tag):
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
        elif tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif _HEADING.fullmatch(tag) or tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title.append(data)
        elif not self._silent:
            self.parts.append(re.sub(r"\s+", " ", data))
