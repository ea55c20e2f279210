"""The voters behind the seats of one discussion: copies of a model are one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .state import State
from .values import Options
from .voters import Group, Groups, bare_model, merge_twins, vote_shares

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
    """The voters, by the model that really spoke for each seat, as far as its server says it."""
    return state.derived("voter groups", _groups)


def _groups(state: State) -> Groups:
    spoke = {speech.participant: speech.model for speech in state.said.in_rounds}
    seats = {}
    for voter in state.voters:
        model = spoke.get(voter.id, voter.speaker.model)
        known = (ref for ref in voter.speakers if ref.model == model)
        seats[voter.id] = next(known, voter.speaker)
    groups = _with_kept(merge_twins(seats), state.start.options.get(TWINS))
    for alike in served_alike(state):
        groups = _merged(groups, alike.seats)
    return groups


@dataclass(frozen=True, slots=True)
class ServedAlike:
    """Seats that were asked of different models, and answered by one."""

    seats: tuple[str, ...]
    asked: tuple[str, ...]
    by: str
    """The model that answered, as its server calls it."""


def served_alike(state: State) -> list[ServedAlike]:
    """Where a server says that one model answered for several names: some answer with whatever is
    loaded. A name of the same model with its date, or in full, makes nobody a twin, nor do two
    servers that call something by the same name."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    last = {speech.participant: speech for speech in state.said.in_rounds}
    voters = {voter.id for voter in state.voters}
    names: dict[tuple[str, str], dict[str, str]] = {}
    for seat, speech in last.items():
        turn = state.turn(speech.turn_id)
        answers = [each.finished for each in turn.attempts if each.finished] if turn else []
        if seat not in voters or not answers or not answers[-1].served_by:
            continue
        served = (speech.model.partition("/")[0], bare_model(answers[-1].served_by))
        asked = bare_model(speech.model)
        found.setdefault(served, {}).setdefault(asked, []).append(seat)
        names.setdefault(served, {})[speech.model] = answers[-1].served_by
    return [
        ServedAlike(
            tuple(sorted(seat for seats in by_model.values() for seat in seats)),
            tuple(names[served]),
            next(iter(names[served].values())),
        )
        for served, by_model in found.items()
        if len(by_model) > 1
    ]


def _merged(groups: Groups, seats: Collection[str]) -> Groups:
    """The voters behind these seats as one."""
    same = [group for group in groups.groups if not set(group.seats).isdisjoint(seats)]
    if len(same) < 2:
        return groups
    families = {group.family for group in same}
    one = Group(
        tuple(sorted(seat for group in same for seat in group.seats)),
        tuple(sorted(model for group in same for model in group.models)),
        "same model",
        families.pop() if len(families) == 1 else "",
    )
    others = [group for group in groups.groups if group not in same]
    rest = replace(groups, groups=tuple(sorted([*others, one], key=lambda voter: voter.seats)))
    gone = {group.key for group in same} - {one.key}
    return replace(
        rest,
        suspects={pair: n for pair, n in rest.suspects.items() if gone.isdisjoint(pair)},
        unclear=frozenset(pair for pair in rest.unclear if gone.isdisjoint(pair)),
    )


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
