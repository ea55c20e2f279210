"""A sitting: the deliberation's own reading of a discussion's state."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.convergence import Ending, name_end
from ...core.events import BallotCast, SpeechGiven
from ...core.position_changes import Argument, Change, Held, changes_of_mind
from ...core.state import State
from ...core.tally import Tally, Vote, tally
from ...core.text import first_sentences
from ...core.track_record import Choice, choose
from ...core.values import Participant
from .ballots import WrittenBallot, read_ballot
from .clerk import Reading, read_clerk
from .contracts import BALLOT
from .record import record_of

ANSWER, CLERK, CRITIQUE, SYNTHESIS = "answer", "clerk", "critique", "synthesis"
OTHER_ORDER = "critique-in-reverse"
FIRST_ROUND, LAST_ROUND = 1, 2
"""The rounds of the vote on the question: before talk, and after it."""
MINIMUM = 2


@dataclass(frozen=True, slots=True)
class Sitting:
    """What the rules of a deliberation ask of the state."""

    state: State

    @property
    def host(self) -> Participant:
        return self.state.start.host

    @property
    def host_writes(self) -> bool:
        """A demonstration model cannot judge: code extracts in its place."""
        return not self.host.speaker.demonstration

    @property
    def answers(self) -> list[SpeechGiven]:
        return self.state.spoken_in(ANSWER, FIRST_ROUND)

    @property
    def critiques(self) -> list[SpeechGiven]:
        return self.state.spoken_in(CRITIQUE, LAST_ROUND)

    @property
    def last_words(self) -> list[SpeechGiven]:
        newest = {speech.participant: speech for speech in self.answers}
        newest.update({speech.participant: speech for speech in self.critiques})
        return [newest[p.id] for p in self.state.participants if p.id in newest]

    def name(self, participant: str) -> str:
        return self.state.name_of(participant)

    # --- options -------------------------------------------------------------------------------

    @property
    def given(self) -> dict[str, str]:
        """The options that the question or its asker named, by id."""
        given = self.state.start.options.get("choices")
        choices = given if isinstance(given, list) else []
        return {f"o{n}": str(each) for n, each in enumerate(choices, 1)}

    @property
    def needs_clerk(self) -> bool:
        return not self.given

    @property
    def options(self) -> dict[str, str]:
        """The options of the vote by id: those that were given, or the positions in the answers."""
        return self.given or self.reading.options

    @property
    def reading(self) -> Reading:
        """Which positions the answers take, as the clerk found them or as they state them."""
        speech = next(iter(self.state.spoken_in(CLERK, 0)), None)
        return read_clerk(speech.text if speech else "", self.peers(self.host.id))

    # --- ballots -------------------------------------------------------------------------------

    def written(self, speech: SpeechGiven) -> WrittenBallot:
        return read_ballot(speech.sections.get(BALLOT, ""), self.options)

    def ballots(self, round_: int) -> list[BallotCast]:
        return [ballot for ballot in self.state.ballots if ballot.round == round_]

    @property
    def last_ballots(self) -> list[BallotCast]:
        """Everybody's last ballot on the question, those that can be counted."""
        last = {b.participant: b for b in self.state.ballots if b.round <= LAST_ROUND}
        return [ballot for ballot in last.values() if ballot.meaningful]

    @property
    def unanimous(self) -> bool:
        """Whether all independent answers, at least two, came to the same."""
        first = self.ballots(FIRST_ROUND)
        return (
            len(first) >= MINIMUM
            and len(first) == len(self.state.participants)
            and all(ballot.meaningful for ballot in first)
            and len({ballot.ranking[0] for ballot in first}) == 1
        )

    def count(self, ballots: Sequence[BallotCast]) -> Tally:
        return tally(_votes(ballots), list(self.options))

    @property
    def choice(self) -> Choice:
        """What the default rule makes of the last ballots, with the track record if there is one.
        Where more than half hold the same, that is it."""
        return choose(_votes(self.last_ballots), record_of(self.state), list(self.options))

    @property
    def ending(self) -> Ending:
        """How the debate ended: consensus, majority, impasse or drift."""
        rounds = [
            {b.participant: b.ranking[0][0] if b.meaningful else None for b in self.ballots(n)}
            for n in (FIRST_ROUND, LAST_ROUND)
            if self.ballots(n)
        ]
        return name_end(rounds)

    # --- fairness ------------------------------------------------------------------------------

    def shuffled(self, reader: str, items: Sequence[str]) -> list[str]:
        """The items in an order drawn for this one reader from the recorded seed, so that nothing
        gains from standing first and everybody can draw it again."""

        def lot(item: str) -> str:
            return hashlib.sha256(f"{self.state.start.seed}/{reader}/{item}".encode()).hexdigest()

        return sorted(items, key=lot)

    def peers(self, reader: str, *, reverse: bool = False) -> dict[str, SpeechGiven]:
        """The answers of all others under letters, in this reader's own order, or from its end."""
        others = {s.participant: s for s in self.answers if s.participant != reader}
        order = self.shuffled(reader, list(others))
        if reverse:
            order.reverse()
        return {chr(ord("A") + n): others[name] for n, name in enumerate(order)}

    # --- what talk changed ---------------------------------------------------------------------

    @property
    def held(self) -> list[Held]:
        """What everybody voted for in each round, and whose answer it names as the cause."""
        return [
            Held(b.participant, "vote", b.ranking[0][0], b.round, b.turn_id, self._cause(b))
            for b in self.state.ballots
            if b.meaningful and b.round <= LAST_ROUND
        ]

    @property
    def changes(self) -> list[Change]:
        arguments = [Argument(s.turn_id, s.participant, s.round) for s in self.answers]
        return changes_of_mind(self.held, arguments)

    def _cause(self, ballot: BallotCast) -> str:
        speech = self.state.speech(ballot.turn_id)
        if speech is None or ballot.round == FIRST_ROUND:
            return ""
        peer = self.peers(ballot.participant).get(self.written(speech).because)
        return peer.turn_id if peer else ""


def _votes(ballots: Sequence[BallotCast]) -> list[Vote]:
    return [
        Vote(b.participant, b.ranking, b.certainty, round=b.round) for b in ballots if b.meaningful
    ]


def position(speech: SpeechGiven) -> str:
    """What a speech stands for: its answer, or its beginning."""
    return first_sentences(speech.sections.get("Answer") or speech.text, 3, 500)
