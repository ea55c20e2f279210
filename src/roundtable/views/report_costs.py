"""What a discussion cost, and which prompts were sent: who called whom, how often, for how much."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..core.causes import reason
from ..core.state import Attempt, State
from ..core.text import about, dollars
from ..core.values import Expected
from .cost import Cost, in_words, with_subscription
from .report_parts import Grid, Part, line

_HASH = 12
PLACES = 4
"""Of an amount in dollars."""


@dataclass(slots=True)
class _Bill:
    calls: int = 0
    failed: int = 0
    again: int = 0
    spent: Cost = field(default_factory=Cost)
    seconds: float = 0.0
    models: Counter[str] = field(default_factory=Counter)

    def add(self, attempt: Attempt, spent: Cost) -> None:
        if attempt.reached_nobody:
            return
        self.calls += 1
        self.again += attempt.started.purpose != "answer"
        self.models[attempt.started.model] += 1
        self.spent += spent
        if attempt.finished is not None:
            self.seconds += attempt.finished.seconds
        if attempt.failed is not None:
            self.failed += 1
            self.seconds += attempt.failed.seconds

    @property
    def cost(self) -> str:
        told = in_words(self.spent, why=False, places=PLACES)
        return with_subscription(told, self.spent, self.models)


def costs(state: State) -> tuple[Part, ...]:
    """Calls, tokens and cost of everybody at the table, and who was replaced by whom."""
    names = {p.id: p.name for p in (*state.ever_seated.values(), state.start.host)}
    bills = {name: _Bill() for name in names}
    whole = _Bill()
    for turn in state.called_turns:
        for attempt in turn.attempts:
            spent = Cost.of_attempt(state, attempt)
            for bill in (bills.setdefault(attempt.started.participant, _Bill()), whole):
                bill.add(attempt, spent)
    if not whole.calls:
        return ()
    rows = [_row(names.get(who, who), bill) for who, bill in bills.items() if bill.calls]
    parts: list[Part] = [
        Grid(
            "",
            (
                "Who",
                "Models",
                "Calls",
                "Asked again",
                "Failed",
                "Tokens in",
                "Out",
                "Seconds",
                "Cost",
            ),
            (*rows, _row("All", whole, all_of_them=True)),
            numbers=(2, 3, 4, 5, 6, 7, 8),
        )
    ]
    if state.expected is not None:
        parts.append(_held_against(state))
    if state.substitutions:
        replaced = tuple(
            (
                line(names.get(each.participant, each.participant)),
                each.turn_id,
                line(each.from_model),
                line(each.to_model),
                f"it {reason(each.cause, each.trouble)}",
            )
            for each in state.substitutions
        )
        header = ("Who", "Turn", "Asked", "Then asked", "Because")
        parts.append(Grid("Substitutions", header, replaced))
    return tuple(parts)


def _held_against(state: State) -> Grid:
    """What was told when it began, and what it took."""
    told, usage, cost = state.expected, state.usage, Cost.of(state)
    assert told is not None, "only what was estimated is held against it"
    active = state.spending(state.updated_at).seconds if state.updated_at else 0.0
    expected = "unknown" if told.seconds is None else f"{told.seconds:,.0f}"
    calls = _from_to(f"{told.fewest_calls:,}", f"{told.most_calls:,}")
    rows = (
        ("Calls", f"{calls} without repeats", f"{usage.calls:,}"),
        ("Tokens", _tokens(told), cost.tokens.removesuffix(" tokens")),
        ("Cost", _cost(told), in_words(cost, places=PLACES)),
        ("Seconds", expected, f"{active:,.0f}"),
    )
    return Grid("Estimated and actual", ("", "Estimated", "Actual"), rows, numbers=(1, 2))


def _tokens(told: Expected) -> str:
    if not told.most_tokens:
        return f"about {told.tokens:,}"
    return _from_to(about(told.least_tokens), about(told.most_tokens))


def _cost(told: Expected) -> str:
    if told.cost_usd is None or told.least_usd is None or told.most_usd is None:
        return "unknown"
    return _from_to(dollars(told.least_usd), dollars(told.most_usd))


def _from_to(least: str, most: str) -> str:
    return least if least == most else f"{least}–{most}"


def prompts(state: State) -> tuple[Part, ...]:
    """The templates that were sent, by what identifies their exact wording."""
    used: Counter[tuple[str, int, str]] = Counter()
    for turn in state.called_turns:
        for attempt in turn.attempts:
            prompt = attempt.started.prompt
            used[prompt.template, prompt.version, prompt.hash] += 1
    if not used:
        return ()
    rows = tuple((t, str(v), h[:_HASH], str(count)) for (t, v, h), count in sorted(used.items()))
    return (Grid("Prompts", ("Template", "Version", "Hash", "Calls"), rows, numbers=(1, 3)),)


def _row(name: str, bill: _Bill, all_of_them: bool = False) -> tuple[str, ...]:
    return (
        line(name),
        "" if all_of_them else line(", ".join(bill.models)),
        f"{bill.calls:,}",
        f"{bill.again:,}",
        f"{bill.failed:,}",
        _counted(bill.spent, bill.spent.input_tokens),
        _counted(bill.spent, bill.spent.output_tokens),
        f"{bill.seconds:,.1f}",
        bill.cost,
    )


def _counted(spent: Cost, tokens: int) -> str:
    return f"about {tokens:,}" if spent.own_tokens and tokens else f"{tokens:,}"
