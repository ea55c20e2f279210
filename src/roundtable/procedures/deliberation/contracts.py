"""What the speeches of a deliberation must contain: sections, and a ballot that can be counted."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.contracts import Contract, Violation
from .ballots import read_ballot

BALLOT = "Ballot"
FIRST = ("Answer", "Reasons", BALLOT)
SECOND = ("Critique", "Answer", "Stances", BALLOT)
VERDICT = ("Answer", "Agreement", "Gaps and Risks")
UNCOUNTED = "[ballot not countable]"


@dataclass(frozen=True, slots=True)
class BallotContract(Contract):
    """Sections of which one is a ballot on these options; without options, a stated position."""

    flag: str = UNCOUNTED
    options: tuple[tuple[str, str], ...] = ()
    """Ids and words. Only ids may stand in a message, because it joins the instructions."""

    def check(self, text: str) -> tuple[Violation, ...]:
        # Without super(): a dataclass with slots is another class than the one it is read in.
        violations = Contract.check(self, text)
        section = self.parse(text).get(BALLOT, "")
        if not section:
            return violations
        ballot = read_ballot(section, dict(self.options))
        if self.options and not ballot.ranking:
            ids = ", ".join(option for option, _ in self.options)
            told = f"The ballot names none of the options. Name them by their ids: {ids}."
        elif not self.options and not ballot.position:
            told = "The ballot has no line “Position:” with your answer in one sentence."
        else:
            return violations
        return (*violations, Violation("ballot", told))
