"""The routes: one discussion through its link, and all of them for the owner.

Every act goes through the service and becomes an event; nothing is kept here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import cache
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Send

from ...core.errors import UnknownName
from ...core.state import State
from ...core.values import HOST_WIRE_NAME, Material
from ...core.visible import shown
from ...engine.service import LARGEST_CURSOR
from ...ports import DiscussionSummary
from ...views.comparison import Comparison
from ...views.driving import needs_driver
from ...views.notes import notes
from ...views.outside_form import new_ids, recorded_of
from ...views.row import Group, Row
from ..exports import Form
from ..opening import checked_for_secrets
from ..recorded import recorded_examples
from ..tokens.capability import OWNER, Capability
from ..tokens.opening import again_as, limits_given, open_as, raise_as, settle
from ..tokens.removing import remove
from ..tokens.store import id_of
from . import bodies
from .access import (
    Denied,
    Held,
    Here,
    Web,
    held_by,
    is_owner,
    keep_hand,
    secret_of,
    token_beside,
)
from .exporting import bundled, exported
from .lasting import while_held
from .listing import MOST_LISTED, Listing, Order
from .sse import END
from .tokens_api import token_row

Cursor = Annotated[int, Query(ge=0, le=LARGEST_CURSOR)]


@cache
def link_routes() -> APIRouter:
    """What one link opens."""
    routes = APIRouter(prefix="/api/r/{token}", responses=bodies.REFUSALS, tags=["discussion"])

    @routes.get("")
    async def opened(request: Request, here: Here, grant: Held) -> bodies.Opened:
        """What this link opens, and as whom."""
        async with here.rooms.enter(grant.only) as room:
            links = None
            leads = grant.may("lead", grant.only) or is_owner(request, here)
            if leads:
                seats = [each.id for each in room.opened.participants]
                links = _links(here, request, grant.only, seats, _lender(request, here, grant))
            return bodies.Opened(
                discussion_id=grant.only,
                role=grant.role,
                seat=grant.seat,
                leads=leads,
                owns=is_owner(request, here),
                locked=grant.locked,
                expires=grant.expires.isoformat() if grant.expires else None,
                status=room.status,
                topic=shown(room.opened.topic),
                procedure=room.opened.procedure,
                last_seq=room.last_seq,
                driven_here=here.running.drives(grant.only),
                links=links,
            )

    @routes.post("/unlock", status_code=204)
    async def unlock(token: str, body: bodies.Unlock, response: Response, here: Here) -> None:
        """Open a locked link in this browser."""
        grant = held_by(here, token)
        if grant.locked and (wait := ceil(await here.passwords.until(id_of(token)))):
            raise Denied(
                429,
                "Too many passwords were tried on this link.",
                f"Try again in {wait} s.",
                headers={"retry-after": str(wait)},
                locked=True,
            )
        if grant.locked and not here.links.opens(token, body.password):
            raise Denied(401, "That is not its password.", "Try again.", locked=True)
        response.set_cookie(
            here.pass_cookie,
            here.links.pass_for(token),
            path=f"/api/r/{token}",
            httponly=True,
            samesite="strict",
        )

    @routes.get("/events", response_class=JSONResponse)
    async def events(
        here: Here,
        grant: Held,
        after: Cursor = 0,
        limit: Annotated[int, Query(ge=1, le=5_000)] = 1_000,
    ) -> Response:
        """The events after a cursor."""
        async with here.rooms.enter(grant.only) as room:
            return Response(room.events(after, limit), media_type="application/json")

    @routes.get("/feed", response_class=StreamingResponse)
    async def feed(
        request: Request, here: Here, grant: Held, after: Cursor | None = None
    ) -> Response:
        """Events as they come, as server-sent events; also the words of whoever speaks.

        `Last-Event-ID` goes before `after`. It ends with the event `end`: when the discussion is
        over, this server goes, or the link runs out or is ended.
        """
        seen = _last_event(request)
        cursor = (after or 0) if seen is None else seen
        async with here.rooms.enter(grant.only):
            pass  # UnknownDiscussion, while it can still be said with a status
        frames = _frames(here, grant, secret_of(request), cursor)
        return Feed(frames, media_type="text/event-stream")

    @routes.get("/derived", response_class=JSONResponse)
    async def derived(request: Request, here: Here, grant: Held) -> Response:
        """What only the whole discussion tells: points, pictures, verdict, cost."""
        async with here.rooms.enter(grant.only) as room:
            version, body = await room.derived()
        tag = f'"{grant.only}-{version}"'
        headers = {"etag": tag, "cache-control": "no-cache, private"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    @routes.get("/export.{form}", response_class=Response)
    async def export(form: Form, here: Here, grant: Held) -> Response:
        """The discussion as a file."""
        return await exported(here.app.service, grant.only, form)

    @routes.get("/bundle", response_class=Response)
    async def bundle(here: Here, grant: Held) -> Response:
        """Everything, prompts and material included, in a form that can be verified elsewhere."""
        return await bundled(here.app.service, grant.only)

    _acts(routes)
    return routes


def _acts(routes: APIRouter) -> None:
    @routes.post("/speak")
    async def speak(body: bodies.Speak, request: Request, here: Here, grant: Held) -> bodies.Said:
        """Say something: for the seat, or as the host at any time."""
        leads = grant.may("lead", grant.only) or is_owner(request, here)
        if body.as_host and not leads:
            raise Denied(403, "This link may not lead the discussion.", "Ask for the host's link.")
        voice = HOST_WIRE_NAME if body.as_host else grant.voice
        said = await here.app.service.hear(
            grant.only, voice, body.text, body.declaration, key=body.key or None
        )
        state = await here.app.service.read(grant.only)
        if needs_driver(state) and not await here.app.service.is_driven(grant.only):
            here.running.drive(grant.only)  # words that come in take it up again
        points, conditions, amended = new_ids(state, said.speech)
        return bodies.Said(
            turn_id=said.speech.turn_id,
            round=said.speech.round,
            flags=list(said.speech.flags),
            recorded=recorded_of(state, said.speech) if voice == grant.seat else "",
            problems=list(said.remarks),
            new_points=points,
            new_conditions=conditions,
            amended=amended,
        )

    @routes.post("/pause")
    async def pause(body: bodies.Reason, here: Here, grant: Held) -> bodies.Done:
        """Let nobody begin a new turn; whoever speaks finishes."""
        return _done(await here.app.service.pause(grant.only, by=_by(grant), reason=body.reason))

    @routes.post("/resume")
    async def resume(
        request: Request, here: Here, grant: Held, body: bodies.Higher | None = None
    ) -> bodies.Done:
        """Let it go on, within other limits if they are given, and with higher ones where it ended
        for want of them; this server drives it if nobody else does."""
        await here.running.check_room(grant.only)
        if body is not None:
            payer, given = _payer(request, here, grant), body.given
            await raise_as(here.app, payer, grant.only, given, surface="http", by=_by(grant))
        state = await here.app.service.resume(grant.only, by=_by(grant))
        if state.closed is None:
            await here.running.begin(grant.only, let_in=True)
        return await _goes_on(here, state)

    @routes.post("/again")
    async def again(body: bodies.Again, request: Request, here: Here, grant: Held) -> bodies.Done:
        """Ask its last stage again, alone, after it is over, perhaps with other limits; what is
        said then counts."""
        payer, given = _payer(request, here, grant), body.given
        await here.running.check_room(grant.only)
        before = await here.app.service.read(grant.only)
        limits = limits_given(here.app, before, given, surface="http")
        state = await again_as(
            here.app, payer, grant.only, body.stage, by=_by(grant), limits=limits
        )
        await here.running.begin(grant.only, let_in=True)
        return await _goes_on(here, state)

    @routes.post("/skip")
    async def skip(body: bodies.Skip, here: Here, grant: Held) -> bodies.Done:
        """Do without somebody's open turn."""
        return _done(await here.app.service.skip(grant.only, body.participant, by=_by(grant)))

    @routes.post("/material")
    async def material(body: bodies.AddMaterial, here: Here, grant: Held) -> bodies.Done:
        """Put a document on the table."""
        given = Material(source=body.source, text=body.text)
        (given,) = checked_for_secrets(here.app.settings, [given], body.secrets)
        state = await here.app.service.add_material(
            grant.only,
            given,
            by=_by(grant),
            key=body.key or None,
        )
        return _done(state)

    @routes.post("/answers")
    async def answers(body: bodies.Answers, here: Here, grant: Held) -> bodies.Done:
        """Answer what the host asked before anybody speaks."""
        return _done(await here.app.service.answer(grant.only, body.answers, key=body.key or None))

    @routes.post("/extend")
    async def extend(body: bodies.Extend, here: Here, grant: Held) -> bodies.Done:
        """Give the table more rounds."""
        return _done(await here.app.service.extend(grant.only, body.rounds, by=_by(grant)))

    @routes.post("/advance")
    async def advance(here: Here, grant: Held) -> bodies.Done:
        """End the open round by hand."""
        return _done(await here.app.service.advance(grant.only, by=_by(grant)))

    @routes.post("/stop")
    async def stop(body: bodies.Reason, here: Here, grant: Held) -> bodies.Done:
        """End it with what exists."""
        return _done(await here.app.service.stop(grant.only, by=_by(grant), reason=body.reason))

    @routes.post("/outcome")
    async def outcome(body: bodies.Outcome, here: Here, grant: Held) -> bodies.Done:
        """Say how the decision turned out: good, mixed or bad. A later word replaces it."""
        state = await here.app.service.record_outcome(
            grant.only, body.outcome, note=body.note, by=_by(grant)
        )
        return _done(state)

    @routes.post("/vote")
    async def vote(body: bodies.Vote, here: Here, grant: Held) -> bodies.Done:
        """Vote on ending it, for the seat."""
        state = await here.app.service.vote_to_end(grant.only, grant.seat, body.in_favour)
        return _done(state)

    @routes.post("/share")
    async def share(body: bodies.Share, request: Request, here: Here, grant: Held) -> bodies.Url:
        """A link for somebody else. It does not outlive the link that it was asked through, and
        stands in the list of links from which it can be ended."""
        async with here.rooms.enter(grant.only) as room:
            state = await here.app.service.read(room.discussion_id)
        seats = [each.id for each in state.participants]
        if body.role == "seat" and body.seat not in seats:
            raise Denied(
                422, f"There is no seat {body.seat!r}.", f"Seats here: {', '.join(seats)}."
            )
        lender = _lender(request, here, grant)
        expires = here.now() + timedelta(hours=body.hours) if body.hours else None
        token = here.links.token(
            grant.only,
            body.role,
            seat=body.seat if body.role == "seat" else "",
            expires=expires,
            password=body.password,
            by=lender,
        )
        made = here.links.find(token)
        assert made is not None, "it was made just now"
        lender.narrowed(made)
        here.links.tokens.note_link(replace(made, label=body.label))
        return bodies.Url(
            url=f"{_base(request)}/r/{token}",
            token=token,
            id=made.id,
            expires=made.expires.isoformat() if made.expires else None,
        )

    @routes.get("/links")
    async def links(request: Request, here: Here, grant: Held) -> bodies.TokenList:
        """The links to this discussion that were given out: all for the owner, else those that
        were made through this one."""
        lender = _lender(request, here, grant)
        await settle(here.app, here.links.tokens, lender)
        found = here.links.tokens.listed(lender)
        own = [each for each in found if each.capability.discussions == grant.discussions]
        return bodies.TokenList(tokens=[token_row(here.links.tokens, each) for each in own])

    @routes.post("/address")
    async def address(
        token: str, request: Request, response: Response, here: Here, grant: Held
    ) -> bodies.Url:
        """Another link to watch for the address bar: the one that it shows ends, for everybody who
        has it."""
        shown_link = held_by(here, token)
        if shown_link.role != "viewer":
            raise Denied(
                409, "This is no link to watch.", "Open it in a browser, which makes one of it."
            )
        hand = secret_of(request)
        by = _lender(request, here, grant) if hand == token else held_by(here, hand)
        here.links.tokens.end_given(token)
        fresh = here.links.token(grant.only, by=by)
        if hand != token:
            keep_hand(here, response, hand, fresh)
        return bodies.Url(
            url=f"{_base(request)}/r/{fresh}",
            token=fresh,
            id=id_of(fresh),
            expires=by.expires.isoformat() if by.expires else None,
        )

    @routes.delete("/links/{token_id}")
    async def end_link(
        token_id: str, request: Request, here: Here, grant: Held
    ) -> bodies.TokensEnded:
        """End one of them, with all that were made through it and the pages that they show."""
        tokens = here.links.tokens
        own = {
            each.capability.id
            for each in tokens.listed(_lender(request, here, grant))
            if each.capability.discussions == grant.discussions
        }
        if token_id not in own:
            raise UnknownName("link", token_id, own)
        return bodies.TokensEnded(ended=tokens.end(token_id))


