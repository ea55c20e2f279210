"""The data for a conclusion: whole where it fits, else a small form, a page, a file with all."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from ...core.record import record_of
from ...core.state import State
from ...core.text import clip, redact
from ...private import opener_at
from ...views.delivery import Delivery
from ...views.meeting import (
    actions,
    closing_speech,
    final_report,
    is_heard,
    points_told,
    refused_conditions,
    vote_told,
)
from ...views.meeting_actions import ActionTold, told_actions
from ...views.meeting_status import Issue, called, issues, round_report
from .asked import condition, listed_points
from .history import fitting, rows
from .results import (
    Action,
    ConditionRow,
    OptionRow,
    Point,
    RoundSummary,
    Summarized,
    within,
)
from .standings import common_ground, condition_rows, option_rows
from .status import SHORT, holdings, seat, what_next, where

CLIPPED, BRIEF = 160, 80
SOME = 8
"""Points of a kind, and action items, in a short answer."""


Worded = TypeVar("Worded", Point, Action, OptionRow, ConditionRow)


def summarized(state: State) -> Summarized:
    """Everything, however long it is."""
    now = where(state)
    report = final_report(state)
    said = rows(state)
    told = Delivery.of(state)
    kept, left_out = told_actions(state, actions(state))
    return Summarized(
        discussion_id=state.discussion_id,
        state=now.state,
        round_complete=now.round_complete,
        next_speaker=now.next_speaker,
        hint=what_next(state, now),
        topic=redact(state.start.topic),
        rounds=state.said.last_round,
        max_rounds=now.max_rounds,
        participants=[seat(each) for each in state.participants],
        final_convergence_score=report.convergence_score.value,
        convergence_reason=report.convergence_score.reason,
        consensus_points=_points(state, report.consensus),
        disagreement_points=[
            *_points(state, report.disagreement),
            *map(condition, refused_conditions(state)),
        ],
        other_points=_points(state, other_points(state)),
        vote=redact(vote_told(state)),
        options=option_rows(state),
        common_ground=common_ground(state),
        conditions=condition_rows(state, 10_000, reason=10_000),
        action_items=[_action(each) for each in kept],
        also_declared=[_action(each) for each in left_out],
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


def _action(each: ActionTold) -> Action:
    item = each.item
    return Action(
        text=redact(item.text),
        owner=item.owner or "unassigned",
        due=item.due,
        by=each.by,
        said=[redact(said) for said in each.said],
    )


def short(whole: Summarized, limit: int) -> Summarized:
    """The small form: scores, points, what came of it, and none of the speeches. What is left out
    is counted."""
    some = 3 * SOME
    while True:
        listed = (whole.consensus_points, whole.disagreement_points, whole.other_points)
        small = whole.model_copy(
            update={
                "topic": clip(whole.topic, SHORT),
                "participants": [
                    each.model_copy(update={"perspective": ""}) for each in whole.participants
                ],
                "consensus_points": _brief(whole.consensus_points[:some]),
                "disagreement_points": _brief(whole.disagreement_points[:some]),
                "other_points": _brief(whole.other_points[:some]),
                "further_points": sum(max(0, len(each) - some) for each in listed),
                "options": _clipped(whole.options, BRIEF),
                "conditions": [
                    each.model_copy(
                        update={
                            "partly": {who: clip(said, 40) for who, said in each.partly.items()},
                            "refused_by": {
                                who: clip(said, 40) for who, said in each.refused_by.items()
                            },
                        }
                    )
                    for each in _clipped(whole.conditions, BRIEF)
                ],
                "action_items": _clipped(whole.action_items[:some]),
                "also_declared": _clipped(whole.also_declared[:some]),
                "conclusion": clip(whole.conclusion, SHORT),
                "headline": clip(whole.headline, SHORT),
                "seats": [
                    each.model_copy(
                        update={
                            "told": clip(each.told, BRIEF),
                            "opening": "",
                            "final": "",
                            "position": clip(each.position, CLIPPED),
                            "moved_by": [clip(said, BRIEF) for said in each.moved_by],
                        }
                    )
                    for each in whole.seats
                ],
                "findings": [clip(each, CLIPPED) for each in whole.findings[:some]],
                "digest": clip(whole.digest, SHORT),
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
    text = _whole_text(whole)
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
            file.write(_whole_text(whole))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _whole_text(whole: Summarized) -> str:
    return json.dumps(whole.wire(), ensure_ascii=False, indent=2)


def conclusion(state: State) -> str:
    """What came of it: the verdict, or the host's last word."""
    if state.verdict is not None:
        return Delivery.of(state).written
    said = closing_speech(state)
    return redact(said.text) if said else ""


def digest(state: State) -> str:
    seats = {each.id for each in state.participants}
    count = sum(1 for each in state.speeches if each.participant in seats and is_heard(each))
    names = ", ".join(called(each) for each in state.participants)
    told = [f"{count} speeches by {names}; {state.status}."]
    if record_of(state).points:
        told.append(f"Points: {points_told(state)}.")
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


def other_points(state: State) -> tuple[Issue, ...]:
    """What is neither agreed nor disputed: held by some, rejected by all, or unanswered."""
    return tuple(each for each in issues(state) if each.status not in ("agreed", "disputed"))


def _points(state: State, found: Iterable[Issue]) -> list[Point]:
    return listed_points(state, [each.id for each in found], 10_000)


def _clipped(found: list[Worded], limit: int = CLIPPED) -> list[Worded]:
    return [each.model_copy(update={"text": clip(each.text, limit)}) for each in found]


def _brief(found: list[Point]) -> list[Point]:
    """Points in few words, each with who stands where and without the reasons."""
    return [
        each.model_copy(
            update={"stances": {who: said.split(":")[0] for who, said in each.stances.items()}}
        )
        for each in _clipped(found, BRIEF)
    ]
