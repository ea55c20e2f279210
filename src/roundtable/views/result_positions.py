"""Where everybody stands, as data: points, stances, scores, rounds, tallies, changes, checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.convergence import Ending, name_end, name_end_of_points
from ..core.events import BallotCast
from ..core.points import PointList, points_of, standing
from ..core.position_changes import Change, Held, arguments_in, changes_of_mind, conformity, held_in
from ..core.quotes import find_quote, quotations
from ..core.scores import consensus
from ..core.state import State
from ..core.tally import Vote, tally
from .opinion_map import opinion_map_of

Json = dict[str, Any]


def positions(state: State) -> Json:
    """The keys of the result document that say who stood where, and how that changed."""
    listed = points_of(state)
    return {
        "points": [_point(listed, point.id) for point in listed.issues],
        "stances": [stance.model_dump(exclude={"type", "v"}) for stance in state.stances],
        "scores": _scores(state),
        "rounds": _rounds(state),
        "tallies": [each for number in _voted(state) if (each := _tally(state, number))],
        "ending": _ending(state, listed),
        "control_group": _control_group(state),
        "changes_of_mind": _changes(state, listed),
        "conformity": {
            who: {"chances": each.chances, "moved": each.moved}
            for who, each in conformity(held_in(listed)).items()
            if each.chances
        },
        "checks": _checks(state),
    }


def _point(listed: PointList, point_id: str) -> Json:
    point = listed.point(point_id)
    assert point is not None, "an issue is a point"
    held = {s.participant: s for s in listed.held() if s.point == point_id}
    return {
        "id": point.id,
        "text": point.text,
        "raised_by": point.raised_by,
        "round": point.round,
        "turn_id": point.turn,
        "merged": [
            p.id for p in listed.points if p.id != point.id and _same(listed, p.id, point_id)
        ],
        "standing": standing([stance.position for stance in held.values()]),
        "stances": {
            who: {
                "position": stance.position,
                "confidence": stance.confidence,
                "round": stance.round,
                "turn_id": stance.turn,
                "source": stance.source,
            }
            for who, stance in held.items()
        },
    }


def _same(listed: PointList, point_id: str, issue: str) -> bool:
    return listed.issue_of(point_id) == issue


def _scores(state: State) -> list[Json]:
    """Round by round: who scored whom, and the consensus in percent."""
    found = []
    for number in sorted({row.round for row in state.scores}):
        # A participant may have been asked again; its last word counts.
        given = {row.participant: row for row in state.scores if row.round == number}
        found.append(
            {
                "round": number,
                "matrix": {who: dict(row.scores) for who, row in given.items()},
                "inferred": {who: list(row.inferred) for who, row in given.items() if row.inferred},
                "consensus_pct": consensus(given.values()).value,
            }
        )
    return found


def _rounds(state: State) -> list[Json]:
    """What each round brought. Where nobody takes a stance, its measures are None."""
    drawn = {each.round: each for each in opinion_map_of(state).rounds}
    stages: dict[int, list[tuple[str, int]]] = {}
    for name, number in state.stages:
        if number > 0:
            stages.setdefault(number, []).append((name, number))
    rows = []
    for number, held in sorted(stages.items()):
        spoke = [s.participant for key in held for s in state.spoken_in(*key)]
        closed = [stage for key in held if (stage := state.stages[key].closed) is not None]
        measured = drawn.get(number)
        rows.append(
            {
                "round": number,
                "stages": [name for name, _ in held],
                "spoke": list(dict.fromkeys(spoke)),
                "missing": list(dict.fromkeys(who for stage in closed for who in stage.missing)),
                "agreement": measured.agreement if measured else None,
                "stability": measured.stability if measured else None,
                "convergence_score": measured.score if measured else None,
                "consensus_points": measured.consensus if measured else None,
                "disagreement_points": measured.disagreement if measured else None,
                "new_points": measured.new if measured else None,
            }
        )
    return rows


def _voted(state: State) -> list[int]:
    return sorted({ballot.round for ballot in state.ballots})


def _cast(state: State, number: int) -> list[BallotCast]:
    return [b for b in state.ballots if b.round == number and b.meaningful and b.ranking]


def _tally(state: State, number: int) -> Json | None:
    """What one round's ballots come to by every rule; None where they had no options."""
    cast = _cast(state, number)
    if not cast:
        return None
    counted = tally([Vote(b.participant, b.ranking, b.certainty, round=number) for b in cast])
    return {
        "round": number,
        "options": _options(cast),
        "first_choices": dict(Counter(option for b in cast for option in b.ranking[0])),
        "winners": {rule: list(each.winners) for rule, each in counted.outcomes.items()},
        "rules_disagree": counted.alarm,
    }


