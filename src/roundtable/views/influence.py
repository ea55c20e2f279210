"""Influence: who shaped the outcome, who agrees with whom, and who went along, as far as the
events tell. The same for every procedure: what one does not record stays unknown, with the reason.

Questions here are the points on which stances were taken, and the last vote: only what two
participants both answered compares them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..core.contribution import Contribution, Likeness, contributions, likeness
from ..core.convergence import Score
from ..core.declaration import Decision
from ..core.identity_bias import Review, identity_bias
from ..core.naming import names_of
from ..core.record import Record, record_of
from ..core.standing import standing_of
from ..core.state import State
from ..core.tally import Vote
from ..core.voter_groups import groups_of, weights_of
from .bias import Bias, biases
from .report_parts import Grid, Line, Part, line


@dataclass(frozen=True, slots=True)
class Influence:
    """What is known of everybody at one table, by participant."""

    biases: dict[str, Bias] = field(default_factory=dict)
    family: dict[str, Score] = field(default_factory=dict)
    """How much better it scores peers of its own model family than disinterested ones do."""
    contributions: dict[str, Contribution] = field(default_factory=dict)
    """Of those who voted on the question."""
    pairs: dict[tuple[str, str], Likeness] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.biases or self.family or self.contributions or self.pairs)


def influence(state: State) -> Influence:
    """Everything that the votes, stances and scores tell. Computed once for each state."""
    return state.derived("influence", _influence)


def _influence(state: State) -> Influence:
    record = record_of(state)
    return Influence(
        biases(state),
        _family(state),
        _contributions(state),
        {pair: each for pair, each in likeness(_questions(record)).items() if each.questions},
    )


def _contributions(state: State) -> dict[str, Contribution]:
    question = standing_of(state).question
    if question is None or question.end is None:
        return {}
    groups = groups_of(state).groups
    return contributions(
        {seat.participant: seat.final for seat in question.seats},
        question.decision.option_ids,
        weights_of(state),
        {seat: set(each.seats) - {seat} for each in groups for seat in each.seats},
    )


def votes_on(record: Record, decision: Decision) -> list[Vote]:
    """Everybody's last vote on a decision, for those rules of counting that take rankings."""
    votes = []
    for held in record.votes(decision):
        if held.vote is None or held.choice not in decision.option_ids:
            continue
        sure = record.confidence(held.participant)
        votes.append(
            Vote(
                held.participant,
                tuple((option,) for option in held.vote.ranking),
                None if sure is None else sure / 100,
                frozenset(held.vote.ranking),
                held.round,
            )
        )
    return votes


def _questions(record: Record) -> list[dict[str, str]]:
    """What everybody holds on each point, and votes for. Who takes no side has not answered."""
    asked: list[dict[str, str]] = []
    for point in record.points:
        said = {seat: point.stance_of(seat) for seat in record.seats}
        asked.append(
            {who: each.stance for who, each in said.items() if each and each.stance in _SIDES}
        )
    asked += [
        {vote.voter: vote.first[0] for vote in votes_on(record, decision)}
        for decision in record.decisions
    ]
    return [row for row in asked if len(row) > 1]


_SIDES = ("agree", "disagree")


def _family(state: State) -> dict[str, Score]:
    """Read off the scores that peers give each other; those who gave none are left out."""
    given = state.scores
    reviews = [Review(row.participant, _ranked(row.scores), topic=str(row.round)) for row in given]
    if not reviews:
        return {}
    author = {who: who for row in given for who in row.scores}
    families = {who: seated.speaker.family for who, seated in state.ever_seated.items()}
    return {who: each.family for who, each in identity_bias(reviews, author, families).items()}


def _ranked(scores: dict[str, int]) -> tuple[tuple[str, ...], ...]:
    levels = sorted(set(scores.values()), reverse=True)
    return tuple(tuple(who for who, score in scores.items() if score == each) for each in levels)


# As a document


def influence_document(state: State) -> dict[str, Any]:
    """For JSON: everybody by id, and every pair that can be compared."""
    known = influence(state)
    if not known:
        return {}
    who = dict.fromkeys((*known.biases, *known.contributions, *known.family))
    return {
        "participants": {name: _row(known, name) for name in who},
        "pairs": [
            {
                "participants": list(pair),
                "questions": each.questions,
                "agreed": each.agreed,
                **_score("correlation", each.correlation),
            }
            for pair, each in known.pairs.items()
        ],
    }


def _row(known: Influence, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if bias := known.biases.get(name):
        row["conformity"] = {"chances": bias.conformity.chances, "moved": bias.conformity.moved}
        row["own_points"] = {"judged": bias.own.of, "upheld": bias.own.agreed}
        row["others_points"] = {"judged": bias.others.of, "upheld": bias.others.agreed}
        row["self_preference"] = bias.self_preference
    if earned := known.contributions.get(name):
        row["decisive"] = earned.decisive
        row["same_model_as"] = list(earned.twins)
    if name in known.family:
        row |= _score("family_preference", known.family[name])
    return row


def _score(name: str, score: Score) -> dict[str, Any]:
    if score.value is None:
        return {name: None, f"{name}_reason": score.reason}
    return {name: round(score.value, 4)}


# In a report


def influence_parts(state: State) -> tuple[Part, ...]:
    """The tables of a report; nothing if nothing is known of anybody."""
    known = influence(state)
    names = names_of(state)
    parts: list[Part] = []
    if known.biases:
        header = ("Who", "Went over to the majority", "Upholds its own points", "The others'")
        rows = tuple(
            (
                names.get(who, line(who)),
                f"{each.conformity.moved} of {each.conformity.chances}",
                str(each.own),
                str(each.others),
            )
            for who, each in known.biases.items()
        )
        parts.append(Grid("Who went along", header, rows))
    told = {who: each for who, each in known.family.items() if each.value is not None}
    if told:
        family = tuple((names.get(w, line(w)), f"{each.value:+.2f}") for w, each in told.items())
        parts.append(Grid("Prefers models of its own family", ("Who", "By"), family, numbers=(1,)))
    if known.pairs:
        pairs = tuple(
            (
                f"{names.get(a, line(a))} and {names.get(b, line(b))}",
                f"{each.agreed} of {each.questions}",
                "—" if each.correlation.value is None else f"{each.correlation.value:+.2f}",
            )
            for (a, b), each in known.pairs.items()
        )
        columns = ("Who", "Hold the same", "Correlation")
        parts.append(Grid("Who agrees with whom", columns, pairs, folded=len(pairs) > _MANY))
        if reason := _why_not(known):
            parts.append(Line(f"No correlation: {reason}."))
    return tuple(parts)


_MANY = 24


def _why_not(known: Influence) -> str:
    """The commonest reason, if no pair has a figure."""
    if any(each.correlation.value is not None for each in known.pairs.values()):
        return ""
    reasons = Counter(each.correlation.reason for each in known.pairs.values())
    return reasons.most_common(1)[0][0]
