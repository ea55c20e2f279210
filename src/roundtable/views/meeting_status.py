"""Where a meeting stands: its round, who is next, how close it is, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.convergence import Score, convergence_score
from ..core.effects import turn_id
from ..core.points import PointList, Position, points_of
from ..core.state import State
from ..core.values import OUTSIDE, Participant

OPENING, DISCUSSION, SUMMARY, CONCLUSION = "opening", "discussion", "summary", "conclusion"
"""The stages. Host turns sit in round 0, so the summary after round 2 is the stage `summary-2`."""
MINUTES = "minutes"
"""The host as a clerk after a round: what it writes is for code, and nobody hears it."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A point as it stood after a round: who holds it, who rejects it."""

    id: str
    text: str
    held_by: tuple[str, ...]
    rejected_by: tuple[str, ...]
    reasons: dict[str, str]
    """By participant, where one was given."""
    rough: bool
    """Whether any of this was read from prose by rules, and not declared."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What a round came to. The lists are those of its end; `new` was first raised in it."""

    round: int
    consensus: tuple[Issue, ...]
    disagreement: tuple[Issue, ...]
    new: tuple[Issue, ...]
    convergence_score: Score


@dataclass(frozen=True, slots=True)
class MeetingStatus:
    """A meeting at one moment. Round 0 is the host's opening, 1 the first of the participants."""

    round: int
    max_rounds: int
    spoke: tuple[str, ...]
    """Who has spoken in this round."""
    round_complete: bool
    next_speaker: str | None
    """None when no participant is to speak any more."""
    turn: int
    """The participants' turns that are over."""
    of: int
    """The most that there can be: an agreement ends a meeting sooner."""
    seconds_left: float | None
    """At most, at the pace so far; None before anybody has spoken, and where somebody from outside
    takes part, who takes as long as it takes."""
    votes_to_end: tuple[str, ...]
    report: RoundReport


def meeting_status(state: State) -> MeetingStatus:
    round_ = current_round(state)
    limit = max_rounds(state)
    spoke = tuple(speech.participant for speech in state.spoken_in(DISCUSSION, round_))
    order = [p.id for p in state.participants]
    turn = sum(1 for t in state.turns.values() if t.over and f"/{DISCUSSION}/" in t.id)
    of = len(order) * limit
    return MeetingStatus(
        round=round_,
        max_rounds=limit,
        spoke=spoke,
        round_complete=round_complete(state, round_),
        next_speaker=_next_speaker(state, round_, limit, order),
        turn=turn,
        of=of,
        seconds_left=_seconds_left(state, of - turn),
        votes_to_end=tuple(who for who in order if state.end_votes.get(who)),
        report=round_report(state, round_),
    )


def progress(state: State) -> str:
    """`turn 3 of 12, at most 4 min left`; empty when no participant is to speak."""
    status = meeting_status(state)
    if state.closed is not None or status.next_speaker is None:
        return ""
    left = status.seconds_left
    rest = f", at most {max(1, round(left / 60))} min left" if left is not None else ""
    return f"turn {status.turn + 1} of {status.of}{rest}"


def max_rounds(state: State) -> int:
    value = state.start.options.get("max_rounds")
    return (value if isinstance(value, int) else 1) + state.extra_rounds


def current_round(state: State) -> int:
    """The newest round of participants that was opened; 0 before the first."""
    return max((round_ for stage, round_ in state.stages if stage == DISCUSSION), default=0)


def rounds_held(state: State) -> int:
    """The newest round in which somebody spoke: one that was only opened was not held."""
    return max((s.round for s in state.speeches if s.stage == DISCUSSION), default=0)


def round_complete(state: State, round_: int) -> bool:
    """Whether nobody is to speak in this round any more."""
    stage = state.stages.get((DISCUSSION, round_))
    return stage is not None and (stage.closed is not None or not _to_speak(state, round_))


def round_report(state: State, round_: int) -> RoundReport:
    """Consensus, disagreement and new points of a round, and its convergence score."""
    points = points_of(state)
    found = points.points_of_round(round_)
    return RoundReport(
        round_,
        tuple(_issue(points, each, round_) for each in found.consensus),
        tuple(_issue(points, each, round_) for each in found.disagreement),
        tuple(_issue(points, each, round_) for each in found.new),
        convergence_score(len(found.consensus), len(found.disagreement)),
    )


def issues(state: State) -> tuple[Issue, ...]:
    """All points on the table, as they stand now."""
    points = points_of(state)
    return tuple(_issue(points, point.id, None) for point in points.issues)


def called(participant: Participant) -> str:
    """`Role(Name)`, as the minutes call everybody."""
    return f"{participant.role}({participant.name})"


def speaks_from_outside(participant: Participant) -> bool:
    """Whether nobody is called for this seat."""
    return participant.speaker.model == OUTSIDE


def _issue(points: PointList, issue: str, through_round: int | None) -> Issue:
    point = points.point(issue)
    assert point is not None, "an issue is a point of the list"
    held = [stance for stance in points.held(through_round) if stance.point == issue]

    def who(position: Position) -> tuple[str, ...]:
        return tuple(stance.participant for stance in held if stance.position == position)

    return Issue(
        issue,
        point.text,
        who("agree"),
        who("disagree"),
        {stance.participant: stance.quote for stance in held if stance.quote},
        any(stance.rough for stance in held),
    )


def _next_speaker(state: State, round_: int, limit: int, order: list[str]) -> str | None:
    if state.closed is not None or not order:
        return None
    if round_ == 0:
        return order[0]
    if round_complete(state, round_):
        return order[0] if round_ < limit else None
    return _to_speak(state, round_)[0]


def _to_speak(state: State, round_: int) -> list[str]:
    """Who sits there now and has not had a turn: also whoever joined after the round began, and
    nobody who left since."""
    seats = [participant.id for participant in state.participants]
    turns = {who: state.turn(turn_id(round_, DISCUSSION, who)) for who in seats}
    return [who for who, turn in turns.items() if turn is None or not turn.over]


def _seconds_left(state: State, turns: int) -> float | None:
    if any(p.speaker.model == OUTSIDE for p in state.participants):
        return None
    taken = [
        attempt.finished.seconds
        for turn in state.turns.values()
        for attempt in turn.attempts
        if attempt.finished is not None and attempt.started.stage == DISCUSSION
    ]
    return turns * sum(taken) / len(taken) if taken else None
