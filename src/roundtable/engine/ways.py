"""Going on with those who were seated before: what was said in a discussion goes nowhere else than
where it was held, and nothing is begun that nobody here could bring to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.errors import CannotGoOn, HeldElsewhere, NoModel
from ..core.values import OUTSIDE, Participant, SpeakerRef
from ..ports import Models, ReachableModels, Way


def check_ways(
    models: Models,
    discussion_id: str,
    participants: Sequence[Participant],
    host: Participant,
    *,
    here: bool = False,
    opening: bool = False,
) -> None:
    """HeldElsewhere if one of them is called at another address than then, unless that is wanted
    (`here`). CannotGoOn, or NoModel for a new discussion of theirs, if the host cannot be called,
    or none of the others."""
    if not isinstance(models, ReachableModels):
        return
    seats = [seat for seat in (*participants, host) if is_called(seat)]
    ways = {ref: models.way_to(ref) for ref in _speakers(seats)}
    if not here:
        _refuse_moves(discussion_id, ways)
    shut = [seat for seat in seats if not any(ways[ref].usable for ref in seat.speakers)]
    others = [seat for seat in seats if seat is not host]
    if host in shut or (others and all(seat in shut for seat in others)):
        whys = [ways[seat.speaker] for seat in shut]
        told = " ".join(dict.fromkeys(way.told for way in whys))
        remedy = " ".join(dict.fromkeys(way.remedy for way in whys if way.remedy))
        if opening:
            raise NoModel(told=told, remedy=remedy)
        raise CannotGoOn(discussion_id, told, remedy)


def check_new_table(
    models: Models,
    discussion_id: str,
    before: Sequence[Participant],
    now: Sequence[Participant],
) -> None:
    """HeldElsewhere if a provider that spoke in an earlier discussion would hear of it at another
    address than then: for a table that nobody has named models for."""
    if isinstance(models, ReachableModels):
        called = {_provider(ref) for ref in _speakers(now)}
        again = [ref for ref in _speakers(before) if _provider(ref) in called]
        _refuse_moves(discussion_id, {ref: models.way_to(ref) for ref in again})


def _refuse_moves(discussion_id: str, ways: Mapping[SpeakerRef, Way]) -> None:
    if moves := [(ref.at, way.at, way.back) for ref, way in ways.items() if way.elsewhere]:
        raise HeldElsewhere(discussion_id, moves)


def placed(models: Models, seat: Participant) -> Participant:
    """The seat with the addresses that its speakers are called at now."""
    if not isinstance(models, ReachableModels):
        return seat
    refs = [ref.model_copy(update={"at": models.way_to(ref).at or ref.at}) for ref in seat.speakers]
    return seat.model_copy(update={"speakers": tuple(refs)})


def is_called(seat: Participant) -> bool:
    return seat.speaker.model != OUTSIDE


def _speakers(seats: Sequence[Participant]) -> list[SpeakerRef]:
    return [ref for seat in seats for ref in seat.speakers]


def _provider(speaker: SpeakerRef) -> str:
    return speaker.model.partition("/")[0]
