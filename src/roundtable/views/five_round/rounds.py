"""The five rounds: their names, and the numbers that a speech in each of them must keep to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...core.state import State
from ...core.text import CJK_CHARACTERS_PER_WORD

PROPOSAL, CROSS_REFERENCE, CRITIQUE, REVISION, ARBITRATION = (
    "proposal",
    "cross-reference",
    "critique",
    "revision",
    "arbitration",
)
HOST_ROUND = 5

LEAST_METRICS = 5
LEAST_CITATIONS = 3
RISKS = 5
DEFECTS = 3
TOP_RISKS = 3
WEEKS = 8
ACTIONABLE = 90
"""Percent of the plan's tasks that should have an owner, a deliverable and a date."""


@dataclass(frozen=True, slots=True)
class Round:
    """One of the five rounds."""

    number: int
    stage: str
    title: str
    words: tuple[int, int]
    sections: tuple[str, ...]
    """The headings that a speech of this round must have."""

    @property
    def length(self) -> str:
        """The length as the prompt asks for it."""
        low, high = self.words
        return (
            f"{low} to {high} words ({_characters(low)} to {_characters(high)} characters in "
            "Chinese, Japanese or Korean)"
        )


def _characters(words: int) -> int:
    return round(words * CJK_CHARACTERS_PER_WORD)


ROUNDS: Mapping[str, Round] = {
    each.stage: each
    for each in (
        Round(
            1,
            PROPOSAL,
            "Independent Proposal",
            (800, 1200),
            ("Proposal", "Comparison", "Metrics"),
        ),
        Round(
            2,
            CROSS_REFERENCE,
            "Cross-Reference",
            (800, 1200),
            ("Cross-Reference", "Blind Spots"),
        ),
        Round(3, CRITIQUE, "Deep Critique", (800, 2000), ("Risks", "Defects")),
        Round(
            4,
            REVISION,
            "Debate & Revise",
            (1000, 1500),
            ("Answers", "Revisions", "Revised Proposal"),
        ),
        Round(
            HOST_ROUND,
            ARBITRATION,
            "Host Summary",
            (1500, 2000),
            ("Verdict", "Rulings", "Plan", "Contingency", "Top Risks"),
        ),
    )
}
"""By stage, in order."""


def planned(state: State) -> tuple[tuple[int, str], ...]:
    """The participants' rounds that this discussion set out to hold: their number in the ledger
    and their stage. A second pass of the revision has number 5."""
    rounds = state.start.options.get("rounds")
    found: list[tuple[int, str]] = []
    for each in rounds if isinstance(rounds, list) else ():
        match each:
            case [int() as number, str() as stage] if stage in ROUNDS:
                found.append((number, stage))
            case _:
                pass
    return tuple(found)


def held(state: State) -> tuple[tuple[int, str], ...]:
    """The planned rounds that were opened."""
    return tuple(each for each in planned(state) if (each[1], each[0]) in state.stages)


def round_name(number: int, stage: str) -> str:
    """`R4` for people; `R4, second pass` where a round came again."""
    own = ROUNDS[stage].number
    return f"R{own}" if number == own else f"R{own}, second pass"