@cache
def owner_routes() -> APIRouter:
    """All discussions, for the owner and for clients that start some."""
    routes = APIRouter(prefix="/api", responses=bodies.REFUSALS, tags=["owner"])

    @routes.get("/discussions")
    async def discussions(
        request: Request,
        here: Here,
        search: Annotated[str, Query(max_length=1_000)] = "",
        limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
        after: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
        group: Group | None = None,
        procedure: Annotated[str, Query(max_length=200)] = "",
        dissent: bool = False,
        sort: Order = "newest",
    ) -> bodies.Listed:
        """The discussions of this ledger, the most recently changed first. `search`: each of its
        words is in the question, a speech or the verdict. The filters choose from all of them;
        `after` so many, `limit` of those are given."""
        service = here.app.service
        found = await service.summaries(limit=MOST_LISTED, search=search.strip() or None, said=True)
        found = here.running.with_those_opening(found, here.now())
        rows = await here.rows.of(service, found)
        listed = Listing(found, rows).chosen(
            group=group, procedure=procedure, dissent=dissent, sort=sort
        )
        return bodies.Listed(
            discussions=[
                _headlined(here, request, each, rows.get(each.discussion_id))
                for each in listed.found[after : after + limit]
            ],
            pending=sum(each.discussion_id not in rows for each in found),
            total=len(listed.found),
            counts=listed.counts,
            procedures=listed.procedures,
        )

    @routes.get("/examples")
    async def examples(request: Request, here: Here) -> bodies.Examples:
        """The recorded discussions that come with the program; each opens like any other."""
        rows = await asyncio.to_thread(recorded_examples)
        return bodies.Examples(
            examples=[
                bodies.ExampleRow(
                    **row.model_dump(),
                    url=f"{_base(request)}/r/{here.links.token(row.discussion_id)}",
                )
                for row in rows
            ]
        )

    @routes.post("/discussions", status_code=201)
    async def open_(body: bodies.Open, request: Request, here: Here, held: Held) -> bodies.Started:
        """Put a topic to a table, and let it begin."""
        wanted = body.request(here.app.settings, here.links)
        key = body.key or None
        with here.running.opening() if body.run else nullcontext():
            state, held = await open_as(here.app, held, wanted, key=key, begins=body.run)
            await here.app.service.tell_estimate(state)
            if body.run and state.closed is None:
                here.running.drive(state.discussion_id)
        return await _started(here, request, state, held)

    @routes.delete("/discussions/{discussion_id}", status_code=204)
    async def delete(discussion_id: str, here: Here) -> None:
        """Remove a discussion for good. Refused while somebody drives it."""
        await remove(here.app, await here.app.service.find(discussion_id))

    @routes.post("/discussions/{discussion_id}/run", status_code=202)
    async def run(discussion_id: str, request: Request, here: Here, held: Held) -> bodies.Started:
        """Drive a discussion from wherever it stands, unless another process does."""
        state = await here.app.service.read(await here.app.service.find(discussion_id))
        if state.closed is None:
            await here.running.begin(state.discussion_id)
        return await _started(here, request, state, held)

    @routes.get("/compare")
    async def compare(
        here: Here,
        one: Annotated[str, Query(max_length=100)],
        other: Annotated[str, Query(max_length=100)],
    ) -> bodies.Compared:
        """Two discussions side by side: answers, votes, confidence, positions, costs."""
        service = here.app.service
        states = [await service.read(await service.find(each)) for each in (one, other)]
        return bodies.Compared.model_validate(Comparison.of(*states).document())

    @routes.post("/drafts")
    async def drafts(body: bodies.Drafts, here: Here) -> bodies.Complete:
        """Words that another process hears, for those who watch here."""
        put = [
            here.running.draft_store.put(
                each.discussion_id,
                each.turn_id,
                each.participant,
                each.attempt,
                each.begins,
                each.words,
            )
            for each in body.drafts
        ]
        return bodies.Complete(complete=all(put))

    return routes


