"""What lies ahead of a turn: those beside it, the next round, the verdict. By rehearsals from the
state in which it is to begin, so that no procedure has to tell it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from math import ceil

from ..core.budget import Spending, Wanted, covers
from ..core.decide import Procedure, advanced
from ..core.effects import TakeTurn, TurnPlan
from ..core.errors import UnknownName
from ..core.state import State
from ..core.turns import Call
from ..core.values import Budget, SpeakerRef
from ..procedures import procedure_spec
from ..rehearsal.estimate import price_of
from ..rehearsal.lengths import (
    DECLARED_AGAIN,
    UNCOUNTED,
    Lengths,
    heard_in,
    likely_alone,
    took_in,
)
from ..rehearsal.play import SpentAfter, Spoken, play, spent, without

ANSWERING = ("answer", "retry", "fallback")
"""Calls for a whole answer."""
USEFUL = 0.6
"""Of the usual length: with less an answer is not asked for, it would be cut short."""
FULLER = 1.08
"""Of what a seat has said: in a further round its declaration holds more, a vote among others."""
MOSTLY = 0.8
"""Of the usual length: what the table can do without is not asked for with less."""
WHOLE = 1.15
"""Of the usual length: so much is kept back for a verdict, for one that is cut is none."""


class Ahead:
    """What lies ahead of a turn, by rehearsals from the state in which it is to begin."""

    def __init__(
        self,
        state: State,
        plan: TurnPlan,
        call: Call,
        lengths: Lengths,
        about_to: Collection[str],
        charged: Callable[[Wanted], Wanted],
    ) -> None:
        self.state, self.plan, self.lengths = state, plan, lengths
        self.repairs = call.purpose == "repair"
        self.answers = call.purpose in ANSWERING
        self.optional = self.repairs or plan.policy.dispensable
        self.about_to, self.charged = about_to, charged
        self.procedure = procedure_of(state)

    @property
    def said_elsewhere(self) -> bool:
        """Whether somebody has answered in another stage than this."""
        here = self.plan.stage, self.plan.round
        return any((s.stage, s.round) != here for s in self.state.said.in_rounds)

    @property
    def begun(self) -> bool:
        """Whether somebody else speaks in this stage, or has spoken."""
        stage = self.state.stages.get((self.plan.stage, self.plan.round))
        others = len(stage.opened.turns) - 1 if stage else 0
        return len(self._not_begun()) < others

    @property
    def is_written(self) -> bool:
        """Whether there was a verdict in words before a limit was raised, which stands as long as
        there is no other."""
        before = self.state.verdict_before
        return before is not None and before.method == "written"

    def beside(self, wanted: Wanted) -> list[Wanted]:
        """The other calls of this stage that have not begun: of those that are held one after
        another nothing is rendered yet, and each counts as this one with a price of its own."""
        if self.procedure is None:
            return []
        rendered = {each.turn_id: each for each in self._played()[0]}
        found = []
        for place, turn_id in enumerate(self._not_begun(), 1):
            if turn_id in rendered:
                found.append(replace(self._wanted(rendered[turn_id]), step=wanted.step))
                continue
            seat = self.state.participant(turn_id.rpartition("/")[2])
            speaker = seat.speaker if seat else wanted.speaker
            found.append(self.charged(replace(wanted, speaker=speaker, step=wanted.step - place)))
        return found

    def in_full(self, wanted: Wanted) -> tuple[Wanted, list[Wanted]]:
        """This call of a further round and those beside it, none of which is asked for with less
        than its seat has really needed here: what is cut there is its declaration, which comes
        last, and with it a vote."""
        longest = longest_here(self.state)
        seats = (turn_id.rpartition("/")[2] for turn_id in self._not_begun())
        beside = zip(self.beside(wanted), seats, strict=False)
        own = as_needed(wanted, longest.get(self.plan.participant.id, 0))
        return own, [as_needed(each, longest.get(seat, 0)) for each, seat in beside]

    def ending(self) -> list[Wanted]:
        """What has to come after this stage: a verdict, and before it the next round where this is
        a turn that the table can do without."""
        if self.procedure is None:
            return []
        now, then = self._played()
        if not any(each.turn_id == self.plan.turn_id for each in now):
            return []  # what is asked here does not follow from the rules
        return [self._wanted(each, whole=self.optional) for each in then]

    def ending_of_fewer(self) -> list[Wanted]:
        """The verdict, if of this stage only those are heard who have begun, and this one."""
        return self._after(without(self.state, self._open_plans()), "somebody")

    def ending_without(self) -> list[Wanted]:
        """The verdict, if only those are heard who have begun; nothing if there is none then."""
        return self._after(spent(without(self.state, [self.plan, *self._open_plans()])), None)

    def verdict(self) -> list[Wanted]:
        """What a verdict needs after this stage, whatever else could come before it."""
        if self.procedure is None:
            return []
        return [self._wanted(each) for each in self._played(whole=False)[1]]

    def weighed(self, budget: Budget) -> Budget:
        """What is to be weighed of a budget before a call: its time only for answers, and only
        once somebody has been heard. Before that nobody knows how fast it goes here, and of what
        is written at the end it takes what is left."""
        hurried = self.answers and self.plan.round > 0 and bool(self.state.said.in_rounds)
        return budget if hurried else _unhurried(budget)

    def next_round_fits(
        self, budget: Budget, spending: Spending, dearest: tuple[float, float]
    ) -> bool:
        """Whether there is a further round of the table, and it can be paid whole without this
        call, with those who have not begun in this one and what comes after it."""
        if self.procedure is None:
            return False
        then = self._played()[1]
        if not self.repairs:
            led = without(self.state, [self.plan])
            played = play(led, self.procedure, self.lengths, "differing", spent_after="round")
            then = [each for each in played.calls if not each.dispensable]
        if not any(each.round > 0 for each in then):
            return False
        calls = [self._wanted(each, whole=True) for each in then]
        if not self.state.said.in_rounds:
            budget = _unhurried(budget)
        return covers(budget, spending, [*self.beside_rendered(), *calls], dearest)

    def beside_rendered(self) -> list[Wanted]:
        """Those of this stage that have not begun, where they are rendered."""
        waiting = set(self._not_begun()) if self.repairs else ()
        return [self._wanted(each) for each in self._played()[0] if each.turn_id in waiting]

    def _after(self, led: State, spent_after: SpentAfter | None) -> list[Wanted]:
        if self.procedure is None:
            return []
        calls = play(led, self.procedure, self.lengths, "differing", spent_after=spent_after).calls
        here = self.plan.stage, self.plan.round
        return [self._wanted(each) for each in calls if (each.stage, each.round) != here]

    def _played(self, *, whole: bool | None = None) -> tuple[Sequence[Spoken], Sequence[Spoken]]:
        """The calls that are open now, and those that have to come after them: the next round and
        the verdict where this is a call that the table can do without, else the verdict."""
        procedure, lengths = self.procedure, self.lengths
        assert procedure is not None, "whoever asks has looked"
        if whole is None:
            whole = self.optional
        return self.state.derived(
            "rehearsed whole" if whole else "rehearsed",
            lambda state: _rehearsed(state, procedure, lengths, whole=whole),
        )

    def _not_begun(self) -> list[str]:
        stage = self.state.stages.get((self.plan.stage, self.plan.round))
        found = []
        for turn_id in stage.opened.turns if stage else ():
            turn = self.state.turn(turn_id)
            begun = turn is not None and (turn.over or turn.attempts)
            if turn_id != self.plan.turn_id and not begun and turn_id not in self.about_to:
                found.append(turn_id)
        return found

    def _open_plans(self) -> list[TurnPlan]:
        """The plans of those who could speak beside this one and have not begun."""
        if self.procedure is None:
            return []
        waiting = set(self._not_begun())
        effects = advanced(self.state, self.procedure)
        plans = [each.plan for each in effects if isinstance(each, TakeTurn)]
        return [each for each in plans if each.turn_id in waiting]

    def _wanted(self, each: Spoken, *, whole: bool = False) -> Wanted:
        """A call that will be made; with `whole` a round of the table is more than begun with."""
        wanted = self.charged(_to_come(each, self.lengths))
        if not whole or each.round == 0:
            return wanted
        needed = longest_here(self.state).get(each.participant.id)
        if each.alone:
            return wanted
        return as_usual(wanted) if needed is None else as_needed(wanted, needed)


def _unhurried(budget: Budget) -> Budget:
    return budget.model_copy(update={"max_seconds": None})


def as_usual(each: Wanted, share: float = MOSTLY) -> Wanted:
    """A call that is not asked for with less than this share of what is usual."""
    return replace(each, fewest_out=max(1, min(round(each.usual_out * share), each.most_out)))


def as_needed(each: Wanted, longest: int) -> Wanted:
    """A call that is not asked for with less than is usual, nor with less than this, unless that
    would be rare at its place. A declaration alone is not measured by speeches: it is whole with
    what is set aside for it anyway."""
    if each.fewest_out >= each.usual_out:
        return each
    needed = ceil(longest * FULLER)
    usual = min(max(each.usual_out, min(needed, each.long_out)), each.most_out)
    return replace(each, fewest_out=usual, usual_out=usual)


def longest_here(state: State) -> dict[str, int]:
    """By seat, the tokens of the longest answer that it gave in a round of this discussion."""
    return state.derived("longest answers", _longest)


def _longest(state: State) -> dict[str, int]:
    found: dict[str, int] = {}
    for turn in state.called_turns:
        for attempt in turn.attempts:
            started, finished = attempt.started, attempt.finished
            if finished is None or started.round == 0 or started.purpose not in ANSWERING:
                continue
            said = max(found.get(started.participant, 0), finished.usage.output_tokens)
            found[started.participant] = said
    return found


def known_here(state: State, lengths: Lengths) -> Lengths:
    """What is known of how much speakers say, with what was heard in this discussion."""
    # Calls that begin side by side are admitted in the same state: it is looked at once for them.
    return state.derived("lengths", lambda at: lengths.heard_here(heard_in(at), took_in(at)))


def charged_here(state: State) -> Callable[[Wanted], Wanted]:
    """Calls at the prices that were really charged so far, where those are above the list's."""
    listed: dict[str, float] = {}
    paid: dict[str, float] = {}
    for turn in state.turns.values():
        for attempt in turn.attempts:
            if attempt.finished is None or attempt.finished.usage.unpriced_calls:
                continue
            model, usage = attempt.started.model, attempt.finished.usage
            speaker = _speaker(state, attempt.started.participant, model)
            price = price_of(speaker) if speaker else None
            if price is not None:
                cost = usage.input_tokens * price[0] + usage.output_tokens * price[1]
                listed[model] = listed.get(model, 0.0) + cost / 1_000_000
                paid[model] = paid.get(model, 0.0) + usage.priced_usd

    def charged(each: Wanted) -> Wanted:
        model, price = each.speaker.model, price_of(each.speaker)
        if price is None or not listed.get(model) or paid[model] <= listed[model]:
            return each
        times = paid[model] / listed[model]
        dearer = {"usd_per_million_in": price[0] * times, "usd_per_million_out": price[1] * times}
        return replace(each, speaker=each.speaker.model_copy(update=dearer))

    return charged


