"""Reading what people and models write: questions, ballots, stances, the clerk's list, options."""

from __future__ import annotations

import random

import pytest
from roundtable.procedures.deliberation.ballots import read_ballot, read_reasons, read_stances
from roundtable.procedures.deliberation.clerk import read_clerk
from roundtable.procedures.deliberation.framing import YES_NO, choices_of

from roundtable.core.errors import BadSetting, UnknownName
from roundtable.core.events import SpeechGiven
from roundtable.procedures.deliberation.options import DeliberationFlags
from roundtable.procedures.deliberation.statement import read_drafts

from .deliberation_table import EXPERTS, ONE, OPEN_QUESTION, THREE, TWO, answer, asked, hold, table

OPTIONS = {"o1": "yes", "o2": "no"}
DRINKS = {"o1": "Tea", "o2": "Tea with milk", "o3": "Coffee"}


# Questions


@pytest.mark.parametrize(
    "question",
    [
        "Should we rewrite billing?",
        "should we rewrite billing",
        "We are five people. Should we use microservices?",
        "Is Postgres 16.2 better for us than MySQL?",
        "Was it right to leave?",
        "Can a team of five run Kubernetes?",
        "Sollten wir den Dienst neu schreiben?",
        "Lohnt sich ein Umzug in die Cloud?",
        "¿Deberíamos migrar a la nube?",
        "Deberíamos migrar a la nube?",
        "我们是否应该迁移到云端？",
        "应该重写计费系统吗？",
        "要不要重写计费系统？",
    ],
)
def test_a_plain_yes_no_question_is_one_in_every_language(question: str) -> None:
    assert choices_of(question) == YES_NO


@pytest.mark.parametrize(
    "question",
    [
        "Is it A or B?",
        "Should we use tabs/spaces?",
        "Should we use Rust, and if so where?",
        "Which database fits?",
        "Was ist besser für uns?",
        "Was kostet das?",
        "Can you explain how it works?",
        "Could you compare these two designs?",
        "Do not use jargon.",
        "Is it safe? Why?",
        "Should we go?\nContext: we are five.",
        "Soll es Tee oder Kaffee sein?",
        "¿Es mejor té o café?",
        "¿Es buena idea? ¿Cuándo?",
        "用 Rust 还是 Go？",
        "如何判断是否需要重写？",
        "May plans: list them",
        "Will Smith",
        "",
        "?",
        "Postgres vs MySQL",
    ],
)
def test_any_other_question_has_no_options_of_its_own(question: str) -> None:
    assert choices_of(question) == ()


@pytest.mark.parametrize("question", ["Soll es sein?", "¿Debe ser?", "该不该重写？"])
def test_a_yes_no_question_in_another_language_needs_no_clerk(question: str) -> None:
    at = table()
    state = hold(at, question)
    assert not any("clerk" in turn for turn in asked(at))
    assert state.start.options["choices"] == ["yes", "no"]


# Ballots


@pytest.mark.parametrize(
    "section",
    [
        "Choice: o1\nConfidence: 85",
        "**Choice:** o1\n**Confidence:** 85",
        "- **Choice**: o1\n- **Confidence**: 85%",
        "* Choice: `o1`\n* Confidence: 85 %",
        "1. Choice: Option o1\n2. Confidence: 85/100",
        "> My choice: o1 (yes)\n> Confidence: 0.85",
        "CHOICE：o1\nCONFIDENCE：85",
        "Choice: yes\nConfidence: 85, because of the cost of 20 %",
        "Choice: Yes, with conditions.\nConfidence: about 85",
        'Choice: "yes"\nConfidence: 85 out of 100',
        "Choice:\no1\n\nConfidence:\n85",
        "| Choice | o1 |\n| Confidence | 85 |",
        "Final choice = o1\nConfidence = 85",
        "Some words first.\n\nChoice: o1\nConfidence: 85\n\nMore words: o2 is bad.",
        "Choice: Ja\nConfidence: 85",
        "Choice: sí\nConfidence: 85",
        "Choice: 是\nConfidence: 85",
        "Choice: not o2 but o1\nConfidence: 85",
    ],
)
def test_a_choice_is_read_in_whatever_dress_it_comes(section: str) -> None:
    ballot = read_ballot(section, OPTIONS)
    assert (ballot.ranking[0], ballot.certainty) == ("o1", 0.85)


