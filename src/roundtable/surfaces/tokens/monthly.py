"""Budgets of a month: what a caller, everybody together, or a schedule may spend. Like what a token
may spend in all, it is set aside when a discussion is opened, and counted when it is over."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from ...bootstrap import App
from ...core.errors import LedgerTooNew, NotAllowed, UnknownDiscussion
from ...core.limits import Limits, joined
from ...core.purse import Purse, SetAside, month_of, opening_place, renews, stalled_key
from ...core.state import State
from ...core.text import dollars
from ...core.values import Budget
from ...procedures.opening import OpenRequest, checked_amount
from ...settings import MonthlySetting
from ...views.cost import Cost
from ..limits import OF_MONTH, with_notes_of_lowered
from .capability import Capability
from .share import share

EVERYBODY = "everybody"
SCHEDULE = "schedule "
"""Begins the account of one."""
SHARE = "what was set aside for it of the month's budget"


@dataclass(frozen=True, slots=True)
class Allowance:
    """A purse that counts, and its limit."""

    account: str
    monthly_usd: float

    @property
    def raised(self) -> str:
        """How the owner raises it."""
        if self.account == EVERYBODY:
            return "all_usd under [monthly] in config.toml"
        if self.account.startswith(SCHEDULE):
            return "add the schedule anew, with a higher --monthly"
        return f"roundtable tokens budget {self.account} USD"


@dataclass(slots=True)
class Opening:
    """A request within what is left, and what became of it."""

    request: OpenRequest
    key: str | None
    """With which it is to be opened: by it others find what was set aside for it, if whoever opens
    it dies."""
    place: str = ""
    """Under which something is set aside for it until it has an id."""
    discussion_id: str = ""


def user_of(held: Capability) -> str:
    """Whose a caller's discussions are: of whoever was first given what it holds; empty: the
    owner's."""
    return held.lineage[0] if held.lineage else ""


async def allowances(
    app: App, held: Capability, more: Sequence[Allowance] = ()
) -> tuple[list[Allowance], datetime | None]:
    """The budgets that count for a caller, and what time it is, if there are any."""
    usual = app.settings.choices.monthly
    if not (held.lineage or more or usual.all_usd is not None):
        return [], None
    purses, now = await (await app.purses()).look(held.lineage)
    found = [*more, *_own(usual, held, purses)]
    if usual.all_usd is not None:
        found.append(Allowance(EVERYBODY, usual.all_usd))
    return found, now


def _own(
    usual: MonthlySetting, held: Capability, purses: Mapping[str, Purse]
) -> Iterator[Allowance]:
    """Those of a caller, and of those through whom it was given what it holds."""
    for account in held.lineage:
        own = purses[account].monthly_usd if account in purses else None
        limit = usual.each_usd if own is None and account == user_of(held) else own
        if limit is not None:
            yield Allowance(account, limit)


@asynccontextmanager
async def within_the_month(
    app: App,
    held: Capability,
    request: OpenRequest,
    key: str | None,
    more: Sequence[Allowance] = (),
) -> AsyncIterator[Opening]:
    """Opens nothing by itself: within it, the request is limited to what is left, or to a share of
    it where nobody limited it, and that is set aside. Whoever opens it says under which id.
    Refused if nothing is left."""
    wanted, _ = await allowances(app, held, more)
    if not wanted:
        yield Opening(request, key, opening_place(key, datetime.now(UTC)) if key else "")
        return
    key = key or secrets.token_hex(16)
    purses = await app.purses()
    await settle_months(app, [each.account for each in wanted])
    found, now = await purses.look(each.account for each in wanted)
    lefts = []
    for each in wanted:
        purse = found.get(each.account, Purse())
        purse.check(0.0, each.monthly_usd, now, each.raised)
        lefts.append(each.monthly_usd - purse.gone(now))
    left, origin = min(lefts), OF_MONTH
    if request.budget.max_cost_usd is None and (part := await share(app, request, left)) < left:
        left, origin = part, SHARE
    of_month = Limits.of(Budget(max_cost_usd=left), origin)
    given = Limits(request.budget, request.limits_from)
    limits, lowered = joined(given, [of_month])
    notes = with_notes_of_lowered(request.notes, given, limits, lowered)
    request = replace(request, budget=limits.budget, limits_from=limits.origins, notes=notes)
    opening = Opening(request, key, place := opening_place(key, now))
    amount = request.budget.max_cost_usd
    assert amount is not None, "it was limited just now"
    done: list[str] = []
    try:
        for each in wanted:
            await _set_aside(app, each, place, amount)
            done.append(each.account)
        yield opening
    except BaseException:
        for account in done:
            await purses.change(account, lambda purse, _: (purse.given_back(place), None))
        raise
    aside = SetAside(month=month_of(now), amount=amount)
    for account in done:
        await purses.change(
            account, lambda purse, _: (purse.renamed(place, opening.discussion_id, aside), None)
        )


async def _set_aside(
    app: App, each: Allowance, place: str, amount: float, before: float = 0.0
) -> None:
    await (await app.purses()).change(
        each.account,
        lambda purse, now: (
            purse.with_set_aside(place, amount, each.monthly_usd, now, before, raised=each.raised),
            None,
        ),
    )


