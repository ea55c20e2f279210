"""Looking at discussions: read, status, summarize, list. Nothing is changed by it.

The history comes as rows and as text, as much of it as an answer may hold; the data for a
conclusion whole where it fits, else as a digest, a page, and a file with all.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field

from ...core.errors import BadSetting
from ...core.events import DiscussionOpened
from ...core.state import State
from ...core.text import clip, redact
from ...core.values import Status
from ...private import opener_at
from ...views.delivery import Delivery
from ...views.meeting import (
    actions,
    closing_speech,
    final_report,
    is_heard,
    spoken_words,
    vote_told,
)
from ...views.meeting_status import SUMMARY, called, round_report
from .base import Id, ToolsetBase
from .operations import operation
from .results import (
    Action,
    History,
    Listed,
    Point,
    RoundSummary,
    Row,
    SpeechRow,
    Stood,
    Summarized,
    prefix,
    within,
    written,
)
from .status import (
    SHORT,
    SOME_POINTS,
    form_for,
    holdings,
    left_out,
    notifications_of,
    other_points,
    points,
    seat,
    unsendable,
    what_next,
    where,
)


def rows(state: State) -> list[SpeechRow]:
    """Everything that was said, in order, numbered from 1."""
    found = []
    for number, (speech, at) in enumerate(zip(state.speeches, state.spoken_at, strict=True), 1):
        if not is_heard(speech):
            continue
        seated = state.participant(speech.participant)
        text = redact(spoken_words(speech) if speech.stage.startswith(SUMMARY) else speech.text)
        found.append(
            SpeechRow(
                number=number,
                participant=speech.participant,
                display_name=seated.name if seated else speech.participant,
                role=seated.role if seated else "",
                round=speech.round,
                after_round=speech.after_round,
                time=at.isoformat(),
                text=text,
                characters=len(text),
            )
        )
    return found


def chosen(
    found: Iterable[SpeechRow], *, round_: int | None, since: int | str, limit: int | None
) -> list[SpeechRow]:
    """Those of a round, after a number or a time, and at most so many."""
    after = _since(since)
    picked = [
        row
        for row in found
        if (round_ is None or row.round == round_)
        and (row.number > after if isinstance(after, int) else _at(row) > after)
    ]
    return picked if limit is None else picked[:limit]


def formatted(shown: Iterable[SpeechRow]) -> str:
    """The history as a person, or a prompt, reads it."""
    return "\n\n".join(_line(row) for row in shown)


def fitting(picked: Sequence[SpeechRow], room: int, *, twice: bool = False) -> list[SpeechRow]:
    """As many rows as fit into so many characters of JSON; the first is clipped if it alone is
    too long. `twice`: the formatted text must fit as well."""
    shown: list[SpeechRow] = []
    for row in picked:
        cost = _cost(row, twice)
        if cost > room:
            if not shown:
                overhead = _cost(row.model_copy(update={"text": ""}), twice)
                piece = prefix(row.text, max(0, room - overhead) // (2 if twice else 1))
                shown.append(row.model_copy(update={"text": piece}))
            break
        room -= cost
        shown.append(row)
    return shown


def _cost(row: SpeechRow, twice: bool) -> int:
    return len(row.model_dump_json()) + 1 + (written(_line(row)) + 4 if twice else 0)


def _line(row: SpeechRow) -> str:
    place = f"Round {row.round}"
    if row.after_round and not row.round:
        place += f", after round {row.after_round}"
    return f"[{row.number}] {place} | {row.role} ({row.display_name}): {row.text}"


def _since(since: int | str) -> int | datetime:
    if isinstance(since, int):
        return since
    if since.strip().isdecimal():
        return int(since)
    try:
        at = datetime.fromisoformat(since)
    except ValueError:
        expected = "the number of a speech, or a time such as 2026-01-31T12:00:00Z"
        raise BadSetting("read", "since", expected) from None
    return at.astimezone()


def _at(row: SpeechRow) -> datetime:
    return datetime.fromisoformat(row.time)


CLIPPED = 160
SOME = 8
"""Points of a kind, and action items, in a short answer."""


def summarized(state: State) -> Summarized:
    """Everything, however long it is."""
    now = where(state)
    report = final_report(state)
    said = rows(state)
    told = Delivery.of(state)
    return Summarized(
        discussion_id=state.discussion_id,
        state=state.status,
        round_complete=now.round_complete,
        next_speaker=now.next_speaker,
        hint=what_next(state, now),
        topic=redact(state.start.topic),
        rounds=max((speech.round for speech in state.speeches), default=0),
        max_rounds=now.max_rounds,
        participants=[seat(each) for each in state.participants],
        final_convergence_score=report.convergence_score.value,
        convergence_reason=report.convergence_score.reason,
        consensus_points=points(report.consensus, limit=10_000),
        disagreement_points=points(report.disagreement, limit=10_000),
        other_points=points(other_points(state), limit=10_000),
        vote=redact(vote_told(state)),
        action_items=[
            Action(text=redact(each.text), owner=each.owner or "unassigned", due=each.due)
            for each in actions(state)
        ],
        votes_to_end=[who for who, vote in state.end_votes.items() if vote],
        conclusion=conclusion(state),
        headline=told.headline,
        end=told.question.end if told.question else None,
        share=told.question.share if told.question else None,
        seats=holdings(state),
        findings=[f"{f.message} {f.excerpt}".strip() for f in told.findings],
        by_round=[_round(state, number) for number in range(1, now.round + 1)],
        speeches=said,
        total=len(said),
        digest=digest(state),
        complete=True,
    )


def short(whole: Summarized, limit: int) -> Summarized:
    """The small form: scores, the first points, what came of it, and none of the speeches."""
    some = SOME
    while True:
        small = whole.model_copy(
            update={
                "topic": clip(whole.topic, SHORT),
                "participants": [
                    each.model_copy(update={"perspective": clip(each.perspective, 80)})
                    for each in whole.participants
                ],
                "consensus_points": _clipped(whole.consensus_points[:some]),
                "disagreement_points": _clipped(whole.disagreement_points[:some]),
                "other_points": _clipped(whole.other_points[:some]),
                "action_items": [
                    each.model_copy(update={"text": clip(each.text, CLIPPED)})
                    for each in whole.action_items[:some]
                ],
                "conclusion": clip(whole.conclusion, 600),
                "headline": clip(whole.headline, SHORT),
                "seats": [
                    each.model_copy(update={"told": clip(each.told, CLIPPED), "opening": ""})
                    for each in whole.seats
                ],
                "findings": [clip(each, CLIPPED) for each in whole.findings[:some]],
                "digest": clip(whole.digest, 600),
                "by_round": [],
                "speeches": [],
                "complete": False,
            }
        )
        if small.size() <= limit or some == 0:
            return within(small, limit)
        some //= 2


def paged(
    whole: Summarized, path: Path, *, offset: int, count: int | None, limit: int
) -> Summarized:
    """The small form with a page of the speeches, and where all of it is."""
    text = whole.model_dump_json(indent=2)
    small = short(whole, limit // 2).model_copy(
        update={
            "path": str(path),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "characters": len(text),
            "next_offset": whole.total,
        }
    )
    wanted = whole.speeches[offset:]
    shown = fitting(wanted if count is None else wanted[:count], limit - small.size() - 32)
    after = offset + len(shown)
    return small.model_copy(
        update={"speeches": shown, "next_offset": after if after < whole.total else None}
    )


def keep(whole: Summarized, path: Path) -> None:
    """Write everything to its file, which nobody ever sees half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(half, "w", encoding="utf-8", opener=opener_at(path)) as file:
            file.write(whole.model_dump_json(indent=2))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def conclusion(state: State) -> str:
    """What came of it: the verdict, or the host's last word."""
    if state.verdict is not None:
        return Delivery.of(state).written
    said = closing_speech(state)
    return redact(said.text) if said else ""


