"""Long questions: ask, poll, collect. The answer waits in the ledger for whoever comes for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any

from pydantic import Field

from ...core.numbers import NUMBER
from ...core.state import State
from ...core.text import clip, redact
from ...core.values import HOST_WIRE_NAME, Material
from ...procedures import procedure_spec
from ...procedures.cast_block import Question
from ...procedures.casting import open_questions
from ...rehearsal.estimate import estimate_line
from ...version import __version__
from ...views.cost import Cost
from ...views.deliverables import with_works
from ...views.delivery import Delivery, kept_for_the_record
from ...views.meeting import chairs_dissent
from ...views.notes import notes
from ..opening import BriefOptionValues, open_request
from .base import Id, Key, News, Port, ToolsetBase, Wait, Web
from .operations import OnProgress, operation
from .results import Asked, Collected, Dissenting, Polled, prefix, within
from .standings import common_ground, condition_rows, option_rows
from .status import (
    SHORT,
    holdings,
    notifications_of,
    progress_line,
    seat,
    unsendable,
    what_next,
    where,
)


class AskTools(ToolsetBase):
    """Questions that the program answers by itself, with any procedure."""

    @operation("ask", "Ask the table a question")
    async def ask(
        self,
        question: str,
        procedure: Annotated[
            str | None,
            Field(description="deliberation, council, five-round, adaptive, meeting, or your own."),
        ] = None,
        context: Annotated[str, Field(description="All that the table must know.")] = "",
        options: BriefOptionValues | None = None,
        follows: Annotated[
            str,
            Field(description="A discussion to go on from, with its table and record; or last."),
        ] = "",
        language: str | None = None,
        max_cost: Annotated[float | None, Field(ge=0), NUMBER] = None,
        max_calls: Annotated[int | None, Field(ge=1), NUMBER] = None,
        max_tokens: Annotated[int | None, Field(ge=1), NUMBER] = None,
        max_time: Annotated[float | None, Field(gt=0), NUMBER] = None,
        search: Annotated[bool, Field(description="In the web.")] = True,
        clarify: Annotated[bool, Field(description="You will answer what the host asks.")] = False,
        created_by: str = "",
        notifications: News = None,
        web: Web = None,
        web_port: Port = None,
        key: Key = None,
    ) -> Asked:
        """Put a question to a table of experts. Returns at once; follow it with poll, fetch the
        verdict with collect, now or later."""
        request = open_request(
            self.app.settings,
            question,
            surface="tools",
            procedure=procedure,
            options=options,
            follows=follows,
            context=[Material(source="context", text=context)] if context.strip() else [],
            language=language,
            budget={
                "max_cost": max_cost,
                "max_calls": max_calls,
                "max_tokens": max_tokens,
                "max_time": max_time,
            },
            search=search,
            created_by=created_by or self._created_by,
            news=notifications or self._notifications,
            clarify=clarify,
        )
        opened = await self._open(request, key)
        told = await self.app.service.tell_estimate(opened)
        url, warnings = await self._page(opened.discussion_id, web, web_port)
        state = await self._after(opened.discussion_id)
        now = where(state)
        spec = procedure_spec(state.start.procedure)
        result = Asked(
            discussion_id=state.discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            topic=redact(clip(state.start.topic, SHORT)),
            procedure=spec.name,
            participants=[seat(each) for each in state.participants],
            estimate=estimate_line(told, opened),
            cursor=opened.seq,
            web_url=url,
            notifications=notifications_of(state),
            warnings=[*warnings, *unsendable(self.app, state)],
            hint="Poll it with this discussion_id and cursor; collect when it is done.",
        )
        return within(result, self.limit)

    @operation("poll", "Follow a discussion", idempotent=True)
    async def poll(
        self,
        discussion_id: Id,
        cursor: Annotated[int, Field(ge=0, description="Of the last answer.")] = 0,
        wait: Wait = 20.0,
        on_progress: OnProgress | None = None,
    ) -> Polled:
        """What happened since the cursor; waits for something new."""
        state = await self._after(discussion_id)
        records = await self._service.records(discussion_id, after=cursor)
        if wait and state.closed is None and not any(progress_line(r, state) for r in records):
            after = records[-1].seq if records else cursor
            await self._coming(discussion_id, after, wait, on_progress, first=True)
        # The state first, so that nothing is called done whose end is not among the news.
        state = await self._state(discussion_id)
        records = await self._service.records(discussion_id, after=cursor)
        records = [record for record in records if record.seq <= state.seq]
        now = where(state)
        told = [line for record in records if (line := progress_line(record, state))]
        result = Polled(
            discussion_id=discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            done=state.closed is not None,
            cursor=records[-1].seq if records else cursor,
            progress=told,
            waiting_for=list(now.waiting_for),
            hint="Collect the verdict."
            if state.closed is not None
            else _to_answer(asked)
            if (asked := open_questions(state))
            else what_next(state, now, self.access.profile)
            if now.waiting_for or state.set_aside
            else "Poll again with this cursor.",
        )
        while result.size() > self.limit and result.progress:
            left = result.progress[len(result.progress) // 2 + 1 :]
            result = result.model_copy(update={"progress": left})
        return result

    @operation("answer", "Answer the host's questions", idempotent=True)
    async def answer(
        self,
        discussion_id: Id,
        answers: Annotated[list[str], Field(description="In their order; empty: it assumes.")],
        key: Key = None,
    ) -> Polled:
        """Answer what the host asked before anybody speaks."""
        await self._service.answer(discussion_id, answers, key=key)
        return await self.poll(discussion_id, wait=0.0)

    @operation("collect", "Fetch the verdict", idempotent=True)
    async def collect(
        self,
        discussion_id: Id,
        wait: Wait = 0.0,
        offset: Annotated[int, Field(ge=0, description="In the report.")] = 0,
        on_progress: OnProgress | None = None,
    ) -> Collected:
        """The verdict with its dissent, and the report page by page; `done` is false until it is
        reached."""
        state = await self._after(discussion_id)
        if wait and state.closed is None:
            await self._coming(discussion_id, state.seq, wait, on_progress, first=False)
            state = await self._state(discussion_id)
        result = _collected(state, self.access.profile)
        told = redact(procedure_spec(state.start.procedure).deliver(state, __version__))
        report = with_works(told, state)
        if offset:
            result = result.model_copy(update={"page_only": True})
        result = _cut(result, self.limit - 1_000)
        page = prefix(report[offset:], self.limit - result.size() - 24)
        after = offset + len(page)
        return result.model_copy(
            update={"report": page, "next_offset": after if after < len(report) else None}
        )

    async def _coming(
        self,
        discussion_id: str,
        after: int,
        wait: float,
        on_progress: OnProgress | None,
        *,
        first: bool,
    ) -> None:
        """Wait so many seconds: until the first thing worth telling, or to the end."""
        coming = self._service.events(discussion_id, after=after)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    async for record in coming:
                        line = progress_line(record, await self._state(discussion_id))
                        if line and on_progress is not None:
                            await on_progress(float(record.seq), line)
                        if line and first:
                            break
        finally:
            await coming.aclose()


def _collected(state: State, caller: str = "") -> Collected:
    now = where(state)
    verdict, closed = state.verdict, state.closed
    cost = Cost.of(state)
    told = Delivery.of(state)
    sure = told.confidence.word
    return Collected(
        discussion_id=state.discussion_id,
        state=now.state,
        round_complete=now.round_complete,
        next_speaker=now.next_speaker,
        done=closed is not None,
        headline=clip(told.headline, 600),
        answer=clip(told.written, 2_000),
        end=told.question.end if told.question else None,
        share=told.question.share if told.question else None,
        options=option_rows(state, 160),
        common_ground=common_ground(state),
        conditions=condition_rows(state, 160),
        seats=holdings(state),
        findings=[clip(f"{f.message} {f.excerpt}".strip(), SHORT) for f in told.findings[:8]],
        confidence=sure if verdict and verdict.meaningful and sure != "none" else None,
        agreement=clip(told.agreement, 600),
        dissent=_dissenting(state),
        changed_minds=clip(told.changed, 400),
        method=verdict.method if verdict else "",
        partial=verdict.partial if verdict else False,
        meaningful=verdict.meaningful if verdict else True,
        stop_reason=closed.stop_reason if closed else None,
        detail=f"{closed.detail} {closed.remedy}".strip() if closed else "",
        report="",
        next_offset=None,
        notes=_noted(state),
        calls=state.usage.calls,
        tokens=cost.input_tokens + cost.output_tokens,
        cost_usd=cost.usd,
        known_cost_usd=cost.known_usd,
        counted_cost_usd=cost.counted_usd,
        calls_of_unknown_cost=cost.calls_of_unknown_cost,
        hint="It is done."
        if closed
        else what_next(state, now, caller)
        if now.waiting_for or state.set_aside
        else "It is not done yet: poll it, or collect with wait=50.",
    )


MOST_NOTES = 8


def _noted(state: State) -> list[str]:
    """The first notes, and how many more there are."""
    found = [redact(clip(note.text, SHORT)) for note in notes(state)]
    more = len(found) - MOST_NOTES
    return [*found[:MOST_NOTES], *([f"And {more} more: read the report."] if more > 0 else ())]


def _cut(result: Collected, limit: int) -> Collected:
    """The answer in about so many characters, with the names of the fields that are cut: the report
    has everything whole, page by page."""
    cuts: tuple[tuple[str, Callable[[Collected], dict[str, Any]]], ...] = (
        (
            "seats",
            lambda r: {
                "seats": [
                    s.model_copy(update={"told": clip(s.told, 80), "opening": "", "final": ""})
                    for s in r.seats
                ]
            },
        ),
        (
            "conditions",
            lambda r: {
                "conditions": [
                    c.model_copy(
                        update={
                            "text": clip(c.text, 60),
                            "partly": dict.fromkeys(c.partly, ""),
                            "refused_by": dict.fromkeys(c.refused_by, ""),
                        }
                    )
                    for c in r.conditions
                ]
            },
        ),
        ("notes", lambda _: {"notes": []}),
        (
            "dissent",
            lambda r: {
                "dissent": [
                    d.model_copy(update={"position": clip(d.position, 160), "reason": ""})
                    for d in r.dissent
                ]
            },
        ),
        ("answer", lambda r: {"answer": clip(r.answer, 600)}),
        ("conditions", lambda _: {"conditions": []}),
        ("dissent", lambda r: {"dissent": r.dissent[:4]}),
        ("options", lambda _: {"options": []}),
        ("dissent", lambda _: {"dissent": []}),
    )
    for name, cut in cuts:
        if result.page_only or result.size() <= limit:
            break
        left_out = list(dict.fromkeys([*result.left_out, name]))
        result = result.model_copy(update={**cut(result), "left_out": left_out})
    return result


def _dissenting(state: State) -> list[Dissenting]:
    """Who was counted against it, whom the coordinator names, and what seats want to be kept."""
    found = [
        Dissenting(
            participant=each.participant,
            position=clip(each.position, SHORT),
            reason=clip(
                f"Not counted: {each.uncounted}." if each.uncounted else each.reason, SHORT
            ),
        )
        for each in Delivery.of(state).dissent
    ]
    found += [
        Dissenting(
            participant=HOST_WIRE_NAME if who == state.start.host.id else who,
            position=redact(clip(text, 2 * SHORT)),
            reason="As the coordinator has it.",
        )
        for who, text in chairs_dissent(state)
    ]
    found += [
        Dissenting(
            participant=who, position=redact(clip(text, 2 * SHORT)), reason="For the record."
        )
        for who, text in kept_for_the_record(state)
    ]
    return found


def _to_answer(asked: Sequence[Question]) -> str:
    """What the host waits for, and what to send."""
    told = " ".join(f"{number}. {redact(each.ask)}" for number, each in enumerate(asked, 1))
    return f"The host asks: {told} Send the tool answer: one text for each, in this order."
