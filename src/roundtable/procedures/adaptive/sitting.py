"""A sitting: the adaptive procedure's own reading of a discussion's state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...core.convergence import Score
from ...core.events import ScoresGiven, SearchFinished, SpeechGiven
from ...core.grounding import NO_REAL_TIME_DATA, current_context
from ...core.scores import Matrix, consensus, matrix
from ...core.state import State
from ...core.values import Material, Participant
from ...views.adaptive_meta import counted
from .design import Design, SeatPlan
from .digests import digest
from .roles import SYNTHESISER_ID
from .terms import PRIOR, Terms

META, ANSWER, CRITIQUE, SECOND = "meta-panel", "answer", "critique", "second-stage"
SYNTHESIS, LAST_RESORT, VALIDATION, REWRITE = (
    "synthesis",
    "synthesis-by-orchestrator",
    "validation",
    "rewrite",
)


@dataclass(frozen=True)
class Sitting:
    """What the rules ask of the state. It lives for one decision, so what is read from the state
    once stays true."""

    state: State

    @cached_property
    def terms(self) -> Terms:
        return Terms.of(self.state)

    @cached_property
    def design(self) -> Design:
        """How the run goes on: as it was chosen, or by default as long as nothing was."""
        chosen = self.state.workflow
        return self.terms.default if chosen is None else Design.model_validate(chosen.design)

    @property
    def host(self) -> Participant:
        return self.state.start.host

    @property
    def synthesiser(self) -> Participant:
        found = self.state.participant(SYNTHESISER_ID)
        if found is None:  # while the meta-panel sits, the one of the opening stands by
            found = next(p for p in self.state.start.participants if p.id == SYNTHESISER_ID)
        return found

    def seated(self, stage: int) -> list[tuple[SeatPlan, Participant]]:
        """The seats of a stage, with who holds them now."""
        here = {p.id: p for p in self.state.participants}
        return [
            (plan, self.present(here[plan.id]))
            for plan in self.design.seats
            if plan.stage == stage and plan.id in here
        ]

    def present(self, participant: Participant) -> Participant:
        """The participant without the speakers that gave up in an earlier turn: each round is a
        fresh call, but nobody pays twice to learn that a model is down."""
        spoke = [s.model for s in self.state.speeches if s.participant == participant.id]
        models = [ref.model for ref in participant.speakers]
        if not spoke or spoke[-1] not in models:
            return participant
        left = participant.speakers[models.index(spoke[-1]) :]
        return participant.model_copy(update={"speakers": left})

    @cached_property
    def answers(self) -> list[SpeechGiven]:
        return self.state.spoken_in(ANSWER, 1)

    def critiques(self, round_: int) -> list[SpeechGiven]:
        return self.state.spoken_in(CRITIQUE, round_)

    @property
    def second_round(self) -> int:
        """The number of the round in which stage 2 is held: after those of stage 1."""
        return self.last_round + 1

    @property
    def second_answers(self) -> list[SpeechGiven]:
        return next((self.state.spoken_in(s, r) for s, r in self.state.stages if s == SECOND), [])

    @property
    def last_round(self) -> int:
        """The last round of stage 1 that was begun."""
        return max((r for stage, r in self.state.stages if stage == CRITIQUE), default=1)

    @property
    def last_words(self) -> list[SpeechGiven]:
        """Each panelist's newest speech; where a later round lost somebody, the earlier stands."""
        newest: dict[str, SpeechGiven] = {s.participant: s for s in self.answers}
        for round_ in range(2, self.last_round + 1):
            newest.update({s.participant: s for s in self.critiques(round_)})
        newest.update({s.participant: s for s in self.second_answers})
        return list(newest.values())

    def word_of(self, participant: str, before: int) -> SpeechGiven | None:
        """A panelist's newest speech of the rounds before this one."""
        for round_ in range(before - 1, 1, -1):
            found = next((s for s in self.critiques(round_) if s.participant == participant), None)
            if found is not None:
                return found
        return next((s for s in self.answers if s.participant == participant), None)

    @cached_property
    def critics(self) -> list[tuple[SeatPlan, Participant]]:
        """Who can take part in a cross-critique: whoever left something to examine."""
        left = {s.participant for s in self.answers if digest(s)}
        return [(plan, who) for plan, who in self.seated(1) if plan.id in left]

    @property
    def counted(self) -> list[ScoresGiven]:
        return counted(self.state)

    @property
    def consensus(self) -> Score:
        return consensus(self.counted)

    @property
    def matrix(self) -> Matrix:
        return matrix(self.counted, {seat.id: seat.role for seat in self.design.seats})

    @property
    def searched(self) -> bool:
        """Whether the search has come to an end, or there is none."""
        return not self.terms.search or bool(self.state.searches)

    @property
    def grounding(self) -> tuple[str, bool]:
        """CURRENT_CONTEXT, and whether it comes from the web."""
        hits = next((s.hits for s in self.state.searches if isinstance(s, SearchFinished)), None)
        if hits is None:
            return NO_REAL_TIME_DATA, False
        opened = self.state.opened_at
        assert opened is not None, "a discussion that searches was opened"
        return current_context(hits, opened.date()), True

    @property
    def rounds(self) -> int:
        """How many rounds are wanted: as designed, and what the chair added."""
        return self.design.rounds + self.state.extra_rounds

    @property
    def prior(self) -> list[Material]:
        """The syntheses of earlier roundtables."""
        return [m for m in self.state.context if m.source.startswith(PRIOR)]

    @property
    def material(self) -> list[Material]:
        return [m for m in self.state.context if not m.source.startswith(PRIOR)]

    def role(self, participant: str) -> str:
        seats = {seat.id: seat.role for seat in self.design.seats}
        return seats.get(participant, participant)