def digest(state: State) -> str:
    report = final_report(state)
    count = sum(1 for speech in state.speeches if speech.round > 0)
    names = ", ".join(called(each) for each in state.participants)
    told = [f"{count} speeches by {names}; {state.status}."]
    score = report.convergence_score
    if score.value is not None:
        told.append(
            f"Convergence {score.value:.2f}: {len(report.consensus)} points agreed, "
            f"{len(report.disagreement)} disputed."
        )
    if state.verdict is not None:
        told.append(clip(Delivery.of(state).headline, SHORT))
    if text := conclusion(state):
        told.append(clip(" ".join(text.split()), SHORT))
    return " ".join(told)


def _round(state: State, number: int) -> RoundSummary:
    report = round_report(state, number)
    return RoundSummary(
        round=number,
        convergence_score=report.convergence_score.value,
        consensus=[issue.id for issue in report.consensus],
        disagreement=[issue.id for issue in report.disagreement],
        rejected=[issue.id for issue in report.rejected],
        new=[issue.id for issue in report.new],
        absent=[each.participant for each in state.failures if each.round == number],
    )


def _clipped(found: list[Point]) -> list[Point]:
    return [each.model_copy(update={"text": clip(each.text, CLIPPED)}) for each in found]


Seated = Annotated[
    str, Field(description="The seat whose form to show; without it the one that is waited for.")
]


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
        participant: Seated = "",
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
            form=form_for(
                state, participant or self.access.profile, now.waiting_for, self.limit // 3
            ),
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
    async def status(self, discussion_id: Id, participant: Seated = "") -> Stood:
        """Where a discussion stands: its round, who spoke, who is next, how far it has converged
        and on which points; and, for the seat whose turn it is, the form of its declaration."""
        state = await self._state(discussion_id)
        now = where(state)
        report = round_report(state, max(1, now.round))
        others = other_points(state)
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
            other_points=points(others, most=SOME_POINTS, limit=200),
            further_points=left_out(report.consensus, report.disagreement, others),
            votes_to_end=[p.id for p in state.participants if state.end_votes.get(p.id)],
            speeches=len(state.speeches),
            absent=list(now.absent),
            paused=state.paused is not None,
            participants=[seat(each) for each in state.participants],
            form=form_for(
                state, participant or self.access.profile, now.waiting_for, self.limit // 3
            ),
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
                driven=each.driver is not None,
                created_by=clip(opened.created_by, 80),
                opened_at=each.opened_at.isoformat(),
                updated_at=each.updated_at.isoformat(),
                outcome=each.outcome,
            )
            room -= len(row.model_dump_json()) + 1
            if room < 0:
                break
            shown.append(row)
        after = offset + len(shown)
        return result.model_copy(
            update={"discussions": shown, "next_offset": after if after < len(found) else None}
        )
