"""Whether a call may be made, and how much it may say: by the prompt that would be sent, by what
those beside it need, and by what the verdict would need if it were written next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from math import ceil

from ..core.budget import LIMITS, Granted, Spending, Wanted, grant
from ..core.decide import Procedure
from ..core.effects import TurnPlan
from ..core.errors import UnknownName
from ..core.events import BudgetExhausted
from ..core.state import State
from ..core.text import estimate_tokens, likely_tokens
from ..core.turns import Call
from ..core.values import Prompt, SpeakerRef
from ..procedures import procedure_spec
from ..rehearsal.estimate import price_of
from ..rehearsal.lengths import DECLARED_AGAIN, SPREAD, Lengths, heard_in
from ..rehearsal.play import SpentAfter, Spoken, play

USEFUL = 0.6
"""Of the usual length: with less an answer is not asked for, it would be cut short."""


def admission(
    state: State,
    spending: Spending,
    plan: TurnPlan,
    call: Call,
    prompt: Prompt,
    most_out: int,
    *,
    about_to: Collection[str],
    lengths: Lengths,
    dearest: tuple[float, float],
) -> Granted | BudgetExhausted:
    """The call with its limit, or why it is refused. `about_to` are turns whose calls begin
    together with this one, and are counted as spent."""
    budget = state.budget
    text = prompt.system + prompt.user
    tokens_in = estimate_tokens(text)
    if budget.max_tokens is None and budget.max_cost_usd is None and budget.max_calls is None:
        free = Wanted(call.speaker, tokens_in, 1, 1, 1, most_out)
        return _named(state, grant(budget, spending, free, dearest))
    known = lengths.heard_here(heard_in(state))
    charged = _charged(state)
    wanted = _wanted(known, plan, call, text, tokens_in, most_out)
    procedure = _procedure(state)
    beside: list[Wanted] = []
    ending: list[Wanted] = []
    if procedure is not None:
        now, then = _rehearsed(state, procedure, known, whole=plan.policy.dispensable)
        if not any(each.turn_id == plan.turn_id for each in now):
            then = []  # what is asked here does not follow from the rules
        beside = [charged(each) for each in _beside(state, plan, wanted, now, about_to, known)]
        ending = [charged(_to_come(each, known)) for each in then]
    wanted = charged(wanted)
    said = any(
        s.round > 0 and (s.stage, s.round) != (plan.stage, plan.round) for s in state.speeches
    )
    granted = grant(
        budget,
        spending,
        wanted,
        dearest,
        beside=beside,
        ending=ending,
        whole_round=said and call.purpose == "answer" and plan.round > 0,
    )
    if (
        not isinstance(granted, Granted)
        and plan.round > 0
        and not said
        and granted.limit != "calls"
    ):
        # Too little for a verdict in words: answers that are counted are the best there can be.
        granted = grant(budget, spending, wanted, dearest, beside=beside)
    return _named(state, granted)


def _named(state: State, granted: Granted | BudgetExhausted) -> Granted | BudgetExhausted:
    if isinstance(granted, Granted):
        return granted
    origin = state.limits_from.get(LIMITS[granted.limit], "")
    return granted.model_copy(update={"origin": origin}) if origin else granted


def _charged(state: State) -> Callable[[Wanted], Wanted]:
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


def _wanted(
    lengths: Lengths, plan: TurnPlan, call: Call, text: str, tokens_in: int, most_out: int
) -> Wanted:
    speaker = call.speaker
    model = speaker.model
    template = plan.task_for(speaker).prompt.template
    name = template if isinstance(template, str) else template.id
    usual = lengths.said(model, name, small=speaker.demonstration)
    form = plan.task_for(speaker).form
    alone = call.purpose == "declare" or (form is not None and form.alone)
    if alone:
        usual = max(usual if call.purpose != "declare" else 0.0, DECLARED_AGAIN)
    if lengths.heard.get(model):
        # Once a provider has told how it counts, that is closer than caution.
        tokens_in = min(
            tokens_in, ceil(likely_tokens(text) * lengths.counted(model) * lengths.caution(model))
        )
    fewest = usual if alone else usual * USEFUL  # half a declaration is none
    fewest = max(1, min(most_out, round(fewest)))
    long = usual * SPREAD
    if not alone:
        long = lengths.at_most(model, name, small=speaker.demonstration)
    return Wanted(speaker, tokens_in, fewest, max(1, round(usual)), max(1, ceil(long)), most_out)


def _rehearsed(
    state: State, procedure: Procedure, lengths: Lengths, *, whole: bool
) -> tuple[Sequence[Spoken], Sequence[Spoken]]:
    """The calls that are open now, and those that a verdict needs after them at least; with
    `whole` that is one which everybody has answered for."""
    heard: SpentAfter = "everybody" if whole else "somebody"
    played = play(state, procedure, lengths, "differing", spent_after=heard)
    first = min((each.step for each in played.calls), default=0)
    now = [each for each in played.calls if each.step == first]
    later = [each for each in played.calls if each.step > first]
    begun = any(each.round > 0 for each in now) or any(s.round > 0 for s in state.speeches)
    if whole or begun:
        return now, later
    # Nobody has answered yet: there is a verdict if one of them can.
    answers = [each for each in later if each.round > 0]
    fewest = min(answers, key=lambda each: each.tokens_in + each.tokens_out, default=None)
    return now, [each for each in later if each.round == 0 or each is fewest]


def _beside(
    state: State,
    plan: TurnPlan,
    wanted: Wanted,
    now: Sequence[Spoken],
    about_to: Collection[str],
    lengths: Lengths,
) -> list[Wanted]:
    """The other calls of this stage that have not begun: of those that are held one after another
    nothing is rendered yet, and each counts as this one with a price of its own."""
    stage = state.stages.get((plan.stage, plan.round))
    rendered = {each.turn_id: each for each in now}
    found = []
    for turn_id in stage.opened.turns if stage else ():
        turn = state.turn(turn_id)
        begun = turn is not None and (turn.over or turn.attempts)
        if turn_id == plan.turn_id or begun or turn_id in about_to:
            continue
        if turn_id in rendered:
            found.append(_to_come(rendered[turn_id], lengths))
            continue
        seat = state.participant(turn_id.rpartition("/")[2])
        found.append(replace(wanted, speaker=seat.speaker if seat else wanted.speaker))
    return found


def _to_come(each: Spoken, lengths: Lengths) -> Wanted:
    speaker: SpeakerRef = each.speaker
    return Wanted(
        speaker,
        ceil(each.tokens_in * lengths.caution(speaker.model)),
        max(1, round(each.tokens_out * USEFUL)),
        max(1, round(each.tokens_out)),
        max(1, ceil(each.at_most_out)),
        max(1, ceil(each.at_most_out)),
    )


def _procedure(state: State) -> Procedure | None:
    try:
        return procedure_spec(state.start.procedure).procedure
    except UnknownName:
        return None
