"""What an adaptive run is asked for: its flags, and the mode that the question's words show.

The rule for questions that fit several modes: each keyword that occurs is one hit, however often
it does; the mode with the most hits wins, and of equals the one that stands first in the table
(debate, build, redteam, vote). “Should we build X” is a debate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from ...core.errors import BadSetting
from ...core.pattern import pattern
from ..checking import checked, checked_choices
from ..options import ProcedureOptions, option
from ..vocabulary import (
    ModelWishes,
    choices_option,
    experts_option,
    host_option,
    models_option,
    quick_option,
    rounds_option,
    seat_count,
    seats_option,
)

TaskMode = Literal["debate", "build", "redteam", "vote", "default"]
"""How the source of a material begins that is the synthesis of an earlier roundtable."""

KIND: dict[TaskMode, str] = {
    "debate": "debate",
    "build": "coding",
    "redteam": "adversarial",
    "vote": "decision",
    "default": "general",
}
"""What each mode is about, in one word."""

KEYWORDS: dict[TaskMode, dict[str, str]] = {
    "debate": {
        "pros/cons": r"pros\s*(?:/|and|&|or|,)\s*cons",
        "tradeoff": r"trade[\s-]?offs?",
        "should we": r"should\s+we",
        "ethics": r"ethics|ethical(?:ly)?",
        "compare": r"compar(?:e|es|ed|ing|ison|isons)",
        "opinion": r"opinions?",
        "better": r"better",
    },
    "build": {
        "implement": r"implement(?:s|ed|ing|ation|ations)?",
        "code": r"cod(?:e|es|ed|ing)",
        "architecture": r"architectures?",
        "build": r"buil(?:d|ds|ding|t)",
        "design": r"design(?:s|ed|ing)?",
        "develop": r"develop(?:s|ed|ing|ment)?",
        "create": r"creat(?:e|es|ed|ing)",
    },
    "redteam": {
        "attack": r"attack(?:s|ed|ing|er|ers)?",
        "vulnerability": r"vulnerabilit(?:y|ies)",
        "failure": r"failures?",
        "risk": r"risk(?:s|y)?",
        "break": r"break(?:s|ing)?",
        "threat": r"threats?",
        "exploit": r"exploit(?:s|ed|ing)?",
    },
    "vote": {
        "choose": r"choos(?:e|es|ing)",
        "decide": r"decid(?:e|es|ing)",
        "which one": r"which\s+one",
        "best option": r"best\s+options?",
        "select": r"select(?:s|ed|ing)?",
        "recommend between": r"recommend\s+between",
    },
}
"""Each keyword and the forms in which it counts. Case does not matter."""

_PATTERNS = {
    mode: [pattern(rf"(?<!\w)(?:{form})(?!\w)", re.IGNORECASE) for form in words.values()]
    for mode, words in KEYWORDS.items()
}


def detect_mode(topic: str) -> TaskMode:
    """The mode of a question; `default` if no keyword occurs in it."""
    hits = {
        mode: sum(1 for pattern in patterns if pattern.search(topic))
        for mode, patterns in _PATTERNS.items()
    }
    best = max(hits, key=lambda mode: hits[mode])
    return best if hits[best] else "default"


WHERE = "adaptive options"
MAX_LISTED = 8
"""Models that can be named for one panel."""
MAX_ROUNDS = 3
_FORCING: tuple[TaskMode, ...] = ("debate", "build", "redteam", "vote")


class AdaptiveFlags(ProcedureOptions):
    """The options of one run; they combine freely, except that only one mode can be forced."""

    debate: bool = option(False, "Debate mode, always as a parallel debate.")
    build: bool = option(False, "Build mode, for code and design.")
    redteam: bool = option(False, "Red-team mode, for attack and defence.")
    vote: bool = option(False, "Vote mode, for decisions by vote.")
    models: tuple[str, ...] = models_option(
        about=f"Exactly these models, at most {MAX_LISTED}, a seat for each; or a profile of "
        "panels.json. No meta-panel. If seats or experts ask for more seats, the list repeats. "
        "SEAT=MODEL sets a single seat.",
        aliases=("panel",),
        alias_tells=True,
        part="model",
    )
    host: str | None = host_option(more="Here it is called the Orchestrator.")
    experts: tuple[str, ...] = experts_option(
        more="Instead of the mode's roles; no meta-panel.", part=None
    )
    seats: int | None = seats_option(
        None,
        2,
        MAX_LISTED,
        more="With a meta-panel: the most it may seat.",
        part=None,
    )
    rounds: int | None = rounds_option(
        None, 1, MAX_ROUNDS, more="Default: set by the meta-panel or panels.json."
    )
    quick: bool = quick_option(
        "No meta-panel, no round 2; the first three usable models of the panel."
    )
    choices: tuple[str, ...] = choices_option()
    # pydantic has a method of that name.
    check_synthesis: bool = option(False, "The panel checks the synthesis.", alias="validate")
    context_from: str | None = option(
        None,
        "Build on an earlier discussion: its id, `last`, or the name of its file in "
        "memory/roundtables.",
        metavar="ID|SLUG",
        general=True,
        closed={"page": "it reads a result file of the workspace"},
    )
    session: str | None = option(
        None,
        "Within a session, the same question is searched only once. Default: the process.",
        metavar="ID",
        closed={"page": "the server's process is the session"},
    )

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> AdaptiveFlags:
        flags = checked(cls, options, WHERE)
        flags.check()
        if "models" in flags.model_fields_set and not 1 <= len(flags.models) <= MAX_LISTED:
            raise BadSetting(WHERE, "models", f"1 to {MAX_LISTED} models or a profile")
        if len(flags.experts) > MAX_LISTED:
            raise BadSetting(WHERE, "experts", f"at most {MAX_LISTED} of them")
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        if len(self.forced) > 1:
            one, other, *_ = (f"--{mode}" for mode in self.forced)
            yield one, other, "only one mode can be forced"

    @property
    def forced(self) -> tuple[TaskMode, ...]:
        return tuple(mode for mode in _FORCING if getattr(self, mode))

    @property
    def listed(self) -> tuple[str, ...]:
        """The models of the seats in their order, or the name of a profile."""
        return self.wishes.in_order

    @property
    def wishes(self) -> ModelWishes:
        return ModelWishes.of(self.models, WHERE)

    def count(self, panel: int) -> int:
        """How many sit, where the panel has so many of its own."""
        return seat_count(self.seats, panel, len(self.experts), 0)

    def mode(self, topic: str) -> TaskMode:
        """The forced mode, or the one that the question's words show."""
        return self.forced[0] if self.forced else detect_mode(topic)
