"""Looking at discussions: read, status, summarize, list. Nothing is changed by it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, cast

from pydantic import Field

from ...core.events import DiscussionOpened
from ...core.text import clip, redact
from ...core.values import Status
from ...views.meeting_status import round_report
from .bounds import within
from .history import chosen, fitting, formatted, rows
from .notifications import notifications_of, unsendable
from .operations import operation
from .parts import Id, ToolsetBase
from .results import History, Listed, Row, Stood, Summarized
from .status import SHORT, SOME_POINTS, left_out, points, seat, what_next, where
from .summary import keep, paged, short, summarized


class ReadTools(ToolsetBase):
    """What a caller can see."""

    @operation("read", "Read the history", read_only=True)
    async def read(
        self,
        discussion_id: Id,
        round: Annotated[  # noqa: A002 - the word that callers know
            int | None, Field(ge=0, description="Only this round; 0: the coordinator's words.")
        ] = None,
        since: Annotated[
            int | str, Field(description="Only after the speech of this number, or this time.")
        ] = 0,
        limit: Annotated[int | None, Field(ge=1, description="At most so many.")] = None,
        offset: Annotated[
            int, Field(ge=0, description="Where in the first speech's text to begin.")
        ] = 0,
    ) -> History:
        """What was said, with who, when and in which round, and as text ready for a prompt. Long
        histories come in pages: read on from next_since."""
        state = await self._state(discussion_id)
        now = where(state)
        found = chosen(rows(state), round_=round, since=since, limit=limit)
        if offset and found:
            found[0] = found[0].model_copy(update={"text": found[0].text[offset:]})
        result = History(
            discussion_id=discussion_id,
            state=state.status,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            speeches=[],
            formatted_history="",
            total=len(found),
            next_since=None,
            next_offset=None,
            hint=what_next(state, now),
        )
        shown = fitting(found, self.limit - result.size() - 40, twice=True)
        update: dict[str, Any] = {"speeches": shown, "formatted_history": formatted(shown)}
        if shown and len(shown[0].text) < len(found[0].text):
            update["next_since"] = shown[0].number - 1
            update["next_offset"] = offset + len(shown[0].text)
        elif len(shown) < len(found):
            update["next_since"] = shown[-1].number
        return result.model_copy(update=update)

    @operation("status", "Where a discussion stands", read_only=True)
    async def status(self, discussion_id: Id) -> Stood:
        """Where a discussion stands: its round, who spoke, who is next, how far it has converged,
        and on which points."""
        state = await self._state(discussion_id)
        now = where(state)
        report = round_report(state, max(1, now.round))
        assert state.opened_at is not None, "a discussion that exists was opened"
        assert state.updated_at is not None, "and has events"
        result = Stood(
            discussion_id=discussion_id,
            state=state.status,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            topic=redact(clip(state.start.topic, SHORT)),
            procedure=state.start.procedure,
            created_by=state.start.created_by,
            round=now.round,
            max_rounds=now.max_rounds,
            spoke=list(now.spoke),
            waiting_for=list(now.waiting_for),
            convergence_score=report.convergence_score.value,
            convergence_reason=report.convergence_score.reason,
            consensus_points=points(report.consensus, most=SOME_POINTS, limit=200),
            disagreement_points=points(report.disagreement, most=SOME_POINTS, limit=200),
            further_points=left_out(report.consensus, report.disagreement),
            votes_to_end=[p.id for p in state.participants if state.end_votes.get(p.id)],
            speeches=len(state.speeches),
            absent=list(now.absent),
            paused=state.paused is not None,
            participants=[seat(each) for each in state.participants],
            opened_at=state.opened_at.isoformat(),
            updated_at=state.updated_at.isoformat(),
            notifications=notifications_of(state),
            warnings=unsendable(self.app, state),
            hint=what_next(state, now),
        )
        return within(result, self.limit)

    @operation("summarize", "The data for a conclusion", read_only=True)
    async def summarize(
        self,
        discussion_id: Id,
        compact: Annotated[bool, Field(description="Scores and points only.")] = False,
        offset: Annotated[int, Field(ge=0, description="The speech to begin with.")] = 0,
        limit: Annotated[int | None, Field(ge=1, description="At most so many speeches.")] = None,
    ) -> Summarized:
        """Everything that a conclusion needs, without a model: points, score, action items and
        speeches. What is too long goes to a file, whose path and digest the answer has."""
        state = await self._state(discussion_id)
        whole = summarized(state)
        if compact:
            return short(whole, self.limit)
        if not offset and limit is None and whole.size() <= self.limit:
            return whole
        folder = self.app.settings.cache / "summaries"
        path = folder / f"{discussion_id}-{state.seq}.json"
        await asyncio.to_thread(keep, whole, path)
        return paged(whole, path, offset=offset, count=limit, limit=self.limit)

    @operation("list", "List discussions", read_only=True)
    async def list_discussions(
        self,
        search: Annotated[str | None, Field(description="Part of the topic.")] = None,
        limit: Annotated[int | None, Field(ge=1)] = None,
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> Listed:
        """All discussions, the most recently changed first."""
        found = await self._service.summaries(search=search)
        result = Listed(
            discussions=[],
            total=len(found),
            next_offset=None,
            hint="Look closer with status, read or collect." if found else "Start one with init.",
        )
        room = self.limit - result.size() - 24
        page = found[offset : None if limit is None else offset + limit]
        shown: list[Row] = []
        for each in page:
            first = await self._service.records(each.discussion_id, limit=1)
            opened = first[0].event
            assert isinstance(opened, DiscussionOpened), "a discussion begins with its opening"
            row = Row(
                discussion_id=each.discussion_id,
                topic=redact(clip(" ".join(each.topic.split()), 160)),
                procedure=each.procedure,
                state=cast("Status", each.status),
                driven=each.driver is not None,
                created_by=clip(opened.created_by, 80),
                opened_at=each.opened_at.isoformat(),
                updated_at=each.updated_at.isoformat(),
            )
            room -= len(row.model_dump_json()) + 1
            if room < 0:
                break
            shown.append(row)
        after = offset + len(shown)
        return result.model_copy(
            update={"discussions": shown, "next_offset": after if after < len(found) else None}
        )
