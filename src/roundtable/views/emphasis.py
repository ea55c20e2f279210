"""Emphasis: the marks of Markdown in a few words, told from signs that belong to the words.

Options, positions, reasons and headlines are words, though models put marks into them. `__init__`,
`2**3**2` and `src/**/x.py` are words, too: a reader of Markdown takes their signs away, and what is
left is another name, or another number.
"""

from __future__ import annotations

import re

_WORD = r"A-Za-z0-9_"
_LONGEST = 400
"""Characters that one mark goes around."""
_BEHIND = rf"(?<![{_WORD}*/\\])"
_AHEAD = rf"(?![{_WORD}*/])"
_SOME = f"{{1,{_LONGEST}}}?"
_BEGINS_BLOCK = re.compile(
    r"\A\s*(?P<number>(?=[-+*]\s+[$€£¥₹.,]?\d|>=?\s*[$€£¥₹.,]?\d|#\s)|\d{1,9}(?=[.)]\s))"
)
_TOKEN = re.compile(
    rf"""
      (?P<escaped>\\[*_`\\])
    | (?<!`)(?P<ticks>`{{1,4}})(?!`)(?P<code>.{_SOME})(?<!`)(?P=ticks)(?!`)
    | {_BEHIND}(?P<stars>\*\*)(?=[^\s*])(?P<strong>.{_SOME})(?<=\S)\*\*{_AHEAD}
    | (?<![{_WORD}])(?P<lines>__)(?=[^\s_]+\s)(?P<heavy>(?:(?!__).){_SOME})(?<=\S)__(?![{_WORD}])
    | {_BEHIND}(?P<star>\*)(?=[^\s*])(?P<light>[^*\n]{_SOME})(?<=\S)\*{_AHEAD}
    | (?<![{_WORD}])(?P<under>_)(?=[^\s_])(?P<thin>[^_\n]{_SOME})(?<=\S)_(?![{_WORD}])
    | (?P<signs>(?<=\S)\*+|\*+(?=\S))
    | (?<![{_WORD}])(?P<name>__[{_WORD}]+?__)(?![{_WORD}])
    """,
    re.VERBOSE | re.DOTALL,
)
_AROUND = {"stars": "strong", "lines": "heavy", "star": "light", "under": "thin"}
_NAME = re.compile(rf"__[{_WORD}]+?__(?![{_WORD}])")
_STARS = re.compile(rf"\*+(?=[{_WORD}/])|(?<=/)\*+(?=\S)")
_JOINS = re.compile(rf"[{_WORD}/]")


def without_emphasis(text: str, *, light: bool = False) -> str:
    """The words without the marks that make them heavy or code, and with those that make them
    `light`, which somebody's prose has; their own signs stay."""

    def bare(found: re.Match[str]) -> str:
        if found["code"] is not None:
            return found["code"]
        inside = found["strong"] or found["heavy"]
        if light:
            inside = inside or found["light"] or found["thin"]
        return found[0] if inside is None else without_emphasis(inside, light=light)

    return _TOKEN.sub(bare, text)


def meant(text: str) -> str:
    """The words for a writer of Markdown: marks stay marks, and what belongs to the words is
    escaped, so that its reader shows it."""

    def kept(found: re.Match[str]) -> str:
        for sign, inside in _AROUND.items():
            if found[sign]:
                return f"{found[sign]}{meant(found[inside])}{found[sign]}"
        if found["signs"] or found["name"]:
            return re.sub(r"([*_])", r"\\\1", found[0])
        return found[0]

    return _TOKEN.sub(kept, text)


def as_item(text: str) -> str:
    """The words of an item for a writer of Markdown: a sign or a number that they begin with is
    theirs, and opens no list, heading or quotation. “- 5 %” is a loss, and “> 80 %” is more."""
    return _BEGINS_BLOCK.sub(r"\g<number>\\", text, count=1)


def as_meant(text: str) -> str:
    """The words again, as whoever reads that Markdown sees them."""
    return text.replace("\\*", "*").replace("\\_", "_").replace("&lt;", "<")


def signs_of_words(text: str, at: int) -> int:
    """How many characters at this place are signs of the words around them, and no emphasis."""
    joined = at > 0 and _JOINS.match(text, at - 1) is not None
    if text[at] == "*":
        found = _STARS.match(text, at) if joined else None
    else:
        found = None if joined else _NAME.match(text, at)
    return len(found[0]) if found else 0