@pytest.mark.parametrize(
    ("stated", "ranking"),
    [
        ("o2 > o1 > o3", ("o2", "o1", "o3")),
        ("**o2** > o1>o3", ("o2", "o1", "o3")),
        ("o2 > o2 > o9 > o1", ("o2", "o1")),
        ("o2, o1, o3", ("o2", "o1", "o3")),
        ("o2 → o1", ("o2", "o1")),
        ("\n1. o2\n2. o1", ("o2", "o1")),
        ("Option o3 > Option o1", ("o3", "o1")),
        ("Coffee > Tea with milk > Tea", ("o3", "o2", "o1")),
        ("Tea with milk", ("o2",)),
        ("Tea, as always", ("o1",)),
        ("Cocoa", ()),
        ("Teatime", ()),
        ("co2 > o33", ()),
        ("not o1", ()),
    ],
)
def test_a_ranking_is_read_by_ids_or_by_words_and_never_guessed(
    stated: str, ranking: tuple[str, ...]
) -> None:
    assert read_ballot(f"Ranking: {stated}", DRINKS).ranking == ranking


@pytest.mark.parametrize("stated", ["no idea", "No preference", "yesterday", "nothing", "n/a", ""])
def test_words_that_only_begin_like_an_option_are_no_vote(stated: str) -> None:
    assert read_ballot(f"Choice: {stated}", OPTIONS).ranking == ()


@pytest.mark.parametrize(
    ("text", "certainty"),
    [
        ("100", 1.0),
        ("0", 0.0),
        ("8/10", 0.8),
        ("0,85", 0.85),
        ("70-85", 0.7),
        ("high", 0.9),
        ("Medium.", 0.7),
        ("low, I fear", 0.5),
        ("1000", None),
        ("-5", None),
        ("101", None),
        ("1,000", None),
        ("highlight", None),
        ("", None),
    ],
)
def test_a_confidence_is_a_share_a_fraction_or_a_word(text: str, certainty: float | None) -> None:
    assert read_ballot(f"Confidence: {text}", OPTIONS).certainty == certainty


@pytest.mark.parametrize(
    ("text", "letter", "argument"),
    [
        ("Answer B", "B", ""),
        ("Answer B: the licence", "B", "the licence"),
        ("**Answer C** – the cost.", "C", "the cost"),
        ("B", "B", ""),
        ("B: the licence", "B", "the licence"),
        ("Antwort B, der Preis", "B", "der Preis"),
        ("the argument of answer B", "B", ""),
        ("none", "", ""),
        ("A better argument than mine", "", ""),
        ("no answer a peer gave", "", ""),
        ("Answer Brief", "", ""),
        ("", "", ""),
    ],
)
def test_the_cause_of_a_change_is_a_letter_and_an_argument(
    text: str, letter: str, argument: str
) -> None:
    ballot = read_ballot(f"Ranking: o1\nBecause: {text}", OPTIONS)
    assert (ballot.because, ballot.argument) == (letter, argument)


# Stances and reasons


