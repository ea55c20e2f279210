"""Votes of every kind, in every procedure: each surface says the same of them, and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from roundtable.core.errors import BadSetting
from roundtable.core.events import StoredEvent
from roundtable.core.standing import DecisionStanding, standing_of
from roundtable.core.state import State
from roundtable.surfaces.cli.progress import told as progress_told
from roundtable.views.decision import Decision
from roundtable.views.delivery import Delivery
from roundtable.views.page import derived
from roundtable.views.result import result
from roundtable.views.row import Row
from tests.declaring import block, vote
from tests.views.tables import NOON

from .ballots import COFFEE, PROCEDURES, SURFACES, TEA, Act, held, typed


def question(state: State) -> DecisionStanding:
    found = standing_of(state).question
    assert found is not None
    return found


# Before they heard each other

SWAPPED = ((TEA, COFFEE), (COFFEE, TEA), (TEA, COFFEE))
OTHERS = (
    (((TEA, TEA), (TEA, TEA), (COFFEE, COFFEE)), "already so before they heard each other"),
    (((TEA, COFFEE), (TEA, COFFEE), (COFFEE, COFFEE)), "Tea 2, Coffee 1"),
    # The figures are the same, and yet two have moved.
    (((TEA, COFFEE), (COFFEE, TEA), (TEA, TEA)), "Tea 2, Coffee 1"),
)


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize("procedure", [each for each in PROCEDURES if each != "meeting"])
def test_what_was_held_before_is_told_by_option_never_as_bare_figures(procedure: str) -> None:
    state = held(procedure, *SWAPPED)
    stood = question(state)
    assert (stood.delivered, stood.before.answer, stood.before.unchanged) == (COFFEE, TEA, False)
    assert dict(stood.before.counts) == {TEA: 2, COFFEE: 1}
    assert "before they heard each other: Tea 2, Coffee 1" in typed(state)
    for surface in SURFACES.values():
        assert "lready so" not in surface(state)
        assert "2 : 1 before" not in surface(state)
    assert "Before they heard each other: Tea 2, Coffee 1" in SURFACES["html"](state)
    page = derived(state)["decision"]["votes"][0]
    assert [(each["label"], each["count"]) for each in page["before"]] == [
        ("Tea", 2),
        ("Coffee", 1),
    ]
    assert not page["unchanged"]
    assert result(state)["control_group"] == {
        "round": 1,
        "without_talk": [TEA],
        "after_talk": [COFFEE],
        "talk_changed_the_result": True,
    }
    told = "Without talk the vote would have said “Tea”; after it, it says “Coffee”."
    assert told in SURFACES["terminal"](state)


@pytest.mark.requirement("Z-24")
def test_nothing_is_told_of_before_where_they_spoke_one_after_another() -> None:
    state = held("meeting", *SWAPPED)
    assert not question(state).before.known
    assert result(state)["control_group"] is None
    assert derived(state)["decision"]["votes"][0]["before"] == []
    for surface in SURFACES.values():
        assert "efore they heard each other" not in surface(state)


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize(("seats", "told"), OTHERS)
def test_it_was_already_so_only_if_everybody_holds_what_it_held(
    seats: tuple[tuple[str, str], ...], told: str
) -> None:
    state = held("deliberation", *seats)
    assert told in typed(state)
    same = told.startswith("already")
    (shown,) = Decision.of(state).votes
    assert question(state).before.unchanged is shown.unchanged is same
    assert ("lready so" in SURFACES["html"](state)) is same


# Who rejects what was chosen

ANYTHING_BUT_TEA = Act(
    fields={"votes": [vote("any", rejects=(TEA,))], "position": "Anything but tea."}
)


@pytest.mark.requirement("Z-24", "Z-34")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_who_has_no_preference_but_rejects_the_answer_dissents_on_every_surface(
    procedure: str,
) -> None:
    state = held(procedure, (TEA, TEA), (TEA, TEA), (ANYTHING_BUT_TEA, ANYTHING_BUT_TEA))
    third = Delivery.of(state).seats[2].name
    stood = question(state)
    assert stood.delivered == TEA
    assert stood.dissenting == stood.rejecting == (stood.seats[2].participant,)
    assert "2 of 3, 1 rejecting it" in stood.reason
    decision = Decision.of(state)
    assert decision.dissent.lead.startswith(f"{third} rejects it")
    assert [pair.against.title for pair in decision.dissent.pairs] == [third]
    assert decision.votes[0].figure == "2 : 1"
    assert [piece.side for piece in decision.votes[0].pieces] == ["answer", "answer", "rejects"]
    assert [each.chip for each in decision.experts][2] == "Disagrees"
    assert Row.of(state, interrupted=False).dissent
    for surface in SURFACES.values():
        shown = surface(state)
        assert "Nobody disagrees" not in shown
        assert "Abstained 1" not in shown
        assert f"{third} has no preference" not in shown
        assert "without a preference" not in shown
    assert f"{third} rejects it" in typed(state)
    assert "Anything but tea" in typed(state)


@pytest.mark.requirement("Z-24")
def test_no_preference_is_neither_abstention_nor_dissent() -> None:
    state = held("deliberation", (TEA, TEA), (TEA, TEA), ("any", "any"))
    decision = Decision.of(state)
    assert question(state).dissenting == ()
    assert decision.dissent.lead.startswith("Nobody disagrees.")
    assert decision.experts[2].chip == "No preference"
    shown = typed(held("deliberation", ("any", "any"), ("any", "any"), (TEA, TEA)))
    assert " have no preference" in shown
    assert " has no preference" not in shown


@pytest.mark.requirement("Z-24")
def test_who_left_the_answer_has_not_given_in_to_it() -> None:
    state = held("council", *SWAPPED)
    stood = question(state)
    one, two, three = (seat.participant for seat in stood.seats)
    assert stood.gave_in == (one, three)
    assert stood.dissenting == (two,)
    names = [seat.name for seat in Delivery.of(state).seats]
    flags = [flag.text for flag in Decision.of(state).flags]
    assert f"{names[0]} and {names[2]} came over without naming an argument." in flags
    assert [each.chip for each in Decision.of(state).experts] == ["Gave in", "Disagrees", "Gave in"]


# Too few votes to count

MUTE = Act(text="I would rather not say in a form what I think of drinks.")


@pytest.mark.requirement("Z-24", "Z-34")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_single_vote_is_told_as_too_few_never_as_none(procedure: str) -> None:
    state = held(procedure, (COFFEE, COFFEE), (MUTE, MUTE), (MUTE, MUTE))
    assert question(state).end is None
    reason = question(state).reason
    assert reason == "1 of 3 voted (2 without a countable declaration): that is too few to count."
    decision = Decision.of(state)
    assert decision.confidence.reason == reason
    lead = decision.dissent.lead
    assert lead == "Nothing was counted that somebody could disagree with."
    for surface in SURFACES.values():
        shown = surface(state)
        assert "No vote could be counted" not in shown
        assert "no countable vote" not in shown
        assert "The table is split" not in shown
        assert "**Dissent:** none" not in shown
    assert "too few to count" in SURFACES["html"](state)
    assert "too few to count" in typed(state)


@pytest.mark.requirement("Z-24")
def test_a_single_position_without_a_majority_is_no_split() -> None:
    nobody = Act(fields={"votes": [], "abstain": "I know nothing of this.", "position": ""})
    state = held("deliberation", (TEA, TEA), ("any", "any"), (nobody, nobody))
    assert question(state).end == "impasse"
    assert Decision.of(state).dissent.lead.startswith("Nothing prevails: no position has more")


# Positions of their own in the same words


def own(text: str, rejects: tuple[str, ...] = (TEA, COFFEE)) -> Act:
    cast = {**vote("own", rejects=rejects), "text": text}
    return Act(fields={"votes": [cast], "position": text})


@pytest.mark.requirement("Z-22", "Z-24")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_positions_of_their_own_in_the_same_words_are_one_position(procedure: str) -> None:
    texts = ("Serve water", "Serve water.", "serve  Water")
    state = held(procedure, *((own(text), own(text)) for text in texts))
    stood = question(state)
    assert (stood.end, stood.answer.rstrip(".")) == ("consensus", "Serve water")
    assert stood.own == stood.gave_in == ()
    assert Decision.of(state).votes[0].figure == "3 : 0"
    for surface in SURFACES.values():
        assert "The table is split" not in surface(state)


@pytest.mark.requirement("Z-22")
def test_an_option_in_its_own_words_is_chosen_under_own_too_unless_it_is_rejected() -> None:
    as_own = own("Tea.", rejects=(COFFEE,))
    state = held("council", (TEA, TEA), (COFFEE, COFFEE), (as_own, as_own))
    assert (question(state).delivered, question(state).counts[TEA]) == (TEA, 2)
    torn = own("Tea.", rejects=(TEA,))
    state = held("council", (TEA, TEA), (COFFEE, COFFEE), (torn, torn))
    assert (question(state).delivered, question(state).counts[TEA]) == (None, 1)
    other = own("Green tea.", rejects=())
    state = held("council", (TEA, TEA), (COFFEE, COFFEE), (other, other))
    assert question(state).counts[TEA] == 1


# Declarations as models wrap them


def as_json(said: str) -> str:
    return said.replace("```declaration", "```json")


def unlabelled(said: str) -> str:
    return said.replace("```declaration", "```")


def drafting(said: str) -> str:
    draft = block({"votes": [vote(TEA)], "position": "Perhaps tea."})
    return f"<think>Perhaps tea?\n{draft}\nNo.</think>\n{said}"


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("reshape", [as_json, unlabelled, drafting])
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_declaration_counts_in_a_fence_of_json_and_after_thoughts_that_draft_one(
    procedure: str, reshape: Callable[[str], str]
) -> None:
    wrapped = Act(COFFEE, reshape=reshape)
    state = held(procedure, (COFFEE, COFFEE), (wrapped, wrapped), (wrapped, wrapped))
    assert (question(state).end, question(state).delivered) == ("consensus", COFFEE)
    for speech in state.said.of_seats:
        assert "think>" not in speech.text
        assert "Perhaps tea" not in speech.text


@pytest.mark.requirement("Z-22")
def test_json_in_a_speech_or_of_something_else_is_no_declaration() -> None:
    other = '{"tea": 2, "coffee": 1}'
    mute = Act(text=f"Coffee, by these figures:\n\n```json\n{other}\n```")
    state = held("council", (TEA, TEA), (mute, mute), (mute, mute))
    assert question(state).counts == {TEA: 1, COFFEE: 0}


@pytest.mark.requirement("Z-22")
def test_of_two_declarations_the_reader_learns_that_there_were_two() -> None:
    twice = Act(COFFEE, reshape=lambda said: f"{said}\n\n{block({'votes': [vote(TEA)]})}")
    state = held("deliberation", (TEA, TEA), (TEA, TEA), (twice, twice))
    told = "cannot be read: 2 declarations, “o2” and “o1”"
    assert told in typed(state)
    assert told in SURFACES["terminal"](state)


@pytest.mark.requirement("Z-22", "X-13")
@pytest.mark.parametrize("procedure", ["deliberation", "council"])
def test_nobody_is_said_to_agree_whose_vote_cannot_be_read(procedure: str) -> None:
    state = held(procedure, (TEA, TEA), (TEA, TEA), ("beer", "beer"))
    assert question(state).counts == {TEA: 2, COFFEE: 0}
    told = Decision.of(state).dissent.lead
    assert told.startswith("Nobody who is counted disagrees. What ")
    assert told.endswith(" would choose is not known.")
    assert "would choose is not known" in SURFACES["terminal"](state)
    assert "Dissent: none" not in typed(state)


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("asked", "yes", "no"),
    [
        ("Sollen wir das Büro verlegen?", "Ja", "nein"),
        ("¿Deberíamos mudar la oficina?", "Sí", "no"),
        ("我们是否应该搬办公室？", "是", "否"),
    ],
)
def test_yes_and_no_in_the_language_of_the_question_are_votes(
    asked: str, yes: str, no: str
) -> None:
    state = held(
        "deliberation", (yes, yes), (f"{yes}.", yes), (no, no), question=asked, choices=None
    )
    stood = question(state)
    assert [option.text for option in stood.decision.options] == ["yes", "no"]
    assert [seat.final for seat in stood.seats] == ["o1", "o1", "o2"]


@pytest.mark.requirement("Z-22")
def test_where_yes_is_no_option_it_is_nobodys_vote_and_the_headline_says_that_it_is_unread() -> (
    None
):
    state = held("deliberation", ("ja", "ja"), ("ja", "ja"), ("nein", "nein"))
    assert question(state).end is None
    assert Decision.of(state).answer.first == "No answer: three voted, and what for cannot be read."


# What is told of a speech while it goes on, and of who was lost


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_line_gives_no_speech_the_words_of_an_earlier_one(procedure: str) -> None:
    turned = Act(text="Coffee, I now think. I would never buy tea.")
    state = held(procedure, (TEA, TEA), (COFFEE, COFFEE), (TEA, turned))
    last = [s for s in state.said.in_rounds if s.text.startswith("Coffee, I now think")]
    assert last
    for speech in last:
        line = progress_told(StoredEvent(state.discussion_id, 1, NOON, speech), state)
        assert "Coffee, I now think." in line
        assert "Buy tea" not in line
    first = next(s for s in state.said.in_rounds if s.participant == last[0].participant)
    line = progress_told(StoredEvent(state.discussion_id, 1, NOON, first), state)
    assert "Buy tea." in line


@pytest.mark.requirement("Z-24")
def test_every_round_in_which_a_seat_was_missing_is_named() -> None:
    gone = Act(fails=True)
    state = held("meeting", (TEA, TEA), (COFFEE, COFFEE), (TEA, gone), max_rounds=3)
    told = Delivery.of(state).seats[2].missed
    missing = sorted({f.round for f in state.failures})
    assert len(missing) > 1
    assert told == f"absent in rounds {' and '.join(map(str, missing))}"
    assert told in SURFACES["terminal"](state)


@pytest.mark.requirement("Z-22")
def test_options_may_hold_a_comma_in_quotation_marks_and_a_stray_mark_is_refused() -> None:
    state = held("deliberation", (TEA, TEA), (TEA, TEA), choices='"Tea, hot",Coffee')
    options = question(state).decision.options
    assert [option.text for option in options] == ["Tea, hot", "Coffee"]
    with pytest.raises(BadSetting, match="quotation mark"):
        held("deliberation", (TEA, TEA), (TEA, TEA), choices='"Tea,Coffee')
