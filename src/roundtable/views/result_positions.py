"""Where everybody stands, as data: votes, points, stances, scores, rounds, changes, checks."""

from __future__ import annotations

from typing import Any

from ..core.position_changes import Change, changes_in, conformity, points_held, votes_held
from ..core.record import LEGACY, Point, Record, record_of, records_by_round
from ..core.scores import consensus
from ..core.standing import DecisionStanding, standing_of
from ..core.state import State
from ..core.tally import tally
from ..core.verdict_check import check_text
from ..core.verdict_findings import findings_of
from ..core.verdict_sources import sources_of
from .delivery import Delivery
from .influence import votes_on
from .opinion_map import opinion_map_of

Json = dict[str, Any]


def positions(state: State) -> Json:
    """The keys of the result document that say who stood where, and how that changed."""
    record = record_of(state)
    return {
        "points": [_point(record, point) for point in record.points],
        "stances": _stances(state),
        "scores": _scores(state),
        "rounds": _rounds(state),
        "ballots": _ballots(record),
        "tallies": [each for number in records_by_round(state) if (each := _tally(state, number))],
        "ending": _ending(state),
        "control_group": _control_group(state),
        "changes_of_mind": [_change(each) for each in changes_in(state)],
        "conformity": {
            who: {"chances": each.chances, "moved": each.moved}
            for who, each in conformity(points_held(state)).items()
            if each.chances
        },
        "checks": _checks(state),
    }


def _point(record: Record, point: Point) -> Json:
    said = {seat: stance for seat in record.seats if (stance := point.stance_of(seat))}
    return {
        "id": point.id,
        "text": point.text,
        "version": point.version,
        "raised_by": point.author,
        "round": point.round,
        "turn_id": point.turn_id,
        "standing": point.status,
        "held_by": list(point.holders),
        "rejected_by": list(point.opponents),
        # Not that they were asked about this point: a prompt marks only some of them.
        "spoke_since": list(point.spoke_since),
        "not_heard": list(point.unheard),
        "absent": list(point.absent),
        "against_first_wording": list(point.opposed_before),
        "stances": {
            who: {
                "position": stance.stance,
                "text": stance.text,
                "round": stance.round,
                "turn_id": stance.turn_id,
            }
            for who, stance in said.items()
        },
    }


def _stances(state: State) -> list[Json]:
    """Every stance in order, earlier ones included."""
    return [
        {
            "participant": each.participant,
            "point_id": each.issue,
            "version": each.version,
            "position": each.position,
            "round": each.round,
            "turn_id": each.turn,
        }
        for each in points_held(state)
    ]


def _ballots(record: Record) -> list[Json]:
    """Every vote that was declared; only each participant's last one counts."""
    return [
        {
            "participant": each.participant,
            "round": each.round,
            "turn_id": each.turn_id,
            "decision": vote.on,
            "before": vote.before,
            "choice": vote.choice,
            "position": _words(record, vote.on, vote.choice) or each.declaration.position,
            "ranking": [[option] for option in vote.ranking],
            "acceptable": list(vote.acceptable),
            "rejects": list(vote.rejects),
            "confidence": each.declaration.confidence,
        }
        for each in record.statements
        for vote in each.declaration.votes
    ]


def _words(record: Record, decision: str, choice: str) -> str:
    held = next((each for each in record.decisions if each.id == decision), None)
    option = held.option(choice) if held else None
    return option.text if option else ""


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
    """What each round brought. Where nobody declares anything, its measures are None."""
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


def _tally(state: State, number: int) -> Json | None:
    """What the votes on the question come to after a round, by every rule; None where nobody cast
    one in it."""
    record = records_by_round(state)[number]
    if record.question is None:
        return None
    votes = votes_on(record, record.question)
    if not any(vote.round == number for vote in votes):
        return None
    counted = tally(votes)
    options = record.question.option_ids
    return {
        "round": number,
        "options": {each.id: each.text for each in record.question.options},
        "first_choices": {
            option: count
            for option in options
            if (count := sum(vote.first == (option,) for vote in votes))
        },
        "winners": {rule: list(each.winners) for rule, each in counted.outcomes.items()},
        "rules_disagree": counted.alarm,
    }


def _question(state: State) -> DecisionStanding | None:
    return standing_of(state).question


def _ending(state: State) -> Json | None:
    """How the question ended; the same figures as in `end`."""
    question, told = _question(state), Delivery.of(state).question
    if question is None or told is None or not any(seat.final for seat in question.seats):
        return None
    rounds = opinion_map_of(state).rounds
    return {
        "end": question.end,
        "by": "ballots" if question.decision.id == LEGACY else "votes",
        "reason": question.reason,
        "position": question.delivered,
        "dissenting": list(question.dissenting),
        "agreement": told.share,
        "stability": rounds[-1].stability if rounds else None,
    }


def _control_group(state: State) -> Json | None:
    """What the vote before talk would have said beside what the last one says, as far as it is
    known what everybody held at first."""
    question = _question(state)
    if question is None or not question.before.known or not any(question.before.counts.values()):
        return None
    before, after = list(question.before.leading), list(question.leading)
    rounds = {each.round for each in votes_held(state, question.decision)}
    talked = len(rounds) > 1
    return {
        "round": 1,
        "without_talk": before,
        "after_talk": after if talked else None,
        "talk_changed_the_result": before != after if talked else None,
    }


def _change(change: Change) -> Json:
    cause = change.argument
    return {
        "participant": change.participant,
        "on": change.issue,
        "before": change.before,
        "after": change.after,
        "round": change.round,
        "turn_id": change.turn,
        "argument": cause.text if cause else None,
        "argument_of": cause.participant if cause else None,
        "capitulation": change.capitulation if change.told else None,
    }


def _checks(state: State) -> Json | None:
    """What of the verdict was checked against what was said."""
    verdict = state.verdict
    if verdict is None:
        return None
    checked = check_text(verdict.answer, sources_of(state))
    return {
        "cited_turns": [turn for turn in verdict.cites if turn in state.turns],
        "unknown_turns": [turn for turn in verdict.cites if turn not in state.turns],
        "quotations": [
            {"words": each.words, "turn_id": each.source_id} for each in checked.quotations
        ],
        "findings": [
            f.model_dump() for f in dict.fromkeys((*findings_of(state), *checked.findings))
        ],
        "dissent_kept": len(verdict.dissent),
    }
