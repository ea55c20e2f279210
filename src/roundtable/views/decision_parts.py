"""What the first screen of a decision consists of, whatever shows it: the page, the report, paper.

Plain values for people: no ids, option codes or names of stages in their words. What is counted in
them was counted once, in `views.delivery`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ..core.text import clip_words
from ..core.text import listed as listed
from .cost import Known

Kind = Literal[
    "decided",
    "split",
    "hollow",
    "values",
    "uncounted",
    "demonstration",
    "failed",
    "stopped",
    "interrupted",
    "paused",
    "live",
    "none",
]
"""How it stands: the table chose; nothing prevails; it voted and nobody chose; nothing was put to
the vote; too few voted to count; nobody who spoke can judge; it ended without an answer, by itself
or by somebody; nobody leads it; it is paused; it goes on; it ended with nothing to tell."""

STATES: dict[Kind, str] = {
    "decided": "Decided",
    "split": "Split",
    "hollow": "No answer",
    "values": "No vote",
    "uncounted": "Not counted",
    "demonstration": "Demonstration model",
    "failed": "Failed",
    "stopped": "Stopped",
    "interrupted": "Interrupted",
    "paused": "Paused",
    "live": "Live",
    "none": "No answer",
}

SET_ASIDE = "Set aside"
"""The state of what was interrupted and is not taken up by workers any more."""
SET_ASIDE_TOLD = "It was set aside after it ended its workers three times."

BEFORE_TALK = "Before they heard each other"
ALREADY_SO = "Already so before they heard each other"

PieceSide = Literal[
    "answer",
    "other",
    "own",
    "rejects",
    "any",
    "abstains",
    "undeclared",
    "absent",
    "demonstration",
    "none",
]
"""On which side of a vote a seat is drawn; `rejects` has no preference but this one: not what was
chosen; `none` declared something, but no vote on this."""

Check = Literal["word for word", "shortened", "translated", "second hand", "not found", ""]
"""How quoted words stand in the speech that is cited for them; empty where nothing is quoted."""

Chip = Literal[
    "Kept",
    "Moved",
    "Disagrees",
    "Gave in",
    "Abstained",
    "No preference",
    "Absent",
    "Not asked",
    "No vote",
    "Not counted",
    "",
]
"""Where an expert stands in a word; empty where nobody knows what it held at first."""

SHORTEST_NAME = 24
"""Characters up to which a name needs no shorter one."""
DANGLING = frozenset(["and", "&", "of", "for", "the", "in", "on", "to", "with", "und", "y", "de"])


@dataclass(frozen=True, slots=True)
class Cite:
    """A speech that is cited, with the words in it."""

    turn_id: str
    participant: str
    name: str
    label: str
    """As people call it: `DevOps, round 1`."""
    short: str
    round: int
    words: str
    check: Check
    anchor: str
    """The id of its place in the page."""


@dataclass(frozen=True, slots=True)
class Facts:
    seats: int
    rounds: int
    opened_at: datetime | None
    ended_at: datetime | None

    @property
    def seconds(self) -> float | None:
        if self.opened_at is None or self.ended_at is None:
            return None
        return max(0.0, (self.ended_at - self.opened_at).total_seconds())


@dataclass(frozen=True, slots=True)
class Question:
    short: str
    """The sentence that asks, short enough for two lines."""
    whole: str

    @property
    def cut(self) -> bool:
        return self.short != self.whole


@dataclass(frozen=True, slots=True)
class Answer:
    first: str
    second: str
    written_html: str
    """All that was written, its citations linked."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why there is no answer, and what to do."""

    text: str
    """In a sentence."""
    remedy: str
    more: str = ""
    """What else was told of it, such as what each call came to; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One seat in the bar of a vote."""

    participant: str
    name: str
    side: PieceSide
    option: str
    held: str
    """What it voted for; of who has no vote, what it declared last."""
    gave_in: bool


