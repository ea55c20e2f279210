"""The routes under /v1, for clients that know OpenAI's API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi import Response as HttpResponse

from ...bootstrap import App
from ...core.errors import RoundtableError, UnknownDiscussion
from ...core.state import State
from ..tokens.capability import Capability
from ..tokens.removing import remove
from ..web.access import Held, secret_of
from ..web.lasting import while_held
from ..web.links import Links
from .answers import CHAT_ID, RESPONSE_ID, Chat, Response, answer, finish_reason, pieces
from .model_list import DEFAULT, PREFIX, OfferedModel, find_model, offered_models
from .prompt import (
    Asking,
    ChatRequest,
    Prompt,
    ResponseRequest,
    chat_turns,
    delivered,
    read_turns,
    response_turns,
)
from .runs import Driver, Runs, failure, progress_line
from .wire import ERRORS, Route, WireError, from_ours, headers_of, json_answer, sse, stream

_ALIVE = b": still here\n\n"
_DONE = b"data: [DONE]\n\n"


def router(app: App, running: Driver, links: Links) -> APIRouter:
    """The endpoint over this program's table; `running` drives what it opens."""
    routes = APIRouter(prefix="/v1", route_class=Route, responses=ERRORS, tags=["openai"])
    table = _Table(app, Runs(app, running), links)
    _model_routes(routes, app)
    _chat_routes(routes, table)
    _response_routes(routes, table)
    return routes


