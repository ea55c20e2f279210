"""Whether a call may be made, and how much it may say: by the prompt that would be sent, by what
those beside it need, and by what the verdict would need if it were written next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from ..rehearsal.lengths import DECLARED_AGAIN, Lengths, heard_in
from ..rehearsal.play import Spoken, play

USEFUL = 0.5
"""Of the usual length: with less an answer is not asked for, it would be cut short."""
CAUTION = 1.1
"""On tokens in that are not rendered yet."""


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
        free = Wanted(call.speaker, tokens_in, 1, 1, most_out)
        return _named(state, grant(budget, spending, free, dearest))
    known = lengths.with_more(heard_in(state))
    wanted = _wanted(known, plan, call, text, tokens_in, most_out)
    procedure = _procedure(state)
    beside: list[Wanted] = []
    ending: list[Wanted] = []
    if procedure is not None:
        now, then = _rehearsed(state, procedure, known)
        beside = _beside(state, plan, wanted, now, about_to)
        ending = [_to_come(each) for each in then]
    said = any(
        speech.stage != plan.stage or speech.round != plan.round for speech in state.speeches
    )
    begun = any(turn.attempts for turn in state.turns.values()) or bool(about_to)
    granted = grant(
        budget,
        spending,
        wanted,
        dearest,
        beside=beside,
        ending=ending,
        whole_round=said and call.purpose == "answer" and plan.round > 0,
    )
    if isinstance(granted, BudgetExhausted) and ending and not begun:
        # Too little for a verdict in words: answers that are counted are the best there can be.
        granted = grant(budget, spending, wanted, dearest)
    return _named(state, granted)


def _named(state: State, granted: Granted | BudgetExhausted) -> Granted | BudgetExhausted:
    if isinstance(granted, Granted):
        return granted
    origin = state.limits_from.get(LIMITS[granted.limit], "")
    return granted.model_copy(update={"origin": origin}) if origin else granted


def _wanted(
    lengths: Lengths, plan: TurnPlan, call: Call, text: str, tokens_in: int, most_out: int
) -> Wanted:
    speaker = call.speaker
    model = speaker.model
    template = plan.task_for(speaker).prompt.template
    name = template if isinstance(template, str) else template.id
    usual = lengths.said(model, name, small=speaker.demonstration)
    if call.purpose == "declare":
        usual = DECLARED_AGAIN
    if lengths.heard.get(model):
        # Once a provider has told how it counts, that is closer than caution.
        tokens_in = min(tokens_in, ceil(likely_tokens(text) * lengths.counted(model) * CAUTION))
    fewest = max(1, min(most_out, round(usual * USEFUL)))
    return Wanted(speaker, tokens_in, fewest, max(1, round(usual)), most_out)


def _rehearsed(
    state: State, procedure: Procedure, lengths: Lengths
) -> tuple[Sequence[Spoken], Sequence[Spoken]]:
    """The calls that are open now, and those that a verdict needs after them."""
    played = play(state, procedure, lengths, "differing", end_after_step=True)
    first = min((each.step for each in played.calls), default=0)
    now = [each for each in played.calls if each.step == first]
    return now, [each for each in played.calls if each.step > first]


def _beside(
    state: State,
    plan: TurnPlan,
    wanted: Wanted,
    now: Sequence[Spoken],
    about_to: Collection[str],
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
            found.append(_to_come(rendered[turn_id]))
            continue
        seat = state.participant(turn_id.rpartition("/")[2])
        found.append(replace(wanted, speaker=seat.speaker if seat else wanted.speaker))
    return found


def _to_come(each: Spoken) -> Wanted:
    speaker: SpeakerRef = each.speaker
    return Wanted(
        speaker,
        ceil(each.tokens_in * CAUTION),
        max(1, round(each.tokens_out * USEFUL)),
        max(1, round(each.tokens_out)),
        max(1, ceil(each.at_most_out)),
    )


def _procedure(state: State) -> Procedure | None:
    try:
        return procedure_spec(state.start.procedure).procedure
    except UnknownName:
        return None