@dataclass(frozen=True, slots=True)
class VoteOption:
    id: str
    label: str
    text: str
    count: int
    at_first: int
    delivered: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Seats that are behind no option."""

    absent: int = 0
    abstains: int = 0
    own: int = 0
    rejects: int = 0
    any: int = 0
    undeclared: int = 0
    demonstration: int = 0


@dataclass(frozen=True, slots=True)
class Stood:
    """How many held something before anybody heard the others."""

    label: str
    count: int
    own: bool = False
    """Whether those are positions of their own, which no option words."""


@dataclass(frozen=True, slots=True)
class Vote:
    id: str
    title: str
    figure: str
    """Those behind the answer against all who voted otherwise: `3 : 0`; every position for itself
    where nothing prevails: `2 : 1 : 1`."""
    told: str
    """All of it in sentences, for whoever sees no bar."""
    settled: bool
    pieces: tuple[Piece, ...]
    """In the order in which they are drawn."""
    options: tuple[VoteOption, ...]
    counts: Counts
    before: tuple[Stood, ...]
    """Who held what before anybody heard the others; empty unless that is known of all."""
    unchanged: bool
    """Whether every seat holds in the end what it held then."""

    @property
    def before_told(self) -> str:
        """That in words: figures alone would not say of what."""
        held = ", ".join(f"{each.label} {each.count}" for each in self.before)
        if not held:
            return ""
        return ALREADY_SO if self.unchanged else f"{BEFORE_TALK}: {held}"


@dataclass(frozen=True, slots=True)
class Sure:
    word: Literal["high", "medium", "low", "none"]
    low: float | None
    high: float | None
    reason: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """The one figure of agreement."""

    holding: int
    seated: int


@dataclass(frozen=True, slots=True)
class Flag:
    code: str
    text: str
    level: Literal["warn", "bad"] = "warn"
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    html: str
    text: str
    cites: tuple[Cite, ...]
    status: str
    """How the table stands to it, where it is one of the declared points."""


@dataclass(frozen=True, slots=True)
class OpenPoint:
    text: str
    status: str


@dataclass(frozen=True, slots=True)
class Side:
    """Those who hold one position, in their own words."""

    title: str
    position: str
    participants: tuple[str, ...]
    quotes: tuple[Cite, ...]


@dataclass(frozen=True, slots=True)
class DissentPair:
    """A position that does not prevail against the one that does."""

    against: Side
    majority: Side
    settle: str
    """What would settle it, as one of them declared."""


@dataclass(frozen=True, slots=True)
class Strongest:
    text: str
    cite: Cite | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    lead: str
    pairs: tuple[DissentPair, ...]
    strongest_against: Strongest | None
    """Where nobody disagrees: the weightiest that somebody declared against it all the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """What would change the answer. `then` and `how` are empty unless the writer says so."""

    when: str
    then: str
    how: str
    cites: tuple[Cite, ...]


@dataclass(frozen=True, slots=True)
class Step:
    when: str
    what: str
    done: str
    owner: str

    @property
    def named(self) -> bool:
        return bool(self.owner)


@dataclass(frozen=True, slots=True)
class ExpertCause:
    text: str
    cite: Cite | None


@dataclass(frozen=True, slots=True)
class ExpertCondition:
    text: str
    status: str


@dataclass(frozen=True, slots=True)
class ExpertLine:
    """One expert, from what it held at first to what it holds in the end."""

    participant: str
    name: str
    role: str
    chip: Chip
    opening: str
    final: str
    cause: ExpertCause | None
    conditions: tuple[ExpertCondition, ...]
    confidence: int | None
    record: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class SlopeOption:
    id: str
    label: str
    count: int
    delivered: bool


@dataclass(frozen=True, slots=True)
class SlopeLine:
    participant: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Slope:
    """Who went from which position to which."""

    title: str
    options: tuple[SlopeOption, ...]
    lines: tuple[SlopeLine, ...]


@dataclass(frozen=True, slots=True)
class WorkLine:
    title: str
    kind: str
    author: str
    cite: Cite | None
    text: str
    file: str
    html: str = ""
    """Prose as it is read; empty where it is a program or data."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What somebody wants to be kept, whatever is decided."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ProcedureTold:
    name: str
    about: str


@dataclass(frozen=True, slots=True)
class ModelsOf:
    participant: str
    name: str
    models: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class NoteTold:
    code: str
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Ids:
    discussion: str
    version: str


@dataclass(frozen=True, slots=True)
class Made:
    """How this was made: all that a decision does not need and a sceptic wants."""

    procedure: ProcedureTold
    seconds: float | None
    calls: int
    input_tokens: int
    output_tokens: int
    own_tokens: bool
    """Whether some of the tokens are our own count."""
    cost_usd: float | None
    """None where it was not told of every call."""
    known_cost_usd: float
    """As much of it as was told, or counted by us."""
    cost_known: Known
    calls_of_unknown_cost: int
    models: tuple[ModelsOf, ...]
    talk: str
    checks: tuple[str, ...]
    notes: tuple[NoteTold, ...]
    sources: tuple[str, ...]
    ids: Ids
    delivered_html: str


def short_name(name: str, others: frozenset[str] = frozenset()) -> str:
    """A name for where there is little room: its first words, if nobody else begins with them. One
    that is cut through shows it."""
    if len(name) <= SHORTEST_NAME:
        return name
    words = clip_words(f"{name} ", SHORTEST_NAME + 1, "\0").removesuffix("\0").split()
    cut_through = name[len(" ".join(words)) :][:1].isalnum()
    while words and words[-1].casefold() in DANGLING:
        words.pop()
    short = " ".join(words)
    taken = any(other.startswith(short) for other in others if other != name)
    if taken or not short:
        return name
    return clip_words(name, SHORTEST_NAME) if cut_through else short


_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def number(count: int) -> str:
    """A count as a word, up to twelve."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)
