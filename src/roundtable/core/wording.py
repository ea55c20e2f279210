"""Wording: a text as the words it consists of, so that two texts can be compared word for word.

Case, white space, punctuation, emphasis and invisible characters do not count. Signs, units,
currencies and comparisons do: without them a number is another number.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from .pattern import pattern

INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
"""Characters nobody sees, as a class for patterns."""
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that write no spaces between words, as a class for patterns: each character counts."""

_SHORT = 600
"""Characters up to which the words of a text are kept."""
_CURRENCY = "$€£¥₹₩₽₿¢＄￥"
_AMOUNT = rf"\s?[-+−–]?[{_CURRENCY}]?\s?\.?\d"
_UNSEEN = pattern(f"[{INVISIBLE}]")
_BLOCK_BREAK = pattern(r"\n[ \t>]*\n|\n[ \t>]*(?:[-*+•]\s|#|\||\d{1,3}[.)]\s)")
_COMMA_GROUPS = pattern(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_POINT_GROUPS = pattern(r"[1-9]\d{0,2}(?:(?:\.\d{3}){2,}(?:,\d+)?|\.\d{3},\d+)")
_DECIMAL_COMMA = pattern(r"(?:\d+,\d{1,2}|\d+,\d{4,}|0,\d+)")
_DASHES = str.maketrans("–—‑−", "----")


def _tokens(letter: str, sole: str) -> re.Pattern[str]:
    """What a text is taken apart into, by what a letter is and what is a word of its own."""
    return pattern(
        rf"""
          (?P<listed>^[ \t>]{{0,12}}\d{{1,3}}[.)](?=\s))
        | (?P<sign>(?<![\w)\]%])[-−–+±](?=[{_CURRENCY}]?\.?\d)|−(?=\s?\d)
            |[<≤≥≠≈]=?(?={_AMOUNT})
            |(?<=\S)(?<![-=])>=?(?={_AMOUNT})|(?<=\S[ \t])>=?(?={_AMOUNT}))
        | (?P<symbol>[%‰°％{_CURRENCY}])
        | (?P<number>(?<![\w.])\.\d+
            |\d+(?:[.,:/'’]\d+|[\u00a0\u202f\u2009]\d{{3}}(?!\d)|[-–—‑]\d+)*)
        | (?P<power>[⁰¹²³⁴-⁹⁺⁻]+)
        | (?P<sole>{sole})
        | (?P<word>{letter}+(?:['’ʼ]{letter}+)*(?:\+\+|\#)?)
        """,
        re.VERBOSE | re.MULTILINE,
    )


_IN_ASCII = _tokens(r"[^\W_]", "(?!)")
"""For most texts: what follows for all other scripts takes long to make."""


@cache
def _in_any_script() -> re.Pattern[str]:
    joined = _marks("".join(map(chr, range(0x300, 0x3100))))
    return _tokens(rf"(?:(?![{UNSPACED}])[^\W_]|[{joined}{INVISIBLE}])", f"[{UNSPACED}]")


def _marks(characters: str) -> str:
    """Accents and vowel signs, which are no letters for `re` and yet make another word, as a class
    for patterns: from each first to each last, because a thousand of them take long to make."""
    joined = [unicodedata.category(each)[0] == "M" for each in characters]
    changes = [at for at, (one, two) in enumerate(pairwise([False, *joined, False])) if one != two]
    ends = zip(changes[::2], changes[1::2], strict=True)
    return "".join(f"{characters[first]}-{characters[after - 1]}" for first, after in ends)


def vocabulary(*lines: str) -> frozenset[str]:
    """The words of some lines."""
    return frozenset(" ".join(lines).split())


NEGATIONS = vocabulary(
    "not no never none nothing nobody nowhere neither nor without cannot non unless except",
    "hardly barely scarcely",
    "nicht nichts nie niemals kein keine keinen keinem keiner keines ohne weder niemand kaum",
    "nunca jamás jamas ni sin nada nadie ningún ninguno ninguna tampoco",
    "ne pas jamais sans aucun aucune rien",
    "不 没 沒 未 无 無 非 别 別 莫 勿 否",
)
_HARMLESS = vocabulary(
    "非常 特别 特別 区别 區別 个别 级别 分别 类别 别人 别的 无论 無論 未来 未來 不过 不仅 不断",
    "不同 是否 否则 莫过",
)
"""Chinese words in which a character of negation negates nothing."""
_UNITS = vocabulary(
    "% ‰ ° $ € £ ¥ ₹ ₩ ₽ ₿ ¢ percent percentage prozent por ciento points bps",
    "ns µs μs ms s sec secs second seconds min mins minute minutes h hr hrs hour hours day",
    "days week weeks month months quarter quarters year years sekunde sekunden minuten stunde",
    "stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren segundo",
    "segundos minuto minutos hora horas día días semana semanas mes meses año años",
    "kb mb gb tb pb kib mib gib tib bit bits byte bytes hz khz mhz ghz w kw mw gw kwh mwh",
    "mg g kg mm cm m km ml pa kpa mpa v mv k x",
    "thousand million millions billion billions trillion mio mrd tausend millionen milliarden",
    "millón millones mil euro euros eur usd gbp chf dollar dollars cents",
    "万 亿 千 百 元 年 月 天 周 小 分 秒 毫 个 米 克 倍",
)
_CASE_TELLS = vocabulary("mw mb gb kb tb mg mhz mv mpa ml")
"""Units in which a capital makes another one: mW and MW, Gb and GB."""


@dataclass(frozen=True)
class Wording:
    """The words of a text, each with where it stands."""

    text: str
    keys: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]

    @cached_property
    def joined(self) -> str:
        """The words with one space around each, so that none is found within another."""
        return f" {' '.join(self.keys)} "

    @cached_property
    def masked(self) -> str:
        """The same with every number, sign and unit alike: what is left if only those differ."""
        return f" {' '.join(masked(self.keys))} "

    @cached_property
    def _places(self) -> list[int]:
        places, at = [], 1
        for key in self.keys:
            places.append(at)
            at += len(key) + 1
        return places

    def index_at(self, place: int) -> int:
        """The number of the word that begins at this place of `joined`."""
        return bisect_left(self._places, place)

    def place(self, index: int) -> int:
        """Where a word begins in `joined`."""
        return self._places[index] if index < len(self._places) else len(self.joined)

    def between(self, start: int, end: int) -> range:
        """The numbers of the words that begin within these characters of the text."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def gap(self, index: int) -> str:
        """What stands between a word and the one before it."""
        start = self.ends[index - 1] if index > 0 else 0
        end = self.starts[index] if index < len(self.starts) else len(self.text)
        return self.text[start:end]

    def parted(self, first: int, last: int) -> bool:
        """Whether a paragraph, a list item or a heading begins between two words."""
        return _BLOCK_BREAK.search(self.text, self.ends[first], self.starts[last]) is not None

    def negates(self, index: int) -> bool:
        """Whether a word turns the meaning of those around it."""
        key = self.keys[index]
        if key not in NEGATIONS:
            return key.endswith("n't") or key.startswith("n'")
        at = self.starts[index]
        return not (
            self.text[at : at + 2] in _HARMLESS or self.text[max(0, at - 1) : at + 1] in _HARMLESS
        )

    def cuts_number(self, first: int, last: int) -> bool:
        """Whether words from `first` to `last` leave out the sign or the unit of a number at
        their edges."""
        before, after = first - 1, last + 1
        if before >= 0 and _is_number(self.keys[first]) and not self.gap(first).strip(" *_`"):
            key = self.keys[before]
            if _is_sign(key) or key in _CURRENCY:
                return True
        return (
            after < len(self.keys)
            and _is_number(self.keys[last])
            and self.keys[after].casefold() in _UNITS
            and not self.gap(after).strip(" *_`\u00a0\u202f")
        )


def worded(text: str) -> Wording:
    """The words of a text. Takes time in proportion to its length."""
    return _short(text) if len(text) <= _SHORT else _worded(text)


@lru_cache(maxsize=4096)
def _short(text: str) -> Wording:
    """A line or a sentence, which is compared with many others and so is asked for many times."""
    return _worded(text)


def _worded(text: str) -> Wording:
    keys: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    known: dict[tuple[str | None, str], str] = {}
    for match in (_IN_ASCII if text.isascii() else _in_any_script()).finditer(text):
        kind, raw = match.lastgroup, match[0]
        key = known.get((kind, raw))
        if key is None:
            key = known[kind, raw] = _key(kind, raw)
        if not key:
            continue
        if kind == "word" and keys and key in _CASE_TELLS and _is_number(keys[-1]):
            key = raw.replace("k", "K")
        keys.append(key)
        starts.append(match.start())
        ends.append(match.end())
    return Wording(text, tuple(keys), tuple(starts), tuple(ends))


def masked(keys: Sequence[str]) -> list[str]:
    """Words with each number and unit replaced; signs are left out."""
    kept: list[str] = []
    after_number = False
    for key in keys:
        if _is_sign(key) or key in _CURRENCY:
            continue
        is_number = _is_number(key)
        kept.append("#" if is_number or (after_number and key.casefold() in _UNITS) else key)
        after_number = is_number
    return kept


def _key(kind: str | None, raw: str) -> str:
    match kind:
        case "number":
            return _number(raw)
        case "listed":
            return ""
        case "sign":
            return raw.translate(_DASHES)
        case "power":
            return f"^{raw}"
        case _:
            plain = raw if raw.isascii() else unicodedata.normalize("NFKC", _UNSEEN.sub("", raw))
            return plain.replace("’", "'").replace("ʼ", "'").casefold()


def _number(raw: str) -> str:
    """A number with its separators of thousands taken out and a decimal point, where there is one
    reading only. “1.000” is a thousand or one: it equals nothing but itself."""
    number = re.sub(r"[\u00a0\u202f\u2009]|['’](?=\d{3}(?!\d))", "", raw).translate(_DASHES)
    if _COMMA_GROUPS.fullmatch(number):
        return number.replace(",", "")
    if _POINT_GROUPS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    if _DECIMAL_COMMA.fullmatch(number):
        return number.replace(",", ".")
    return unicodedata.normalize("NFKC", number)


def _is_number(key: str) -> bool:
    return key[:1].isdigit() or (key[:1] == "." and len(key) > 1)


def _is_sign(key: str) -> bool:
    return key[:1] in "-+±<>≤≥≠≈"
