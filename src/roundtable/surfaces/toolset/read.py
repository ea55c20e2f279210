"""Looking at discussions: read, status, summarize, list. Nothing is changed by it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, cast

from pydantic import Field

from ...core.events import DiscussionOpened
from ...core.state import State
from ...core.text import clip, redact
from ...core.values import HOST_WIRE_NAME, Status
from ...views.meeting import refused_conditions
from ...views.meeting_status import round_report, side_by_side
from .asked import (
    asked_of,
    briefly,
    fitting_points,
    form_for,
    only_shown,
    points_on_the_table,
)
from .base import LONGEST_WAIT, Id, ToolsetBase
from .folding import FORM_SHARE, POINTS_SHARE, TURN_LIMIT, folded_rows
from .history import audible, chosen, counted, fitting, heard_until, lines_of, rows
from .operations import OnProgress, operation
from .results import History, Listed, Row, SpeechRow, Stood, Summarized, within, written
from .standings import common_ground, condition_rows, option_rows
from .status import (
    SHORT,
    may_add,
    notifications_of,
    seat,
    unanswered_at_the_end,
    unsendable,
    what_next,
    where,
)
from .summary import keep, paged, short, summarized


def _row_name(state: State, caller: str) -> str:
    """The name under which a caller's own words stand in the history."""
    return state.start.host.id if caller == HOST_WIRE_NAME else caller


def _is_for(state: State, caller: str) -> bool:
    """Whether something is asked of this caller now; of whoever is nobody's seat, of anybody. A
    seat that has answered everything waits for the conclusion itself."""
    now = where(state)
    if now.state == "awaiting_conclusion" and any(p.id == caller for p in state.participants):
        return bool(may_add(state, caller))
    asked = caller in now.waiting_for if caller else bool(now.waiting_for)
    return asked or now.state == "awaiting_conclusion"


def _heard(state: State, said: Sequence[SpeechRow], caller: str) -> int:
    return heard_until(said, _row_name(state, caller), side_by_side=side_by_side(state))


def _to_conclude(state: State) -> dict[str, Any]:
    """How every option and condition stands, in few characters: summarize has them whole."""
    return {
        "options": option_rows(state, 100),
        "conditions": condition_rows(state, 100, reason=40),
        "common_ground": common_ground(state),
    }


def _newest(said: Sequence[SpeechRow]) -> int:
    """The number up to which nothing is missing: what is held back comes after it, later."""
    if said and said[-1].number == len(said):
        return len(said)
    gaps = (place for place, row in enumerate(said) if row.number != place + 1)
    return next(gaps, len(said))


You = Annotated[str, Field(description="Your seat, or coordinator.")]


