"""A sitting: the procedure's own reading of a discussion's state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...core.effects import Untrusted
from ...core.events import SpeechGiven
from ...core.points import PointList
from ...core.state import State
from ...core.text import clip, estimate_tokens
from ...core.values import Participant
from ...views.five_round.rounds import PROPOSAL, REVISION, held, planned, round_name
from ...views.five_round.skipped import EARLY_STOP
from ...views.five_round.standing import Challenge, challenges, point_list, replies

MINIMUM = 1
"""How many experts must have spoken for a summary."""


@dataclass(frozen=True)
class Sitting:
    """What the rules ask of the state. It lives for one decision, so what is read from the state
    once stays true."""

    state: State

    @property
    def host(self) -> Participant:
        return self.state.start.host

    @property
    def host_writes(self) -> bool:
        """A demonstration model cannot judge: code extracts in its place."""
        return not self.host.speaker.demonstration

    @property
    def only_plan(self) -> bool:
        return self.state.start.options.get("depth") == "pre-ac"

    @cached_property
    def points(self) -> PointList:
        return point_list(self.state)

    @cached_property
    def challenges(self) -> tuple[Challenge, ...]:
        return challenges(self.state)

    @cached_property
    def tokens_said(self) -> int:
        return sum(estimate_tokens(speech.text) for speech in self.state.speeches)

    @cached_property
    def present(self) -> tuple[Participant, ...]:
        """The experts with a proposal: only they have something to discuss and to defend."""
        spoke = {speech.participant for speech in self.state.spoken_in(PROPOSAL, 1)}
        return tuple(p for p in self.state.participants if p.id in spoke)

    @property
    def proposals(self) -> list[SpeechGiven]:
        return self.state.spoken_in(PROPOSAL, 1)

    @property
    def debate_is_over(self) -> bool:
        """Whether a rule ended it before its last round."""
        return any(note.code == EARLY_STOP for note in self.state.notes)

    @property
    def last_words(self) -> list[SpeechGiven]:
        """Each expert's newest plan: its revision, or else its proposal."""
        newest: dict[str, SpeechGiven] = {}
        for number, stage in held(self.state):
            if stage in (PROPOSAL, REVISION):
                newest.update({s.participant: s for s in self.state.spoken_in(stage, number)})
        return [newest[p.id] for p in self.state.participants if p.id in newest]

    def flag(self, name: str) -> bool:
        return self.state.start.options.get(name) is True

    def number(self, name: str, default: float) -> float:
        value = self.state.start.options.get(name)
        return float(value) if isinstance(value, int | float) else default

    @property
    def shown(self) -> int | None:
        """Characters of each round that later prompts show; None is all of it."""
        value = self.state.start.options.get("history")
        return value if isinstance(value, int) else None

    def told_of(self, participant: str, key: str) -> str:
        """A fact about an expert that was settled at the opening."""
        experts = self.state.start.options.get("experts")
        known = experts.get(participant) if isinstance(experts, dict) else None
        value = known.get(key) if isinstance(known, dict) else None
        if isinstance(value, list):
            return " ".join(str(each) for each in value)
        return value if isinstance(value, str) else ""

    def open_challenges(self, participant: str, number: int) -> tuple[Challenge, ...]:
        """What an expert must answer in a revision: in a second pass what it has not granted."""
        mine = tuple(each for each in self.challenges if each.target == participant)
        if (4, REVISION) not in held(self.state) or number == 4:
            return mine
        answered = replies(self.state)
        settled = {n for n, answer in answered.items() if answer.reply in ("accept", "partly")}
        return tuple(each for each in mine if each.number not in settled)

    def history(self, before_round: int) -> tuple[Untrusted, ...]:
        """What was said before a round, with who said it where, in the order in which it grew: a
        later prompt begins with all that an earlier one held."""
        remarks = [speech for speech in self.state.speeches if speech.stage == "remark"]
        said = [_remark(each) for each in remarks if each.after_round == 0]
        for number, stage in planned(self.state):
            if number >= before_round:
                break
            speeches = self.state.spoken_in(stage, number)
            room = None if self.shown is None else self.shown // max(1, len(speeches))
            said.extend(
                Untrusted(
                    "speech",
                    speech.text if room is None else clip(speech.text, room),
                    f"{self.name(speech.participant)}, {round_name(number, stage)}, "
                    f"turn {speech.turn_id}",
                )
                for speech in speeches
            )
            said.extend(_remark(each) for each in remarks if each.after_round == number)
        said.extend(_remark(each) for each in remarks if each.after_round >= before_round)
        return tuple(said)

    def name(self, participant: str) -> str:
        return self.state.name_of(participant)


def _remark(speech: SpeechGiven) -> Untrusted:
    return Untrusted("remark", speech.text, "the chair")
