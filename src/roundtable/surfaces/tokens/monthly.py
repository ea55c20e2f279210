"""Budgets of a month: what a caller, everybody together, or a schedule may spend. Like what a token
may spend in all, it is set aside when a discussion is opened, and counted when it is over."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from ...bootstrap import App
from ...core.errors import UnknownDiscussion
from ...core.limits import Limits, joined
from ...core.purse import CENTS, OPENING, Purse, renews, used_up
from ...core.values import Budget
from ...procedures.opening import OpenRequest
from .capability import Capability

EVERYBODY = "everybody"
ORIGIN = "what is left of the month's budget"


@dataclass(frozen=True, slots=True)
class Allowance:
    """A purse that counts, and its limit."""

    account: str
    monthly_usd: float


@dataclass(slots=True)
class Opening:
    """A request within what is left, and what became of it."""

    request: OpenRequest
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
    found = list(more)
    for account in held.lineage:
        own = purses[account].monthly_usd if account in purses else None
        limit = usual.each_usd if own is None and account == user_of(held) else own
        if limit is not None:
            found.append(Allowance(account, limit))
    if usual.all_usd is not None:
        found.append(Allowance(EVERYBODY, usual.all_usd))
    return found, now


@asynccontextmanager
async def within_the_month(
    app: App, held: Capability, request: OpenRequest, more: Sequence[Allowance] = ()
) -> AsyncIterator[Opening]:
    """Opens nothing by itself: within it, the request is limited to what is left, and that is set
    aside. Whoever opens it says under which id. Forbidden if nothing is left."""
    wanted, _ = await allowances(app, held, more)
    if not wanted:
        yield Opening(request)
        return
    purses = await app.purses()
    await settle_months(app, [each.account for each in wanted])
    found, now = await purses.look(each.account for each in wanted)
    for each in wanted:
        left = each.monthly_usd - found.get(each.account, Purse()).gone(now)
        if left <= CENTS:
            raise used_up(each.monthly_usd, left, now)
        of_month = Limits.of(Budget(max_cost_usd=left), ORIGIN)
        limits, _ = joined(Limits(request.budget, request.limits_from), [of_month])
        request = replace(request, budget=limits.budget, limits_from=limits.origins)
    opening = Opening(request)
    place = f"{OPENING}{secrets.token_hex(8)}"
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
    for account in done:
        await purses.change(
            account, lambda purse, _: (purse.renamed(place, opening.discussion_id), None)
        )


async def _set_aside(
    app: App, each: Allowance, place: str, amount: float, before: float = 0.0
) -> None:
    await (await app.purses()).change(
        each.account,
        lambda purse, now: (
            purse.with_set_aside(place, amount, each.monthly_usd, now, before),
            None,
        ),
    )


async def set_aside_once_more(
    app: App, held: Capability, discussion_id: str, amount: float | None, spent: float
) -> None:
    """Set aside what a discussion that was over may cost beyond what it has. Forbidden if so much
    is not left."""
    wanted, now = await allowances(app, held)
    if not wanted or now is None:
        return
    await settle_months(app, [each.account for each in wanted])
    for each in wanted:
        if amount is None:
            raise used_up(each.monthly_usd, 0.0, now)
        await _set_aside(app, each, discussion_id, max(0.0, amount - spent), spent)


async def settle_months(app: App, accounts: Sequence[str]) -> None:
    """Count of what is over what it cost, in place of what was set aside for it."""
    purses = await app.purses()
    found, _ = await purses.look(accounts)
    running = {id_ for purse in found.values() for id_ in purse.running}
    costs = await costs_of(app, sorted(running))
    for account, purse in found.items():
        over = {id_: costs[id_] for id_ in purse.running if id_ in costs}
        if over:
            await purses.change(account, partial(_settled, over))


async def costs_of(app: App, running: Sequence[str]) -> dict[str, float | None]:
    """What those of them cost that are over."""
    found: dict[str, float | None] = {}
    for discussion_id in running:
        try:
            state = await app.service.read(discussion_id)
        except UnknownDiscussion:  # being opened just now, or deleted: what was set aside stays
            continue
        if state.closed is not None:
            found[discussion_id] = state.usage.cost_usd
    return found


def _settled(over: dict[str, float | None], purse: Purse, now: datetime) -> tuple[Purse, None]:
    for discussion_id, cost in over.items():
        purse = purse.settled(discussion_id, cost, now)
    return purse, None


async def allow(app: App, account: str, monthly_usd: float | None) -> None:
    """Let an account spend so much in each month; None: what the settings say."""
    update = {"monthly_usd": monthly_usd}
    await (await app.purses()).change(
        account, lambda purse, _: (purse.model_copy(update=update), None)
    )


async def told_of(app: App, held: Capability) -> str:
    """How a caller's month stands, in words; empty without a budget."""
    wanted, now = await allowances(app, held)
    if now is None:
        return ""
    found, _ = await (await app.purses()).look(each.account for each in wanted)
    for each in wanted:
        if each.account != EVERYBODY:
            left = each.monthly_usd - found.get(each.account, Purse()).gone(now)
            return (
                f"${max(0.0, left):.2f} of ${each.monthly_usd:g} left this month, "
                f"renews {renews(now):%Y-%m-%d}"
            )
    return ""
