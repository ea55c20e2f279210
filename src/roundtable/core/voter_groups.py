"""The voters behind the seats of one discussion: copies of a model are one."""

from __future__ import annotations

from .state import State
from .voters import Groups, merge_twins

TWINS = "twins"
"""The option under which a discussion keeps the seats whose models answer alike, as they were
found when it was opened: counting again always comes to the same."""


def groups_of(state: State) -> Groups:
    """The voters, by the model that really spoke for each seat."""
    return state.derived("voter groups", _groups)


def _groups(state: State) -> Groups:
    spoke = {speech.participant: speech.model for speech in state.speeches if speech.round > 0}
    seats = {}
    for voter in state.voters:
        model = spoke.get(voter.id, voter.speaker.model)
        known = (ref for ref in voter.speakers if ref.model == model)
        seats[voter.id] = next(known, voter.speaker)
    return merge_twins(seats)


def weights_of(state: State) -> dict[str, float]:
    """What each seat counts: the seats of one voter share its vote. Where all are one voter, each
    seat counts, since there is nobody else to count."""
    groups = groups_of(state).by_seat([voter.id for voter in state.voters])
    if len(set(groups.values())) < 2:
        return dict.fromkeys(groups, 1.0)
    return {seat: 1 / len(group.seats) for seat, group in groups.items()}