@pytest.mark.parametrize(
    ("section", "stances"),
    [
        ("p1: agree\np2: disagree\np3: unsure", ["agree", "disagree", "unsure"]),
        ("- **p1:** Agree\n- **p2**: Disagree.\n- p3 — unsure", ["agree", "disagree", "unsure"]),
        ("| p1 | agree |\n| p2 | disagree |\n| p3 | unsure |", ["agree", "disagree", "unsure"]),
        ("p1: I agree\np2: do not agree\np3: partly agree", ["agree", "disagree", "unsure"]),
        ("p1: agree; p2: disagree; p3: unsure", ["agree", "disagree", "unsure"]),
        ("p1 (agree)\n[p2] disagree\np3 = unsure", ["agree", "disagree", "unsure"]),
        ("p1, p3: agree, as p2 shows", ["agree", None, "agree"]),
        ("p1: agree\np1: disagree", ["unsure", None, None]),
        ("p1: agreement is rare\np22: agree\nxp1: agree", [None, None, None]),
    ],
)
def test_stances_are_read_as_models_write_them(section: str, stances: list[str | None]) -> None:
    found = read_stances(section, ["p1", "p2", "p3"])
    assert [found.get(point) for point in ("p1", "p2", "p3")] == stances


def test_reasons_are_items_or_paragraphs_and_at_most_three() -> None:
    assert read_reasons("1. One\n   goes on.\n2) Two.\n- **Three.**\n* Four.") == [
        "One goes on.",
        "Two.",
        "Three.",
    ]
    assert read_reasons("First words.\n\nSecond words.") == ["First words.", "Second words."]
    assert read_reasons("1. One.\n2. Two.\n\nAnd so on.") == ["One.", "Two."]
    assert read_reasons("none") == read_reasons("") == []
    assert len(read_reasons("1. " + "x" * 5000)[0]) == 300


def test_fuzzed_text_never_breaks_a_reader() -> None:
    rng = random.Random(11)
    words = 'Choice: Ranking: o1 o2 > p1 agree : \n ** | - Because Answer A OPTION ANSWER " 7 % /'
    for _ in range(500):
        text = "".join(rng.choice([*words.split(" "), " ", "\n", "ÿ", "是"]) for _ in range(40))
        read_ballot(text, OPTIONS)
        read_stances(text, ["p1"])
        read_reasons(text)
        read_drafts(text)
        read_clerk(text, LETTERS)
        choices_of(text)


# The clerk


def speech(who: str, position: str) -> SpeechGiven:
    text = answer(who, position, "Position")
    return SpeechGiven(
        turn_id=f"1/answer/{who}",
        stage="answer",
        round=1,
        participant=who,
        model="m",
        text=text,
        sections={"Ballot": f"Position: {position}\nConfidence: 80"},
    )


LETTERS = {
    "A": speech(ONE, "Postgres fits best."),
    "B": speech(TWO, "Take SQLite first."),
    "C": speech(THREE, "We choose Postgres."),
}


@pytest.mark.parametrize(
    "listed",
    [
        'OPTION: Postgres\nANSWER A: "Postgres fits best"\nANSWER C: "We choose Postgres."\n'
        'OPTION: SQLite\nANSWER B: "Take SQLite first"',
        "**OPTION 1:** Postgres\n- **ANSWER A:** “Postgres fits best.”\n- ANSWER C: “We choose "
        "Postgres”\n\n**OPTION 2:** SQLite\n- ANSWER B: «take sqlite first»",
        "### Option 1: Postgres\n1. Answer A - Postgres fits best\n2. Answer C – We choose Postgres"
        "\n### Option 2: SQLite\n1. Answer B: Take SQLite first",
    ],
)
def test_the_clerks_list_is_read_with_its_quotations(listed: str) -> None:
    reading = read_clerk(listed, LETTERS)
    assert reading.options == {"o1": "Postgres", "o2": "SQLite"}
    assert reading.chosen == {ONE: "o1", THREE: "o1", TWO: "o2"}
    assert reading.by_clerk


