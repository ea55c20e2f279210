"""Models that judge each other's answers, with people's votes: one judge alone, all of them, ours.

Each judge saw each pair of answers in both orders, so it casts two ballots. Ours weights ballots by
a track record from the other half of the questions, learned from agreement alone. Measured where
people prefer one answer; a tie named where they do is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from roundtable.core.identity_bias import Review, identity_bias
from roundtable.core.tally import Vote
from roundtable.core.track_record import TrackRecord, choose, learn

from .answers import interval, mean
from .data import Data, Row
from .scorecard import Score

NAME = "prd_panels"
Side = Literal["a", "b"]
_SIDES: Mapping[int, Side] = {1: "a", 2: "b"}
"""The figure in the data for each side; 3 is a tie."""
Verdict = Callable[[Row], str | None]


def run(data: Data) -> list[Score]:
    rows = data.rows("groups", NAME)
    if not rows:
        return []
    decided = [(row, side) for row in rows if (side := _people(row)) is not None]
    judges = sorted({judge for row in rows for judge in row["judge_votes"]})
    alone = {
        judge: _right(
            [pair for pair in decided if pair[0]["judge_votes"].get(judge)], _alone(judge)
        )
        for judge in judges
    }
    best = max(alone, key=lambda judge: mean(alone[judge]))
    plain = _right(decided, _plurality)
    ours = _right(decided, _ours(rows))
    gain = [a - b for a, b in zip(ours, plain, strict=True)]
    torn = sum(_plurality(row) is None for row, _ in decided) / len(decided)
    return [
        Score(
            NAME,
            "one judge alone: mean",
            len(decided),
            mean([mean(each) for each in alone.values()]),
            published="one judge alone .34–.74",
            note=f"best {best} {mean(alone[best]):.3f} on the {len(alone[best])} pairs it judged",
        ),
        Score(
            NAME,
            "default, all judges",
            len(decided),
            mean(ours),
            majority=mean(plain),
            published="all five summed .75",
            at_least=mean(plain) - 1e-9,
            note=f"{interval(ours)}, gain {mean(gain):+.3f} {interval(gain)}; sums end in a tie on "
            f"{torn:.3f}, and would reach {mean(plain) + torn / 2:.3f} with half of those right",
        ),
        Score(
            NAME,
            "default, no judge of its own answer",
            len(decided),
            mean(_right(decided, _ours(rows, fair=True))),
            majority=mean(_right(decided, lambda row: _plurality(row, fair=True))),
            note="three of five judges are left for each pair",
        ),
        *_own_work_first(rows),
    ]


def _people(row: Row) -> Side | None:
    """What most people prefer; None in a tie, and where most of them see one."""
    counted = Counter[int](row["human_votes"]).most_common(2)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return None
    return _SIDES.get(counted[0][0])


def _right(pairs: Sequence[tuple[Row, Side]], verdict: Verdict) -> list[float]:
    return [float(verdict(row) == side) for row, side in pairs]


def _alone(judge: str) -> Verdict:
    return lambda row: _most(Counter(_SIDES.get(vote, "") for vote in row["judge_votes"][judge]))


def _plurality(row: Row, fair: bool = False) -> str | None:
    """All votes summed, written anew: the baseline shares no code with what is measured."""
    heard = [v for judge, v in row["judge_votes"].items() if not (fair and _wrote(judge, row))]
    return _most(Counter(_SIDES.get(vote, "") for votes in heard for vote in votes or ()))


def _most(counted: Counter[str]) -> str | None:
    a, b = counted["a"], counted["b"]
    return None if a == b else "a" if a > b else "b"


def _wrote(judge: str, row: Row) -> bool:
    return judge in (row["a"], row["b"])


def _ours(rows: Sequence[Row], fair: bool = False) -> Verdict:
    """A question is in the half of its number, so that no pair on it is in its own history."""
    halves: dict[int, list[dict[str, str]]] = {0: [], 1: []}
    for row in rows:
        halves[row["qid"] % 2].append(
            {v.voter: f"{row['id']}/{v.first[0]}" for v in _ballots(row, fair) if len(v.first) == 1}
        )
    records: dict[int, TrackRecord] = {half: learn(halves[1 - half]) for half in (0, 1)}

    def verdict(row: Row) -> str | None:
        chosen = choose(_ballots(row, fair), records[row["qid"] % 2], ["a", "b"])
        return chosen.winner if not chosen.tied else None

    return verdict


def _ballots(row: Row, fair: bool) -> list[Vote]:
    return [
        Vote(f"{judge}, order {order}", ((_SIDES[vote],),) if vote in _SIDES else (("a", "b"),))
        for judge, votes in sorted(row["judge_votes"].items())
        if not (fair and _wrote(judge, row))
        for order, vote in enumerate(votes or (), 1)
    ]


def _own_work_first(rows: Sequence[Row]) -> list[Score]:
    """How much more often each judge prefers its own answer than judges of neither side do."""
    reviews = [
        Review(vote.voter.rsplit(",", 1)[0], _works(vote, row), topic=str(row["qid"]))
        for row in rows
        for vote in _ballots(row, fair=False)
    ]
    author = {name: name for row in rows for name in (row["a"], row["b"])}
    found = identity_bias(reviews, author)
    known = {name: bias.own.value for name, bias in found.items() if bias.own.value is not None}
    if not known:
        return []
    return [
        Score(
            NAME,
            "own answer preferred beyond others: mean",
            len(rows),
            mean(list(known.values())),
            note=", ".join(f"{name} {value:+.2f}" for name, value in known.items()),
        )
    ]


def _works(vote: Vote, row: Row) -> tuple[tuple[str, ...], ...]:
    """The ballot as a whole ranking of the two answers, under the names of their authors."""
    first = vote.first
    rest = tuple(row[side] for side in ("a", "b") if side not in first)
    ranked = (tuple(row[side] for side in first),)
    return (*ranked, rest) if rest else ranked