class Feed(StreamingResponse):
    """A stream whose source is closed when its reader leaves, and not some time later."""

    async def stream_response(self, send: Send) -> None:
        source = self.body_iterator
        assert isinstance(source, AsyncGenerator)
        async with aclosing(source):
            await super().stream_response(send)


def _last_event(request: Request) -> int | None:
    """The number of the event that a browser saw last, if it says one."""
    last = request.headers.get("last-event-id", "")
    if not last:
        return None
    if not re.fullmatch(r"[0-9]{1,16}", last) or int(last) > LARGEST_CURSOR:
        raise Denied(
            400,
            f"Last-Event-ID: a whole number from 0 to {LARGEST_CURSOR} is expected.",
            "Send the id of the last event that came, or none.",
        )
    return int(last)


async def _frames(
    here: Web, grant: Capability, secret: str, after: int
) -> AsyncGenerator[bytes, None]:
    async with (
        here.rooms.enter(grant.only) as room,
        aclosing(room.feed(after)) as frames,
        aclosing(while_held(frames, here.links, secret, here.now, last=(END,))) as coming,
    ):
        async for frame in coming:
            yield frame


async def _started(here: Web, request: Request, state: State, by: Capability) -> bodies.Started:
    seats = [each.id for each in state.participants]
    links = _links(here, request, state.discussion_id, seats, by)
    taken_up = here.running.drives(state.discussion_id)
    return bodies.Started(
        discussion_id=state.discussion_id,
        status=await _standing(here, state),
        driven_here=taken_up and not await here.app.service.by_workers(),
        url=_url(here, request, state.discussion_id, by),
        links=links,
        notes=[
            bodies.Noted(code=each.code, text=each.text, remedy=each.remedy)
            for each in notes(state)
        ],
    )