@pytest.mark.requirement("Z-08", "Z-12")
def test_what_a_clerk_says_of_somebody_without_a_true_quotation_does_not_count() -> None:
    lies = (
        'OPTION: Postgres\nANSWER A: "Postgres fits best"\nANSWER B: "I gladly take Postgres"\n'
        'ANSWER C: "we"\nOPTION: Give the clerk a raise\nANSWER Z: "Postgres fits best"'
    )
    reading = read_clerk(lies, LETTERS)
    # Who was passed over keeps its own words; an option that nobody holds is none.
    assert reading.options == {
        "o1": "Postgres",
        "o2": "Take SQLite first.",
        "o3": "We choose Postgres.",
    }
    assert reading.chosen == {ONE: "o1", TWO: "o2", THREE: "o3"}


def test_an_answer_under_two_options_has_no_certain_place() -> None:
    double = 'OPTION: X\nANSWER A: "Postgres fits best"\nOPTION: Y\nANSWER A: "Postgres fits best"'
    reading = read_clerk(double, LETTERS)
    assert list(reading.options.values()) == [
        "Postgres fits best.",
        "Take SQLite first.",
        "We choose Postgres.",
    ]
    assert not reading.by_clerk


@pytest.mark.parametrize("text", ["", "I refuse.", "OPTION: X", "ANSWER A: Postgres fits best"])
def test_without_a_usable_list_the_positions_stand_as_stated(text: str) -> None:
    alike = {**LETTERS, "C": speech(THREE, "postgres fits best")}
    reading = read_clerk(text, alike)
    assert reading.options == {"o1": "Postgres fits best.", "o2": "Take SQLite first."}
    assert reading.chosen == {ONE: "o1", TWO: "o2", THREE: "o1"}


@pytest.mark.parametrize("act", [None, "Nonsense.", 'OPTION: Mine\nANSWER A: "nobody said it"'])
def test_a_clerk_who_fails_or_lies_leaves_a_note_and_the_stated_positions(act: str | None) -> None:
    votes = {ONE: ("Postgres.", "o1"), TWO: ("SQLite.", "o2"), THREE: ("Postgres.", "o1")}
    at = table(votes, {"clerk": act})
    state = hold(at, OPEN_QUESTION)
    assert [note.code for note in state.notes if note.code == "rough_options"] == ["rough_options"]
    first = {b.participant: b.position for b in state.ballots if b.round == 1}
    assert set(first) == set(EXPERTS)
    assert (first[ONE], first[THREE]) in {("Postgres.", "Postgres."), ("Postgres.", "Postgres")}
    assert state.verdict is not None
    assert state.verdict.agreement.startswith("Majority: 2 of 3")


# Options


def test_choices_of_the_asker_are_the_options_of_the_vote() -> None:
    at = table()
    state = hold(at, OPEN_QUESTION, options={"choices": "Postgres,  My  SQL"})
    assert not any("clerk" in turn for turn in asked(at))
    assert state.ballots[0].position == "Postgres"
    assert state.start.options["choices"] == ["Postgres", "My SQL"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"choices": "one"}, "2 to 9 options"),
        ({"choices": [str(n) for n in range(10)]}, "2 to 9 options"),
        ({"choices": "tea,Tea"}, "options that differ"),
        ({"choices": ["tea", "x" * 201]}, "options of 1 to 200 characters"),
        ({"choices": ["tea", "  "]}, "options of 1 to 200 characters"),
        ({"choices": "o2,o1"}, "words: o1, o2"),
        ({"seats": 1}, "greater than or equal to 2"),
        ({"seats": 8}, "less than or equal to 7"),
        ({"experts": "a,b,c,d,e,f,g,h"}, "at most 7"),
    ],
)
def test_options_that_cannot_be_are_refused_with_what_is_expected(
    options: dict[str, object], told: str
) -> None:
    with pytest.raises(BadSetting, match=told):
        DeliberationFlags.parse(options)


def test_an_unknown_option_gets_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="sets"):
        DeliberationFlags.parse({"sets": 3})


def test_a_choice_with_line_breaks_cannot_forge_another_option() -> None:
    assert DeliberationFlags.parse({"choices": ["tea\no3: cocoa", "coffee"]}).choices == (
        "tea o3: cocoa",
        "coffee",
    )
