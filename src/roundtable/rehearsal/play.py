"""Playing a discussion through: the procedure's own decisions, with imagined words in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from ..core.condensing import tokens_of
from ..core.decide import Procedure, decide
from ..core.effects import (
    DELIVERED,
    AskPerson,
    Deliver,
    Effect,
    LookUp,
    PromptPlan,
    PromptValue,
    Record,
    TakeTurn,
    Texts,
    TurnPlan,
    Untrusted,
)
from ..core.events import (
    BudgetExhausted,
    ChoiceMade,
    Event,
    NoteAdded,
    SearchFinished,
    SpeechGiven,
    StoredEvent,
    TurnFailed,
)
from ..core.state import State
from ..core.text import estimate_tokens, likely_tokens
from ..core.turns import Call
from ..core.values import OUTSIDE, Participant, Prompt, SearchHit, SpeakerRef
from ..prompts import render
from ..prompts.asking import asked
from .imagined import Mood, imagined
from .lengths import DECLARED_AGAIN, LONGER, Lengths, likely_alone

MOST_STEPS = 400
"""Decisions after which a rehearsal ends, whatever the procedure still wants."""
NONCE = "rehearsal000"
_SHOWN = 1_200
"""Characters at both ends of a text that are put into a prompt; the rest is only counted."""
_HIT = "What a page that was found says about it, in a few lines. " * 6
_ROOM = 1_000_000_000
_REPAIR = 250
"""Tokens in which an answer is asked to be set right, beside the answer."""
SpentAfter = Literal["somebody", "round"]


@dataclass(frozen=True, slots=True)
class Again:
    """Calls to have an answer set right, and their tokens."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def plus(self, calls: float, tokens_in: float, tokens_out: float) -> Again:
        """With so many more calls, each of so many tokens."""
        return Again(
            self.calls + calls,
            self.tokens_in + calls * tokens_in,
            self.tokens_out + calls * tokens_out,
        )


@dataclass(frozen=True, slots=True)
class Spoken:
    """One call that would be made."""

    turn_id: str
    stage: str
    round: int
    participant: Participant
    speaker: SpeakerRef
    template: str
    tokens_in: float
    tokens_out: float
    at_most_out: float
    """Tokens of an answer at the long end."""
    uncut_out: float
    """Tokens that it may take to hear its speaker out, if it was cut in this discussion; else those
    at the long end."""
    unasked_out: int
    """Tokens that its provider bills beside those that it is asked for."""
    unasked_at_most: int
    """The same, where nobody knows that of it and others bill so."""
    again: Again
    """What asking again adds, by how often that is needed."""
    again_at_most: Again
    """The same of somebody who does not keep to what is demanded, where nothing else is known."""
    step: int
    """Calls of the same step are made side by side."""
    seconds: float
    longest: float
    """Seconds that a call of this discussion took, and so may this one; 0 if none was made."""
    host: bool
    counting: tuple[float, float]
    """How much fewer or more tokens the provider may count in what is read."""
    dispensable: bool
    """Whether the table can do without it."""
    alone: bool
    """Whether it is a declaration and nothing else."""
    leaves: int
    """Tokens of the smallest window that may be asked which its prompt leaves free beside the
    answer and a repair of it; below 0 if it does not fit."""


@dataclass(frozen=True, slots=True)
class Played:
    """A discussion that was played through."""

    calls: tuple[Spoken, ...]
    state: State
    """How it ended."""

    @property
    def closed(self) -> bool:
        return self.state.closed is not None


def play(
    state: State,
    procedure: Procedure,
    lengths: Lengths,
    mood: Mood,
    *,
    spent_after: SpentAfter | None = None,
) -> Played:
    """Lead a discussion on from here to its end, in memory. With `spent_after` the budget is
    spent once what is open now has been said and somebody at the table has spoken, which is the
    shortest way to a verdict; or once the next round has been held by all who take part in it."""
    return _Play(state.branch(), procedure, lengths, mood, spent_after).run()


def without(state: State, turns: Iterable[TurnPlan]) -> State:
    """The same discussion in which these turns were not taken, for want of budget."""
    led = state.branch()
    at = led.updated_at or datetime.now(UTC)
    for plan in turns:
        failed = TurnFailed(
            turn_id=plan.turn_id,
            stage=plan.stage,
            round=plan.round,
            participant=plan.participant.id,
            cause="budget",
            message="so far it is rehearsed",
        )
        led.apply(StoredEvent(led.discussion_id, led.seq + 1, at, failed))
    return led


def spent(state: State) -> State:
    """The same discussion with nothing left to spend: only what is open goes on, and the end."""
    led = state.branch()
    if led.exhausted is None:
        at = led.updated_at or datetime.now(UTC)
        led.apply(StoredEvent(led.discussion_id, led.seq + 1, at, _SPENT))
    return led