def _headlined(
    here: Web, request: Request, found: DiscussionSummary, row: Row | None
) -> bodies.Headlined:
    return bodies.Headlined(
        discussion_id=found.discussion_id,
        topic=shown(found.topic),
        procedure=found.procedure,
        status=found.standing,
        opened_at=found.opened_at.isoformat(),
        updated_at=found.updated_at.isoformat(),
        last_seq=found.last_seq,
        outcome=found.outcome,
        row=row,
        url=_url(here, request, found.discussion_id, OWNER),
    )


def _links(
    here: Web,
    request: Request,
    discussion_id: str,
    seats: list[str],
    by: Capability,
) -> dict[str, str]:
    base = _base(request)
    tokens = {"viewer": here.links.token(discussion_id, by=by)}
    tokens |= {seat: here.links.token(discussion_id, "seat", seat=seat, by=by) for seat in seats}
    return {who: f"{base}/r/{token}" for who, token in tokens.items()}


def _url(here: Web, request: Request, discussion_id: str, by: Capability) -> str:
    return f"{_base(request)}/r/{here.links.token(discussion_id, 'host', by=by)}"


def _base(request: Request) -> str:
    """This server as the asker calls it; the guard has checked the name."""
    return f"{request.url.scheme}://{request.headers['host']}"


def _lender(request: Request, here: Web, grant: Capability) -> Capability:
    """Through whom links are given out here, with which they end: a host for two hours makes no
    host for ever."""
    return OWNER if is_owner(request, here) else grant


def _payer(request: Request, here: Web, grant: Capability) -> Capability:
    """On whose account it goes on: a link says nothing of money, for whoever led may have passed it
    on; but the owner's key or a token that starts discussions may come with it."""
    token = token_beside(request, here)
    if token is not None and token.may("open") and token.may("lead", grant.only):
        return token
    return _lender(request, here, grant)


def _by(grant: Capability) -> str:
    return "the host" if grant.role == "host" else "the owner"


async def _standing(here: Web, state: State) -> str:
    """Its status, or `queued` while it waits for a worker, as lists have it."""
    waits = state.closed is None and await here.app.service.is_queued(state.discussion_id)
    return "queued" if waits else state.status


async def _goes_on(here: Web, state: State) -> bodies.Done:
    return _done(state).model_copy(update={"status": await _standing(here, state)})


def _done(state: State) -> bodies.Done:
    return bodies.Done(discussion_id=state.discussion_id, status=state.status, last_seq=state.seq)
