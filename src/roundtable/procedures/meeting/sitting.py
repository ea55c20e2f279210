"""A sitting: the meeting's own reading of a discussion's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...core.contracts import Contract, Violation
from ...core.convergence_rules import Fired, Measures, converged
from ...core.declarations import declarations, prose
from ...core.events import NoteAdded, SpeechGiven
from ...core.state import State
from ...core.text import count_words
from ...core.values import Participant
from ...views.meeting_status import (
    DISCUSSION,
    MINUTES,
    SUMMARY,
    called,
    max_rounds,
    round_report,
    speaks_from_outside,
)

MINIMUM = 2
"""How many must speak in a round for the meeting to go on."""
MIN_WORDS, MAX_WORDS = 200, 500
OFF_LENGTH = "[not 200-500 words]"

WrapUp = Literal["converged", "votes", "max_rounds", "too_few", "budget", "chair"]
_WHYS: tuple[WrapUp, ...] = get_args(WrapUp)
_WRAP_UP = "wrap_up/"
_CONVERGED = converged()


@dataclass(frozen=True, slots=True)
class SpeechContract(Contract):
    """A speech of 200 to 500 words; the closing block is not counted. A speech without a block is
    no breach: its positions are then read from its prose, roughly."""

    sections: tuple[str, ...] = ("Speech", "Points")
    min_words: int = MIN_WORDS
    max_words: int | None = MAX_WORDS
    flag: str = OFF_LENGTH

    def check(self, text: str) -> tuple[Violation, ...]:
        words = count_words(prose(text))
        if words < self.min_words:
            message = f"The speech has {words} words; at least {self.min_words} are needed."
            return (Violation("short", message),)
        if self.max_words is not None and words > self.max_words:
            message = f"The speech has {words} words; at most {self.max_words} are allowed."
            return (Violation("long", message),)
        return ()


@dataclass(frozen=True, slots=True)
class Sitting:
    """What the meeting's rules ask of the state."""

    state: State

    @property
    def host(self) -> Participant:
        return self.state.start.host

    @property
    def host_writes(self) -> bool:
        """A demonstration model cannot sum up, and a chair from outside does so when it likes:
        in both cases code makes what the rules need."""
        return not self.host.speaker.demonstration and not speaks_from_outside(self.host)

    @property
    def max_rounds(self) -> int:
        return max_rounds(self.state)

    @property
    def parallel(self) -> bool:
        return self.state.start.options.get("speech_order") == "parallel"

    @property
    def sums_up(self) -> bool:
        return self.host_writes and bool(self.state.start.options.get("summaries"))

    @property
    def minutes(self) -> bool:
        """Whether the host reads speeches that declare nothing. Meetings of older programs know
        of no such thing."""
        return self.host_writes and bool(self.state.start.options.get(MINUTES))

    @property
    def decision(self) -> bool:
        return self.state.start.options.get("format") == "decision"

    @property
    def turn_seconds(self) -> float:
        value = self.state.start.options.get("turn_seconds")
        return float(value) if isinstance(value, int | float) else 180.0

    @property
    def patience(self) -> float:
        value = self.state.start.options.get("patience")
        return float(value) if isinstance(value, int | float) else self.turn_seconds

    @property
    def speeches(self) -> list[SpeechGiven]:
        """What participants said, in order."""
        return [speech for speech in self.state.speeches if speech.stage == DISCUSSION]

    @property
    def speakers(self) -> set[str]:
        return {speech.participant for speech in self.speeches}

    @property
    def wrap_up(self) -> WrapUp | None:
        """Why the meeting goes to its end, once that is decided: it is recorded, so that nothing
        that happens afterwards can open it again."""
        note = next((n for n in self.state.notes if n.code.startswith(_WRAP_UP)), None)
        if note is None:
            return None
        return next(each for each in _WHYS if note.code == f"{_WRAP_UP}{each}")

    @property
    def all_vote_to_end(self) -> bool:
        votes = self.state.end_votes
        return all(votes.get(participant.id) for participant in self.state.participants)

    def converged_after(self, round_: int) -> Fired | None:
        """Whether the convergence score of a round ends the meeting."""
        score = round_report(self.state, round_).convergence_score
        return _CONVERGED(Measures(round=round_, convergence_score=score))

    def summary_of(self, round_: int) -> SpeechGiven | None:
        """The host's summary of a round, if it gave one."""
        return next(iter(self.state.spoken_in(f"{SUMMARY}-{round_}", 0)), None)

    def summed_up(self, round_: int) -> bool:
        """Whether the host's turn after a round is over, with or without a summary."""
        stage = self.state.stages.get((f"{SUMMARY}-{round_}", 0))
        return stage is not None and stage.closed is not None

    def votes_in(self, speeches: list[SpeechGiven]) -> dict[str, bool]:
        """The votes on ending that speeches declare."""
        found = {speech.participant: declarations(speech.text).end for speech in speeches}
        return {who: vote for who, vote in found.items() if vote is not None}

    def everybody(self, *, but: str = "") -> str:
        """The participants as the minutes call them."""
        return ", ".join(called(p) for p in self.state.participants if p.id != but)


def wrap_up_note(why: WrapUp, text: str) -> NoteAdded:
    return NoteAdded(code=f"{_WRAP_UP}{why}", text=text)