def _options(cast: Iterable[BallotCast]) -> dict[str, str]:
    """The words of the options that somebody put first."""
    return {b.ranking[0][0]: b.position for b in cast if len(b.ranking[0]) == 1}


def _ending(state: State, listed: PointList) -> Json | None:
    """One of the four ends, by the ballots where there were options, else by the stances."""
    views: list[Mapping[str, str | None]] = [
        {b.participant: b.ranking[0][0] for b in cast}
        for number in _voted(state)
        if (cast := _cast(state, number))
    ]
    if not views and not listed.stances:
        return None
    ending: Ending = name_end(views) if views else name_end_of_points(listed)
    return {
        "end": ending.end,
        "by": "ballots" if views else "stances",
        "reason": ending.reason,
        "position": ending.position,
        "dissenting": list(ending.dissenting),
        "agreement": ending.agreement,
        "stability": ending.stability,
    }


def _control_group(state: State) -> Json | None:
    """What the vote before talk would have said beside what the last one says."""
    counted = [number for number in _voted(state) if _cast(state, number)]
    if not counted:
        return None
    before = _leaders(state, counted[0])
    after = _leaders(state, counted[-1])
    return {
        "round": counted[0],
        "without_talk": before,
        "after_talk": after if len(counted) > 1 else None,
        "talk_changed_the_result": before != after if len(counted) > 1 else None,
    }


def _leaders(state: State, through: int) -> list[str]:
    """Who leads by first choices when everybody's last ballot up to a round is counted."""
    last = {b.participant: b for b in state.ballots if b.round <= through and b.ranking}
    votes = [Vote(b.participant, b.ranking) for b in last.values() if b.meaningful]
    return list(tally(votes).outcomes["plurality"].winners)


def _changes(state: State, listed: PointList) -> list[Json]:
    """Everybody who gave up a position. Whether a vote changed without a new argument is not in
    the ballots: that is None, and the verdict tells what the speeches say of it."""
    stances = changes_of_mind(held_in(listed), arguments_in(listed))
    votes = [
        Held(b.participant, "vote", b.ranking[0][0], b.round, b.turn_id)
        for b in state.ballots
        if b.meaningful and b.ranking
    ]
    return [
        *(_change(each, capitulation=each.capitulation) for each in stances),
        *(_change(each, capitulation=None) for each in changes_of_mind(votes, ())),
    ]


def _change(change: Change, *, capitulation: bool | None) -> Json:
    return {
        "participant": change.participant,
        "on": change.issue,
        "before": change.before,
        "after": change.after,
        "round": change.round,
        "turn_id": change.turn,
        "argument": change.argument,
        "capitulation": capitulation,
    }


def _checks(state: State) -> Json | None:
    """What of the verdict was checked against the transcript."""
    verdict = state.verdict
    if verdict is None:
        return None
    host = state.start.host.id
    # Whoever writes a verdict speaks outside the rounds: its own words would verify themselves.
    said = {s.turn_id: s.text for s in state.speeches if s.round > 0 and s.participant != host}
    quoted = {words: find_quote(words, said) for words in quotations(verdict.answer)}
    return {
        "cited_turns": [turn for turn in verdict.cites if turn in state.turns],
        "unknown_turns": [turn for turn in verdict.cites if turn not in state.turns],
        "quotations": [{"words": words, "turn_id": turn} for words, turn in quoted.items()],
        "dissent_kept": len(verdict.dissent),
    }
