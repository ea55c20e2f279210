"""Reading an HTML page back: its elements, attributes and text, with nothing repaired."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote

VOID = frozenset(["meta", "br", "hr", "img", "link", "input", "base", "source"])


@dataclass
class Element:
    tag: str
    attrs: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def all(self, *tags: str) -> list[Element]:
        """Every element within, of these tags if any are given, in order."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if not tags or child.tag in tags:
                    found.append(child)
                found += child.all(*tags)
        return found

    def classed(self, name: str) -> list[Element]:
        return [e for e in self.all() if name in (e.attrs.get("class") or "").split()]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} repeats an attribute"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def parsed(html: str) -> Element:
    """The page; fails if an element is left open, closed wrongly, or hidden in a comment."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.open == [builder.root], f"left open: {[e.tag for e in builder.open[1:]]}"
    return builder.root


def ids(page: Element) -> list[str]:
    return [e.attrs["id"] or "" for e in page.all() if "id" in e.attrs]


def inner_links(page: Element) -> list[str]:
    """The ids that the page's links point at."""
    found = [e.attrs.get("href") or "" for e in page.all("a")]
    return [unquote(href[1:]) for href in found if href.startswith("#")]