class _Table:
    """What the routes share: from a request to a discussion, and to what is told of it."""

    def __init__(self, app: App, holder: Runs, links: Links) -> None:
        self.settings = app.settings
        self._app = app
        self.holder = holder
        self.links = links
        self._service = app.service

    async def open(
        self,
        request: Request,
        held: Capability,
        asking: Asking,
        model: OfferedModel,
        asked: Prompt,
    ) -> State:
        return await self.holder.open(
            held,
            model,
            asked,
            asking.roundtable,
            await request.body(),
            request.headers.get("idempotency-key", ""),
            request.headers.get("x-stainless-retry-count", "0") not in ("", "0"),
        )

    async def told(self, discussion_id: str) -> tuple[State, list[str]]:
        """A discussion as it stands, and what is told of it so far."""
        state, lines = State(), []
        for record in await self._service.records(discussion_id):
            state.apply(record)
            if line := progress_line(record, state):
                lines.append(line)
        return state, lines

    def metadata(
        self, request: Request, held: Capability, state: State, given: dict[str, str] | None
    ) -> dict[str, str]:
        token = self.links.token(state.discussion_id, by=held)
        base = f"{request.url.scheme}://{request.headers.get('host', 'localhost')}"
        ours = {"discussion_id": state.discussion_id, "page_url": f"{base}/r/{token}"}
        return {**(given or {}), **ours}

    def verdicts(self, held: Capability) -> Callable[[str], Awaitable[State | None]]:
        """Finds earlier verdicts; those of others are as if they were not there."""

        async def find(discussion_id: str) -> State | None:
            if not held.may("results", discussion_id):
                return None
            return await self.holder.verdict_of(discussion_id)

        return find

    def streamed(
        self, request: Request, events: AsyncGenerator[bytes, None], metadata: dict[str, str]
    ) -> HttpResponse:
        """Events as they come, for as long as the client's token stands."""

        async def lasting() -> AsyncGenerator[bytes, None]:
            async with (
                aclosing(events),
                aclosing(while_held(events, self.links, secret_of(request), _now)) as coming,
            ):
                async for event in coming:
                    yield event

        return stream(lasting(), metadata)

    async def stop(self, discussion_id: str) -> None:
        await self.holder.stop(discussion_id)

    async def delete(self, discussion_id: str) -> None:
        await remove(self._app, discussion_id)

    async def to_its_end(
        self, request: Request, state: State, asking: Asking
    ) -> tuple[State, list[str]] | None:
        """The closed discussion; None if the client went away first. WireError without a
        verdict."""
        waiting = asyncio.create_task(self._closed(state.discussion_id))
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait([waiting, gone], return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                if asking.roundtable.on_disconnect == "stop":
                    await self.stop(state.discussion_id)
                return None
            ended, lines = waiting.result()
        finally:
            for task in (waiting, gone):
                task.cancel()
            await asyncio.gather(waiting, gone, return_exceptions=True)
        if error := failure(ended):
            raise error
        return ended, lines

    async def _closed(self, discussion_id: str) -> tuple[State, list[str]]:
        lines: list[str] = []
        state = State()
        async with aclosing(self.holder.follow(discussion_id)) as steps:
            async for step in steps:
                state = step.state
                if step.record is not None and (line := progress_line(step.record, state)):
                    lines.append(line)
        return state, lines


def _model_routes(routes: APIRouter, app: App) -> None:
    def row(model: OfferedModel) -> dict[str, Any]:
        return {
            "id": model.id,
            "object": "model",
            "created": 1_767_225_600,  # clients sort by it; procedures have no birthday
            "owned_by": "user" if model.own else "roundtable",
            "description": model.summary,
        }

    @routes.get("/models")
    async def models() -> dict[str, Any]:
        """The procedures that can be asked, as models."""
        rows = [row(model) for model in offered_models(app.settings).values()]
        return {"object": "list", "data": rows}

    @routes.get("/models/{name:path}")
    async def one_model(name: str) -> dict[str, Any]:
        """One of them."""
        return row(find_model(name, app.settings))


def _chat_routes(routes: APIRouter, table: _Table) -> None:
    @routes.post("/chat/completions", response_model=None)
    async def complete(body: ChatRequest, request: Request, held: Held) -> HttpResponse:
        """Put the last user message to a table, and answer with its verdict."""
        body.check()
        model = find_model(body.model, table.settings)
        asked = await read_turns(chat_turns(body.messages), table.verdicts(held))
        state = await table.open(request, held, body, model, asked)
        metadata = table.metadata(request, held, state, body.metadata)
        form = Chat(state, body.model, metadata)
        if body.stream:
            return table.streamed(request, _chat_events(table, state, body, form), metadata)
        ended = await table.to_its_end(request, state, body)
        if ended is None:
            return HttpResponse(status_code=499)
        state, lines = ended
        progress = body.roundtable.progress
        told = "\n".join(lines)
        text = answer(state, told if progress == "text" else "")
        reasoning = told if progress == "reasoning" else ""
        return json_answer(form.completion(state, text, reasoning), headers_of(metadata))

    @routes.get("/chat/completions/{completion_id}", response_model=None)
    async def collect(completion_id: str, request: Request, held: Held) -> HttpResponse:
        """Collect the answer of an earlier request, also one whose client went away."""
        discussion_id = _discussion(completion_id, CHAT_ID)
        state, lines = await table.told(discussion_id)
        if error := failure(state):
            raise error
        if state.closed is None:
            raise WireError(
                409, f"{discussion_id} is still going on. Ask again later.", code="in_progress"
            )
        metadata = table.metadata(request, held, state, None)
        form = Chat(state, _name(state), metadata)
        completion = form.completion(state, delivered(state), "\n".join(lines))
        return json_answer(completion, headers_of(metadata))


async def _chat_events(
    table: _Table, state: State, body: ChatRequest, form: Chat
) -> AsyncGenerator[bytes, None]:
    yield sse(form.chunk(role="assistant", content=""))
    progress = body.roundtable.progress
    told: list[str] = []
    over = False
    try:
        async with aclosing(table.holder.follow(state.discussion_id)) as steps:
            async for step in steps:
                state = step.state
                if step.record is None:
                    yield _ALIVE
                elif (line := progress_line(step.record, state)) and progress != "none":
                    told.append(line)
                    words = f"{line}\n"
                    yield sse(
                        form.chunk(reasoning_content=words)
                        if progress == "reasoning"
                        else form.chunk(content=words)
                    )
        over = True
        if error := failure(state):
            raise error
        if progress == "text" and told:
            yield sse(form.chunk(content="\n"))
        for words in pieces(delivered(state)):
            yield sse(form.chunk(content=words))
        yield sse(form.chunk(finish_reason(state)))
        if body.stream_options and body.stream_options.include_usage:
            yield sse(form.usage_chunk(state))
        yield _DONE
    except WireError as error:
        over = True
        yield sse(error.document)
    except RoundtableError as error:
        over = True
        yield sse(from_ours(error).document)
    finally:
        if not over and body.roundtable.on_disconnect == "stop":
            table.holder.stop_soon(state.discussion_id)


def _response_routes(routes: APIRouter, table: _Table) -> None:
    @routes.post("/responses", response_model=None)
    async def respond(body: ResponseRequest, request: Request, held: Held) -> HttpResponse:
        """Put the last user message to a table, and respond with its verdict."""
        body.check()
        model = find_model(body.model, table.settings)
        turns = response_turns(body.instructions, body.input)
        asked = await read_turns(turns, table.verdicts(held))
        if body.previous_response_id:
            earlier = await _previous(table, held, body.previous_response_id)
            asked = replace(asked, follows=earlier.discussion_id)
        state = await table.open(request, held, body, model, asked)
        metadata = table.metadata(request, held, state, body.metadata)
        form = Response(
            state,
            body.model,
            metadata,
            background=bool(body.background),
            previous=body.previous_response_id,
        )
        if body.stream:
            events = _response_events(table, state, body, form)
            return table.streamed(request, events, metadata)
        if body.background and state.closed is None:
            return json_answer(form.whole("in_progress"), headers_of(metadata))
        ended = await table.to_its_end(request, state, body)
        if ended is None:
            return HttpResponse(status_code=499)
        state, lines = ended
        told = lines if body.roundtable.progress == "reasoning" else []
        before = "\n".join(lines) if body.roundtable.progress == "text" else ""
        return json_answer(form.ended(state, told, answer(state, before)), headers_of(metadata))

    @routes.get("/responses/{response_id}", response_model=None)
    async def collect(response_id: str, request: Request, held: Held) -> HttpResponse:
        """A response as it stands, whoever asked for it and whenever."""
        return await _standing(table, request, held, _discussion(response_id, RESPONSE_ID))

    @routes.post("/responses/{response_id}/cancel", response_model=None)
    async def cancel(response_id: str, request: Request, held: Held) -> HttpResponse:
        """End the discussion with what exists."""
        discussion_id = _discussion(response_id, RESPONSE_ID)
        await table.stop(discussion_id)
        return await _standing(table, request, held, discussion_id)

    @routes.delete("/responses/{response_id}", response_model=None)
    async def delete(response_id: str) -> HttpResponse:
        """Delete the discussion for good."""
        await table.delete(_discussion(response_id, RESPONSE_ID))
        return json_answer({"id": response_id, "object": "response", "deleted": True})


async def _standing(
    table: _Table, request: Request, held: Capability, discussion_id: str
) -> HttpResponse:
    state, lines = await table.told(discussion_id)
    metadata = table.metadata(request, held, state, None)
    form = Response(state, _name(state), metadata)
    if state.closed is None:
        found = form.whole("in_progress", reasoning=lines)
    elif error := failure(state):
        found = form.whole("failed", reasoning=lines, state=state, error=error.message)
    else:
        found = form.ended(state, lines, delivered(state))
    return json_answer(found, headers_of(metadata))


async def _previous(table: _Table, held: Capability, response_id: str) -> State:
    earlier = await table.verdicts(held)(_discussion(response_id, RESPONSE_ID))
    if earlier is None:
        raise WireError(
            404,
            f"There is no response {response_id!r} with a verdict here. Send the turns instead.",
            code="previous_response_not_found",
            param="previous_response_id",
        )
    return earlier


async def _response_events(
    table: _Table, state: State, body: ResponseRequest, form: Response
) -> AsyncGenerator[bytes, None]:
    progress = body.roundtable.progress
    told: list[str] = []
    over = False
    index = 0
    try:
        for event in form.begun():
            yield sse(event)
        if progress == "reasoning":
            index = 1
            for event in form.thinking_begins():
                yield sse(event)
        async with aclosing(table.holder.follow(state.discussion_id)) as steps:
            async for step in steps:
                state = step.state
                if step.record is None:
                    yield _ALIVE
                elif (line := progress_line(step.record, state)) and progress != "none":
                    told.append(line)
                    if progress == "reasoning":
                        words = line if len(told) == 1 else f"\n{line}"
                        yield sse(form.thinks(words))
        over = True
        thoughts = told if progress == "reasoning" else []
        if thoughts:
            for event in form.thinking_ends("\n".join(thoughts)):
                yield sse(event)
        if error := failure(state):
            raise error
        text = answer(state, "\n".join(told) if progress == "text" else "")
        for part in (
            form.speaking_begins(index),
            form.speaks(index, text),
            form.speaking_ends(index, text),
        ):
            for event in part:
                yield sse(event)
        ended = form.ended(state, thoughts, text)
        yield sse(form.event(f"response.{ended['status']}", response=ended))
    except (WireError, RoundtableError) as error:
        over = True
        wire = error if isinstance(error, WireError) else from_ours(error)
        failed = form.whole("failed", state=state if state.seq else None, error=wire.message)
        yield sse(form.event("response.failed", response=failed))
    finally:
        if not over and body.roundtable.on_disconnect == "stop" and not body.background:
            table.holder.stop_soon(state.discussion_id)


async def _gone(request: Request) -> None:
    """Return when the client goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _now() -> datetime:
    return datetime.now(UTC)


def _discussion(given: str, prefix: str) -> str:
    if not given.startswith(prefix):
        raise UnknownDiscussion(given)
    return given.removeprefix(prefix)


def _name(state: State) -> str:
    """The model that a discussion would be asked as; which alias it was, nobody kept."""
    name = state.start.procedure.rpartition(":")[2]
    return PREFIX + name if name else DEFAULT
