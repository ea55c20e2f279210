"""A sitting: the deliberation's own reading of a discussion's state."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.convergence import Ending, name_end
from ...core.events import BallotCast, Event, PointRaised, SpeechGiven, StanceTaken
from ...core.minds import Argument, Change, Held, changes_of_mind
from ...core.state import State
from ...core.tally import Tally, Vote, tally
from ...core.text import first_sentences
from ...core.values import Confidence, Participant
from .ballots import WrittenBallot, read_ballot, read_reasons, read_stances
from .clerk import Reading, read_clerk

ANSWER, CLERK, CRITIQUE, SYNTHESIS = "answer", "clerk", "critique", "synthesis"
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
        return self.state.spoken_in(ANSWER, 1)

    @property
    def critiques(self) -> list[SpeechGiven]:
        return self.state.spoken_in(CRITIQUE, 2)

    @property
    def last_words(self) -> list[SpeechGiven]:
        newest = {speech.participant: speech for speech in self.answers}
        newest.update({speech.participant: speech for speech in self.critiques})
        return [newest[p.id] for p in self.state.participants if p.id in newest]

    @property
    def options(self) -> dict[str, str]:
        """The options of the vote by id: those the question offers, or those the clerk found."""
        given = self.state.start.options.get("choices")
        if isinstance(given, list) and given:
            return {f"o{n}": str(each) for n, each in enumerate(given, 1)}
        return self._reading.options

    @property
    def needs_clerk(self) -> bool:
        return not self.state.start.options.get("choices")

    @property
    def _reading(self) -> Reading:
        speech = next(iter(self.state.spoken_in(CLERK, 0)), None)
        return read_clerk(speech.text if speech else "", self.answers)

    # --- ballots -------------------------------------------------------------------------------

    def ballots(self, round_: int) -> list[BallotCast]:
        return [ballot for ballot in self.state.ballots if ballot.round == round_]

    def first_ballots(self) -> tuple[Event, ...]:
        """The control group: what everybody would have voted without talk."""
        chosen = self._reading.chosen if self.needs_clerk else {}
        ballots: list[Event] = []
        for speech in self.answers:
            written = read_ballot(speech.sections.get("Ballot", ""), self.options)
            ranking = written.ranking
            if speech.participant in chosen:
                ranking = (chosen[speech.participant],)
            ballots.append(self._cast(speech, written, ranking))
        return tuple(ballots)

    def final_ballots(self, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
        """The ballots and stances of the critique round."""
        events: list[Event] = []
        for speech in speeches:
            written = read_ballot(speech.sections.get("Ballot", ""), self.options)
            events.append(self._cast(speech, written, written.ranking))
            events.extend(self._stances(speech))
        return tuple(events)

    def _cast(
        self, speech: SpeechGiven, written: WrittenBallot, ranking: tuple[str, ...]
    ) -> BallotCast:
        meaningful = self._meaningful(speech)
        return BallotCast(
            turn_id=speech.turn_id,
            participant=speech.participant,
            round=speech.round,
            position=self.options[ranking[0]] if ranking else written.position,
            confidence=_level(written.certainty) if meaningful else None,
            certainty=written.certainty if meaningful else None,
            ranking=tuple((option,) for option in ranking),
            meaningful=meaningful and bool(ranking),
        )

    def _meaningful(self, speech: SpeechGiven) -> bool:
        seated = self.state.participant(speech.participant)
        refs = seated.speakers if seated else ()
        return not any(ref.demonstration for ref in refs if ref.model == speech.model)

    @property
    def unanimous(self) -> bool:
        """Whether all independent answers, at least two, came to the same."""
        first = self.ballots(1)
        chosen = {ballot.ranking[:1] for ballot in first}
        return (
            len(first) >= MINIMUM
            and len(first) == len(self.state.participants)
            and all(ballot.meaningful for ballot in first)
            and len(chosen) == 1
        )

    def count(self, round_: int | None = None) -> Tally:
        """The tally of the last ballots, or of one round's alone."""
        votes = [
            Vote(b.participant, b.ranking, b.certainty, round=b.round)
            for b in self.state.ballots
            if b.meaningful and (round_ is None or b.round == round_)
        ]
        return tally(votes, list(self.options))

    @property
    def ending(self) -> Ending:
        """How the debate ended: consensus, majority, impasse or drift."""
        rounds = [
            {b.participant: b.ranking[0][0] if b.meaningful else None for b in self.ballots(n)}
            for n in (1, 2)
            if self.ballots(n)
        ]
        return name_end(rounds)

    # --- points --------------------------------------------------------------------------------

    def raised_points(self) -> tuple[Event, ...]:
        """The reasons of the independent answers become the shared list of points; each author
        holds its own."""
        events: list[Event] = []
        number = 0
        for speech in self.answers:
            for reason in read_reasons(speech.sections.get("Reasons", "")):
                number += 1
                point_id = f"p{number}"
                events.append(
                    PointRaised(point_id=point_id, text=reason, turn_id=speech.turn_id, round=1)
                )
                events.append(
                    StanceTaken(
                        participant=speech.participant,
                        point_id=point_id,
                        position="agree",
                        turn_id=speech.turn_id,
                        round=1,
                        meaningful=self._meaningful(speech),
                    )
                )
        return tuple(events)

    def _stances(self, speech: SpeechGiven) -> list[Event]:
        known = list(self.state.points)
        stances = read_stances(speech.sections.get("Stances", ""), known)
        return [
            StanceTaken(
                participant=speech.participant,
                point_id=point_id,
                position=position,
                turn_id=speech.turn_id,
                round=speech.round,
                meaningful=self._meaningful(speech),
            )
            for point_id, position in stances.items()
        ]

    # --- fairness ------------------------------------------------------------------------------

    def peers(self, reviewer: str) -> dict[str, SpeechGiven]:
        """The others' answers under letters, in an order drawn for this one reviewer from the
        recorded seed: nobody gains from standing first, and nobody reviews itself."""
        others = [speech for speech in self.answers if speech.participant != reviewer]
        seed = self.state.start.seed

        def lot(speech: SpeechGiven) -> str:
            drawn = f"{seed}/{reviewer}/{speech.participant}"
            return hashlib.sha256(drawn.encode()).hexdigest()

        shuffled = sorted(others, key=lot)
        return {chr(ord("A") + n): speech for n, speech in enumerate(shuffled)}

    # --- what talk changed ---------------------------------------------------------------------

    def changes(self) -> list[Change]:
        """Every change of mind, with the answer that it names as its cause."""
        held = [
            Held(b.participant, "vote", b.ranking[0][0], b.round, b.turn_id, self._because(b))
            for b in self.state.ballots
            if b.meaningful
        ]
        arguments = [Argument(s.turn_id, s.participant, s.round) for s in self.answers]
        return changes_of_mind(held, arguments)

    def _because(self, ballot: BallotCast) -> str:
        if ballot.round == 1:
            return ""
        speech = self.state.speech(ballot.turn_id)
        written = read_ballot(speech.sections.get("Ballot", "") if speech else "", self.options)
        peer = self.peers(ballot.participant).get(written.because)
        return peer.turn_id if peer else ""


def position(speech: SpeechGiven) -> str:
    """What a speech stands for: its answer, or its beginning."""
    return first_sentences(speech.sections.get("Answer") or speech.text, 3, 500)


def _level(certainty: float | None) -> Confidence | None:
    if certainty is None:
        return None
    return "high" if certainty >= 0.8 else "medium" if certainty >= 0.6 else "low"
