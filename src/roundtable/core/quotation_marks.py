"""Quotation marks: which passages of a text stand between them, or in a block of their own."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from .pattern import pattern
from .wording import UNSPACED

_PARTNERS = {
    "“": "”",
    "‟": "”",
    "❝": "❞",
    "„": '“”"',
    "”": "”",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "〝": "〞〟",
    "＂": "＂",
    '"': '"',
    "″": "″",
    "‘": "’",
    "‚": "‘’",
    "'": "'",
    "‹": "›",
}
"""Opening marks, each with those that close it."""
_TYPED = pattern(
    r"(?<![\w,]),,(?=[^\s,][^\"“”\n]{0,600}[\"“”])|(?<!`)``(?=[^`\s'][^`\n]{0,600}?'')"
)
"""Two commas or two grave accents, as marks are typed where the keyboard has none."""
_TYPED_END = pattern(r"''(?!')")
_SINGLE = frozenset("‘‚'")
"""Marks that may as well be apostrophes."""
_MARK = pattern(r"[“”‟❝❞„«»「」『』〝〞〟＂\"″‘’‚'‹›]")
_QUOTE_BLOCK = pattern(r"^[ \t]{0,3}>[^\n]*(?:\n[ \t]{0,3}>[^\n]*)*", re.MULTILINE)
_EMPTY_LINES = pattern(r"(?:^[ \t]{0,3}(?:>[ \t]*)+$\n?)+", re.MULTILINE)
_ALERT = pattern(r"[ \t]{0,3}>[ \t]*\[!\w+\]")
_SIGNATURE = pattern(r"\n[ \t]{0,3}>[ \t]*(?:[—–]|--)[ \t]*[^\n]{1,120}\Z")
"""Who said it, in the last line of a block."""
_COMPARISON = pattern(r">=?\s*[-+−±~≈]?\s*(?:[A-Z]{3}\s|[$€£¥₹])?\s*[.,]?\d[^\n]*")
"""A whole text that says “more than” so much, as an item of a list does: “> 80 % want it”."""
_MOSTLY = 0.6
_FENCE = pattern(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_CODE = pattern(r"`[^`\n]+`")
_BREAK = pattern(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•]\s|#|\||>|\d{1,3}[.)]\s))")
_ELISION = pattern(r"['’‘](?:\d\ds?\b|(?:tis|twas|em|til|cause|n)\b)", re.IGNORECASE)
_GLUED = pattern(rf"(?![{UNSPACED}])[^\W_]")
"""A letter or digit of a script with spaces: a mark beside it is inside a word, or ends one."""
_OPENS = " \t\n\u00a0([{（【—–-/*_~>:：,，“„‘‚«「『\"'|=。、；;"


@dataclass(frozen=True, slots=True)
class Passage:
    """Quoted words: `start` and `end` with the marks, `inner` without."""

    start: int
    end: int
    inner: tuple[int, int]
    block: bool = False
    closed: bool = True


def passages(text: str) -> list[Passage]:
    """The outermost quoted passages in their order, without those in code. Takes time in
    proportion to the length of the text, however its marks are paired."""
    found: list[Passage] = []
    text = _with_marks(text)
    for start, end, block in _areas(text):
        found.extend(_paragraphs(text, start, end) if block else _between_marks(text, start, end))
    return found


def _with_marks(text: str) -> str:
    """The text with marks of two characters as one mark and one that nobody sees, so that every
    place in it stays where it is."""
    if ",," not in text and "``" not in text:
        return text
    chars = list(text)
    for typed in _TYPED.finditer(text):
        at = typed.start()
        chars[at : at + 2] = ("„" if typed[0] == ",," else "“", "\u2060")
        if typed[0] != ",," and (end := _TYPED_END.search(text, typed.end())):
            chars[end.start() : end.end()] = ("\u2060", "”")
    return "".join(chars)


def _areas(text: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches without code, each with whether it is a block quote."""
    at = 0
    if _COMPARISON.fullmatch(text.strip()):
        yield 0, len(text), False
        return
    for start, end in [*_fenced(text), (len(text), len(text))]:
        for block in _QUOTE_BLOCK.finditer(text, at, start):
            yield at, block.start(), False
            yield block.start(), block.end(), not _ALERT.match(block[0])
            at = block.end()
        yield at, start, False
        at = end


def _fenced(text: str) -> list[tuple[int, int]]:
    """Blocks of code. One that nobody closes is none."""
    found: list[tuple[int, int]] = []
    begun: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if begun is None:
            begun = fence
        elif fence[1][0] == begun[1][0] and len(fence[1]) >= len(begun[1]):
            found.append((begun.start(), fence.end()))
            begun = None
    return found


