"""Items: numbered entries of a section, such as `K1: …`, and the parts that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...core.text import count_words
from ...core.wording import worded

LEAST_SUPPORT = 8
LEAST_REASON = 5
"""Words. Less than that supports nothing."""
REASONED = 15
"""Words of a support that needs no figure, quotation or conjunction to be one."""
SHORT, LEAST_NEW, LEAST_NEW_SHARE = 3, 3, 0.25
"""A reason brings at least three words of its own, and a quarter of its words; articles and the
like, of up to three letters, are no words of its own."""
NOTHING_MORE = re.compile(
    r"none worth naming|nichts weiter|ninguno más|没有值得提的|无", re.IGNORECASE
)
"""What stands under a number for which an expert has nothing: padding would be worse."""

_DIGIT = re.compile(
    r"\d|百分之|[一二三四五六七八九十百千万两]+(?:个|天|周|月|年|小时|分钟|秒|倍|成|人|元|次|万)"
)
_NUMBER = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|half|twice|double|none|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
    r"|zehn|elf|zwölf|zwanzig|hundert|tausend|doppelt|keine[rs]?|dos|tres|cuatro|cinco|seis|siete"
    r"|ocho|nueve|diez|veinte|cien|mil|ningun[oa]|deux|trois|quatre|cinq|sept|huit|neuf|dix|vingt"
    r"|cent|mille|aucune?)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""["“「『][^"”」』]{4,400}["”」』]""")
_BECAUSE = re.compile(
    r"\b(?:because|since|so that|therefore|thus|hence|if|when|due to|leads? to"
    r"|means that|weil|wenn|daher|deshalb|porque|cuando|por eso)\b"
    r"|因为|由于|所以|如果|因此|导致|从而|意味着",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Item:
    """One numbered entry of a section."""

    number: int
    text: str


def items(section: str, letter: str) -> tuple[Item, ...]:
    """The entries that begin with the letter and a number: `K1:`, `- K1.`, `**K1：** …`. Of several
    letters, in brackets, each will do.

    What follows belongs to an entry until the next one begins.
    """
    return tuple(_items(section, letter))


def _items(section: str, letter: str) -> Iterator[Item]:
    begin = re.compile(
        rf"\s{{0,3}}(?:[-*•]\s+)?\**\s?{letter}(?P<number>\d{{1,3}})\s?\**\s?[.:：)）、]\s*\**\s*"
        r"(?P<text>.*)",
        re.IGNORECASE,
    )
    number: int | None = None
    lines: list[str] = []
    for line in section.splitlines():
        match = begin.fullmatch(line)
        if match is None:
            lines.append(line)
            continue
        if number is not None:
            yield Item(number, "\n".join(lines).strip())
        number, lines = int(match["number"]), [match["text"]]
    if number is not None:
        yield Item(number, "\n".join(lines).strip())


def part(text: str, *names: str) -> tuple[str, str]:
    """The text before the first `NAME:` of these names, and what follows it; empty if there is
    none."""
    label = re.compile(rf"\**(?:{'|'.join(map(re.escape, names))})\**\s?[:：]\**", re.IGNORECASE)
    match = label.search(text)
    if match is None:
        return text.strip(), ""
    before = text[: match.start()].rstrip(" \t\n-—–;；|*(（")
    return before.strip(), text[match.end() :].strip().removesuffix(")").strip()


def is_concrete(support: str) -> bool:
    """Whether a support has substance: enough words, and a figure (in digits or words), a quotation
    or a reason; or so many words that a reason needs no sign."""
    words = count_words(support)
    if words < LEAST_SUPPORT:
        return False
    signs = (_DIGIT, _NUMBER, _QUOTED, _BECAUSE)
    return words >= REASONED or any(sign.search(support) for sign in signs)


def adds_nothing(reason: str, claim: str) -> bool:
    """Whether a reason only says again what it is the reason for."""
    known = set(worded(claim).keys)
    said = [
        key for key in worded(reason).keys if key.isdigit() or len(key) > SHORT or key > "\u2e80"
    ]
    new = {key for key in said if key not in known}
    return len(new) < max(LEAST_NEW, len(set(said)) * LEAST_NEW_SHARE)


def repeated(texts: Mapping[int, str]) -> tuple[int, ...]:
    """The numbers whose words somebody wrote under an earlier number already."""
    seen: set[str] = set()
    found = []
    for number, text in texts.items():
        words = worded(text).joined
        if words in seen:
            found.append(number)
        seen.add(words)
    return tuple(found)


def has_figure(text: str) -> bool:
    return _DIGIT.search(text) is not None


def list_lines(section: str) -> list[str]:
    """The list's entries, or every line if it is no list, without marks."""
    lines = [line.strip() for line in section.splitlines() if line.strip()]
    listed = [line for line in lines if re.match(r"[-*•]\s+|\d{1,2}[.)、]\s*", line)]
    return [re.sub(r"^(?:[-*•]\s+|\d{1,2}[.)、]\s*)", "", line).strip() for line in listed or lines]
