"""The chair's last word, brought from outside: the conclusion, and what stands in fields beside it.

Pure: from what was given to the speech that ends the discussion, or NotAllowed.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.declaration import Declaration
from ..core.effects import turn_id
from ..core.errors import NotAllowed
from ..core.events import SpeechGiven
from ..core.state import State
from ..core.text import readable
from ..core.values import OUTSIDE, ActionItem
from ..views.meeting import CHAIRS_LISTS, RECOMMENDATION
from .moderation import CONCLUSION, checked_words, newest_round

MOST_ENTRIES = 50
LONGEST_ENTRY = 2_000
"""Characters of one entry of a list."""


@dataclass(frozen=True, slots=True)
class ChairsWord:
    """What a coordinator ends a discussion with. All but the conclusion may be left out."""

    conclusion: str
    recommendation: str = ""
    consensus: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    actions: tuple[ActionItem, ...] = ()

    def speech(self, state: State, key: str) -> SpeechGiven:
        """The host's last speech. NotAllowed says what is empty or too long."""
        words = checked_words(
            "conclusion",
            self.conclusion or self.recommendation,
            "Say what came of it, or stop instead.",
        )
        lists = (self.consensus, self.disagreements, self.dissent)
        sections = {
            heading: "\n".join(f"- {each}" for each in entries)
            for heading, listed in zip(CHAIRS_LISTS, lists, strict=True)
            if (entries := _entries(heading, listed))
        }
        if self.recommendation.strip():
            (told,) = _entries(RECOMMENDATION, (self.recommendation,))
            sections = {RECOMMENDATION: told, **sections}
        _entries("Action Items", tuple(each.text for each in self.actions))
        host = state.start.host
        return SpeechGiven(
            turn_id=turn_id(0, CONCLUSION, host.id),
            stage=CONCLUSION,
            round=0,
            participant=host.id,
            model=OUTSIDE,
            text=words,
            sections=sections,
            after_round=newest_round(state),
            key=key,
            declaration=Declaration(actions=self.actions) if self.actions else None,
        )


def _entries(heading: str, listed: tuple[str, ...]) -> list[str]:
    """Each entry on one line, without empty ones."""
    found = [" ".join(readable(each).split()) for each in listed]
    found = [each for each in found if each]
    if len(found) > MOST_ENTRIES or any(len(each) > LONGEST_ENTRY for each in found):
        raise NotAllowed(
            f"{heading}: at most {MOST_ENTRIES} entries of {LONGEST_ENTRY:,} characters fit.",
            "Give what is shorter, and put long material into the conclusion.",
        )
    return found
