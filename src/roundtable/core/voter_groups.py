"""The voters behind the seats of one discussion: copies of a model are one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .state import State
from .values import Options
from .voters import Group, Groups, merge_twins, vote_shares

TWINS = "twins"
"""The option under which a discussion keeps which models answer alike, as it was found when it was
opened: counting again always comes to the same."""


def kept_twins(groups: Groups) -> Options:
    """The option that keeps what answers told of the models beyond their names; none if nothing."""
    found: dict[str, Any] = {
        "merged": [list(group.models) for group in groups.groups if len(group.models) > 1],
        "suspects": [[a, b, round(likeness, 4)] for (a, b), likeness in groups.suspects.items()],
        "unclear": [list(pair) for pair in sorted(groups.unclear)],
    }
    return {TWINS: found} if any(found.values()) else {}


def groups_of(state: State) -> Groups:
    """The voters, by the model that really spoke for each seat."""
    return state.derived("voter groups", _groups)


def _groups(state: State) -> Groups:
    spoke = {speech.participant: speech.model for speech in state.said.in_rounds}
    seats = {}
    for voter in state.voters:
        model = spoke.get(voter.id, voter.speaker.model)
        known = (ref for ref in voter.speakers if ref.model == model)
        seats[voter.id] = next(known, voter.speaker)
    return _with_kept(merge_twins(seats), state.start.options.get(TWINS))


def _with_kept(groups: Groups, kept: object) -> Groups:
    """The voters by name, with those merged who were found to answer alike. It was found of the
    models that were to speak; whoever stood in for one is not in it."""
    if not isinstance(kept, Mapping):
        return groups
    voters = list(groups.groups)
    for models in _rows(kept.get("merged")):
        same = [voter for voter in voters if set(voter.models) & set(models)]
        if len(same) > 1:
            merged = Group(
                tuple(sorted(seat for voter in same for seat in voter.seats)),
                tuple(sorted(model for voter in same for model in voter.models)),
                "same answers",
                same[0].family,
            )
            voters = [voter for voter in voters if voter not in same] + [merged]
    key_of = {model: voter.key for voter in voters for model in voter.models}
    suspects: dict[tuple[str, str], float] = {}
    for row in _rows(kept.get("suspects")):
        likeness = row[2] if len(row) > 2 else None
        pair = _pair(key_of, row)
        if pair and isinstance(likeness, int | float):
            suspects[pair] = float(likeness)
    unclear = (_pair(key_of, row) for row in _rows(kept.get("unclear")))
    return Groups(
        tuple(sorted(voters, key=lambda voter: voter.seats)),
        suspects,
        frozenset(pair for pair in unclear if pair),
    )


def _rows(kept: object) -> list[Sequence[Any]]:
    return [row for row in kept if isinstance(row, list | tuple)] if isinstance(kept, list) else []


def _pair(key_of: Mapping[str, str], row: Sequence[Any]) -> tuple[str, str] | None:
    keys = sorted({key_of[str(each)] for each in row[:2] if str(each) in key_of})
    return (keys[0], keys[1]) if len(keys) == 2 else None


def weights_of(state: State) -> dict[str, float]:
    """What each seat of this discussion counts."""
    return seat_weights(groups_of(state), [voter.id for voter in state.voters])


def seat_weights(groups: Groups, seats: Sequence[str]) -> dict[str, float]:
    """What each seat counts: the seats of one voter share its vote, and voters who answer
    suspiciously alike count for less. Where all are one voter, each seat counts, since there is
    nobody else to count."""
    voters = groups.by_seat(seats)
    present = Counter(voters.values())
    if len(present) < 2:
        return dict.fromkeys(voters, 1.0)
    shares = vote_shares(present, groups.suspects)
    return {seat: shares[voter] for seat, voter in voters.items()}
