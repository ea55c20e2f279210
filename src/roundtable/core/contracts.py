"""Contracts: what a speech must contain, checked by code and not only asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .declaration import Declaration
from .text import count_words

UNSTRUCTURED = "[unstructured response]"
REMEMBERED = 32_000
"""Characters of a text whose sections are kept; larger ones would fill the memory."""
_INDENTED = re.compile(r"\s{4}")
_CODE = ("```", "~~~")
_BOLD = 100
_NOTHING = re.compile(
    r"[\W_]*(?:none|no dissent|nothing|n/?a|not applicable|no"
    r"|keine?|keiner|keines|kein dissens|nichts|entfällt|ningun[oa]|ningún|nada)\b",
    re.IGNORECASE,
)
"""In the languages that the setup offers: a model asked to write German may translate the word."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a speech breaks its contract, in words that a speaker can act on."""

    code: str
    message: str
    section: str = ""
    """The section that is to be written anew; empty if it concerns the whole speech."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a speech must contain. An empty contract accepts any text that is not empty."""

    sections: tuple[str, ...] = ()
    min_words: int = 0
    max_words: int | None = None
    flag: str = UNSTRUCTURED
    """Put on a speech that is used although it breaks the contract."""

    @property
    def limits_length(self) -> bool:
        return self.min_words > 0 or self.max_words is not None

    def check(self, text: str) -> tuple[Violation, ...]:
        missing = self._missing(text)
        # A speech without any of its sections has no place for them: it is asked for whole.
        shapeless = len(missing) == len(self.sections)
        violations = [
            Violation(
                "section",
                f"The section “## {heading}” is missing or empty.",
                "" if shapeless else heading,
            )
            for heading in missing
        ]
        words = count_words(text) if self.limits_length else 0
        if words < self.min_words:
            violations.append(
                Violation("short", f"{words} words; at least {self.min_words} are needed.")
            )
        if self.max_words is not None and words > self.max_words:
            violations.append(
                Violation("long", f"{words} words; at most {self.max_words} are allowed.")
            )
        return tuple(violations)

    def check_declared(self, declaration: Declaration | None) -> tuple[Violation, ...]:  # noqa: ARG002
        """What is wrong with a speech in the light of what it declares."""
        return ()

    def _missing(self, text: str) -> list[str]:
        found = self.parse(text)
        return [heading for heading in self.sections if not found.get(heading)]

    def parse(self, text: str) -> dict[str, str]:
        """The contract's sections as they stand in the text."""
        return parse_sections(text, self.sections)


ANYTHING = Contract()


def sections_to_mend(violations: Sequence[Violation]) -> tuple[str, ...]:
    """The sections that have to be written anew, where nothing else is wrong; none if the whole
    speech is."""
    if not violations or not all(violation.section for violation in violations):
        return ()
    return tuple(dict.fromkeys(violation.section for violation in violations))


def with_sections(text: str, mended: str, headings: Sequence[str]) -> str:
    """The text with these sections taken from `mended`, in the place where they stood or at the
    end. Sections that `mended` does not have stay as they are."""
    bodies = {name: body for name, body in parse_sections(mended, headings).items() if body}
    if not bodies and len(headings) == 1 and mended.strip():
        bodies = {headings[0]: mended.strip()}  # asked for one section, it came without a heading
    lines, code = text.splitlines(), _code_lines(text.splitlines())
    begun = _beginnings(lines, {_normal(heading): heading for heading in bodies})
    kept: list[str] = []
    placed: set[str] = set()
    skipping = False
    for number, line in enumerate(lines):
        words = "" if number in code else _heading(line)[0]
        if number in begun:
            title = begun[number][0]
            skipping = True
            if title not in placed:
                placed.add(title)
                kept += [f"## {title}", bodies[title], ""]
        elif words and line.lstrip().startswith("#"):
            skipping = False
        if not skipping:
            kept.append(line)
    rest = [f"## {name}\n{body}" for name, body in bodies.items() if name not in placed]
    return "\n\n".join(["\n".join(kept).strip(), *rest]).strip()


