"""References: markers by which a speech names what another expert said.

`[@NAME R1: agree]` cites NAME's speech of round 1 with a stance; `[@NAME R1]` without one. In
Chinese also `【@姓名 R1：同意】`. A quotation right after a marker must be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from ...core.quotes import QUOTED, find_quote, is_quotation

CitedStance = Literal["agree", "disagree", "partly"]

_MARKER = re.compile(
    r"[\[【]\s?@\s?(?P<name>[^\[\]【】:：\n]{1,80})(?:[:：](?P<stance>[^\[\]【】\n]{0,40}))?[\]】]"
)
_ROUND = re.compile(r"\s*[,，]?\s*\bR\s?(?P<round>[1-5])\s*$", re.IGNORECASE)
_QUOTE = re.compile(rf"[\s,，:：—–-]{{0,4}}(?P<quote>{QUOTED})")
_STANCES: tuple[tuple[CitedStance, re.Pattern[str]], ...] = (
    ("partly", re.compile(r"partly|partial|in part|mixed|teilweise|parcial|部分", re.IGNORECASE)),
    ("disagree", re.compile(r"disagree|oppose|reject|widersp|desacuerdo|不同意|反对|不赞同", re.I)),
    ("agree", re.compile(r"agree|support|accept|zustimm|acuerdo|同意|赞同|支持", re.I)),
)
"""The more special first: “disagree” contains “agree”, and 不同意 contains 同意."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One marker as it stands in a speech."""

    name: str
    round: int | None
    stance: CitedStance | None
    quote: str
    line: int


@dataclass(frozen=True, slots=True)
class Statements:
    """What can be referred to: who spoke in which round, and how each expert may be called."""

    names: Mapping[str, str]
    """Normalised names and ids, each with the participant's id."""
    texts: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """By participant and round."""

    def who(self, reference: Reference) -> str | None:
        """The participant that a marker names, if it sits at the table."""
        return self.names.get(normal_name(reference.name))

    def resolves(self, reference: Reference) -> bool:
        """Whether the marker names a statement that was made. Without a round, any will do."""
        who = self.who(reference)
        if who is None:
            return False
        if reference.round is None:
            return any(participant == who for participant, _ in self.texts)
        return (who, reference.round) in self.texts

    def misquotes(self, reference: Reference) -> bool:
        """Whether the words in quotation marks after the marker are not that expert's."""
        if not is_quotation(reference.quote):
            return False
        who = self.who(reference)
        said = {
            f"{participant}/{round_}": text
            for (participant, round_), text in self.texts.items()
            if participant == who and reference.round in (None, round_)
        }
        return find_quote(reference.quote, said) is None


@lru_cache(maxsize=512)
def references(text: str) -> tuple[Reference, ...]:
    """The markers of a text, in order."""
    return tuple(_references(text))


def _references(text: str) -> Iterator[Reference]:
    for number, line in enumerate(text.splitlines()):
        for match in _MARKER.finditer(line):
            name = match["name"]
            at = _ROUND.search(name)
            quote = _QUOTE.match(line, match.end())
            yield Reference(
                name=_ROUND.sub("", name).strip(),
                round=int(at["round"]) if at else None,
                stance=cited_stance(match["stance"] or ""),
                quote=quote["quote"][1:-1].strip() if quote else "",
                line=number,
            )


_IN_WORDS: Mapping[CitedStance, str] = {
    "agree": "Agrees with ",
    "partly": "Agrees in part with ",
    "disagree": "Disagrees with ",
}


def with_turns(text: str, turn_of: Callable[[str, int], str]) -> str:
    """The text for people: in place of each marker its stance in words and the turn that it cites,
    in brackets; who and when, where `turn_of` knows none."""

    def told(match: re.Match[str]) -> str:
        at = _ROUND.search(match["name"])
        if at is None:
            return match[0]
        name, round_ = _ROUND.sub("", match["name"]).strip(), int(at["round"])
        stance = cited_stance(match["stance"] or "")
        turn = turn_of(name, round_)
        meant = f"[{turn}]" if turn else f"({name}, round {round_})"
        return f"{_IN_WORDS[stance] if stance else ''}{meant}"

    return _MARKER.sub(told, text)


def cited_stance(text: str) -> CitedStance | None:
    return next((stance for stance, words in _STANCES if words.search(text)), None)


def normal_name(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").split())
