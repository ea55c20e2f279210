"""The tokens over HTTP: list, make and end them. Each caller sees and ends what was given out
through what it holds, the owner everything."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Annotated

from fastapi import APIRouter, Query

from ...core.errors import UnknownName
from ..tokens.capability import Capability, acts_of
from ..tokens.monthly import Month, months_of
from ..tokens.opening import settle
from ..tokens.store import Kept, Tokens, usual_acts
from . import bodies
from .access import Held, Here


@cache
def router() -> APIRouter:
    routes = APIRouter(prefix="/api/tokens", responses=bodies.REFUSALS, tags=["tokens"])

    @routes.get("")
    async def listed(here: Here, held: Held) -> bodies.TokenList:
        """What was given out and still stands, the newest first."""
        tokens = here.links.tokens
        await settle(here.app, tokens, held)
        found = tokens.listed(held)
        months = await months_of(here.app, [each.capability for each in found])
        rows = [token_row(tokens, each, months.get(each.capability.id)) for each in found]
        return bodies.TokenList(tokens=rows)

    @routes.post("", status_code=201)
    async def make(body: bodies.MakeToken, here: Here, held: Held) -> bodies.TokenMade:
        """A new token, which ends with whatever it was asked for with."""
        tokens = here.links.tokens
        discussions = None if body.discussions is None else frozenset(body.discussions)
        wanted = Capability(
            acts=acts_of(body.may) or usual_acts(body.seat, discussions),
            label=body.label,
            discussions=discussions,
            seat=body.seat,
            spend=body.spend_usd,
            channels=None if body.channels is None else frozenset(body.channels),
            expires=here.now() + timedelta(hours=body.hours) if body.hours else None,
        )
        secret, made = tokens.add(wanted, held)
        kept = next(each for each in tokens.listed() if each.capability.id == made.id)
        month = (await months_of(here.app, [made])).get(made.id)
        return bodies.TokenMade(token=secret, about=token_row(tokens, kept, month))

    @routes.delete("/{token_id}")
    async def end(
        token_id: str,
        here: Here,
        held: Held,
        discussion: Annotated[str, Query(max_length=100)] = "",
    ) -> bodies.TokensEnded:
        """End one, and with it whatever was given out through it; open pages end too. With
        `discussion` also a link that every discussion has, such as the one its list shows."""
        tokens = here.links.tokens
        if discussion and held.owns:
            state = await here.app.service.read(discussion)
            seats = [each.id for each in state.participants]
            for link in here.links.standing(discussion, seats):
                found = here.links.find(link)
                if found is not None and found.id == token_id:
                    return bodies.TokensEnded(ended=tokens.end_given(link))
        try:
            return bodies.TokensEnded(ended=tokens.end(token_id, held))
        except UnknownName as error:
            raise UnknownName("token", token_id, remedy="GET /api/tokens lists them.") from error

    return routes


def token_row(tokens: Tokens, kept: Kept, month: Month | None = None) -> bodies.TokenRow:
    held = kept.capability
    return bodies.TokenRow(
        id=held.id,
        kind=kept.kind,
        label=held.label,
        may=sorted(held.acts),
        discussions=None if held.discussions is None else sorted(held.discussions),
        started=sorted(held.opened),
        seat=held.seat,
        locked=held.locked,
        spend_usd=held.spend,
        left_usd=tokens.left(held),
        month=bodies.MonthRow(
            limit_usd=month.limit_usd,
            left_usd=month.left_usd,
            set_aside_usd=month.set_aside_usd,
            renews=month.renews.date().isoformat(),
        )
        if month
        else None,
        channels=None if held.channels is None else sorted(held.channels),
        made=kept.made.isoformat(),
        expires=held.expires.isoformat() if held.expires else None,
        through=held.parents[-1] if held.parents else "",
    )