def _paragraphs(text: str, start: int, end: int) -> Iterator[Passage]:
    at = start
    for gap in [*_EMPTY_LINES.finditer(text, start, end), None]:
        last = gap.start() if gap else end
        if text[at:last].strip(" \t\n>"):
            if signature := _SIGNATURE.search(text, at, last):
                last = signature.start()
            last = at + len(text[at:last].rstrip())
            marked = list(_in_paragraph(text, at, last))
            # Marks inside a block may say the same thing twice: then they tell where words end.
            if sum(each.end - each.start for each in marked) > _MOSTLY * (last - at):
                yield from marked
            else:
                yield Passage(at, last, (at, last), block=True)
        at = gap.end() if gap else end


def _between_marks(text: str, start: int, end: int) -> Iterator[Passage]:
    at = start
    for gap in _BREAK.finditer(text, start, end):
        yield from _in_paragraph(text, at, gap.start())
        at = gap.end()
    yield from _in_paragraph(text, at, end)


def _in_paragraph(text: str, start: int, end: int) -> Iterator[Passage]:
    code = [match.span() for match in _CODE.finditer(text, start, end)]
    marks = [
        match.start()
        for match in _MARK.finditer(text, start, end)
        if not _within(code, match.start())
    ]
    pairing = _Pairing(text, marks, end)
    at = start
    for number, mark in enumerate(marks):
        if mark >= at and (passage := pairing.opened(number)):
            yield passage
            at = passage.end


def _within(spans: list[tuple[int, int]], at: int) -> bool:
    """Whether a place is inside code. Words in code that are a quotation from end to end are one:
    they look like it."""
    number = bisect_right(spans, (at, 1 << 62)) - 1
    return number >= 0 and spans[number][0] + 1 < at < spans[number][1] - 2


class _Pairing:
    """Which mark of one paragraph closes which. A stack for each kind finds partners in one pass,
    because looking ahead from each mark would take the square of their number."""

    def __init__(self, text: str, marks: list[int], end: int) -> None:
        self._text, self._marks, self._end = text, marks, end
        self._partner: dict[int, int] = {}
        self._closers: dict[str, list[int]] = {}
        open_marks: dict[str, list[int]] = {}
        for mark in marks:
            char = text[mark]
            waiting = [
                kind for kind in _PARTNERS if char in _PARTNERS[kind] and open_marks.get(kind)
            ]
            if char in "“‘" and waiting:
                waiting = [kind for kind in waiting if kind in "„‚"]
            if waiting and self._may_close(mark):
                kind = max(waiting, key=lambda each: open_marks[each][-1])
                opener = open_marks[kind][-1]
                self._closers.setdefault(kind, []).append(mark)
                if kind in _SINGLE:
                    # The last one that may be an apostrophe gives way to one that may not.
                    self._partner[opener] = mark
                    if not self._may_be_possessive(mark):
                        open_marks[kind].clear()
                else:
                    open_marks[kind].pop()
                    self._partner[opener] = mark
            elif char in _PARTNERS and self._may_open(mark):
                if char in _SINGLE:
                    open_marks[char] = []
                open_marks.setdefault(char, []).append(mark)

    def opened(self, number: int) -> Passage | None:
        """The passage that a mark opens, if it does."""
        mark = self._marks[number]
        char = self._text[mark]
        partner = self._partner.get(mark)
        if partner is None and (
            char in _SINGLE or char not in _PARTNERS or not self._may_open(mark)
        ):
            return None
        if partner is None:
            later = self._closers.get(char, [])
            next_one = bisect_right(later, mark)
            partner = later[next_one] if next_one < len(later) else None
        if partner is not None:
            return Passage(mark, partner + 1, (mark + 1, partner))
        if char in "”»":
            return None
        end = mark + len(self._text[mark : self._end].rstrip())
        return Passage(mark, end, (mark + 1, end), closed=False)

    def _may_open(self, mark: int) -> bool:
        text = self._text
        char, before, after = text[mark], text[mark - 1 : mark], text[mark + 1 : mark + 2]
        if not after or after.isspace():
            return False
        if char in "„‚「『〝":
            return True
        if char in "”»":
            return not before or before in _OPENS
        if _ELISION.match(text, mark):
            return False
        return not (before and _GLUED.match(before))

    def _may_close(self, mark: int) -> bool:
        text = self._text
        char, before, after = text[mark], text[mark - 1 : mark], text[mark + 1 : mark + 2]
        if char in "」』〞〟":
            return True
        if before.isspace() or before in "([{（【":
            return char not in _SINGLE and char not in "\"″'’＂"
        return char in "”»" or not (after and _GLUED.match(after))

    def _may_be_possessive(self, mark: int) -> bool:
        """As in “the users' data”."""
        text = self._text
        after = text[mark + 1 : mark + 3]
        return text[mark - 1] in "sSxXzZ" and after[:1] == " " and after[1:].islower()