_SPENT = BudgetExhausted(limit="cost", detail="so far it is rehearsed")


class _Play:
    def __init__(
        self,
        state: State,
        procedure: Procedure,
        lengths: Lengths,
        mood: Mood,
        spent_after: SpentAfter | None,
    ) -> None:
        self.state, self.procedure, self.lengths, self.mood = state, procedure, lengths, mood
        self.spent_after = spent_after
        self.calls: list[Spoken] = []
        self.at = state.updated_at or datetime.now(UTC)
        self.begun = frozenset(self.state.stages)
        self.shared = _shared(state)
        # Nobody pauses a rehearsal.
        self.state.paused = None
        self.state.imagined = True

    def run(self) -> Played:
        for step in range(MOST_STEPS):
            effects = decide(self.state, self.procedure)
            if not effects or not self._perform(effects, step):
                break
        return Played(tuple(self.calls), self.state)

    def _perform(self, effects: tuple[Effect, ...], step: int) -> bool:
        """Whether anything came of it."""
        recorded = [event for each in effects if isinstance(each, Record) for event in each.events]
        self._apply(*recorded)
        # What opens a stage names its turns, too: nobody comes in between who could change them.
        turns = [each.plan for each in effects if isinstance(each, TakeTurn)]
        for plan in turns:
            self._speak(plan, step)
        others: list[Event] = []
        if not recorded:
            others = [event for each in effects for event in _without_anybody(each, self.mood)]
        if turns and self._spent and self.state.exhausted is None:
            others.append(_SPENT)
        self._apply(*others)
        return bool(recorded or turns or others)

    @property
    def _spent(self) -> bool:
        if self.spent_after == "round":
            return any(self._is_held(each) for each in self.state.stages if each not in self.begun)
        said = any(each.round > 0 for each in self.state.speeches)
        return said and self.spent_after == "somebody"

    def _is_held(self, place: tuple[str, int]) -> bool:
        """Whether this is a round of the table in which all have spoken who will."""
        turns = [self.state.turn(each) for each in self.state.stages[place].opened.turns]
        return place[1] > 0 and all(turn is not None and turn.over for turn in turns)

    def _apply(self, *events: Event) -> None:
        for event in events:
            self.state.apply(
                StoredEvent(self.state.discussion_id, self.state.seq + 1, self.at, event)
            )

    def _speak(self, plan: TurnPlan, step: int) -> None:
        speaker = plan.participant.speaker
        task = plan.task_for(speaker)
        tokens_in, prompt, size = prompt_tokens(plan, speaker)
        template = prompt.template
        small = speaker.demonstration
        usual = self.lengths.said(speaker.model, template, small=small)
        most = float(min(task.max_tokens, speaker.context_window // 2))
        said = min(usual, most)
        seats = [each.id for each in self.state.participants]
        place = seats.index(plan.participant.id) if plan.participant.id in seats else 0
        words = imagined(plan, task, prompt, said, self.mood, place, self.shared)
        said = min(most, max(said, likely_tokens(words.whole)) if task.form else said)
        if speaker.model != OUTSIDE:
            counted = self.lengths.counted(speaker.model)
            again, at_most = self._again(
                plan, speaker, template, words.whole, tokens_in * counted, said
            )
            long = self.lengths.at_most(speaker.model, template, small=small)
            long = min(most, max(said, long))
            alone = task.form is not None and task.form.alone
            self.calls.append(
                Spoken(
                    plan.turn_id,
                    plan.stage,
                    plan.round,
                    plan.participant,
                    speaker,
                    template,
                    tokens_in * counted,
                    said,
                    long,
                    self._uncut(speaker, long, most, alone=alone),
                    self.lengths.unasked(speaker.model),
                    self.lengths.unasked_at_most(speaker.model),
                    again,
                    at_most,
                    step,
                    self.lengths.seconds(speaker.model, template, said),
                    self.lengths.longest,
                    plan.participant.id == self.state.start.host.id,
                    self.lengths.counting(speaker.model),
                    plan.policy.dispensable,
                    alone,
                    self._leaves(plan, size, words.whole),
                )
            )
        self._apply(
            SpeechGiven(
                turn_id=plan.turn_id,
                stage=plan.stage,
                round=plan.round,
                participant=plan.participant.id,
                model=speaker.model,
                text=words.text,
                sections=words.sections,
                flags=(),
                after_round=plan.after_round,
                declaration=words.declaration,
                independent=plan.independent,
            )
        )

    def _uncut(self, speaker: SpeakerRef, long: float, most: float, *, alone: bool) -> float:
        if alone:  # it is not asked for with less
            long = max(long, likely_alone(long)[1])
        elif self.lengths.may_be_lost_in_thought(speaker.model):
            return most
        return min(most, max(long, LONGER * self.lengths.cut_at(speaker.model)))

    def _leaves(self, plan: TurnPlan, size: int, words: str) -> int:
        asked = self.state.start.pace
        refs = [each for each in plan.participant.speakers if not each.spare]
        room = min(plan.prompt_room(each, asked) for each in refs or [plan.participant.speaker])
        repair = tokens_of(words) + _REPAIR if plan.policy.repairs else 0
        return room - size - repair

    def _again(
        self,
        plan: TurnPlan,
        speaker: SpeakerRef,
        template: str,
        words: str,
        tokens_in: float,
        said: float,
    ) -> tuple[Again, Again]:
        """What is needed on average to have it set right, and at most."""
        usual = most = Again()
        task, known = plan.task_for(speaker), self.lengths
        counted = known.counted(speaker.model)
        if allowed := plan.policy.repairs:
            repair = (tokens_in + (likely_tokens(words) + 120) * counted, said)
            often = min(allowed, known.repairs(speaker.model, template))
            usual = usual.plus(often, *repair)
            if task.contract.limits_length:
                # Whoever misses a length misses it every time, until the last repair.
                often = known.repairs(speaker.model, template, otherwise=allowed)
            most = most.plus(min(allowed, often), *repair)
        if task.form is not None and task.again is not None:
            share = known.again(speaker.model, "declare")
            call = Call(2, speaker, "declare", broken_text=words[: 2 * _SHOWN])
            short = asked(plan, call, nonce=NONCE, room=_ROOM).prompt
            rest = likely_tokens(words[2 * _SHOWN :])
            read = (likely_tokens(short.system + short.user) + rest) * counted
            usual = usual.plus(share, read, DECLARED_AGAIN)
            most = most.plus(share, read, DECLARED_AGAIN)
        return usual, most


def _shared(state: State) -> dict[str, str]:
    """By decision, the option that all hold who have chosen one so far."""
    held: dict[str, dict[str, str]] = {}
    for speech in state.said.in_rounds:
        for vote in speech.declaration.votes if speech.declaration else ():
            held.setdefault(vote.on, {})[speech.participant] = vote.choice
    chosen = {on: set(by_seat.values()) for on, by_seat in held.items()}
    return {on: options.pop() for on, options in chosen.items() if len(options) == 1}


def prompt_tokens(plan: TurnPlan, speaker: SpeakerRef) -> tuple[float, Prompt, int]:
    """How many tokens the prompt of a turn most likely has, its beginning and end, and how many
    tokens it has at most."""
    task = plan.task_for(speaker)
    light, left_out = _light(task.prompt)
    prompt = render(light, nonce=NONCE, limit_tokens=_ROOM).prompt
    text = prompt.system + prompt.user
    tokens = likely_tokens(text) + sum(likely_tokens(each) for each in left_out)
    cautious = estimate_tokens(text) + sum(estimate_tokens(each) for each in left_out)
    room = speaker.context_window - min(task.max_tokens, speaker.context_window // 2)
    # What does not fit is condensed, as the cautious count has it.
    size = tokens_of(text) + sum(map(tokens_of, left_out))
    return (tokens * room / cautious if cautious > room else tokens), prompt, size


def _light(plan: PromptPlan) -> tuple[PromptPlan, list[str]]:
    """The prompt with long texts cut out, and what was cut: counting is cheaper than cleaning."""
    left_out: list[str] = []

    def lighter(value: PromptValue) -> PromptValue:
        match value:
            case Untrusted() if len(value.text) > 3 * _SHOWN:
                left_out.append(value.text[_SHOWN:-_SHOWN])
                return replace(value, text=f"{value.text[:_SHOWN]}\n{value.text[-_SHOWN:]}")
            case tuple() | Texts():
                return tuple(each for each in map(lighter, value) if isinstance(each, Untrusted))
            case PromptPlan():
                inner, more = _light(value)
                left_out.extend(more)
                return inner
            case _:
                return value

    variables: Mapping[str, PromptValue] = {k: lighter(v) for k, v in plan.variables.items()}
    return replace(plan, variables=variables), left_out


def _without_anybody(effect: Effect, mood: Mood) -> list[Event]:
    """What comes of an effect that calls no speaker."""
    match effect:
        case LookUp():
            hits = [
                SearchHit(title=f"Page {n}", url="https://example.org/", text=_HIT)
                for n in range(effect.count)
            ]
            return [SearchFinished(query=effect.query, provider="imagined", hits=tuple(hits))]
        case AskPerson():
            others = [each for each in effect.options if each != effect.default]
            answer = others[0] if others and mood == "differing" else effect.default
            return [ChoiceMade(question=effect.question, answer=answer, by="default")]
        case Deliver():
            return [NoteAdded(code=DELIVERED, text="")]
        case _:
            return []
