"""The chair's last word, brought from outside: the conclusion, and what stands in fields beside it.

Pure: from what was given to the speech that ends the discussion, or NotAllowed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.declaration import Declaration
from ..core.effects import turn_id
from ..core.errors import NotAllowed
from ..core.events import SpeechGiven
from ..core.state import State
from ..core.text import readable
from ..core.values import OUTSIDE, ActionItem
from .moderation import CONCLUSION, checked_words

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

    def checked(self) -> ChairsWord:
        """The same, readable, each entry on one line. NotAllowed says what is empty or too long."""
        from ..views.meeting import CHAIRS_LISTS, RECOMMENDATION

        words = checked_words(
            "conclusion",
            self.conclusion or self.recommendation,
            "Say what came of it, or stop instead.",
        )
        _entries("Action Items", tuple(each.text for each in self.actions))
        return replace(
            self,
            conclusion=words,
            recommendation=" ".join(_entries(RECOMMENDATION, (self.recommendation,))),
            consensus=_entries(CHAIRS_LISTS[0], self.consensus),
            disagreements=_entries(CHAIRS_LISTS[1], self.disagreements),
            dissent=_entries(CHAIRS_LISTS[2], self.dissent),
        )

    def speech(self, state: State, key: str) -> SpeechGiven:
        """The host's last speech."""
        from ..views.meeting import CHAIRS_LISTS, RECOMMENDATION

        host = state.start.host
        lists = zip(CHAIRS_LISTS, (self.consensus, self.disagreements, self.dissent), strict=True)
        listed = {name: "\n".join(f"- {each}" for each in entries) for name, entries in lists}
        sections = {RECOMMENDATION: self.recommendation, **listed}
        return SpeechGiven(
            turn_id=turn_id(0, CONCLUSION, host.id),
            stage=CONCLUSION,
            round=0,
            participant=host.id,
            model=OUTSIDE,
            text=self.conclusion,
            sections={name: text for name, text in sections.items() if text},
            after_round=state.newest_round,
            key=key,
            declaration=Declaration(actions=self.actions) if self.actions else None,
        )


def _entries(heading: str, listed: tuple[str, ...]) -> tuple[str, ...]:
    """Each entry on one line, without empty ones."""
    lines = (" ".join(readable(each).split()) for each in listed)
    found = tuple(line for line in lines if line)
    if len(found) > MOST_ENTRIES or any(len(each) > LONGEST_ENTRY for each in found):
        raise NotAllowed(
            f"{heading}: at most {MOST_ENTRIES} entries of {LONGEST_ENTRY:,} characters fit.",
            "Give what is shorter, and put long material into the conclusion.",
        )
    return found
