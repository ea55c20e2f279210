"""A vote that was cast after the last words is what a seat holds, everywhere it is told."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.state import State
from roundtable.experts.chosen import unknown_expert
from roundtable.ports import ChosenExperts
from roundtable.procedures.deliberation.seating import seat
from roundtable.procedures.opening import OpenRequest
from roundtable.speakers.scripted import ScriptedSpeaker
from roundtable.surfaces.cli.verdict import _says
from roundtable.views.decision import Decision
from tests.procedures.deliberation_table import hold, verdict_of
from tests.rehearsal import Cast, Table

MODELS = "scripted/stubborn,scripted/sycophant,scripted/hedger"


@pytest.fixture(scope="module")
def late() -> State:
    """The hedger's own position is put to the vote late, and the sycophant follows it there."""
    at = Table(
        {"*": ScriptedSpeaker(sleep=asyncio.sleep)},  # type: ignore[dict-item]
        cast=Cast("scripted/failing"),
    )
    return hold(at, "Should we move to the cloud?", options={"models": MODELS})


@pytest.mark.requirement("Z-34")
def test_people_and_quotations_are_told_from_the_vote_as_cast(late: State) -> None:
    decision = Decision.of(late)
    _, sycophant, hedger = (each.id for each in late.voters)
    told = next(each for each in decision.experts if each.participant == sycophant)
    assert told.final == "It depends (before this vote: no)"
    (pair,) = decision.dissent.pairs
    assert pair.majority.position == "It depends."
    assert {each.participant for each in pair.majority.quotes} == {hedger}


@pytest.mark.requirement("Z-34")
def test_a_vote_that_differs_from_the_last_words_is_flagged(late: State) -> None:
    flags = [each.text for each in Decision.of(late).flags if each.code == "outvoted"]
    assert len(flags) == 1
    assert "voted for “It depends”; its last words before that say “no”" in flags[0]


@pytest.mark.requirement("Z-34")
def test_an_extract_lists_the_vote_before_the_words_that_it_replaced(late: State) -> None:
    assert "It depends (its vote; before it: no)" in verdict_of(late).answer


@pytest.mark.requirement("Z-34")
def test_a_late_option_belongs_to_the_options_put_to_the_vote(late: State) -> None:
    (vote,) = Decision.of(late).votes
    assert [each.label for each in vote.options] == ["It depends", "No", "Yes"]


def test_a_quotation_that_only_repeats_the_position_is_no_quotation() -> None:
    assert _says("Open in Porto, which is cheaper.", "Open in Porto, which is cheaper")
    assert _says("Open in Porto, which is cheaper.", "Open in Porto…")
    assert not _says("No: the risk comes first.", "No")


def test_who_is_described_in_a_sentence_is_not_said_to_be_a_name_alone() -> None:
    experts = tuple(map(unknown_expert, ("Beekeeper: asks about the bees", "beekeper")))
    request = OpenRequest("Lisbon or Porto?", chosen_experts=ChosenExperts(experts))
    notes = seat(request, Cast("scripted/echo"), {}).notes
    made_up = [note.text for note in notes if note.code == "made_up"]
    assert len(made_up) == 1
    assert "beekeper" in made_up[0].casefold()
