"""Every speech held against the calls that it came from, and every prompt against what was there to
be told: both are derived again by what derived them first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..core.budget import is_paid_by_tokens
from ..core.condensing import by_present_rule
from ..core.decide import Procedure, decide
from ..core.declaration import LIMITED
from ..core.effects import TakeTurn, TurnPlan, turn_id
from ..core.events import AttemptStarted, LimitsRaised, SpeechGiven, StageOpened, StageReopened
from ..core.fence import discussion_nonce
from ..core.state import Attempt, State, Turn
from ..core.turns import CONDENSED, Accept, Call, Step, as_it_stands, next_step
from ..core.values import HOST_WIRE_NAME, OUTSIDE, Prompt
from ..core.verdict_sources import REMARK
from ..prompts.asking import asked, nonce_of, with_answer_to_the_same

_ROOM = 10**9
"""Tokens: what was not condensed was rendered as if there were no limit."""
_DERIVED = ("text", "sections", "flags", "model", "deliverables", "independent", "after_round")


@dataclass(slots=True)
class Hearing:
    """What came of it. A contradiction needs no rules to be seen; what differs may have been
    derived by other rules; what is underived can be neither."""

    procedure: Procedure | None
    contradictions: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    underived: list[str] = field(default_factory=list)
    derived: int = 0
    declared: int = 0
    """Of the derived ones, those that declare something."""
    misread: list[str] = field(default_factory=list)
    """The turns of speeches that declare something else than what was answered."""
    prompts: int = 0
    other_prompts: list[str] = field(default_factory=list)
    """Calls that were asked with something else than there was to ask."""
    old_prompts: list[str] = field(default_factory=list)
    """Calls whose template is none of this program, or whose prompt cannot be rendered again."""
    _plans: dict[str, list[TurnPlan]] = field(default_factory=dict)

    def before(self, state: State, event: object) -> None:
        """To be told of every event before it is folded."""
        match event:
            case AttemptStarted():
                self._plan(state)
                self._prompt(state, event)
            case SpeechGiven():
                self._speech(state, event)

    def after(self, state: State, event: object) -> None:
        """And after it."""
        match event:
            case StageReopened() | LimitsRaised():
                for each in event.turns:
                    self._plans.pop(each, None)
                self._plan(state)
            case StageOpened():
                self._plan(state)

    def _plan(self, state: State) -> None:
        """Keep what is asked of whom now: a turn is taken as it was planned when its stage opened,
        or when the discussion was resumed, and that is not told."""
        if self.procedure is None:
            return
        try:
            effects = decide(state, self.procedure)
        except Exception:  # rules that meet what they never wrote may fail in any way
            return
        for each in effects:
            if isinstance(each, TakeTurn):
                known = self._plans.setdefault(each.plan.turn_id, [])
                if each.plan not in known:
                    known.append(each.plan)

    def _speech(self, state: State, speech: SpeechGiven) -> None:
        turn = state.turn(speech.turn_id)
        if turn is not None and speech == turn.stands:
            self.derived += 1  # as it was before a limit was raised, where it was held
            self.declared += speech.declaration is not None
            return
        attempts = turn.attempts[_counted_from(turn) :] if turn else []
        answered = [each for each in attempts if each.finished]
        if not answered or speech.model == OUTSIDE:
            self.contradictions += _outside(state, speech)
            self._from_outside(state, speech)
            return
        wrong = list(_foreign(speech, answered))
        self.contradictions += wrong
        self._plan(state)
        outcomes = [
            outcome
            for plan in self._plans.get(speech.turn_id, ())
            if (outcome := _again(plan, state, speech)) is not None
        ]
        if not outcomes:
            self.underived.append(speech.turn_id)
        elif speech in outcomes:
            self.derived += 1
            self.declared += speech.declaration is not None
        elif not wrong:
            self._told_apart(speech, outcomes[0])

    def _from_outside(self, state: State, speech: SpeechGiven) -> None:
        """Who speaks from outside may read what others said, and comes too late where an answer
        was good enough: that became the speech in the same moment."""
        others = any(s.participant != speech.participant for s in state.said.in_rounds)
        if speech.independent and others:
            self.differs.append(f"{speech.turn_id} (independent)")
        turn = state.turn(speech.turn_id)
        plans = self._plans.get(speech.turn_id, ()) if turn and turn.attempts else ()
        if any(isinstance(_step(plan, state), Accept) for plan in plans):
            self.differs.append(f"{speech.turn_id} (model)")

    def _told_apart(self, speech: SpeechGiven, outcome: SpeechGiven) -> None:
        if outcome.declaration != speech.declaration:
            self.misread.append(speech.turn_id)
        other = [name for name in _DERIVED if getattr(outcome, name) != getattr(speech, name)]
        if other:
            self.differs.append(f"{speech.turn_id} ({', '.join(other)})")

    def _prompt(self, state: State, started: AttemptStarted) -> None:
        plans = self._plans.get(started.turn_id, ())
        condensed = any(note.code == f"condensed/{started.turn_id}" for note in state.notes)
        otherwise = condensed or not by_present_rule(state.start.options)
        rendered = [] if otherwise else [_asked(plan, state, started) for plan in plans]
        found = [each for each in rendered if each is not None]
        if any(_alike(each, started.prompt) for each in found):
            self.prompts += 1
        elif any(_template(each) == _template(started.prompt) for each in found):
            self.other_prompts.append(f"{started.turn_id} (attempt {started.attempt})")
        else:
            self.old_prompts.append(f"{started.turn_id} (attempt {started.attempt})")


def _foreign(speech: SpeechGiven, answered: list[Attempt]) -> Iterator[str]:
    """In what a speech belongs to another seat, stage or model than the calls of its turn."""
    started = [each.started for each in answered]
    for name in ("participant", "stage", "round", "model"):
        if getattr(speech, name) not in {getattr(each, name) for each in started}:
            yield f"{speech.turn_id} is not of the {name} that was called for it"
    if speech.turn_id != turn_id(speech.round, speech.stage, speech.participant):
        yield f"{speech.turn_id} is not the turn of {speech.participant} in {speech.stage}"


def _outside(state: State, speech: SpeechGiven) -> Iterator[str]:
    """What can be said of words that no call brought."""
    if speech.model != OUTSIDE:
        yield f"{speech.turn_id} says it is by {speech.model}, and no call brought it"
    seat = state.participant(speech.participant)
    if seat is None:
        yield f"{speech.turn_id} is by nobody who sat at the table"
    own = (speech.participant, HOST_WIRE_NAME if speech.stage == REMARK else speech.participant)
    if not speech.turn_id.rpartition("/")[2].startswith(own):
        yield f"{speech.turn_id} is not a turn of {speech.participant}"


def _again(plan: TurnPlan, state: State, speech: SpeechGiven) -> SpeechGiven | None:
    """The speech that the answers of its turn make by this plan."""
    try:
        outcome: Accept | None = as_it_stands(plan, _counted(plan, state))
    except Exception:  # answers that no reader ever met may break one
        return None
    if outcome is None:
        return None
    condensed = any(note.code == f"condensed/{plan.turn_id}" for note in state.notes)
    limited = outcome.limited and is_paid_by_tokens(state.budget)
    flags = (*outcome.flags, LIMITED) if limited else outcome.flags
    return speech.model_copy(
        update={
            "stage": plan.stage,
            "round": plan.round,
            "participant": plan.participant.id,
            "model": outcome.model,
            "text": outcome.text,
            "sections": outcome.sections,
            "flags": (*flags, CONDENSED) if condensed else flags,
            "after_round": plan.after_round,
            "declaration": outcome.declaration,
            "independent": plan.independent,
            "deliverables": outcome.deliverables,
        }
    )


def _counted(plan: TurnPlan, state: State) -> Turn | None:
    """A turn with what it was answered before a limit was raised, where that counts on."""
    turn = state.turn(plan.turn_id)
    return turn and with_answer_to_the_same(plan, turn, state.start.pace)


def _counted_from(turn: Turn) -> int:
    return turn.before if turn.answered is None else turn.answered


def _step(plan: TurnPlan, state: State) -> Step | None:
    try:
        return next_step(plan, _counted(plan, state))
    except Exception:  # a call may be under way, and answers that no reader ever met may break one
        return None


def _asked(plan: TurnPlan, state: State, started: AttemptStarted) -> Prompt | None:
    """The prompt that a call of this plan is asked with."""
    try:
        step = _step(plan, state)
        speakers = {each.model: each for each in plan.participant.speakers}
        speaker = speakers[started.model]
        if isinstance(step, Call):
            call = replace(step, speaker=speaker, purpose=started.purpose)
        else:
            call = Call(started.attempt, speaker, started.purpose)
        if plan.task_for(speaker).prompt.repeats:
            nonce = discussion_nonce(state.discussion_id, state.start.seed)
        else:
            nonce = nonce_of(started.prompt)
        return asked(plan, call, nonce=nonce, room=_ROOM).prompt
    except Exception:  # a plan that meets what was never answered to it may fail in any way
        return None


def _alike(one: Prompt, other: Prompt) -> bool:
    """The file does not keep the order of what stands under names, so lists made of it may stand in
    another order; everything else is compared to the letter."""
    return one == other or (
        _template(one) == _template(other)
        and one.system == other.system
        and _lines(one.user) == _lines(other.user)
    )


def _lines(text: str) -> list[str]:
    return sorted(line.removesuffix(",") for line in text.split("\n"))


def _template(prompt: Prompt) -> tuple[str, int, str]:
    return prompt.template, prompt.version, prompt.hash