def _speaker(state: State, participant: str, model: str) -> SpeakerRef | None:
    seat = state.participant(participant)
    return next((ref for ref in seat.speakers if ref.model == model), None) if seat else None


def _rehearsed(
    state: State, procedure: Procedure, lengths: Lengths, *, whole: bool
) -> tuple[Sequence[Spoken], Sequence[Spoken]]:
    """The calls that are open now, and those that a verdict needs after them at least; with
    `whole` that is one after the next round of everybody."""
    heard: SpentAfter = "round" if whole else "somebody"
    played = play(state, procedure, lengths, "differing", spent_after=heard)
    first = min((each.step for each in played.calls), default=0)
    now = [each for each in played.calls if each.step == first]
    later = [each for each in played.calls if each.step > first and not each.dispensable]
    begun = any(each.round > 0 for each in now) or bool(state.said.in_rounds)
    if whole or begun:
        return now, later
    # Nobody has answered yet: there is a verdict if one of them can.
    answers = [each for each in later if each.round > 0]
    fewest = min(answers, key=lambda each: each.tokens_in + each.tokens_out, default=None)
    return now, [each for each in later if each.round == 0 or each is fewest]


def _to_come(each: Spoken, lengths: Lengths) -> Wanted:
    speaker: SpeakerRef = each.speaker
    model = speaker.model
    # As its own admission will count it: with most caution where its provider was never heard.
    caution = lengths.caution(model) if lengths.has_told(model) else UNCOUNTED[1]
    usual, long = each.tokens_out, each.at_most_out
    fewest = usual * (USEFUL if each.round > 0 else WHOLE)
    if each.alone:
        usual, long = likely_alone(usual)
        fewest = usual
    elif lengths.is_lost_in_thought(model):
        usual = long = fewest = each.uncut_out
    return Wanted(
        speaker,
        ceil(each.tokens_in * caution),
        max(1, round(fewest)),
        max(1, round(usual)),
        max(1, ceil(long)),
        max(1, ceil(long)),
        each.seconds * (1.0 if each.round > 0 else WHOLE),
        each.unasked_out,
        each.step + 1,  # after what is asked for now
    )


def usual_seconds(lengths: Lengths, plan: TurnPlan, call: Call) -> float:
    """How long a call of a turn usually takes."""
    speaker = call.speaker
    template = plan.task_for(speaker).prompt.template
    name = template if isinstance(template, str) else template.id
    said = DECLARED_AGAIN if call.purpose == "declare" else 0.0
    said = said or lengths.said(speaker.model, name, small=speaker.demonstration)
    return lengths.seconds(speaker.model, name, said)


def procedure_of(state: State) -> Procedure | None:
    """Its rules; None where they are not known here."""
    try:
        return procedure_spec(state.start.procedure).procedure
    except UnknownName:
        return None