async def set_aside_once_more(
    app: App, held: Capability, discussion_id: str, amount: float | None, spent: float
) -> None:
    """Set aside what a discussion that goes on may cost beyond what it has. Refused if so much is
    not left."""
    wanted, _ = await allowances(app, held)
    if not wanted:
        return
    if amount is None:
        raise NotAllowed(
            f"{discussion_id} has no limit on what it costs, and a budget of the month has to set "
            "something aside for it.",
            "Give it one, such as --max-cost 1; or put the question anew: roundtable follow-up.",
        )
    await settle_months(app, [each.account for each in wanted])
    for each in wanted:
        await _set_aside(app, each, discussion_id, max(0.0, amount - spent), spent)


async def settle_months(app: App, accounts: Sequence[str]) -> None:
    """Count of what is over what it cost, in place of what was set aside for it."""
    purses = await app.purses()
    found, now = await purses.look(accounts)
    running = {place for purse in found.values() for place in purse.running}
    became = await stalled(app, running, now)
    costs = await costs_of(app, sorted(running | {id_ for id_ in became.values() if id_}))
    for account, purse in found.items():
        mine = {place: id_ for place, id_ in became.items() if place in purse.running}
        over = {id_: costs[id_] for id_ in {*purse.running, *mine.values()} if id_ in costs}
        if mine or over:
            await purses.change(account, partial(count, mine, over))


async def stalled(app: App, places: Iterable[str], now: datetime) -> dict[str, str]:
    """What became of those that somebody was about to open who has died since: the id of the
    discussion, or empty if there is none."""
    found: dict[str, str] = {}
    for place in places:
        if (key := stalled_key(place, now)) is None:
            continue
        try:
            state = await app.service.opened_with(key)
        except LedgerTooNew:  # those who can read it know
            continue
        found[place] = state.discussion_id if state else ""
    return found


async def costs_of(app: App, running: Sequence[str]) -> dict[str, float | None]:
    """What those of them cost that are over."""
    found: dict[str, float | None] = {}
    for discussion_id in running:
        try:
            state = await app.service.read(discussion_id)
        except UnknownDiscussion:  # being opened just now, or gone: what was set aside stays
            continue
        except LedgerTooNew:  # a newer Roundtable goes on with it, and will know
            continue
        if state.closed is not None:
            found[discussion_id] = settled_cost(state)
    return found


def settled_cost(state: State) -> float | None:
    """What a discussion cost. What we only counted of it counts with the caution of its limits;
    None where less is known."""
    if Cost.so_far(state).known == "about" and state.updated_at is not None:
        return state.spending(state.updated_at).cost_usd
    return state.usage.cost_usd


def count(
    became: Mapping[str, str], over: Mapping[str, float | None], purse: Purse, now: datetime
) -> tuple[Purse, None]:
    """A purse in which it is known what these became, and what those that are over cost."""
    for place, discussion_id in became.items():
        purse = purse.renamed(place, discussion_id) if discussion_id else purse.given_back(place)
    for discussion_id, cost in over.items():
        purse = purse.settled(discussion_id, cost, now)
    return purse, None


async def allow(app: App, account: str, monthly_usd: float | None) -> None:
    """Let an account spend so much in each month; None: what the settings say."""
    if monthly_usd is not None:
        checked_amount(monthly_usd, "a month's budget")
    update = {"monthly_usd": monthly_usd}
    await (await app.purses()).change(
        account, lambda purse, _: (purse.model_copy(update=update), None)
    )


@dataclass(frozen=True, slots=True)
class Month:
    """How a caller's month stands: where it has several budgets, that with the least left."""

    limit_usd: float
    left_usd: float
    set_aside_usd: float
    """By what is under way; what it does not spend comes back."""
    renews: datetime

    @property
    def told(self) -> str:
        aside = f" ({dollars(self.set_aside_usd)} set aside)" if self.set_aside_usd else ""
        left = f"${self.left_usd:.2f} of ${self.limit_usd:g} left this month{aside}"
        return f"{left}, renews {self.renews:%Y-%m-%d}"


async def months_of(app: App, held: Iterable[Capability]) -> dict[str, Month]:
    """How the months of those callers stand, by their ids, that may open something and have a
    budget of a month."""
    openers = [each for each in held if each.may("open")]
    accounts = sorted({account for each in openers for account in each.lineage})
    if not accounts:
        return {}
    await settle_months(app, accounts)
    purses, now = await (await app.purses()).look(accounts)
    found: dict[str, Month] = {}
    for each in openers:
        standing = [
            _month(allowance.monthly_usd, purses.get(allowance.account, Purse()), now)
            for allowance in _own(app.settings.choices.monthly, each, purses)
        ]
        if standing:
            found[each.id] = min(standing, key=lambda month: month.left_usd)
    return found


def _month(limit: float, purse: Purse, now: datetime) -> Month:
    gone = purse.gone(now)
    return Month(limit, max(0.0, limit - gone), gone - purse.spent_in(now), renews(now))
