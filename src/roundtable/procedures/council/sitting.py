"""A sitting: the council's own reading of a discussion's state."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.contracts import parse_confidence, says_nothing
from ...core.events import BallotCast, SearchFinished, SpeechGiven
from ...core.state import State
from ...core.text import first_sentences
from ...core.values import Participant, SearchHit
from .roles import BY_ID, TEMPLATES

BRIEF, ANSWER, SUMMARY, CROSS_EXAMINATION, SYNTHESIS = (
    "briefing",
    "answer",
    "summary",
    "cross-examination",
    "synthesis",
)
ROUND2_QUESTION = "round2"


@dataclass(frozen=True, slots=True)
class Sitting:
    """What the council's rules ask of the state."""

    state: State

    @property
    def captain(self) -> Participant:
        return self.state.start.host

    @property
    def captain_writes(self) -> bool:
        """A demonstration model cannot summarise or judge: code extracts in its place."""
        return not self.captain.speaker.demonstration

    @property
    def answers(self) -> list[SpeechGiven]:
        return self.state.spoken_in(ANSWER, 1)

    @property
    def second_answers(self) -> list[SpeechGiven]:
        return self.state.spoken_in(CROSS_EXAMINATION, 2)

    @property
    def last_words(self) -> list[SpeechGiven]:
        """Each specialist's newest speech; a first answer stands where there is no second."""
        newest = {speech.participant: speech for speech in self.answers}
        newest.update({speech.participant: speech for speech in self.second_answers})
        return [newest[p.id] for p in self.state.start.participants if p.id in newest]

    @property
    def round2_wanted(self) -> bool | None:
        """None while the person has not been asked yet."""
        setting = self.state.start.options.get("round2")
        if setting != "ask":
            return bool(setting)
        choice = self.state.choices.get(ROUND2_QUESTION)
        return None if choice is None else choice.answer == "yes"

    @property
    def round2_held(self) -> bool:
        return len(self.second_answers) >= MINIMUM

    @property
    def hits(self) -> tuple[SearchHit, ...]:
        """What the web search brought."""
        found = (s.hits for s in self.state.searches if isinstance(s, SearchFinished))
        return next(found, ())

    @property
    def search_answered(self) -> bool:
        """Whether there was an answer, be it an empty one."""
        return any(isinstance(s, SearchFinished) for s in self.state.searches)

    def focus(self, role_id: str) -> str:
        template = self.state.start.options.get("template")
        return TEMPLATES[template][role_id] if isinstance(template, str) else ""

    def sub_task(self, role_id: str) -> str:
        """The Captain's sub-task for a role, or the role's own where the Captain gave none."""
        briefing = next(iter(self.state.spoken_in(BRIEF, 0)), None)
        given = briefing.sections.get(BY_ID[role_id].name) if briefing else None
        return given or BY_ID[role_id].sub_task


MINIMUM = 2
"""How many of the three must answer for a synthesis."""


def position(speech: SpeechGiven) -> str:
    """What the speech stands for: its position section, or its beginning."""
    names = ("Updated Position", BY_ID[speech.participant].position)
    body = next((speech.sections[n] for n in names if speech.sections.get(n)), speech.text)
    return first_sentences(body)


def dissent(speech: SpeechGiven) -> str:
    """The reservation a first answer declares, or nothing."""
    body = speech.sections.get("Dissent", "")
    return "" if says_nothing(body) else first_sentences(body, 3, 600)


def ballot(state: State, speech: SpeechGiven) -> BallotCast:
    """A council speech is also a ballot: a position with a declared confidence."""
    names = ("Updated Confidence", "Confidence")
    declared = next((speech.sections[n] for n in names if speech.sections.get(n)), "")
    seated = state.participant(speech.participant)
    refs = seated.speakers if seated else ()
    meaningful = not any(ref.demonstration for ref in refs if ref.model == speech.model)
    return BallotCast(
        turn_id=speech.turn_id,
        participant=speech.participant,
        round=speech.round,
        position=position(speech),
        confidence=parse_confidence(declared) if meaningful else None,
        meaningful=meaningful,
    )
