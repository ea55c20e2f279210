"""The extractor: plain cases are read, all others are left unread."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.convergence import convergence_score, name_end_of_points
from roundtable.core.extraction import (
    NOTICE,
    Matcher,
    Speech,
    chosen_option,
    extract,
    listed_options,
    reply_stance,
    stance_toward,
)
from roundtable.core.extraction.lexicon import lexicon, stem
from roundtable.core.quotes import find_quote


@pytest.mark.parametrize(
    ("claim", "text", "position"),
    [
        ("We should ban boxing", "Boxing is dangerous and harmful.", "agree"),
        ("We should ban boxing", "Boxing is beneficial.", "disagree"),
        ("We should not ban boxing", "Boxing is beneficial.", "agree"),
        ("We should adopt microservices", "Microservices are an unnecessary burden.", "disagree"),
        ("We should adopt microservices", "Microservices reduce harm and risk.", "agree"),
        ("We should adopt microservices", "We should not adopt microservices.", "disagree"),
        ("We should adopt microservices", "I think we should adopt them now.", "agree"),
        ("应该禁止堕胎", "今天天气很好。", None),
        # Two things at once, another subject, a question, nothing to judge by.
        ("We should ban boxing", "Boxing is dangerous, but skiing is worse.", None),
        ("We should ban boxing", "Chess is dangerous.", None),
        ("We should ban boxing", "Is boxing dangerous?", None),
        ("We should ban boxing", "Boxing has twelve rounds.", None),
        ("We should ban boxing", "", None),
        ("", "Boxing is dangerous.", None),
    ],
)
def test_stance_is_read_where_cue_words_are_plain(
    claim: str, text: str, position: str | None
) -> None:
    reading = stance_toward(claim, text)
    assert reading.position == position
    assert reading.why


def test_praise_is_read_in_chinese_and_the_rest_is_left() -> None:
    assert stance_toward("应该支持远程办公", "远程办公有助于提高效率。").position == "agree"
    assert stance_toward("应该禁止远程办公", "远程办公有助于提高效率。").position == "disagree"
    assert stance_toward("应该支持远程办公", "远程办公不利于团队合作。").position is None


@pytest.mark.parametrize(
    ("quoted", "reply", "position"),
    [
        ("It is too slow.", "Exactly, I measured it.", "agree"),
        ("It is too slow.", "I agree, it takes a minute.", "agree"),
        ("It is too slow.", "I agree, but only on Mondays.", None),
        ("It is too slow.", "I do not agree with that at all.", "disagree"),
        ("It is too slow.", "No, it is not.", "disagree"),
        ("Is it slow?", "No, it is not.", None),
        ("It is too slow.", "We measured it on Monday.", None),
        ("它太慢了", "我不同意，我测过。", "disagree"),
        ("It is too slow.", "", None),
    ],
)
def test_a_reply_is_read_by_its_opening(quoted: str, reply: str, position: str | None) -> None:
    assert reply_stance(quoted, reply).position == position


QUESTION = "Question: How do you melt wax?\nChoices: (A) in a microwave oven (B) in a double boiler"


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Therefore, option (B) is the better answer.", "B"),
        ("Option A is not plausible.", "B"),
        ("A double boiler heats gently, rather than a microwave oven.", "B"),
        ("While a microwave oven is quick, a double boiler is safer.", "B"),
        ("Options (A) and (B) are both plausible.", None),
        ("It depends.", None),
        ("", None),
    ],
)
def test_the_chosen_option_is_read_by_letter_or_by_its_own_words(
    text: str, option: str | None
) -> None:
    question, options = listed_options(QUESTION)
    assert question == "Question: How do you melt wax?"
    assert options == {"A": "in a microwave oven", "B": "in a double boiler"}
    assert chosen_option(question, options, text).option == option


def test_yes_and_no_are_read_from_a_conclusion_that_repeats_the_question() -> None:
    question, options = listed_options("Can penguins fly? (A) yes (B) no")
    assert chosen_option(question, options, "Thus, penguins cannot fly.").option == "B"
    assert chosen_option(question, options, "Therefore, penguins fly.").option == "A"
    assert chosen_option(question, options, "Yes, they do.").option == "A"
    assert chosen_option(question, options, "They are birds.").option is None
    assert chosen_option("Can penguins fly?", {}, "No").option is None


def test_without_vectors_only_shared_words_make_the_same_point() -> None:
    matcher = Matcher("Should we move the ledger to Postgres?")
    same = "Backups of the ledger become simpler", "Simpler backups for the ledger"
    assert matcher.relation(*same) == "same"
    assert matcher.relation("Backups become simpler", "Nobody knows the vendor") == "unknown"
    assert matcher.relation("Backups are safe", "The backups are not safe") == "opposite"
    assert matcher.relation("", "Backups are safe") == "unknown"


def test_texts_that_are_alike_but_take_different_sides_are_never_the_same() -> None:
    matcher = Matcher("Topic", lambda texts: [[1.0, 0.1]] * len(texts))
    assert matcher.relation("Backups are quick tonight", "Backups never are quick") == "unknown"
    assert matcher.relation("Backups are reliable", "Backups are dangerous") == "unknown"
    assert matcher.relation("Backups are quick", "Restores are instant") == "same"


def test_the_topic_s_own_words_prove_nothing() -> None:
    matcher = Matcher("school uniforms")
    assert matcher.relation("School uniforms cost much", "School uniforms look smart") == "unknown"


DEBATE = [
    Speech("anna", "We should adopt Postgres for the ledger. A queue is an unnecessary burden.",
           "1/anna", 1),
    Speech("ben", "I disagree that we should adopt Postgres for the ledger.\n"
                  "I agree with Anna that a queue is an unnecessary burden.", "1/ben", 1),
    Speech("cleo", "Agree: A queue is an unnecessary burden\n"
                   "Disagree: We should adopt Postgres for the ledger\n"
                   "Will it scale?", "1/cleo", 1),
]  # fmt: skip


@pytest.mark.requirement("D-69", "D-39")
def test_points_and_score_are_filled_when_speeches_state_agreement() -> None:
    read = extract("Which store do we take?", DEBATE)
    found = read.points.points_of_round(1)
    texts = {point.id: point.text for point in read.points.issues}
    assert [texts[each] for each in found.consensus] == ["A queue is an unnecessary burden."]
    assert [texts[each] for each in found.disagreement] == [
        "We should adopt Postgres for the ledger."
    ]
    assert convergence_score(len(found.consensus), len(found.disagreement)).value == 0.5
    assert name_end_of_points(read.points).end == "majority"
    assert read.notice == NOTICE
    assert "rough" in NOTICE


def test_what_is_extracted_says_so_and_quotes_its_speech() -> None:
    speeches = {speech.turn: speech.text for speech in DEBATE}
    for stance in extract("Which store do we take?", DEBATE).points.stances:
        assert stance.source == "extracted"
        assert stance.rough
        assert find_quote(stance.quote, {stance.turn: speeches[stance.turn]}) == stance.turn


@pytest.mark.requirement("Z-02")
def test_the_same_words_with_a_not_become_a_disagreement() -> None:
    read = extract(
        "Topic",
        [
            Speech("anna", "We should ship the release on Monday.", "1/anna"),
            Speech("ben", "We should not ship the release on Monday.", "1/ben"),
        ],
    )
    assert len(read.points.points_of_round(1).disagreement) == 1
    assert name_end_of_points(read.points).end == "impasse"


def test_a_speaker_who_says_both_is_unsure() -> None:
    text = "We should ship the release on Monday. We should not ship the release on Monday."
    read = extract("Topic", [Speech("anna", text, "1/anna")])
    assert len(read.points.contradictions) == 1
    assert read.points.positions() == {"x1": {"anna": "unsure"}}


def test_later_speeches_go_on_with_the_points_that_are_there() -> None:
    first = extract("Topic", DEBATE[:1]).points
    second = extract("Topic", DEBATE[1:], start=first).points
    assert [point.id for point in second.issues] == [point.id for point in first.issues]
    assert second.version > first.version


@pytest.mark.parametrize("speeches", [[], [Speech("anna", "")], [Speech("anna", "Hm? … !")]])
def test_nothing_said_gives_nothing(speeches: list[Speech]) -> None:
    assert extract("Topic", speeches).points.points == ()


def test_chinese_declarations_are_read() -> None:
    claim = "我们应该停止使用旧数据库，它有风险。"
    read = extract("数据库", [Speech("安", claim), Speech("本", f"反对：{claim}")])
    assert len(read.points.points_of_round(1).disagreement) == 1


def test_a_long_debate_stays_quick() -> None:
    speeches = [
        Speech(f"s{i % 5}", " ".join(f"Module {i} {j} should be tested well." for j in range(5)),
               f"{i}/s", i)
        for i in range(100)
    ]  # fmt: skip
    started = time.perf_counter()
    extract("Topic", speeches)
    assert time.perf_counter() - started < 10


def test_the_lists_do_not_contradict_themselves() -> None:
    for language in ("en", "zh"):
        lists = lexicon(language)
        assert not lists.assent_opening & lists.dissent_opening
        assert not lists.assent & lists.dissent
    assert stem("policies") == stem("policy")
    assert stem("banned") == "bann"


TEXT = st.text(max_size=120)


@given(TEXT, TEXT)
def test_any_text_is_read_without_an_error_and_always_the_same(one: str, two: str) -> None:
    assert stance_toward(one, two) == stance_toward(one, two)
    assert reply_stance(one, two) == reply_stance(one, two)
    chosen_option(one, {"A": one, "B": two}, two)
    extract(one, [Speech("a", one), Speech("b", two)])


@given(TEXT, TEXT)
def test_matching_is_symmetric(one: str, two: str) -> None:
    matcher = Matcher("Topic")
    assert matcher.relation(one, two) == matcher.relation(two, one)
