"""Opening a discussion, its last stage again, or one that ended for want of budget, with what a
caller holds: within what it may spend, where it may send news, and under keys of its own. Every
surface opens through here."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...bootstrap import App
from ...core.errors import Forbidden, NotAllowed
from ...core.limits import Limits, is_raised, joined, told
from ...core.state import State
from ...core.values import Budget
from ...procedures.opening import OpenRequest
from ...procedures.options import Surface
from ..limits import OF_SPENDING, higher_limits, with_notes_of_lowered
from .capability import Capability
from .monthly import Allowance, costs_of, set_aside_once_more, stalled, user_of, within_the_month

if TYPE_CHECKING:
    from .store import Tokens


async def open_as(
    app: App,
    held: Capability,
    request: OpenRequest,
    *,
    key: str | None = None,
    begins: bool = True,
    queued: bool | None = None,
    purses: Sequence[Allowance] = (),
) -> tuple[State, Capability]:
    """The discussion, and what the caller holds now: what it opened is its own. If it `begins` and
    workers drive, it waits for one; `queued` says so in their place. Forbidden if it may not open
    it, not so, or not for so much. `purses` are further budgets of a month that it counts in."""
    held.check("open")
    if queued is None:
        queued = begins and await app.service.by_workers()
    if not held.id:
        if key and (before := await app.service.opened_with(key)) is not None:
            return before, held
        async with within_the_month(app, held, request, key, purses) as opening:
            state = await app.service.open(opening.request, key=opening.key, queued=queued)
            opening.discussion_id = state.discussion_id
        return state, held
    request = await in_reach(app, held, request)
    tokens = _tokens(app)
    # Nobody finds somebody else's discussion by guessing a key.
    own = f"{held.id}/{key or secrets.token_hex(16)}"
    if key and (before := await app.service.opened_with(own)) is not None:
        return before, held
    await settle(app, tokens, held)
    left = tokens.left(held)
    if left is not None and left <= 0:
        from .store import spent

        raise spent(left, request.budget.max_cost_usd)
    given = Limits(request.budget, request.limits_from)
    of_token = Limits.of(Budget(max_cost_usd=left), OF_SPENDING)
    limits, lowered = joined(given, [app.settings.usual_limits, app.settings.caps, of_token])
    request = replace(
        request,
        budget=limits.budget,
        limits_from=limits.origins,
        account=user_of(held),
        notes=with_notes_of_lowered(request.notes, given, limits, lowered),
    )
    async with within_the_month(app, held, request, own, purses) as opening:
        tokens.set_aside(held, opening.place, opening.request.budget.max_cost_usd)
        try:
            state = await app.service.open(opening.request, key=opening.key, queued=queued)
        except BaseException:
            tokens.give_back(held, opening.place)
            raise
        opening.discussion_id = state.discussion_id
    return state, tokens.opened(held, opening.place, state.discussion_id)


async def again_as(
    app: App,
    held: Capability,
    discussion_id: str,
    stage: str,
    *,
    by: str,
    here: bool = False,
    limits: Limits | None = None,
) -> State:
    """The discussion, with its last stage open once more, and perhaps other limits, as in
    `raise_to`. What that may cost is set aside again. Refused if so much is not left."""
    held.check("lead", discussion_id)
    state = await app.service.read(discussion_id)
    if limits is not None:
        _check_may_raise(app, held, state, limits)
    most = (limits.budget if limits else state.budget).max_cost_usd
    async with _going_on(app, held, state, most):
        ask_again = app.service.ask_again
        return await ask_again(discussion_id, stage, by=by, here=here, limits=limits)


async def raise_as(
    app: App,
    held: Capability,
    discussion_id: str,
    given: Mapping[str, Any],
    *,
    surface: Surface,
    by: str,
) -> State:
    """The discussion, which may go on as far as these limits, if any are given, as in `raise_to`
    and `limits_given`."""
    held.check("lead", discussion_id)
    state = await app.service.read(discussion_id)
    limits = limits_given(app, state, given, surface=surface)
    return state if limits is None else await raise_to(app, held, state, limits, by=by)


def limits_given(
    app: App, state: State, given: Mapping[str, Any], *, surface: Surface
) -> Limits | None:
    """As far as the discussion is to go on, if any limits are given. NotAllowed where a cap is
    lower than what is asked for."""
    higher = higher_limits(app.settings, state, given, surface=surface)
    if higher is None:
        return None
    limits, lowered = higher
    if lowered:
        raise NotAllowed(" ".join(note.text for note in lowered), lowered[0].remedy)
    return limits


async def raise_to(
    app: App, held: Capability, state: State, limits: Limits, *, by: str, here: bool = False
) -> State:
    """The discussion, which may go on as far as these limits. To set them is for whoever could
    start another one, or has a limit of its own: Forbidden for those who only lead it, and if so
    much is not left."""
    _check_may_raise(app, held, state, limits)
    if held.id and state.closed is None and _tokens(app).left(held) is not None:
        raise NotAllowed(
            f"{state.discussion_id} still runs, within what was set aside for it.",
            "Give it more when it has ended for want of it.",
        )
    async with _going_on(app, held, state, limits.budget.max_cost_usd):
        id_ = state.discussion_id
        return await app.service.raise_limits(id_, limits, by=by, here=here)


def _check_may_raise(app: App, held: Capability, state: State, limits: Limits) -> None:
    """Forbidden for who only leads, and beyond the limits within which a token opens."""
    if not held.id:
        return
    if _tokens(app).left(held) is None and not held.may("open"):
        # Who only leads has no purse of its own.
        raise Forbidden(
            f"Whoever only leads {state.discussion_id} sets none of its limits.",
            "Come with a token that may start discussions (over HTTP beside the link, as "
            "Authorization: Bearer TOKEN), or let the owner do it.",
        )
    usual = app.settings.usual_limits
    for name, most in usual.budget:
        if most is None or not is_raised(name, state.budget, limits.budget):
            continue
        if getattr(limits.budget, name) > most:
            raise Forbidden(
                f"At most {told(name, most)} are allowed with a token, by "
                f"{usual.origins.get(name, 'the settings')}.",
                "Ask for no more than that, or let the owner raise the limit.",
            )


@asynccontextmanager
async def _going_on(
    app: App, held: Capability, state: State, most: float | None
) -> AsyncIterator[None]:
    """Within it a discussion is made to go on; what it may cost then is set aside. Refused if so
    much is not left."""
    id_, spent = state.discussion_id, state.usage.priced_usd
    if not held.id:
        await set_aside_once_more(app, held, id_, most, spent)
        yield
        return
    tokens = _tokens(app)
    await settle(app, tokens, held)
    tokens.set_aside_again(held, id_, most)
    try:
        await set_aside_once_more(app, held, id_, most, spent)
        yield
    except BaseException:
        tokens.settle(await costs_of(app, [id_]))
        raise


def _tokens(app: App) -> Tokens:
    """What was given out; not loaded for whoever needs no token, as in a terminal."""
    from .store import tokens_of

    return tokens_of(app.settings)


async def settle(app: App, tokens: Tokens, held: Capability) -> None:
    """Count of what is over what it cost, in place of what was set aside for it."""
    if not (running := tokens.unsettled(held)):
        return
    if became := await stalled(app, running, tokens.now()):
        tokens.recover(became)
        running = tokens.unsettled(held)
    tokens.settle(await costs_of(app, running))


async def in_reach(app: App, held: Capability, request: OpenRequest) -> OpenRequest:
    """The request as somebody may ask for it: with whole ids of what it goes on from. Forbidden if
    it sends news where the caller may not, or goes on from what the caller could not read itself.
    Whatever takes such a request asks here before it looks at anything, also if nothing begins."""
    if not held.id:
        return request
    _check_reach(held, request)
    return await _within_sight(app, held, request)


def _check_reach(held: Capability, request: OpenRequest) -> None:
    if held.channels is not None:
        named = [each.name for each in request.news.channels] if request.news else []
        named += [request.task.board] if request.task else []
        for each in named:
            if each not in held.channels:
                raise Forbidden(
                    f"This token may not send anything to {each!r}.",
                    "Leave it out, or ask for a token that may: --channel NAME.",
                )
    if request.from_files and not (held.discussions is None and held.may("results")):
        raise Forbidden(
            "context_from reads the results of others, and this token may not.",
            "Send what the table needs to know as context.",
        )


async def _within_sight(app: App, held: Capability, request: OpenRequest) -> OpenRequest:
    async def seen(called: str) -> str:
        found = held.among(called) or await app.service.find(called)
        held.check("results", found)
        return found

    return replace(
        request,
        follows=await seen(request.follows) if request.follows else "",
        context_from=tuple([await seen(each) for each in request.context_from]),
    )
