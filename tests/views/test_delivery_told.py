"""What a delivery tells of demands, of who came over, of who was lost on the way, and of votes that
a reader would doubt."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.declaration import Condition, Decision, Option
from roundtable.core.declaration_form import BALLOT
from roundtable.core.events import DecisionsTabled, Event, SpeechGiven, TurnFailed, VerdictReached
from roundtable.core.record import PointStatus
from roundtable.core.state import State
from roundtable.core.turns import DIFFERS, UNDECLARED
from roundtable.core.values import Verdict
from roundtable.ports import SpeakRequest
from roundtable.procedures.table import Table
from roundtable.procedures.verdicts import agreement_told, changes_told, dissents
from roundtable.surfaces.cli.screen import Screen
from roundtable.surfaces.cli.verdict import Verdict as Typed
from roundtable.surfaces.cli.verdict import in_short, typeset
from roundtable.surfaces.toolset.ask import _collected as collected
from roundtable.views import delivery_json, delivery_md
from roundtable.views.decision import Decision as Decided
from roundtable.views.delivery import Delivery
from roundtable.views.delivery_parts import PointTold
from roundtable.views.page import derived
from roundtable.views.result import result
from roundtable.views.row import Row
from tests.core.declared_table import (
    COFFEE,
    SEATS,
    TEA,
    at_table,
    by,
    demand,
    says,
    stance,
    tabled,
    vote,
)
from tests.declaring import declared, spoken
from tests.procedures.council_table import council, hold

from .declaring import against
from .test_delivery import QUESTION, SURFACES

MILK = "There is milk."


def told(state: State) -> str:
    return delivery_md.markdown(Delivery.of(state), "# It")


def flagged(speech: SpeechGiven, flag: str) -> SpeechGiven:
    return speech.model_copy(update={"flags": (flag,)})


def lost(who: str, round_: int = 2) -> TurnFailed:
    return TurnFailed(
        turn_id=f"{round_}/critique/{who}",
        stage="critique",
        round=round_,
        participant=who,
        cause="auth",
        message="The key was refused.",
        remedy="Check the key.",
    )


# --- demands -----------------------------------------------------------------------------------


def demanding(owner: str, *answers: tuple[str, str, str]) -> State:
    """One of bob, who has an ally, and cid, who has none, demands milk; the others answer."""
    events: list[Event] = [tabled()]
    events += [
        says("ann", "o1"),
        says("bob", "o1", conditions=_asked(owner == "bob")),
        says("cid", "o2", position="Coffee.", conditions=_asked(owner == "cid")),
    ]
    for who, choice, word in answers:
        said: dict[str, Any] = {"stances": (stance("c1", word),)} if word else {}
        events.append(says(who, choice, 2, **said))
    return at_table(*events)


def _asked(wanted: bool) -> tuple[Condition, ...]:
    return (demand(MILK),) if wanted else ()


@pytest.mark.parametrize(
    ("owner", "answers", "status", "words"),
    [
        (
            "cid",
            [("ann", "o1", "disagree"), ("bob", "o1", "disagree")],
            "refused",
            "refused by Ann",
        ),
        ("cid", [("ann", "o1", ""), ("bob", "o1", "")], "open", "not granted yet"),
        ("cid", [("ann", "o1", "partly"), ("bob", "o1", "")], "open", "not granted yet"),
        ("cid", [("ann", "o1", "agree"), ("bob", "o1", "")], "granted", "granted by Ann"),
        ("cid", [("ann", "o1", "agree"), ("bob", "o1", "disagree")], "open", "Bob against it"),
        ("bob", [("ann", "o1", "disagree"), ("cid", "o2", "agree")], "refused", "refused by Ann"),
        ("bob", [("ann", "o1", "agree"), ("cid", "o2", "")], "granted", "granted by Ann"),
        ("bob", [("ann", "o1", ""), ("cid", "o2", "agree")], "open", "not granted: Cid for it"),
    ],
)
def test_a_demand_is_granted_only_by_whoever_agreed_to_it(
    owner: str, answers: list[tuple[str, str, str]], status: str, words: str
) -> None:
    state = demanding(owner, *answers)
    delivery = Delivery.of(state)
    (condition,) = delivery.conditions
    assert (condition.status, condition.granted) == (status, status == "granted")
    assert words in condition.told
    assert f"There is milk. ({condition.told})" in told(state)
    (document,) = delivery_json.document(delivery)["conditions"]
    assert (document["status"], document["granted"]) == (status, status == "granted")


def test_a_fact_is_neither_granted_nor_refused() -> None:
    fact = Condition(text="It is hot.", kind="fact", otherwise="o2")
    state = at_table(tabled(), says("ann", "o1", conditions=(fact,)), says("bob", "o1"))
    (condition,) = Delivery.of(state).conditions
    assert (condition.status, condition.told, condition.granted) == ("", "", False)
    (document,) = delivery_json.document(Delivery.of(state))["conditions"]
    assert (document["status"], document["granted"]) == (None, None)


def test_what_somebody_grants_in_part_is_told() -> None:
    state = at_table(
        tabled(),
        says("ann", "o1", conditions=(demand(MILK),)),
        says("bob", "o1"),
        says("bob", vote("o1", "o1"), 2, stances=(stance("c1", "partly", "Oat milk only."),)),
    )
    assert "There is milk. (not granted yet; Bob partly: Oat milk only)" in told(state)
    (document,) = delivery_json.document(Delivery.of(state))["conditions"]
    assert document["partly"] == ["Bob partly: Oat milk only"]


def test_a_demand_that_was_reworded_since_it_was_granted_says_so() -> None:
    state = at_table(
        tabled(),
        says("ann", "o1", conditions=(demand(MILK),)),
        says("bob", "o1"),
        says("bob", vote("o1", "o1"), 2, stances=(stance("c1", "agree"),)),
        says("ann", vote("o1", "o1"), 3, stances=(stance("c1", "amend", "Oat milk."),)),
    )
    assert "(not granted yet; reworded since it was granted by Bob)" in told(state)
    table = Table(state, "council")
    (bob,) = [seat for seat in table.seats if seat.id == "bob"]
    (listed,) = table.form(bob, BALLOT, only=("c1",)).listed
    assert listed.told == f"Oat milk. [reworded since you granted it; before: “{MILK}”]"


def test_a_demand_of_several_is_told_once_and_those_of_others_apart() -> None:
    own = "Milk is there"
    state = at_table(
        tabled(),
        says("ann", "o1", conditions=(demand(MILK), demand("Sugar."))),
        says("bob", "o1", conditions=(demand("there is MILK"), demand(own))),
        says("cid", "o2", conditions=(demand("It is hot."),)),
        says("ann", vote("o1", "o1"), 2, stances=(stance("c3", "agree"), stance("c4", "agree"))),
        says(
            "bob",
            vote("o1", "o1"),
            2,
            stances=(stance("c1", "agree"), stance("c2", "agree", own + ".")),
        ),
    )
    lines = told(state).splitlines()
    at = lines.index("**Conditions:**")
    assert lines[at + 1 : at + 3] == [
        "- Ann and Bob: There is milk. (granted by Bob; granted by Ann)",
        "- Ann and Bob: Sugar. (granted by Bob; granted by Ann)",
    ]
    apart = lines.index("**Other conditions:**")
    assert lines[apart + 1] == "- Cid: It is hot. (not granted yet) Otherwise against it."


# --- who came over -----------------------------------------------------------------------------

FIVE = ("ann", "bob", "cid", "dan", "eve")


def crossing() -> State:
    """Cid comes over to tea without an argument, dan leaves it for coffee in the same way."""
    first = {"ann": "o1", "bob": "o1", "cid": "o2", "dan": "o1", "eve": "o2"}
    last = {**first, "cid": "o1", "dan": "o2"}
    names = {"o1": "Tea.", "o2": "Coffee."}
    return at_table(
        tabled(),
        *(says(who, choice, position=names[choice]) for who, choice in first.items()),
        *(
            says(who, vote(choice, first[who]), 2, position=names[choice])
            for who, choice in last.items()
        ),
        seats=FIVE,
    )


def test_the_first_line_counts_only_those_who_came_over_to_the_answer() -> None:
    state = crossing()
    weakness = "but one of them came over without naming an argument."
    assert Delivery.of(state).headline.endswith(weakness)
    assert weakness in agreement_told(Table(state, "council").standing)


def test_a_seat_that_left_the_answer_dissents_once_with_what_it_holds_now() -> None:
    found = dissents(Table(crossing(), "council"))
    assert [(each.participant, each.position, each.gave_in) for each in found] == [
        ("dan", "Coffee.", False),
        ("eve", "Coffee.", False),
        ("cid", "Coffee.", True),
    ]


def placed(*more: Event) -> State:
    """All drink tea, and cid outside."""
    where = (Option(id="o1", text="Inside."), Option(id="o2", text="Outside."))
    both = DecisionsTabled(
        decisions=(
            Decision(id="d1", question="Which drink?", options=(TEA, COFFEE)),
            Decision(id="d2", question="Where?", options=where),
        )
    )
    places = {"ann": "o1", "bob": "o1", "cid": "o2"}
    said = (says(who, votes=(vote("o1"), vote(at, on="d2"))) for who, at in places.items())
    return at_table(both, *said, *more)


def test_who_dissents_on_a_further_decision_is_named() -> None:
    state = placed()
    assert (
        "- Where?: Inside, 2 of 3, 1 for another answer. Inside: Ann, Bob; Outside: Cid. "
        "Dissent: Cid." in told(state)
    )
    assert "**Dissent:** none on the question; Cid on “Where?”" in told(state)
    assert delivery_json.document(Delivery.of(state))["vote"][1]["dissenting"] == ["Cid"]


def test_what_the_writer_says_of_dissent_is_shown_also_where_none_was_counted() -> None:
    verdict = Verdict(answer="Tea.", on_dissent="Cid fears the rain less.")
    shown = told(placed(VerdictReached(verdict=verdict)))
    assert "none on the question; Cid on “Where?”; the writer says: Cid fears" in shown
    alone = at_table(tabled(), *(says(who, "o1") for who in SEATS), VerdictReached(verdict=verdict))
    said = "**Dissent:** nobody voted otherwise; the writer says: Cid fears the rain less."
    assert said in told(alone)


# --- who was lost on the way -------------------------------------------------------------------


def after_round_one(*last: Event) -> State:
    """Positions in round 1, options after it, votes of ann and bob in round 2."""
    return at_table(
        says("ann", position="Tea."),
        says("bob", position="Tea."),
        says("cid", position="Never tea."),
        tabled(),
        says("ann", vote("o1", "o1"), 2, position="Tea."),
        says("bob", vote("o1", "o1"), 2, position="Tea."),
        *last,
    )


@pytest.mark.parametrize(
    ("last", "first_line", "how", "why"),
    [
        (
            lost("cid"),
            "1 without a vote on it (Cid, absent in round 2, last declared: Never tea)",
            "has no vote, absent in round 2",
            "absent in round 2",
        ),
        (
            flagged(says("cid", None, 2, declares=False), UNDECLARED),
            "1 without a countable declaration (Cid, last declared: Never tea)",
            "declared nothing in round 2",
            "declared nothing in round 2",
        ),
    ],
)
def test_who_was_lost_before_the_vote_is_accounted_for(
    last: Event, first_line: str, how: str, why: str
) -> None:
    state = after_round_one(last)
    delivery = Delivery.of(state)
    assert delivery.headline == f"Tea, 2 of 3, {first_line}."
    assert "one has no vote that counts" in delivery.confidence.reason
    assert "abstained" not in delivery.confidence.reason
    assert f"- Cid: {how}; not counted; last declared: Never tea" in told(state)
    assert f"Cid {how}; not counted; last declared: Never tea" in delivery.changed
    assert "Nothing: everybody" not in delivery.changed
    changes = changes_told(Table(state, "council"))
    assert f"- Cid held “Never tea” and has no vote in the end ({why})." in changes


def test_who_abstains_after_it_held_something_is_told_with_what_talk_changed() -> None:
    state = at_table(
        tabled(),
        *(says(who, choice) for who, choice in (("ann", "o1"), ("bob", "o1"), ("cid", "o2"))),
        *(says(who, vote("o1", "o1"), 2) for who in ("ann", "bob")),
        says("cid", None, 2, abstain="I do not know."),
    )
    delivery = Delivery.of(state)
    assert "one abstained" in delivery.confidence.reason
    assert "Cid abstains: I do not know. (at first: Coffee)" in delivery.changed
    assert "- Cid held “Coffee” and abstains in the end." in changes_told(Table(state, "council"))


@pytest.mark.requirement("Z-04")
def test_a_position_that_talk_changed_is_told_also_where_no_vote_changed() -> None:
    opening = [says("ann", "o1", position="Tea."), says("bob", "o1", position="Tea at four.")]
    moved = says("bob", vote("o1", "o1"), 2, position="Tea at five.", adopted=by("ann", "dusk"))
    kept = says("ann", vote("o1", "o1"), 2, position="Tea.", adopted=by("bob", "the hour"))
    changed = Delivery.of(at_table(tabled(), *opening, kept, moved, seats=("ann", "bob"))).changed
    assert changed == "No vote changed. Positions did: Bob (by Ann: dusk)."
    same = says("bob", vote("o1", "o1"), 2, position="tea at four")
    assert Delivery.of(
        at_table(tabled(), *opening, kept, same, seats=("ann", "bob"))
    ).changed.startswith("Nothing: ")


def test_no_preference_is_not_called_an_abstention() -> None:
    state = at_table(tabled(), says("ann", "o1"), says("bob", "o1"), says("cid", "any"))
    assert Delivery.of(state).confidence.reason.endswith("one has no preference.")


# --- votes that a reader would doubt -----------------------------------------------------------


def test_doubtful_votes_behind_the_answer_are_found_and_others_are_not() -> None:
    state = at_table(
        tabled(),
        flagged(says("ann", "o1"), DIFFERS),
        says("bob", "o1"),
        flagged(says("cid", "o2"), DIFFERS),
        says("dan", "o1"),
        says("eve", "o1"),
        flagged(says("eve", None, 2, declares=False), UNDECLARED),
        seats=FIVE,
    )
    delivery = Delivery.of(state)
    assert [(each.code, each.message) for each in delivery.findings] == [
        (
            "words_differ",
            "Ann, round 1: its words and its declaration differ; the declaration counts.",
        ),
        (
            "no_declaration",
            "Eve, round 2: no declaration, so what it declared before is not counted. Last "
            "declared: “Tea”.",
        ),
    ]
    assert delivery.flags == (DIFFERS, UNDECLARED)
    assert "- Eve: declared nothing in round 2" in told(state)


def two_faced(request: SpeakRequest) -> str:
    """Says no, declares yes."""
    block = declared(request.form, request.user, choice="o1", position="Yes, drink tea.")
    return f"No. We should not drink tea.\n\n{block}"


@pytest.fixture(scope="module")
def differing() -> State:
    return hold(council({"/muse/": two_faced}), QUESTION)


@pytest.mark.parametrize("surface", SURFACES)
def test_words_that_differ_from_a_counted_declaration_are_told_everywhere(
    differing: State, surface: str
) -> None:
    assert "its words and its declaration differ" in SURFACES[surface](differing)


@pytest.mark.parametrize(
    ("status", "more", "told"),
    [
        ("agreed", {}, "It is safe"),
        ("agreed", {"absent": ("Dan",)}, "It is safe (absent: Dan)"),
        ("held", {"unheard": ("Cid",)}, "It is safe (held by 2 of 4; not heard: Cid)"),
        (
            "held",
            {"opposed_before": ("Cid",)},
            "It is safe (held by 2 of 4; against its first wording: Cid)",
        ),
        ("open", {"unheard": ("Bob",)}, "It is safe (raised by Ann; not heard: Bob)"),
        ("withdrawn", {"opposed_before": ("Cid",)}, "It is safe (by Ann)"),
    ],
)
def test_a_point_is_told_with_who_was_not_heard_and_who_opposed_its_first_wording(
    status: PointStatus, more: dict[str, tuple[str, ...]], told: str
) -> None:
    found = PointTold("p1", "It is safe", "Ann", status, ("Ann", "Bob"), (), 4, **more)
    assert found.told == told


# --- what a reader must not miss, on every surface -----------------------------------------------


def still_against(_: SpeakRequest) -> str:
    """Objects in words, and declares nothing, however often it is asked."""
    return "## Critique of Others\nI still oppose it."


def unreadable(request: SpeakRequest) -> str:
    votes = [{"on": "d1", "before": "o2", "choice": "Maybe not", "acceptable": [], "rejects": []}]
    return f"I still oppose it.\n\n{declared(request.form, request.user, votes=votes)}"


def revising(request: SpeakRequest) -> str:
    """Gives in, and says that it held it all along."""
    votes = [{"on": "d1", "before": "o1", "choice": "o1", "acceptable": [], "rejects": []}]
    return spoken("Fine.", request, votes=votes, position="Do it.")


def refusing(request: SpeakRequest) -> str:
    """Declines in words, and declares all the same."""
    words = "I'm sorry, but I can't help with that request."
    return spoken(words, request, choice="o2", position="Do not do it.")


MUSES: dict[str, tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "without a declaration": (
        {"answer/muse": against, "/muse": still_against},
        ("1 without a countable declaration (Muse, last declared: no)",),
        ("Muse, round 2: no declaration", "Last declared: “no”"),
    ),
    "that cannot be read": (
        {"answer/muse": against, "/muse": unreadable},
        ("1 without a countable declaration (Muse, “Maybe not”, last declared: no)",),
        ("Muse, round 2: its vote cannot be read: “Maybe not”",),
    ),
    "that was revised": (
        {"answer/muse": against, "/muse": revising},
        ("Yes, 3 of 3, but one of them came over without naming an argument.",),
        ("Muse says that it held “yes” before, but it had declared “no”: it counts as moved.",),
    ),
    "beside a refusal": (
        {"/muse": refusing},
        ("Yes, 2 of 3, 1 for another answer.",),
        ("Muse, round 2: its words refuse to answer, and yet it declares",),
    ),
}


@pytest.fixture(scope="module")
def muses() -> dict[str, State]:
    return {name: hold(council(dict(acts)), QUESTION) for name, (acts, *_) in MUSES.items()}


def typed(state: State) -> str:
    """The verdict on a terminal, as one line."""
    return " ".join(" ".join(typeset(Typed.of(state), Screen(200))).split())


@pytest.mark.requirement("Z-22", "Z-24")
@pytest.mark.parametrize("surface", [*SURFACES, "typeset"])
@pytest.mark.parametrize("name", MUSES)
def test_a_vote_that_a_reader_would_doubt_is_told_everywhere(
    muses: dict[str, State], name: str, surface: str
) -> None:
    state = muses[name]
    shown = typed(state) if surface == "typeset" else SURFACES[surface](state)
    _, first_line, doubts = MUSES[name]
    wanted = doubts if surface == "typeset" else (*first_line, *doubts)
    plain = shown.replace("\\n", " ")
    assert [each for each in wanted if each not in plain] == []


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize("name", ["without a declaration", "that cannot be read"])
def test_a_dissenter_without_a_countable_declaration_is_never_taken_for_agreement(
    muses: dict[str, State], name: str
) -> None:
    state = muses[name]
    for shown in (typed(state), *(surface(state) for surface in SURFACES.values())):
        assert "Nobody disagrees" not in shown
        assert "**Dissent:** none" not in shown
        assert "chose nothing" not in shown.casefold()
    decision, page = Decided.of(state), derived(state)
    assert decision.dissent.lead.startswith(
        "Nobody who is counted disagrees. Muse last declared “no” and is not counted: "
    )
    assert [pair.against.title for pair in decision.dissent.pairs] == ["Muse (not counted)"]
    (kept,) = result(state)["dissent"]
    assert (kept["participant"], kept["position"], kept["counted"]) == (
        "muse",
        "last declared: no.",
        False,
    )
    assert [each.participant for each in collected(state).dissent] == ["muse"]
    assert "Dissent: Muse (not counted)." in Delivery.of(state).opening
    assert Row.of(state, interrupted=False).dissent
    # Before they heard each other it was in the vote, on every surface that tells it.
    assert [(each.label, each.count) for each in decision.votes[0].before] == [
        ("Yes", 2),
        ("No", 1),
    ]
    told = [(each["label"], each["count"]) for each in page["decision"]["votes"][0]["before"]]
    assert told == [("Yes", 2), ("No", 1)]
    assert [o["at_first"] for o in result(state)["vote"][0]["options"]] == [2, 1]
    assert "before they heard each other: Yes 2, No 1" in typed(state)
    short = " ".join(" ".join(in_short(Typed.of(state), Screen(200))).split())
    assert "Muse not counted, last declared: no" in short
    assert "already so" not in short


@pytest.mark.requirement("Z-24")
def test_nobody_held_independently_what_it_came_to_by_revising_its_record(
    muses: dict[str, State],
) -> None:
    state = muses["that was revised"]
    delivery = Delivery.of(state)
    assert delivery.question is not None
    assert delivery.question.end == "hollow"
    assert delivery.confidence.word != "high"
    for shown in (typed(state), *(surface(state) for surface in SURFACES.values())):
        assert "ndependently, before hearing each other" not in shown
        assert "already so before they heard" not in shown
    (muse,) = [each for each in Decided.of(state).experts if each.participant == "muse"]
    assert muse.chip == "Gave in"


@pytest.mark.requirement("Z-24")
def test_a_vote_that_was_left_and_taken_again_is_not_told_as_held_throughout() -> None:
    back = (vote("o2"), vote("o1", "o2"), vote("o2", "o1"))
    state = at_table(
        tabled(),
        says("ann", "o1"),
        says("bob", "o1"),
        says("cid", back[0]),
        *(says(who, vote("o1", "o1"), 2) for who in ("ann", "bob")),
        says("cid", back[1], 2),
        says("cid", back[2], 2, stage="ballot"),
    )
    assert "- Cid: Coffee, at first and again in the end; in between: Tea\n" in told(state)
    assert delivery_json.document(Delivery.of(state))["seats"][2]["in_between"] == ["Tea"]
