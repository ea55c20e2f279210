"""The data for a conclusion: whole where it fits, else a digest, a page, and a file with all."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from ...core.state import State
from ...core.text import clip, redact
from ...views.meeting import actions, closing_speech, final_report
from ...views.meeting_status import called, round_report
from .bounds import within
from .history import fitting, rows
from .results import Action, Point, RoundSummary, Summarized
from .status import SHORT, points, seat, what_next, where

CLIPPED = 160
SOME = 8
"""Points of a kind, and action items, in a short answer."""


def summarized(state: State) -> Summarized:
    """Everything, however long it is."""
    now = where(state)
    report = final_report(state)
    said = rows(state)
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
        action_items=[
            Action(text=redact(each.text), owner=each.owner or "unassigned")
            for each in actions(state)
        ],
        votes_to_end=[who for who, vote in state.end_votes.items() if vote],
        conclusion=conclusion(state),
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
                "action_items": [
                    each.model_copy(update={"text": clip(each.text, CLIPPED)})
                    for each in whole.action_items[:some]
                ],
                "conclusion": clip(whole.conclusion, 600),
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
        with half.open("w", encoding="utf-8") as file:
            file.write(whole.model_dump_json(indent=2))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def conclusion(state: State) -> str:
    """What came of it: the verdict, or the host's last word."""
    if state.verdict is not None:
        return redact(state.verdict.answer)
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
        new=[issue.id for issue in report.new],
        absent=[each.participant for each in state.failures if each.round == number],
    )


def _clipped(found: list[Point]) -> list[Point]:
    return [each.model_copy(update={"text": clip(each.text, CLIPPED)}) for each in found]
