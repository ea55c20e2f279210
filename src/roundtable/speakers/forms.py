"""Forms: the parts of a prompt that want more than prose, and how a scripted character fills them.

Ballots, stances on points, agreement scores, lists of reasons and candidate statements are told
from the prompt alone, so that any procedure that asks for them in this way can be rehearsed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Leaning = Literal["for", "against", "majority"]
Stance = Literal["agree", "disagree", "unsure"]

_FENCED = re.compile(
    r"---(?P<marker>[A-Z -]+) \(untrusted\)---\n\[fence (?P<nonce>\S+)\]\n(?P<text>.*?)\n"
    r"\[/fence (?P=nonce)\]",
    re.DOTALL,
)
_KEYS = re.compile(r"^(Choice|Position|Ranking|Confidence|Because):", re.MULTILINE)
_LISTED = re.compile(r"^(?P<id>[a-z]\d{1,3})[: ]\s*(?P<words>.+)$", re.MULTILINE)
_SCORE_LINE = re.compile(r"^.*(?:\bX\b).*$", re.MULTILINE)
_STATED = re.compile(r"^(?:Choice|Ranking|Position):\s*(?P<value>.+)$", re.MULTILINE)
_NO = ("no", "nein", "none")
_CERTAINTY = {"high": 90, "medium": 70, "low": 50}
_SCORES: dict[Stance, int] = {"agree": 5, "unsure": 3, "disagree": 1}
MOST_STATEMENTS = 4


@dataclass(frozen=True, slots=True)
class Forms:
    """What a prompt asks to be filled in."""

    keys: tuple[str, ...] = ()
    """The lines of its ballot."""
    options: tuple[tuple[str, str], ...] = ()
    points: tuple[tuple[str, str], ...] = ()
    score_lines: tuple[str, ...] = ()
    statements: bool = False
    own: str = ""
    """What the speaker said before, where the prompt shows it."""
    peers: tuple[str, ...] = ()


def read_forms(user: str) -> Forms:
    """The forms of a prompt. Lists come from fences, demands never do."""
    fenced = [(match["marker"], match["text"]) for match in _FENCED.finditer(user)]
    asked = _FENCED.sub("", user)
    speeches = [text for marker, text in fenced if marker == "SPEECH" and text.startswith("from ")]
    return Forms(
        keys=tuple(dict.fromkeys(_KEYS.findall(asked))),
        options=_listed(fenced, "OPTIONS"),
        points=_listed(fenced, "LIST OF POINTS"),
        score_lines=tuple(_SCORE_LINE.findall(asked.rpartition("SCORES:")[2]))
        if "SCORES:" in asked
        else (),
        statements=bool(re.search(r"^STATEMENT:", asked, re.MULTILINE)),
        own="\n".join(text for text in speeches if text.startswith("from yourself")),
        peers=tuple(text for text in speeches if not text.startswith("from yourself")),
    )


def _listed(fenced: Sequence[tuple[str, str]], marker: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (match["id"], match["words"].strip())
        for found, text in fenced
        if found == marker
        for match in _LISTED.finditer(text)
    )


def ballot(forms: Forms, leaning: Leaning, position: str, confidence: str) -> str:
    """The lines of a ballot, filled in as the character leans."""
    best = favourite(forms, leaning)
    others = sorted(option for option, _ in forms.options if option != best)
    values = {
        "Choice": best or "",
        "Position": position,
        "Ranking": " > ".join([best or "", *others]),
        "Confidence": str(_CERTAINTY[confidence]),
        "Because": "none",
    }
    return "\n".join(f"{key}: {values[key]}" for key in forms.keys)


def favourite(forms: Forms, leaning: Leaning) -> str | None:
    """The option a character votes for. Only whoever follows the majority leaves what it held."""
    if not forms.options:
        return None
    held = _supports(forms.own, forms)
    seen = [option for peer in forms.peers if (option := _supports(peer, forms))]
    if leaning == "majority" and seen:
        counted = Counter(seen)
        most = max(counted.values())
        return next(option for option in reversed(seen) if counted[option] == most)
    if held:
        return held
    ids = [option for option, _ in forms.options]
    denial = next((option for option, words in forms.options if words.casefold() in _NO), ids[-1])
    return denial if leaning == "against" else ids[0]


def _supports(speech: str, forms: Forms) -> str | None:
    """The option that a speech votes for, by its id or in its words."""
    stated = [match["value"].strip() for match in _STATED.finditer(speech)]
    for value in reversed(stated):
        for option, words in forms.options:
            if re.match(rf"{option}\b", value) or _bare(words) == _bare(value):
                return option
    return None


def _bare(words: str) -> str:
    return words.strip(" .…").casefold()


def stances(forms: Forms, stance: Stance) -> str:
    """A line for each point. Everybody stands by its own."""
    return "\n".join(
        f"{point}: {'agree' if words[:60] in forms.own else stance}"
        for point, words in forms.points
    )


def scores(forms: Forms, stance: Stance) -> str:
    """The block of agreement scores with its blanks filled in."""
    lines = (re.sub(r"\bX\b", str(_SCORES[stance]), line) for line in forms.score_lines)
    return "\n".join(["SCORES:", *lines])


def numbered(sentences: Sequence[str]) -> str:
    return "\n".join(f"{n}. {sentence}" for n, sentence in enumerate(sentences, 1))


def statements(sentences: Sequence[str]) -> str:
    return "\n".join(f"STATEMENT: {sentence}" for sentence in sentences[:MOST_STATEMENTS])
