"""Reading declarations: what is mended, what is asked for again, and what can never do harm."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.declaration import Adopted, Condition, Decision, DeclaredStance, Option
from roundtable.core.declaration_block import BrokenJson, parse_json, split_blocks
from roundtable.core.declaration_form import (
    BALLOT,
    LAST,
    LATER,
    MAX_BLOCK,
    MAX_TEXT,
    OPENING,
    VERDICT,
    Form,
    Listed,
    Reading,
    seems_refused,
)

TEA = Decision(
    id="d1",
    question="Which drink?",
    options=(Option(id="o1", text="Tea"), Option(id="o2", text="Coffee")),
)
SIZE = Decision(
    id="d2",
    question="Which size?",
    options=(Option(id="o3", text="Small"), Option(id="o4", text="Large")),
)
LISTED = (
    Listed("p1", "Tea is cheap.", asked=True),
    Listed("p2", "Coffee is strong.", own=True),
    Listed("c1", "The kettle works.", asked=True),
)
FORM = Form(LATER, (TEA,), LISTED, {"A": "ann", "B": "bob"})
PROSE = "I hold that tea is better."
FIELDS: dict[str, Any] = {
    "votes": [{"on": "d1", "before": "o2", "choice": "o1", "acceptable": ["o2"], "rejects": []}],
    "position": "Drink tea.",
    "conditions": [{"text": "There is milk.", "kind": "fact", "otherwise": "o2"}],
    "confidence": 70,
    "stances": [{"id": "p1", "stance": "agree", "text": ""}],
    "adopted": [{"from": "A", "what": "tea is cheaper by half", "moved": True}],
    "new_points": ["Tea keeps longer."],
    "abstain": None,
}


def said(fields: dict[str, Any] | str, prose: str = PROSE) -> str:
    body = fields if isinstance(fields, str) else json.dumps(fields, ensure_ascii=False)
    return f"{prose}\n\n```declaration\n{body}\n```"


def read(form: Form = FORM, **changes: Any) -> Reading:
    """The declaration of FIELDS with these changes, read."""
    return form.read(said({**FIELDS, **changes}))


def vote(**changes: Any) -> list[dict[str, Any]]:
    return [{**FIELDS["votes"][0], **changes}]


def problem(reading: Reading) -> str:
    """The only thing that is wrong."""
    assert reading.declaration is None
    (found,) = reading.problems
    assert found.code == "declaration"
    return found.message


def test_a_whole_declaration_is_read_and_the_prose_stands_without_it() -> None:
    reading = read()
    assert (reading.prose, reading.problems, reading.mended) == (PROSE, (), ())
    declared = reading.declaration
    assert declared is not None
    (cast,) = declared.votes
    assert (cast.on, cast.before, cast.choice, cast.ranking) == ("d1", "o2", "o1", ("o1", "o2"))
    assert declared.position == "Drink tea."
    assert declared.conditions == (Condition(text="There is milk.", kind="fact", otherwise="o2"),)
    assert declared.confidence == 70
    assert declared.stances == (DeclaredStance(id="p1", stance="agree"),)
    assert declared.adopted == (
        Adopted(participant="ann", what="tea is cheaper by half", moved=True),
    )
    assert declared.new_points == ("Tea keeps longer.",)
    assert declared.abstain is None


# Mended without a call


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"position": "Drink\ntea.", "confidence": 7}', ()),
        ('{"position": "Drink tea.", "confidence": 7,}', ("comments or trailing commas",)),
        ('{"position": "Drink tea.", "new_points": ["a b",], }', ("comments or trailing commas",)),
        ('{// why\n"position": "Drink tea."}', ("comments or trailing commas",)),
        ('{/* so */ "position": "Drink tea." }', ("comments or trailing commas",)),
        ('{"position": "Drink tea.", # mine\n "confidence": 3}', ("comments or trailing commas",)),
        ('{"position": "Drink tea.", "mood": "good", "thoughts": [1]}', ()),
        ('\r\n{"position": "Drink tea."}\r\n', ()),
        ('{"position": "Drink tea.", "position": "Drink tea."}', ()),
    ],
)
def test_what_cannot_be_misunderstood_is_mended(body: str, told: tuple[str, ...]) -> None:
    reading = Form(OPENING).read(said(body))
    assert reading.declaration is not None, reading.problems
    assert reading.declaration.position == "Drink tea."
    assert [each for each in reading.mended if not each.startswith(told or "-")] == []
    assert bool(reading.mended) is bool(told)


@pytest.mark.parametrize(
    "written",
    [
        "O1",
        "o1",
        "Option 1",
        "option o1",
        "(o1)",
        "“o1”",
        "Tea",
        "tea.",
        "opción 1",
        "选项1",
    ],
)
def test_an_option_is_known_by_its_number_and_by_its_own_words(written: object) -> None:
    declared = read(votes=vote(choice=written, before="own", acceptable=[])).declaration
    assert declared is not None
    assert declared.votes[0].choice == "o1"


@pytest.mark.parametrize("written", ["OWN", "Any", " own "])
def test_the_words_own_and_any_are_known_in_any_case(written: str) -> None:
    declared = read(votes=vote(choice=written)).declaration
    assert declared is not None
    assert declared.votes[0].choice == written.strip().casefold()


def test_the_choice_repeated_in_acceptable_is_left_out() -> None:
    reading = read(votes=vote(acceptable=["o1", "o2", "o2"]))
    assert reading.declaration is not None
    assert reading.declaration.votes[0].acceptable == ("o2",)
    assert reading.mended == ("the choice was left out of acceptable",)


@pytest.mark.parametrize(
    ("written", "confidence"),
    [
        (70, 70),
        ("70%", 70),
        ("70 %", 70),
        ("70/100", 70),
        ("70 percent", 70),
        (0.7, 70),
        (70.4, 70),
        (0, 0),
        (100, 100),
        (101, None),
        (-1, None),
        ("high", None),
        (True, None),
        (None, None),
        ("1000", None),
        ([70], None),
    ],
)
def test_a_confidence_is_a_share_or_unknown_and_never_a_reason_to_ask_again(
    written: object, confidence: int | None
) -> None:
    reading = read(confidence=written)
    assert reading.declaration is not None
    assert reading.declaration.confidence == confidence


def test_a_single_vote_without_its_list_or_its_decision_is_meant_for_the_only_one() -> None:
    bare = {"choice": "o2"}
    for votes in (bare, [bare]):
        declared = read(votes=votes).declaration
        assert declared is not None
        assert [(v.on, v.choice, v.before) for v in declared.votes] == [("d1", "o2", "silent")]


def test_stances_on_unknown_points_and_votes_on_unknown_decisions_are_left_out() -> None:
    stances = [*FIELDS["stances"], {"id": "p99", "stance": "agree"}, {"id": "x"}, "p1", None]
    votes = [*vote(), {"on": "d9", "choice": "o1"}]
    reading = read(stances=stances, votes=votes)
    assert reading.declaration is not None
    assert [s.id for s in reading.declaration.stances] == ["p1"]
    assert [v.on for v in reading.declaration.votes] == ["d1"]
    assert len(reading.mended) == 2


def test_ids_of_points_are_known_in_any_case() -> None:
    declared = read(stances=[{"id": "P1.", "stance": "Agree"}, {"id": "C1", "stance": "PARTLY"}])
    assert declared.declaration is not None
    assert [(s.id, s.stance) for s in declared.declaration.stances] == [
        ("p1", "agree"),
        ("c1", "partly"),
    ]


def test_an_amendment_of_two_hundred_characters_is_kept_and_a_cut_is_told() -> None:
    wording = f"The platform is paid for until {'very ' * 34}late"
    kept = read(stances=[{"id": "p2", "stance": "amend", "text": wording}])
    assert kept.declaration is not None
    assert kept.declaration.stances[0].text == wording
    assert kept.mended == ()
    cut = read(stances=[{"id": "p2", "stance": "amend", "text": wording * 3}])
    assert f"a text of {len(wording) * 3} characters was cut to {MAX_TEXT}" in cut.mended


def test_a_text_a_little_too_long_is_kept_whole_and_beyond_that_cut() -> None:
    assert len(_position("x" * 310)) == 310
    assert len(_position("word " * 200)) <= 301
    declared = read(new_points=["y" * 5000, "z", "z", "w", "v", "u"]).declaration
    assert declared is not None
    assert len(declared.new_points) == 3
    assert max(map(len, declared.new_points)) <= MAX_TEXT + 1


def _position(text: str) -> str:
    declared = read(position=text).declaration
    assert declared is not None
    return declared.position


# Asked for again


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"votes": vote(rejects=["o1"])}, "On d1 the choice is also among the rejects."),
        (
            {"votes": vote(acceptable=["o2"], rejects=["o2"])},
            "On d1 o2 is both acceptable and rejected.",
        ),
        ({"votes": []}, "The vote on d1 is missing."),
        ({"votes": None}, "The vote on d1 is missing."),
        ({"votes": "o1"}, "The vote on d1 is missing."),
        ({"votes": vote(choice="o9")}, "The choice on d1 must be one of o1, o2, own, any."),
        ({"votes": vote(choice="not o1")}, "The choice on d1 must be one of o1, o2, own, any."),
        ({"votes": vote(choice="o1 or o2")}, "The choice on d1 must be one of o1, o2, own, any."),
        ({"votes": vote(choice=None)}, "The choice on d1 must be one of o1, o2, own, any."),
        ({"votes": vote(choice=True)}, "The choice on d1 must be one of o1, o2, own, any."),
        ({"votes": vote(choice="silent")}, "The choice on d1 must be one of o1, o2, own, any."),
        (
            {"votes": [*vote(), *vote(choice="o2", acceptable=[])]},
            "There are two votes on d1. Give one.",
        ),
        (
            {"votes": vote(acceptable=["o7"])},
            "acceptable on d1 names an option that is not there.",
        ),
        (
            {"stances": [{"id": "p1", "stance": "zustimmen"}]},
            "The stance on p1 must be one of agree, partly, disagree, unsure, amend, withdraw, in "
            "English.",
        ),
        (
            {"stances": [{"id": "p1", "stance": "同意"}]},
            "The stance on p1 must be one of agree, partly, disagree, unsure, amend, withdraw, in "
            "English.",
        ),
        (
            {"stances": [{"id": "p1", "stance": s} for s in ("agree", "disagree")]},
            "There are two different stances on p1. Give one.",
        ),
        (
            {"stances": [{"id": "p1", "stance": "withdraw"}]},
            "Only the author of p1 can withdraw it.",
        ),
        (
            {"stances": [{"id": "p2", "stance": "amend", "text": ""}]},
            "To amend p2, give its new wording in text.",
        ),
        (
            {"adopted": [{"from": "Carl", "what": "the price", "moved": True}]},
            "adopted.from must be one of A, B.",
        ),
        (
            {"abstain": "I do not know."},
            "It abstains and yet takes part: either abstain with a reason and leave the lists "
            "empty, or set abstain to null. No preference is the choice `any`.",
        ),
    ],
)
def test_what_can_be_misunderstood_is_asked_for_again(changes: dict[str, Any], told: str) -> None:
    assert problem(read(**changes)) == told


def test_an_abstention_stands_for_itself() -> None:
    lists = ("votes", "stances", "new_points", "adopted")
    empty: dict[str, Any] = {**{key: [] for key in lists}, "position": ""}
    declared = read(**empty, abstain="I am the vendor.").declaration
    assert declared is not None
    assert (declared.abstain, declared.votes, declared.position) == ("I am the vendor.", (), "")
    for nothing in (None, "", "null", "none", False):
        kept = read(abstain=nothing).declaration
        assert kept is not None
        assert kept.abstain is None


def test_every_decision_needs_its_vote() -> None:
    form = Form(LATER, (TEA, SIZE), LISTED, {"A": "ann"})
    assert problem(read(form)) == "The vote on d2 is missing."
    both = [*vote(), {"on": "d2", "choice": "o4"}]
    assert read(form, votes=both).declaration is not None
    # An option of another decision is none of this one.
    crossed = [*vote(), {"on": "d2", "choice": "o1"}]
    assert problem(read(form, votes=crossed)).startswith("The choice on d2 must be one of o3, o4")


@pytest.mark.parametrize("position", ["…", "...", "", " ", "-", "—", 7, None, ["Drink tea."], "?"])
def test_an_echo_of_the_example_is_no_position(position: object) -> None:
    told = problem(Form(OPENING).read(said({"position": position})))
    assert told == "The position is missing: one sentence, what you would do."
    # Whoever votes for an option has said what it holds.
    voted = read(position=position).declaration
    assert voted is not None
    assert voted.position == ""


def test_the_example_of_the_prompt_itself_declares_nothing() -> None:
    echo = (
        '{"position": "…", "conditions": [{"text": "…", "kind": "demand", "otherwise": "open"}],'
        ' "confidence": 0, "new_points": ["…"], "abstain": null}'
    )
    assert Form(OPENING).read(said(echo)).declaration is None


@pytest.mark.parametrize("kind", [None, "wish", "FACT!", 3])
def test_a_condition_of_unknown_kind_stands_in_the_way(kind: object) -> None:
    declared = read(conditions=[{"text": "Milk.", "kind": kind, "otherwise": "o7"}]).declaration
    assert declared is not None
    assert declared.conditions == (Condition(text="Milk.", kind="demand", otherwise="open"),)


# The verdict, scores, the end, actions


def test_a_verdict_delivers_an_option_or_none() -> None:
    form = Form(VERDICT, (TEA,))
    fields = {"delivers": "Option 2", "answer": "Coffee.", "why": ["strong"], "actions": ["Buy."]}
    declared = form.read(said(fields)).declaration
    assert declared is not None
    assert (declared.delivers, declared.answer, declared.why) == ("o2", "Coffee.", ("strong",))
    assert [action.text for action in declared.actions] == ["Buy."]
    assert problem(form.read(said({**fields, "delivers": "both"}))) == (
        "delivers must be one of o1, o2, none."
    )
    assert problem(form.read(said({**fields, "answer": "…"}))) == (
        "The answer is missing: one or two sentences."
    )


@pytest.mark.parametrize(
    ("scores", "missing"),
    [
        ({"Ann": 4, "Bob": 2}, 0),
        ({"ann": "4", "BOB": 2}, 0),
        ({"Ann": 4}, 1),
        ({"Ann": 4, "Bob": 9}, 1),
        ({"Ann": 4, "Bob": True}, 1),
        ({"Ann": 4.5, "Bob": "2/5"}, 2),
        ({"Nobody": 3}, 2),
        ([4, 2], 2),
    ],
)
def test_scores_are_whole_numbers_for_everybody(scores: object, missing: int) -> None:
    form = Form(("scores",), scored={"Ann": "ann", "Bob": "bob"})
    reading = form.read(said({"scores": scores}))
    if missing:
        assert problem(reading) == (f"scores needs a whole number from 1 to 5 for {missing} more.")
    else:
        assert reading.declaration is not None
        assert reading.declaration.scores == {"ann": 4, "bob": 2}


@pytest.mark.parametrize(
    ("written", "end"), [(True, True), (False, False), ("yes", None), (1, None)]
)
def test_an_end_vote_is_true_or_false_or_none(written: object, end: bool | None) -> None:
    declared = Form(("end",)).read(said({"end": written})).declaration
    assert declared is not None
    assert declared.end is end


# Where the block stands


GOOD = json.dumps(FIELDS)


@pytest.mark.requirement("Z-22", "Z-12")
@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        f"{PROSE}\n\n{GOOD}",
        f"{PROSE}\n\n```json\n{GOOD}\n```",
        f"> ```declaration\n> {GOOD}\n> ```",
        f"    ```declaration\n    {GOOD}\n    ```",
        f"````markdown\n```declaration\n{GOOD}\n```\n````",
        f"~~~\n```declaration\n{GOOD}\n```\n~~~",
        f"`declaration {GOOD}`",
        "",
    ],
)
def test_a_block_in_a_quotation_or_an_example_is_none(text: str) -> None:
    assert problem(FORM.read(text)) == "The block labelled `declaration` is missing."


@pytest.mark.parametrize(
    "text",
    [
        f"{PROSE}\n```declaration\n{GOOD}\n```",
        f"{PROSE}\n~~~declaration\n{GOOD}\n~~~",
        f"{PROSE}\n   ``` Declaration \n{GOOD}\n   ```",
        f"{PROSE}\r\n\r\n```declaration\r\n{GOOD}\r\n```\r\n",
        f"{PROSE}\n\n```declaration\n{GOOD}",
        f"{PROSE}\n\n````declaration\n{GOOD}\n````\n",
        f"```declaration\n{GOOD}\n```\n\n{PROSE}",
        f"{PROSE}\n\n```declaration\n{GOOD}\n```\n\n```declaration\n{GOOD}\n```",
    ],
)
def test_a_block_is_found_however_it_is_fenced(text: str) -> None:
    reading = FORM.read(text)
    assert reading.declaration is not None, reading.problems
    assert reading.prose == PROSE


def test_two_different_blocks_are_asked_about() -> None:
    other = json.dumps({**FIELDS, "confidence": 10})
    text = f"{PROSE}\n```declaration\n{GOOD}\n```\nor\n```declaration\n{other}\n```"
    assert problem(FORM.read(text)) == "There are 2 blocks labelled `declaration`. Give one."


def test_a_forgotten_fence_does_not_swallow_the_declaration() -> None:
    for before in ("Look:\n\n", ""):
        reading = FORM.read(f"{before}```python\nprint(1)\n\nSo.\n\n~~~declaration\n{GOOD}\n~~~")
        assert reading.declaration is not None
        assert reading.prose == f"{before}```python\nprint(1)\n\nSo."


def test_a_block_within_another_one_may_be_an_example_and_is_asked_for_again() -> None:
    within = f"Look:\n\n```python\nprint(1)\n\n```declaration\n{GOOD}\n```"
    assert problem(FORM.read(within)) == "The block labelled `declaration` is missing."


def test_code_in_the_prose_stays_there() -> None:
    prose = f"{PROSE}\n\n```python\nprint(1)\n```"
    assert FORM.read(said(FIELDS, prose)).prose == prose


def test_asked_for_alone_the_bare_object_will_do() -> None:
    alone = Form(BALLOT, (TEA,), LISTED, {"A": "ann"}, alone=True)
    assert alone.read(GOOD).declaration is not None
    assert alone.read(f"Here it is: {GOOD}").declaration is None


# Hostile


@pytest.mark.requirement("Z-22", "X-32")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{" + '"a": "' + "x" * 1_000_000 + '"}', "The declaration has 1,000,009 characters"),
        ('{"a": ' + "[" * 9000 + "]" * 9000 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 20 + "]" * 20 + "}", "nested too deeply"),
        ('{"position": "A tea.", "position": "No tea."}', "the key “position” comes twice"),
        ('{"confidence": NaN}', "NaN is no number"),
        ('{"confidence": Infinity}', "Infinity is no number"),
        ('{"confidence": -Infinity}', "Infinity is no number"),
        ('{"confidence": ' + "9" * 10_000 + "}", "no JSON"),
        ('["position"]', "it is no object in braces"),
        ('"position"', "it is no object in braces"),
        ("null", "it is no object in braces"),
        ("", "no JSON"),
        ('{"position": "Drink "good" tea."}', "no JSON"),
        ('{"position": "Drink tea.', "no JSON"),
        ("{'position': 'Drink tea.'}", "no JSON"),
        ("position: Drink tea.", "no JSON"),
    ],
)
def test_a_hostile_or_broken_block_is_a_problem_in_plain_words(body: str, told: str) -> None:
    began = time.process_time()
    found = problem(Form(OPENING).read(said(body)))
    assert told in found
    assert len(found) < 250
    assert time.process_time() - began < 5


def test_ten_thousand_stances_are_read_or_refused_and_never_counted_twice() -> None:
    many = [{"id": f"p{n}", "stance": "agree"} for n in range(10_000)]
    assert len(json.dumps(many)) > MAX_BLOCK
    assert "characters" in problem(read(stances=many))
    fields = {**FIELDS, "stances": many * 3}
    reading = FORM.read_fields(fields)
    assert reading.declaration is not None
    assert [s.id for s in reading.declaration.stances] == ["p1", "p2"]
    assert len(reading.mended) == 1


def test_a_million_fences_take_no_time() -> None:
    began = time.process_time()
    for text in (
        "```\n" * 200_000,
        "```declaration\n" * 100_000,
        "~~~a\n```b\n" * 50_000,
        "x\n~~~a\nx\n```b\n" * 50_000,
    ):
        FORM.read(text)
    assert time.process_time() - began < 20


def test_comments_are_taken_out_of_the_block_and_not_out_of_texts() -> None:
    found, mended = parse_json('{"a": "see https://x.example // not a comment", /* b */ "c": 1,}')
    assert found == {"a": "see https://x.example // not a comment", "c": 1}
    assert mended
    with pytest.raises(BrokenJson):
        parse_json('{"a": 1 // {')


@given(st.text(alphabet='{}[]",:`~\n declarationo1d1{"votes"\\/*#…', max_size=300))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_the_reading(text: str) -> None:
    for form in (FORM, Form(OPENING), Form(VERDICT, (TEA,)), Form(BALLOT, (TEA,), alone=True)):
        for each in (text, said(text)):
            reading = form.read(each)
            assert (reading.declaration is None) is bool(reading.problems)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*FIELDS, "scores", "end", "actions", "why"]), JSON))
@settings(max_examples=150, deadline=None)
def test_no_json_breaks_the_reading_and_only_live_ids_come_out(fields: dict[str, Any]) -> None:
    form = Form(
        (*LATER, "scores", "end", "actions", "why"), (TEA,), LISTED, {"A": "ann"}, {"Ann": "ann"}
    )
    for given_ in (fields, {**FIELDS, "scores": {"Ann": 3}, **fields}):
        declared = form.read_fields(given_).declaration
        if declared is None:
            continue
        for cast in declared.votes:
            assert cast.on == "d1"
            assert cast.choice in ("o1", "o2", "own", "any")
            assert {*cast.acceptable, *cast.rejects} <= {"o1", "o2"}
            assert cast.choice not in cast.rejects
        assert {s.id for s in declared.stances} <= {"p1", "p2", "c1"}
        assert {a.participant for a in declared.adopted} <= {"ann"}


# The schema


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("keys", [OPENING, LATER, LAST, BALLOT, VERDICT])
def test_the_schema_asks_for_every_key_and_holds_the_live_ids(keys: tuple[Any, ...]) -> None:
    form = Form(keys, (TEA, SIZE), LISTED, {"A": "ann"})
    schema = form.schema()
    assert schema["required"] == list(schema["properties"]) == list(keys)
    assert schema["additionalProperties"] is False
    whole = json.dumps(schema)
    if "votes" in keys:
        assert '"o4"' in whole
        assert '"d2"' in whole
    if "stances" in keys:
        assert '"c1"' in whole


def test_what_there_is_nothing_to_say_to_is_not_asked_for() -> None:
    schema = Form(LATER).schema()
    assert set(schema["properties"]) == {
        "position",
        "conditions",
        "confidence",
        "new_points",
        "abstain",
    }


# Refusals


@pytest.mark.parametrize(
    "prose",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request.",
        "As an AI, I cannot take a position.",
        "Sorry, no.",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Ich kann dabei nicht helfen.",
        "Lo siento, no puedo ayudar.",
        "抱歉，我无法回答。",
    ],
)
def test_a_refusal_looks_like_one(prose: str) -> None:
    assert seems_refused(prose)


@pytest.mark.parametrize(
    "prose",
    [
        "I can support tea.",
        "We cannot afford coffee, so tea it is.",
        "Tea. I'm sorry to say that coffee is too dear.",
        "I cannot see any reason against tea. " + "It is cheap and it keeps. " * 20,
        "Ich kann das empfehlen.",
        "",
    ],
)
def test_an_answer_is_no_refusal(prose: str) -> None:
    assert not seems_refused(prose)


def test_blocks_of_another_label_are_left_alone() -> None:
    text = "a\n```decisions\n{}\n```\nb"
    assert split_blocks(text) == (text, [])
    assert split_blocks(text, "decisions") == ("a\nb", ["{}"])


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize("written", ["1", 1, "!o1", "≠ o1", "-o1", "not o1", "o1 or o2"])
def test_what_may_mean_another_option_is_asked_about(written: object) -> None:
    reading = read(votes=vote(choice=written, before="own", acceptable=[]))
    assert reading.declaration is None
    assert "must be one of" in reading.problems[0].message


def chosen_among(*texts: str, choice: object) -> Reading:
    """A vote for this among options of these texts."""
    options = tuple(Option(id=f"o{n}", text=text) for n, text in enumerate(texts, 1))
    form = Form(BALLOT, (Decision(id="d1", question="Which one?", options=options),), alone=True)
    return form.read_fields({"votes": [{"on": "d1", "choice": choice}], "abstain": None})


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("texts", "written", "meant"),
    [
        (("Option 2", "Option 3"), "Option 2", "o1"),
        (("Option 2", "Option 1"), "option 1", "o2"),
        (("2", "3", "5"), "2", "o1"),
        (("2", "3", "5"), 3, "o2"),
        (("2", "3", "5"), 5.0, "o3"),
        (("2", "3", "5"), "o2", "o2"),
        (("C", "c", "D"), "c", "o2"),
        (("Any.", "Abstain"), "Abstain", "o2"),
        (("1 server", "2 servers"), "Option 2", "o2"),
    ],
)
def test_the_words_of_an_option_come_before_every_other_reading(
    texts: tuple[str, ...], written: object, meant: str
) -> None:
    declared = chosen_among(*texts, choice=written).declaration
    assert declared is not None
    assert declared.votes[0].choice == meant


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (("Option 2", "Option 3"), "Option 1"),
        (("Option 2: rent", "Option 3: buy"), "Option 2"),
        (("2", "3", "5"), "Option 2"),
        (("2", "3", "5"), "4"),
        (("2 servers", "3 servers"), "Option 2"),
        (("Rent", "Buy"), "2"),
    ],
)
def test_a_number_that_may_mean_two_options_is_asked_about(
    texts: tuple[str, ...], written: object
) -> None:
    assert "must be one of" in problem(chosen_among(*texts, choice=written))


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("text", "told"), [("Own", "a position of one's own"), ("Any.", "no pref")]
)
def test_a_fixed_word_that_is_also_the_text_of_an_option_is_asked_about(
    text: str, told: str
) -> None:
    word = text.rstrip(".").casefold()
    asked = problem(chosen_among(text, "Rent", choice=word))
    assert asked.startswith(f"On d1 “{word}” is the text of o1 and also stands for {told}")
    assert asked.endswith("give o1 if you mean that option.")


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    "changes",
    [
        {"adopted": [{"from": "Carl", "what": "the price", "moved": True}]},
        {"stances": [{"id": "p1", "stance": "zustimmen"}]},
        {"votes": vote(before="o9")},
        {"votes": vote(acceptable=["o7"])},
        {"votes": vote(acceptable=["o2"], rejects=["o2"])},
    ],
)
def test_a_side_field_that_cannot_be_read_costs_no_vote(changes: dict[str, Any]) -> None:
    reading = read(**changes)
    assert reading.declaration is None
    assert reading.problems
    assert reading.spared is not None
    assert reading.spared.votes[0].choice == "o1"
    assert all(each.participant != "Carl" for each in reading.spared.adopted)
    assert not {"o7"} & set(reading.spared.votes[0].ranking)


@pytest.mark.parametrize(
    "changes",
    [
        {"votes": vote(choice="Mongo")},
        {"votes": [*vote(), *vote(choice="o2", acceptable=[])]},
        {"abstain": "I do not know."},
        {"votes": vote(rejects=["o1"]), "stances": [{"id": "p1", "stance": "ja"}]},
    ],
)
def test_nothing_is_spared_of_a_declaration_whose_vote_cannot_be_read(
    changes: dict[str, Any],
) -> None:
    assert read(**changes).spared is None