def parse_sections(text: str, headings: Sequence[str]) -> dict[str, str]:
    """The bodies under the given headings: any heading level or bold line, case ignored, numbered
    or not. Words after a colon (`## Confidence: high`, `**Confidence:** high`) begin the body.

    Headings that are not in the list stay part of the section in which they stand, and so does
    everything in a block of code, where a `#` begins a comment. When a heading comes twice, the
    bodies are joined; but one of a lower level than the other is a heading within its section.
    """
    # One speech is parsed when it is checked, when it is taken in, and by most decisions after it.
    if len(text) > REMEMBERED:
        return _parsed(text, tuple(headings))
    return dict(_remembered(text, tuple(headings)))


def _parsed(text: str, headings: tuple[str, ...]) -> dict[str, str]:
    wanted = {name: heading for heading in headings if (name := _normal(heading))}
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    lines = text.splitlines()
    begun = _beginnings(lines, wanted)
    for number, line in enumerate(lines):
        if number in begun:
            title, rest = begun[number]
            current = bodies.setdefault(title, [])
            if rest:
                current.append(rest)
        elif current is not None:
            current.append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in bodies.items()}


def _beginnings(lines: Sequence[str], wanted: Mapping[str, str]) -> dict[int, tuple[str, str]]:
    """The lines at which a section begins, each with its title and the words that follow it."""
    code = _code_lines(lines)
    found: dict[int, tuple[str, str]] = {}
    levels: dict[str, int] = {}
    for number, line in enumerate(lines):
        words, rest = ("", "") if number in code else _heading(line)
        title = wanted.get(_normal(words)) if words else None
        if title is None and rest:
            title, rest = wanted.get(_normal(f"{words} {rest}")), ""
        if title is not None:
            found[number] = title, rest
            levels[title] = min(_level(line), levels.get(title, _BOLD))
    return {at: each for at, each in found.items() if _level(lines[at]) == levels[each[0]]}


def _level(line: str) -> int:
    """Of a heading, from 1; bold words stand below all others."""
    bare = line.lstrip()
    return len(bare) - len(bare.lstrip("#")) or _BOLD


_remembered = lru_cache(maxsize=256)(_parsed)


def _code_lines(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines in blocks of code. A block that nobody closes is none: a forgotten
    mark must not swallow the rest of an answer."""
    code: set[int] = set()
    begun: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        bare = line.strip()
        mark = bare[:3]
        if begun is None:
            if mark in _CODE and "`" not in bare.lstrip("`"):
                begun = number, mark
        elif mark == begun[1]:
            code.update(range(begun[0], number + 1))
            begun = None
    return code


def _heading(line: str) -> tuple[str, str]:
    """The words of a heading or of bold words at the start of a line, and what follows their
    colon; empty for any other line."""
    bare = line.strip()
    if bare[:1] not in ("#", "*") or _INDENTED.match(line):
        return "", ""
    if bare.startswith("#"):
        words, _, rest = bare.strip("#").partition(":")
        return words, rest.strip(" *")
    if not bare.startswith("**"):
        return "", ""
    words, mark, rest = bare[2:].partition("**")
    if not mark or not (words.endswith(":") or rest.lstrip().startswith(":") or not rest.strip()):
        return "", ""
    return words, rest.strip().removeprefix(":").strip()


def _normal(heading: str) -> str:
    words = re.sub(r"[^\w]+", " ", heading).strip().casefold()
    return re.sub(r"^\d+ (?=\D)", "", words)


def says_nothing(text: str) -> bool:
    """Whether a section is there only to say that it is empty ("None.", "No dissent.")."""
    match = _NOTHING.match(text)
    return count_words(text[match.end() :] if match else text) == 0
