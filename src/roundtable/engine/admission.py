"""Whether a call may be made, and how much it may say: by the prompt that would be sent, by what
those beside it need, and by what the verdict would need if it were written next."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import ceil

from ..core.budget import LIMITS, Granted, Limit, Spending, Wanted, covers, grant, told
from ..core.cut_short import thought_past_grant
from ..core.effects import TurnPlan
from ..core.events import BudgetExhausted, SpeechGiven, StoredEvent
from ..core.state import State
from ..core.text import estimate_tokens, likely_tokens
from ..core.turns import Call
from ..core.values import Budget, Prompt, ToCome
from ..rehearsal.estimate import estimate
from ..rehearsal.lengths import Lengths, likely_alone
from ..rehearsal.play import play
from .ahead import (
    USEFUL,
    Ahead,
    as_usual,
    charged_here,
    known_here,
    procedure_of,
    usual_seconds,
)


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
    free = Wanted(call.speaker, tokens_in, 1, 1, 1, most_out)
    over = budget.max_seconds is not None and spending.seconds >= budget.max_seconds
    if budget == Budget() or over:
        return _named(state, grant(budget, spending, free, dearest))
    known = known_here(state, lengths)
    charged = charged_here(state)
    ahead = Ahead(state, plan, call, known, about_to, charged)
    budget = ahead.weighed(budget)
    if budget == Budget():
        return _named(state, grant(budget, spending, free, dearest))
    lost = thought_past_grant(state.turn(plan.turn_id), call.speaker.model)
    wanted = charged(_wanted(known, plan, call, text, tokens_in, most_out, lost=lost))
    beside = ahead.beside(wanted)
    answers = ahead.answers
    further = answers and ahead.said_elsewhere and plan.round > 0
    # What is cut there is of no use: it is had whole, or not at all.
    if further:
        wanted, beside = ahead.in_full(wanted)
    elif plan.policy.dispensable:
        wanted, *beside = map(as_usual, (wanted, *beside))
    # Nobody is asked again at the cost of those who have not been asked yet, and no further round
    # begins that not all could hold.
    ask = partial(grant, budget, spending, wanted, dearest, beside=beside)
    granted = ask(ending=ahead.ending(), whole_round=further or not answers)
    first = plan.round > 0 and not ahead.said_elsewhere
    if isinstance(granted, Granted):
        if not (first and answers and granted.short):
            return granted
        # Few whole answers count, and many that are cut do not.
        all_of_it = as_usual(wanted, 1.0)
        fewer = grant(budget, spending, all_of_it, dearest, ending=ahead.ending_of_fewer())
        return fewer if isinstance(fewer, Granted) else granted
    if granted.limit == "time":
        return _named(state, granted)
    if call.purpose == "repair":
        # What cannot be had without it either is not kept back from it.
        if not ahead.next_round_fits(state.budget, spending, dearest):
            granted = ask(ending=ahead.verdict(), whole_round=True)
    elif first:
        granted = _in_part(granted, ahead, budget, spending, wanted, dearest)
    return _named(state, granted)


def _in_part(
    refused: BudgetExhausted,
    ahead: Ahead,
    budget: Budget,
    spending: Spending,
    wanted: Wanted,
    dearest: tuple[float, float],
) -> Granted | BudgetExhausted:
    """A first answer, where not all of them can be had with a verdict: with fewer of them if that
    leaves one; and where no verdict in words can be paid any more, answers that are counted are
    the best there can be."""
    fewer = grant(budget, spending, wanted, dearest, ending=ahead.ending_of_fewer())
    if isinstance(fewer, Granted):
        return fewer
    if ahead.is_written:
        return refused  # what is said without a verdict for it is no better than that
    concluding = ahead.ending_without()
    if concluding and covers(budget, spending, concluding, dearest):
        return refused
    alone = grant(budget, spending, wanted, dearest)
    known = ahead.lengths.is_lost_in_thought(wanted.speaker.model)
    if isinstance(alone, Granted) or ahead.begun or known:
        return alone
    # With nobody heard it would end with nothing: even one that may be cut is more.
    last_resort = replace(wanted, fewest_out=max(1, wanted.fewest_out // 2))
    return grant(budget, spending, last_resort, dearest)


def goes_on_without(
    state: State,
    spending: Spending,
    plan: TurnPlan,
    call: Call,
    *,
    about_to: Collection[str],
    lengths: Lengths,
    dearest: tuple[float, float],
) -> bool:
    """Whether a call that a limit does not allow is left out and nothing else: the table can do
    without it, and nobody has answered yet, or its next round can be paid whole, with the verdict
    after it."""
    if not (plan.policy.dispensable or call.purpose == "repair"):
        return False
    if not state.said.in_rounds and plan.policy.dispensable:
        return True
    ahead = Ahead(state, plan, call, known_here(state, lengths), about_to, charged_here(state))
    return ahead.next_round_fits(state.budget, spending, dearest)


def still_to_come(state: State, lengths: Lengths, dearest: tuple[float, float]) -> ToCome | None:
    """The most that is still to come, had the budget not ended it."""
    # Those of a round who are refused side by side are all told the same.
    return state.derived("still to come", lambda at: _still_to_come(at, lengths, dearest))


def _still_to_come(state: State, lengths: Lengths, dearest: tuple[float, float]) -> ToCome | None:
    procedure = procedure_of(state)
    if procedure is None:
        return None
    known = known_here(state, lengths)
    ample = known.ample()
    most = estimate(state, procedure, ample, unpriced=dearest).most
    return ToCome(
        calls=ceil(most.calls),
        tokens=ceil(most.tokens),
        cost_usd=most.cost_usd or 0.0,
        # Time has a margin of its own.
        seconds=most.seconds * known.longer / ample.longer,
    )


def ended_by_cut(
    state: State, spending: Spending, speech: SpeechGiven, lengths: Lengths
) -> BudgetExhausted | None:
    """Which limit ended a discussion that comes to its end with this speech, which a limit cut;
    None if it goes on after it. What the host writes comes at the end if nobody of the table is
    asked any more: that others would try to write it too does not make it whole."""
    procedure, budget = procedure_of(state), state.budget
    if procedure is None or state.exhausted is not None:
        return None
    led = state.branch()
    led.apply(StoredEvent(led.discussion_id, led.seq + 1, led.updated_at or _LONG_AGO, speech))
    after = play(led, procedure, known_here(state, lengths), "differing").calls
    if any(each.round > 0 or speech.round > 0 for each in after):
        return None
    tokens = spending.tokens / budget.max_tokens if budget.max_tokens else 0.0
    cost = spending.cost_usd / budget.max_cost_usd if budget.max_cost_usd else 0.0
    limit: Limit = "cost" if cost >= tokens else "tokens"
    spent = BudgetExhausted(limit=limit, detail=told(budget, limit, spending))
    named = _named(state, spent)
    return named if isinstance(named, BudgetExhausted) else None


_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def _named(state: State, granted: Granted | BudgetExhausted) -> Granted | BudgetExhausted:
    if isinstance(granted, Granted):
        return granted
    origin = state.limits_from.get(LIMITS[granted.limit], "")
    return granted.model_copy(update={"origin": origin}) if origin else granted


def _wanted(
    lengths: Lengths,
    plan: TurnPlan,
    call: Call,
    text: str,
    tokens_in: int,
    most_out: int,
    *,
    lost: bool,
) -> Wanted:
    """`lost`: whether this was asked before, and a limit cut it off while it thought. Then it has
    all that its task allows, or is not asked: how much it needs nobody knows, and what is less may
    be paid for nothing again."""
    speaker = call.speaker
    model = speaker.model
    template = plan.task_for(speaker).prompt.template
    name = template if isinstance(template, str) else template.id
    usual = lengths.said(model, name, small=speaker.demonstration)
    form = plan.task_for(speaker).form
    alone = call.purpose == "declare" or (form is not None and form.alone)
    long = lengths.at_most(model, name, small=speaker.demonstration)
    if alone:
        usual, long = likely_alone(usual if call.purpose != "declare" else 0.0)
    if lengths.has_told(model):
        # Once a provider has told how it counts, that is closer than caution.
        tokens_in = min(
            tokens_in, ceil(likely_tokens(text) * lengths.counted(model) * lengths.caution(model))
        )
    # What was billed here is paid again, whatever the words of the prompt come to.
    tokens_in = max(tokens_in, ceil(likely_tokens(text) * lengths.charged_times(model)))
    fewest = usual if alone else usual * USEFUL  # half a declaration is none
    if not alone and (lost or lengths.is_lost_in_thought(model)):
        usual = long = fewest = most_out
    fewest = max(1, min(most_out, round(fewest)))
    return Wanted(
        speaker,
        tokens_in,
        fewest,
        max(1, round(usual)),
        max(1, ceil(long)),
        most_out,
        usual_seconds(lengths, plan, call),
        lengths.unasked(model),
    )