class ReadTools(ToolsetBase):
    """What a caller can see."""

    @operation("read", "Read the history", read_only=True)
    async def read(
        self,
        discussion_id: Id,
        participant: You = "",
        wait: Annotated[
            float,
            Field(
                ge=0,
                le=LONGEST_WAIT,
                description="Seconds to wait for your turn; 50 if your client ends long calls.",
            ),
        ] = 0.0,
        since: Annotated[
            int | str | None,
            Field(
                description="After this number or time; default: what you have not seen. 0: all."
            ),
        ] = None,
        before: Annotated[int | None, Field(ge=1, description="Older than this number.")] = None,
        round: Annotated[  # noqa: A002 - the word that callers know
            int | None, Field(ge=0, description="0: the coordinator's words.")
        ] = None,
        limit: Annotated[int | None, Field(ge=1)] = None,
        offset: Annotated[int, Field(ge=0, description="In the first speech's text.")] = 0,
        formatted: Annotated[bool, Field(description="One text instead of rows.")] = False,
        on_progress: OnProgress | None = None,
    ) -> History:
        """What you have not seen, newest first, with all that you need to speak: the
        points with ids and stances, whose turn it is, the form of your declaration, the
        deadline. What is too long for a turn is folded: since, before or round give whole texts.
        A wait in vain answers with a hint alone."""
        caller = participant or self.access.profile
        state = await self._until(
            discussion_id, wait, lambda now: _is_for(now, caller), on_progress
        )
        now = where(state)
        if wait and state.closed is None and not _is_for(state, caller):
            return History(
                discussion_id=discussion_id,
                state=now.state,
                round_complete=now.round_complete,
                next_speaker=now.next_speaker,
                hint=what_next(state, now, caller),
            )
        said = audible(state, rows(state), caller)
        unfiltered = since is None and before is None and round is None and limit is None
        if caller and unfiltered and not offset and not formatted:
            return self._for_a_turn(state, caller)
        after = _heard(state, said, caller) if since is None else since
        found = chosen(said, round_=round, since=after, before=before)
        wanted = found if limit is None else found[:limit]
        if offset and wanted:
            wanted[0] = wanted[0].model_copy(update={"text": wanted[0].text[offset:]})
        form = form_for(state, caller, now.waiting_for, self.limit // 3)
        asked = asked_of(state, form, caller)
        listed, left_out = fitting_points(
            points_on_the_table(state, asked, caller), self.limit // 2
        )
        result = History(
            discussion_id=discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            round=now.round,
            max_rounds=now.max_rounds,
            speeches=[],
            total=len(found),
            newest=_newest(said),
            points=listed,
            further_points=left_out,
            form=only_shown(form, listed),
            hint=what_next(state, now, caller),
        )
        line = lines_of(state) if formatted else None
        room = 2 * self.limit - result.size() - 120
        shown = fitting(wanted, room, line)
        update: dict[str, Any] = (
            {"formatted_history": "\n\n".join(line(row) for row in shown[::-1])}
            if line is not None
            else {"speeches": shown}
        )
        if shown and shown[0].characters:
            update["next_before"] = shown[0].number + 1
            update["next_offset"] = offset + len(shown[0].text)
        elif len(shown) < len(found):
            update["next_before"] = shown[-1].number
        return result.model_copy(update=update)

    def _for_a_turn(self, state: State, caller: str) -> History:
        """What a caller needs for its turn and has not seen yet, in few characters."""
        now, said = where(state), audible(state, rows(state), caller)
        most = min(TURN_LIMIT, 2 * self.limit)
        heard = _heard(state, said, caller)
        found = [
            row
            for row in chosen(said, round_=None, since=heard, before=None)
            if row.participant != _row_name(state, caller)
        ]
        form = form_for(state, caller, now.waiting_for, int(most * FORM_SHARE), known=True)
        asked = asked_of(state, form, caller)
        every = points_on_the_table(state, asked, caller)
        concludes = caller == HOST_WIRE_NAME and now.state == "awaiting_conclusion"
        if concludes:  # the table of conditions has them, with every answer; and end answers too
            most -= 250
            every = [each for each in every if each.status not in ("demand", "fact")]
        listed, left_out = fitting_points(
            briefly(every, asked),
            int(most * POINTS_SHARE),
            asked,
            self.limit // 2,
        )
        result = History(
            discussion_id=state.discussion_id,
            state=now.state,
            round_complete=now.round_complete,
            next_speaker=now.next_speaker,
            round=now.round,
            max_rounds=now.max_rounds,
            total=len(found),
            newest=_newest(said),
            points=listed,
            further_points=left_out,
            form=only_shown(form, listed),
            hint=what_next(state, now, caller),
            **_to_conclude(state) if concludes else {},
        )
        shown, folded = folded_rows(state, found, most - result.size() - 160)
        update: dict[str, Any] = {"speeches": shown}
        if folded:
            update["hint"] = f"{result.hint} Whole speeches: read with since={heard}."
        if len(shown) < len(found):
            update["next_before"] = shown[-1].number
        return result.model_copy(update=update)

    @operation("status", "Where a discussion stands", read_only=True)
    async def status(
        self,
        discussion_id: Id,
        participant: You = "",
        offset: Annotated[int, Field(ge=0, description="In the points.")] = 0,
    ) -> Stood:
        """Where a discussion stands: round, who spoke, who is next, convergence, all points page by
        page; for you, what to do next and the form of your declaration."""
        caller = participant or self.access.profile
        state = await self._state(discussion_id)
        now = where(state)
        report = round_report(state, max(1, now.round))
        said, unread = counted(state, caller)
        form = form_for(state, caller, now.waiting_for, self.limit // 3)
        asked = asked_of(state, form, caller)
        every = points_on_the_table(state, asked, caller)
        room = self.limit // 2 if not offset else self.limit - 2_500
        listed, _ = fitting_points(every[offset:], room)
        assert state.opened_at is not None, "a discussion that exists was opened"
        assert state.updated_at is not None, "and has events"
        result = Stood(
            discussion_id=discussion_id,
            state=now.state,
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
            consensus_points=[each.id for each in report.consensus],
            disagreement_points=[
                *(each.id for each in report.disagreement),
                *(each.id for each in refused_conditions(state)),
            ],
            points=listed,
            unanswered=unanswered_at_the_end(state) if not offset else {},
            votes_to_end=[p.id for p in state.participants if state.end_votes.get(p.id)],
            speeches=said,
            unread=unread if caller else 0,
            absent=list(now.absent),
            paused=state.paused is not None,
            participants=[
                seat(each).model_copy(update={"perspective": ""}) for each in state.participants
            ],
            form=form if not offset else None,
            opened_at=state.opened_at.isoformat(),
            updated_at=state.updated_at.isoformat(),
            notifications=notifications_of(state),
            warnings=unsendable(self.app, state),
            hint=what_next(state, now, caller),
        )
        result = within(result, self.limit - 40)
        after = offset + len(result.points)
        return result.model_copy(
            update={
                "form": only_shown(result.form, result.points),
                "further_points": len(every) - after,
                "next_offset": after if after < len(every) else None,
            }
        )

    @operation("summarize", "The data for a conclusion", read_only=True)
    async def summarize(
        self,
        discussion_id: Id,
        compact: Annotated[bool, Field(description="Without speeches.")] = False,
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int | None, Field(ge=1, description="Speeches.")] = None,
    ) -> Summarized:
        """What a conclusion needs: points, score, votes, action items, speeches. What is too long
        goes to a file that the answer names."""
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
        rows = await self._service.summaries(search=search)
        found = [each for each in rows if self.access.sees(each.discussion_id)]
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
                driven=each.driver is not None and not each.queued,
                queued=each.queued,
                set_aside=each.standing == "set_aside",
                created_by=clip(opened.created_by, 80),
                opened_at=each.opened_at.isoformat(),
                updated_at=each.updated_at.isoformat(),
                outcome=each.outcome,
            )
            room -= written(row.model_dump(mode="json", exclude_defaults=True)) + 1
            if room < 0:
                break
            shown.append(row)
        after = offset + len(shown)
        return result.model_copy(
            update={"discussions": shown, "next_offset": after if after < len(found) else None}
        )
