"""What code reads from speeches: numbers, choices, lists; and the contract that asks for them.

A value that cannot be read without guessing is not read: the speaker is asked again, and if that
does not help, its speech stands without being counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.contracts import Contract, Violation, parse_sections, says_nothing
from ...core.text import clip
from .model import Extract, Stage

MOST_ITEMS = 20
LONGEST_ITEM = 300
LARGEST = 1e15

_MARKUP = re.compile(r"[*_`~]+")
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\(?\d{1,3}[.):])\s+")
_NUMBER = re.compile(r"(?<![\w.,])([-+−])?\s?[$€£¥]?\s?([-+−])?(\d[\d.,'’\u00a0\u202f]*)")
_SPACED = re.compile(r"(?<=\d)[ \u00a0](?=\d{3}(?!\d))")
_BEGINS = re.compile(
    r"[\W_]*(?:about|around|approximately|approx|roughly|circa|ca|etwa)?[\W_]*", re.IGNORECASE
)
_SCALE = re.compile(r"\s*(thousand|million|billion|trillion|k|bn)\b", re.IGNORECASE)
_EXPONENT = re.compile(r"[eE]([-+]?\d{1,2})\b")
_RANGE = re.compile(r"\s*(?:-|–|—|−|~|\bto\b|\bbis\b|\.{2,3}|…)\s*[$€£¥]?\s?\d", re.IGNORECASE)
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?:\.\d+)?")
_COMMA = re.compile(r"\d+,\d+")
_POINTED = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}

Read = float | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StageContract(Contract):
    """The sections and the length of a stage, and that everything to be read can be read."""

    extracts: tuple[Extract, ...] = ()

    def check(self, text: str) -> tuple[Violation, ...]:
        # Without super(): a dataclass with slots is another class than the one it is read in.
        unread = [e for e in self.extracts if read(e, text, self.sections) is None]
        return (
            *Contract.check(self, text),
            *(Violation("extract", f"{_place(each)}: {asked_for(each)}") for each in unread),
        )


def contract_of(stage: Stage) -> StageContract:
    return StageContract(
        sections=stage.sections,
        min_words=stage.min_words,
        max_words=stage.max_words,
        extracts=stage.extract,
    )


def asked_for(extract: Extract) -> str:
    """What is expected there, as an instruction."""
    match extract.kind:
        case "number":
            bounds = ""
            if extract.min is not None and extract.max is not None:
                bounds = f" from {extract.min:g} to {extract.max:g}"
            elif extract.min is not None:
                bounds = f" of at least {extract.min:g}"
            elif extract.max is not None:
                bounds = f" of at most {extract.max:g}"
            return f"one single number{bounds} in digits, alone on its first line; no range."
        case "choice":
            return f"exactly one of these, alone on its first line: {'; '.join(extract.choices)}."
        case "list" if extract.choices:
            return f"one a line, best first, out of these: {'; '.join(extract.choices)}."
        case _:
            return "a list, one item a line, each beginning with “- ”."


def _place(extract: Extract) -> str:
    if extract.section is not None:
        return f"The section “## {extract.section}” must hold"
    return f"A line that begins with “{extract.line}” must hold"


def read(extract: Extract, text: str, sections: Sequence[str]) -> Read | None:
    """The value in a speech, or None if it is not there or could mean several things."""
    if extract.section is not None:
        body = parse_sections(text, sections).get(extract.section, "")
    else:
        body = _after_label(text, extract.line or "")
    match extract.kind:
        case "number":
            return _number(_first_line(body), extract)
        case "choice":
            return _choice(_first_line(body), extract.choices)
        case _:
            return _items(body, extract.choices) or None


def _after_label(text: str, label: str) -> str:
    """What follows the label, to the end of its line; for a list, the lines below it as well."""
    lines = text.splitlines()
    wanted = label.casefold().rstrip(":： ")
    for place, line in enumerate(lines):
        bare = _MARKUP.sub("", _LIST_MARK.sub("", line)).strip()
        if bare.casefold().startswith(wanted):
            rest = bare[len(wanted) :].lstrip(":： ")
            following = "\n".join(lines[place + 1 : place + 1 + MOST_ITEMS])
            return f"{rest}\n{following}" if rest else following
    return ""


def _first_line(body: str) -> str:
    line = next((each for each in body.splitlines() if each.strip()), "")
    return _MARKUP.sub("", line).strip()


def _number(line: str, extract: Extract) -> float | None:
    line = _SPACED.sub("\u202f", line)
    all_found = list(_NUMBER.finditer(line))
    if not all_found:
        return None
    found = all_found[0]
    if len(all_found) > 1 and not _BEGINS.fullmatch(line[: found.start()]):
        return None  # “In 2027 it will be 42”: which of them is meant?
    digits = found[3].rstrip(".,'’\u00a0\u202f")
    end = found.start(3) + len(digits)
    if _RANGE.match(line, end):
        return None
    value = _value(digits)
    if value is None:
        return None
    if exponent := _EXPONENT.match(line, end):
        value *= 10.0 ** int(exponent[1])
    elif scale := _SCALE.match(line, end):
        value *= _SCALES[scale[1].lower()]
    if (found[1] or found[2] or "") in ("-", "−"):
        value = -value
    within = (extract.min is None or value >= extract.min) and (
        extract.max is None or value <= extract.max
    )
    return value if within and math.isfinite(value) and abs(value) <= LARGEST else None


def _value(digits: str) -> float | None:
    """Groups of three by comma, apostrophe or space; a comma before other digits is a decimal
    one, and so is one after points."""
    if len(digits) > 40:
        return None
    if _PLAIN.fullmatch(digits):
        return float(digits)
    if _GROUPED.fullmatch(digits):
        return float(re.sub(r"[^\d.]", "", digits))
    if _COMMA.fullmatch(digits):
        return float(digits.replace(",", "."))
    if _POINTED.fullmatch(digits):
        return float(digits.replace(".", "").replace(",", "."))
    return None


def _choice(line: str, choices: Sequence[str]) -> str | None:
    """The choice that stands there: alone, or as the only one that the line names."""
    bare = _bare(line)
    exact = next((choice for choice in choices if _bare(choice) == bare), None)
    if exact is not None:
        return exact
    named = [c for c in choices if re.search(rf"(?<!\w){re.escape(_bare(c))}(?!\w)", bare)]
    # “yes” stands in “yes, but later” as well: the longer one was meant.
    longest = [c for c in named if not any(c != d and _bare(c) in _bare(d) for d in named)]
    return longest[0] if len(longest) == 1 else None


def _items(body: str, choices: Sequence[str]) -> tuple[str, ...]:
    lines = [line for line in body.splitlines() if line.strip()]
    if len(lines) == 1 and ">" in lines[0]:
        lines = lines[0].split(">")
    bare = (_MARKUP.sub("", _LIST_MARK.sub("", line)).strip() for line in lines[:MOST_ITEMS])
    items = [clip(item, LONGEST_ITEM) for item in bare if item and not says_nothing(item)]
    if choices:
        items = [choice for item in items if (choice := _choice(item, choices)) is not None]
    return tuple(dict.fromkeys(items))


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s%+-]", " ", text.casefold()).split())
