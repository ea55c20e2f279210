"""Removing a discussion: what was set aside for it gives way to what it cost, before nobody can
tell any more."""

from __future__ import annotations

from functools import partial

from ...bootstrap import App
from ...core.errors import LedgerTooNew, UnknownDiscussion
from ...core.state import fold
from ...ledger.purses import purses_beside
from ...ports import Ledger
from ...settings import Settings
from .capability import OWNER
from .monthly import count, settled_cost
from .store import tokens_of


async def remove(app: App, discussion_id: str) -> None:
    """Remove a discussion for good. LeaseHeld while somebody drives it."""
    settled = partial(settle_for_good, app.settings, app.ledger, discussion_id)
    await app.service.delete(discussion_id, before=settled)


async def settle_for_good(settings: Settings, ledger: Ledger, discussion_id: str) -> None:
    """Count what a discussion cost that is about to be removed, over or not: nobody may drive it
    any more. Where that cannot be told, as much counts as was set aside."""
    purses = await purses_beside(ledger)
    tokens = tokens_of(settings)
    accounts = await purses.holding(discussion_id)
    held = discussion_id in tokens.unsettled(OWNER)
    if not (accounts or held):
        return
    try:
        state = fold(await ledger.read(discussion_id))
        cost = state.cost_usd if state.in_flight else settled_cost(state)
    except UnknownDiscussion:
        return
    except LedgerTooNew:
        cost = None
    over = {discussion_id: cost}
    if held:
        tokens.settle(over)
    for account in accounts:
        await purses.change(account, partial(count, {}, over))
