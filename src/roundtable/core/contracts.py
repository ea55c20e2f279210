"""Contracts: what a speech must contain, checked by code and not only asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .text import count_words
from .values import Confidence

UNSTRUCTURED = "[unstructured response]"
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s*(?P<hash>.+?)\s*#*|\*\*(?P<bold>[^*]+?)\*\*:?)\s*$")
_CONFIDENCE = re.compile(r"\b(high|medium|low)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"^[\W_]*(?:none|no dissent|nothing|n/?a|not applicable|no)\b[\W_]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a speech breaks its contract, in words that a speaker can act on."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Contract:
    """What a speech must contain. An empty contract accepts any text that is not empty."""

    sections: tuple[str, ...] = ()
    min_words: int = 0
    max_words: int | None = None
    flag: str = UNSTRUCTURED
    """Put on a speech that is used although it breaks the contract."""

    def check(self, text: str) -> tuple[Violation, ...]:
        violations = [
            Violation("section", f"The section “## {heading}” is missing or empty.")
            for heading in self._missing(text)
        ]
        words = count_words(text)
        if words < self.min_words:
            violations.append(
                Violation("short", f"{words} words; at least {self.min_words} are needed.")
            )
        if self.max_words is not None and words > self.max_words:
            violations.append(
                Violation("long", f"{words} words; at most {self.max_words} are allowed.")
            )
        return tuple(violations)

    def _missing(self, text: str) -> list[str]:
        found = self.parse(text)
        return [heading for heading in self.sections if not found.get(heading)]

    def parse(self, text: str) -> dict[str, str]:
        """The contract's sections as they stand in the text."""
        return parse_sections(text, self.sections)


ANYTHING = Contract()


def parse_sections(text: str, headings: Sequence[str]) -> dict[str, str]:
    """The bodies under the given headings: any heading level or bold line, case ignored.

    Headings that are not in the list stay part of the section in which they stand. When a heading
    comes twice, the bodies are joined.
    """
    wanted = {_normal(heading): heading for heading in headings}
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        match = _HEADING.match(line)
        title = wanted.get(_normal(match["hash"] or match["bold"])) if match else None
        if title is not None:
            current = bodies.setdefault(title, [])
        elif current is not None:
            current.append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in bodies.items()}


def _normal(heading: str) -> str:
    return re.sub(r"[^\w]+", " ", heading).strip().casefold()


def parse_confidence(text: str) -> Confidence | None:
    """The first of high, medium, low that a section names; None if it names none."""
    match = _CONFIDENCE.search(text)
    if match is None:
        return None
    word = match[1].lower()
    return "high" if word == "high" else "medium" if word == "medium" else "low"


def says_nothing(text: str) -> bool:
    """Whether a section is there only to say that it is empty ("None.", "No dissent.")."""
    stripped = text.strip()
    if not stripped:
        return True
    match = _NOTHING.match(stripped)
    return match is not None and count_words(stripped[match.end() :]) == 0
