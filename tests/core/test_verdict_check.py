"""The check of a verdict: quotations, citations, parts, the count, and the best of attempts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.contradiction import agreement_claimed, contradiction, speaks_for
from roundtable.core.quotation_marks import passages
from roundtable.core.quotations import Source
from roundtable.core.values import Finding
from roundtable.core.verdict_check import (
    CUT,
    MOST_QUOTATIONS,
    NOT_FOUND,
    SECOND_HAND,
    TRANSLATION,
    UNKNOWN_TURN,
    WRONG_SPEAKER,
    WRONG_TURN,
    Checked,
    best_of,
    check_text,
)

ANN = Source(
    "1/answer/ann",
    "The pool must close in May. Ben told me “swimmers never pay enough here”. Costs rose by 4 %.",
    "ann",
    "Ann Lee",
    round=1,
)
ANN_AGAIN = Source(
    "2/reply/ann", "I stay with it: repairs cost too much.", "ann", "Ann Lee", round=2
)
BEN = Source(
    "1/answer/ben",
    "Keep the pool open for the schools. We can raise the entry fee a little.",
    "ben",
    "Ben",
    round=1,
)
BEN_AGAIN = Source(
    "2/reply/ben", "Ann says “the pool must close in May”; I do not see why.", "ben", "Ben", round=2
)
EVA = Source(
    "1/answer/eva", "Wir sollten das Becken im Winter nicht heizen.", "eva", "Eva", round=1
)
PLAN = Source("document:plan.md", "The city council grants 20,000 € a year.", kind="document")
QUESTION = Source("question", "Should the town close its pool in May?", kind="question")
HOST = Source("0/frame/host", "Weigh the needs of the schools first.", "host", "Host", kind="host")
SOURCES = (ANN, ANN_AGAIN, BEN, BEN_AGAIN, EVA, PLAN, QUESTION, HOST)


def codes(text: str, own_speaker: str = "") -> list[str]:
    return [each.code for each in check_text(text, SOURCES, own_speaker=own_speaker).findings]


CASES: list[tuple[str, str, list[str]]] = [
    ("true words are left alone", "One said “the pool must close in May”.", []),
    ("the right turn proves them", "“The pool must close in May” [1/answer/ann].", []),
    ("parentheses cite too", "“The pool must close in May” (1/answer/ann).", []),
    ("a bare turn cites too", "“The pool must close in May”, turn 1/answer/ann.", []),
    (
        "the speaker's name beside the turn",
        "“The pool must close in May” (Ann Lee, 1/answer/ann).",
        [],
    ),
    ("a turn in front proves them", "1/answer/ann: “The pool must close in May”.", []),
    (
        "another turn of the same speaker is wrong",
        "“The pool must close in May” [2/reply/ann].",
        ["wrong_turn"],
    ),
    ("another speaker's turn is wrong", "“repairs cost too much” [1/answer/ben].", ["wrong_turn"]),
    (
        "an ellipsis is no way into another turn",
        "“the pool must close … repairs cost too much”",
        ["stitched"],
    ),
    ("the named speaker said it", "Ann said “the pool must close in May”.", []),
    ("the whole name serves", "Ann Lee: “the pool must close in May”.", []),
    ("another is named in front", "Ben said “repairs cost too much”.", ["wrong_speaker"]),
    ("another is named with a colon", "Ben: “repairs cost too much”", ["wrong_speaker"]),
    ("another is named behind", "“Repairs cost too much”, says Ben.", ["wrong_speaker"]),
    ("another is named in parentheses", "“Repairs cost too much” (Ben).", ["wrong_speaker"]),
    (
        "another is named by a possessive",
        "Ben's point that “repairs cost too much” won.",
        ["wrong_speaker"],
    ),
    ("according to another", "According to Ben, “repairs cost too much”.", ["wrong_speaker"]),
    (
        "words of a paper are nobody's",
        "Ben said “the city council grants 20,000 €”.",
        ["wrong_speaker"],
    ),
    ("who answers whom is left open", "Ben answers Ann: “Keep the pool open for the schools”.", []),
    ("who agrees with whom is left open", "Ben agrees with Ann that “repairs cost too much”.", []),
    (
        "a name at the end of another sentence",
        "So much for Ben. “Repairs cost too much” stands.",
        [],
    ),
    (
        "two speakers, each with its words",
        "Ann said “repairs cost too much”, and Ben said “we can raise the entry fee”.",
        [],
    ),
    (
        "two speakers, exchanged",
        "Ann said “we can raise the entry fee”, and Ben said “repairs cost too much”.",
        ["wrong_speaker", "wrong_speaker"],
    ),
    ("an invention is found out", "Ann said “the pool must never close”.", ["not_found"]),
    ("an invention of three words", "They said “sell it now”.", ["not_found"]),
    ("a term of two words is none", "This is “technical debt” at most.", []),
    ("single quotes count", "Ann said 'the pool must never close'.", ["not_found"]),
    ("curly single quotes count", "Ann said ‘the pool must never close’.", ["not_found"]),
    ("apostrophes do not count", "The schools' lessons and the town's budget don't fit.", []),
    ("German marks count", "Ann sagt „das Becken schließt nie“.", ["not_found"]),
    ("Chinese marks count", "安说「泳池永远不会关闭」。", ["not_found"]),
    ("entities are marks", "Ann said &ldquo;the pool must never close&rdquo;.", ["not_found"]),
    ("a changed sign", "“Costs rose by -4 %” [1/answer/ann]", ["number"]),
    ("a changed digit", "“Costs rose by 40 %”", ["number"]),
    ("a unit left out", "“Costs rose by 4”", ["number"]),
    (
        "thousands without a separator",
        "“The city council grants 20000 € a year” [document:plan.md]",
        [],
    ),
    (
        "a changed amount of a paper",
        "“The city council grants 2,000 € a year” [document:plan.md]",
        ["number"],
    ),
    ("the question may be quoted", "“Should the town close its pool” was asked.", []),
    ("an ellipsis over nicht", "“Wir sollten das Becken … heizen”", ["negation"]),
    ("words cut at nicht", "Eva: “das Becken im Winter”", ["negation"]),
    ("unless the text says nicht itself", "Eva will nicht „das Becken im Winter“ heizen.", []),
    ("two words left out", "“Keep the open for the schools”", ["not_found"]),
    ("the quoter is not the speaker", "Ben said “the pool must close in May”.", ["second_hand"]),
    (
        "the quoter's turn is not the speaker's",
        "“The pool must close in May” [2/reply/ben]",
        ["second_hand"],
    ),
    (
        "the quoted one, in the quoter's turn",
        "Ann said “the pool must close in May” [2/reply/ben].",
        [],
    ),
    (
        "what somebody puts into another's mouth",
        "Ben said “swimmers never pay enough here”.",
        ["second_hand"],
    ),
    (
        "a quotation nobody said proves nothing",
        "“Swimmers never pay enough here” is clear.",
        ["second_hand"],
    ),
    (
        "an own invention is not the inventor's view",
        "Ann dissents: “swimmers never pay enough here”.",
        ["second_hand"],
    ),
    ("the host cannot prove its verdict", "“Weigh the needs of the schools first”", ["not_found"]),
    (
        "a translation is marked",
        "Eva: “We should heat less in winter” [translated]",
        ["translation"],
    ),
    (
        "a translation in German",
        "Ann: „Das Becken muss im Mai schließen“ (übersetzt)",
        ["translation"],
    ),
    (
        "a translation before its citation",
        "“We should heat less in winter” (translated) [1/answer/eva]",
        ["translation"],
    ),
    (
        "no translation within a language",
        "Ann: “The pool has to be closed” [translated]",
        ["not_found"],
    ),
    ("a translation that does not say so", "Eva: “We should heat less in winter”", ["not_found"]),
    ("a block quote counts", "Ann:\n\n> The pool must never close.\n\nSo be it.", ["not_found"]),
    ("a true block quote", "Ann:\n\n> The pool must close in May.\n\nSo be it.", []),
    (
        "a block quote of somebody else",
        "Ben:\n\n> repairs cost too much\n\nSo be it.",
        ["wrong_speaker"],
    ),
    (
        "a block with its speaker in front",
        "> **Ann** (1/answer/ann): The pool must close in May.",
        [],
    ),
    ("a block with its turn as people call it", "> Repairs cost too much. (Ann Lee, round 2)", []),
    ("a block with its turn by a first name", "> Repairs cost too much. (Ann, round 2)", []),
    ("a block with its turn in a line", "> Repairs cost too much.\n> (Ann, round 2)", []),
    ("a block with its turn in a paragraph", "> Repairs cost too much.\n>\n> — Ann, round 2", []),
    ("a block with a dash and its speaker", "> Repairs cost too much. — Ann", []),
    ("a block with its speaker in parentheses", "> Repairs cost too much. (Ann)", []),
    ("a block with its speaker and a round", "> Repairs cost too much. — Ann (round 2)", []),
    ("a block with its turn", "> Repairs cost too much. [2/reply/ann]", []),
    ("a block that begins with its turn", "> (Ann, round 2) Repairs cost too much.", []),
    ("a block that begins with its speaker", "> Ann — Repairs cost too much.", []),
    ("marks around the words and their source", "“Repairs cost too much (Ann, round 2)”", []),
    (
        "an invention stays one under a name",
        "> The pool must never close. (Ann, round 1)",
        ["not_found"],
    ),
    ("an invention stays one behind a dash", "> We never close it. — Ann", ["not_found"]),
    ("a number is no source", "> Costs rose — 40 (Ann)", ["not_found"]),
    ("a block of another speaker", "> Repairs cost too much. (Ben)", ["wrong_speaker"]),
    ("a block of another turn", "> Repairs cost too much. [1/answer/ben]", ["wrong_turn"]),
    ("a block of another round", "> Repairs cost too much. (Ann, round 1)", ["wrong_turn"]),
    ("a block that begins with another", "> Ben — Repairs cost too much.", ["wrong_speaker"]),
    ("another speaker within the marks", "“Repairs cost too much — Ben”", ["wrong_speaker"]),
    ("another turn within the marks", "“Repairs cost too much [1/answer/ben]”", ["wrong_turn"]),
    ("the round of the wrong speaker", "“Repairs cost too much” (Ben, round 1)", ["wrong_turn"]),
    ("a block with its speaker below", "> Repairs cost too much\n> — Ben", ["wrong_speaker"]),
    (
        "nested marks are one quotation",
        "Ben: “Ann says ‘the pool must close in May’; I do not see why”",
        [],
    ),
    ("emphasis inside", "Ann: “the pool **must** close in _May_”", []),
    ("straight for curly marks", 'Ann: "the pool must close in May"', []),
    ("an unclosed invention", "Ann said “the pool must never close at all.", ["not_found"]),
    ("a citation within the marks", "“The pool must close in May [1/answer/ann]”", []),
    (
        "direction marks hide nothing",
        "Ann: “the pool must \u202enever\u202c close in May”",
        ["not_found"],
    ),
    ("zero-width characters hide nothing", "Ann: “the po\u200bol must close in May”", []),
    ("an unknown turn", "This is settled [3/reply/ann].", ["unknown_turn"]),
    ("an unknown turn without brackets", "This is settled, see 3/reply/ann.", ["unknown_turn"]),
    ("an unknown paper", "This is settled [document:budget.md].", ["unknown_turn"]),
    ("a turn in Chinese text", "见1/answer/ann说明。", []),
    (
        "a date is no turn",
        "Due on 1/2/2026, open 24/7/365, at 3/4/x and https://a.org/1/answer/x.",
        [],
    ),
    ("the host's turn proves nothing", "So it was asked [0/frame/host].", ["host_cited"]),
    ("a table names who speaks", "| Ben | “Repairs cost too much” |", ["wrong_speaker"]),
    ("a speaker's id with a colon", "ben: “repairs cost too much”", ["wrong_speaker"]),
    ("a name behind its verb", "So said Ben: “repairs cost too much”", ["wrong_speaker"]),
    ("who is spoken to is not the speaker", "They told Ben, “repairs cost too much”.", []),
    ("a capital in brackets changes nothing", "Ann: “[T]he pool must close”", []),
    ("an inserted word changes something", "Ann: “the pool must [never] close”", ["not_found"]),
    (
        "a turn in front is the wrong one",
        "In 2/reply/ann, Ann writes “the pool must close”.",
        ["wrong_turn"],
    ),
    ("a turn that is spoken against", "Ben disagrees with 1/answer/ann: “Keep the pool open”.", []),
    (
        "a possessive right in front",
        "Ann's plan and Ben's (“repairs cost too much”).",
        ["wrong_speaker"],
    ),
    (
        "each quotation has its name",
        "Ann: “the pool must close”; Ben: “repairs cost too much”",
        ["wrong_speaker"],
    ),
    (
        "rare marks count",
        "Ann said ❝we never close❞, ‟we never close” and ″we never close″.",
        ["not_found"] * 3,
    ),
    (
        "letters of another alphabet are other words",
        "Ann: “the p\u043e\u043el must close in May”",
        ["not_found"],
    ),
    ("code quotes nobody", '```\nprint("words that nobody said")\n```', []),
]


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(("behaviour", "text", "expected"), CASES, ids=[c[0] for c in CASES])
def test_a_verdict_is_checked(behaviour: str, text: str, expected: list[str]) -> None:
    assert codes(text) == expected, behaviour


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ann said “we never close”.", f"Ann said {NOT_FOUND}."),
        ("The “never close it” idea.", f"The never close it {NOT_FOUND} idea."),
        ("> We never close it.\n\nEnd.", f"{NOT_FOUND}\n\nEnd."),
        ("Ben: “repairs cost too much”.", f"Ben: “repairs cost too much” {WRONG_SPEAKER}."),
        (
            "“Repairs cost too much” [1/answer/ben].",
            f"“Repairs cost too much” [1/answer/ben] {WRONG_TURN}.",
        ),
        (
            "Ben said “the pool must close in May”.",
            f"Ben said “the pool must close in May” {SECOND_HAND}.",
        ),
        ("Eva: “das Becken im Winter”", f"Eva: “das Becken im Winter” {CUT}"),
        (
            "Eva: “No heating in winter” [translated]",
            f"Eva: “No heating in winter” {TRANSLATION} [translated]",
        ),
        ("Settled [9/reply/ann].", f"Settled {UNKNOWN_TURN}."),
        ("An “idea ‘of never closing’ it”.", f"An {NOT_FOUND}."),
    ],
)
def test_what_fails_is_marked_where_it_stands(text: str, shown: str) -> None:
    assert check_text(text, SOURCES).text == shown


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("text", [case[1] for case in CASES])
def test_a_checked_text_stays_as_it_is_when_checked_again(text: str) -> None:
    once = check_text(text, SOURCES).text
    assert check_text(once, SOURCES).text == once


@pytest.mark.requirement("Z-27")
def test_what_is_proved_says_where_and_stands_at_its_place() -> None:
    text = (
        "Ben: “sell the whole town”. Ann: “the pool must close” [1/answer/ann], so [2/reply/ben]."
    )
    checked = check_text(text, SOURCES)
    (quotation,) = checked.quotations
    assert quotation.source_id == "1/answer/ann"
    assert checked.text[quotation.start : quotation.end] == "“the pool must close”"
    assert checked.cites == ("1/answer/ann", "2/reply/ben")


@pytest.mark.requirement("Z-27")
def test_words_that_end_with_a_name_are_no_source_where_they_were_said_so() -> None:
    told = Source("1/answer/ben", "I trust the older plan (Ann).", "ben", "Ben", round=1)
    assert check_text("> I trust the older plan (Ann).", (told, ANN)).findings == ()


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("It costs too much (Ann Lee, round 2).", ("2/reply/ann",)),
        ("It costs too much (Ann, round 2; Ben, round 1).", ("2/reply/ann", "1/answer/ben")),
        ("Ben wants it; but “repairs cost too much”.", ("2/reply/ann",)),
        ("“The city council grants 20,000 € a year”", ("document:plan.md",)),
        ("“Should the town close its pool” was asked.", ()),
        ("They said “the pool must never close”.", ()),
        ("So it was in round 2, and Ann, round 9, said nothing.", ()),
    ],
)
def test_a_name_with_a_round_and_a_proved_quotation_cite(text: str, cites: tuple[str, ...]) -> None:
    assert check_text(text, SOURCES).cites == cites


@pytest.mark.requirement("Z-27")
def test_a_name_with_a_round_cites_only_one_turn() -> None:
    twice = Source("1/reply/ben", "Schools need it.", "ben", "Ben", round=1)
    assert check_text("Keep it (Ben, round 1).", (BEN, twice)).cites == ()
    namesake = Source("1/answer/ann-2", "Sell it.", "ann-2", "Ann Ray", round=1)
    assert check_text("Close it (Ann, round 1).", (ANN, namesake)).cites == ()
    assert check_text("Close it (Ann Ray, round 1).", (ANN, namesake)).cites == (namesake.id,)


@pytest.mark.requirement("Z-27")
def test_a_dissenters_own_speeches_prove_nothing_that_it_quotes() -> None:
    text = "Ben wants it, he said “repairs cost too much”."
    assert codes(text, own_speaker="ann") == ["not_found"]
    assert codes("They told us: “repairs cost too much”.") == []
    assert codes("They told us: “repairs cost too much”.", own_speaker="ann") == ["not_found"]
    assert codes("I said “repairs cost too much” [2/reply/ann].", own_speaker="ann") == []


@pytest.mark.requirement("Z-27")
def test_a_missing_part_is_reported() -> None:
    checked = check_text(
        "## Answer\nYes.\n\n## Gaps\n", SOURCES, required=("Answer", "Gaps", "Dissent")
    )
    assert checked.missing == ("Gaps", "Dissent")
    assert [each.code for each in checked.findings] == ["missing_part", "missing_part"]
    assert not checked.serious


@pytest.mark.requirement("Z-27")
def test_a_message_can_be_read_by_a_person() -> None:
    (finding,) = check_text("Ben said “repairs cost too much”.", SOURCES).findings
    assert finding.message == "These words are not Ben's; they are Ann Lee's (2/reply/ann)."
    assert finding.excerpt == "repairs cost too much"


BAD = Finding(code="not_found", message="x")
MINOR = Finding(code="translation", message="x")


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("attempts", "best"),
    [
        ((Checked("a b"), Checked("a b", (BAD,))), 0),
        ((Checked("a b", (BAD, BAD)), Checked("a b", (BAD,)), Checked("a b", (BAD, BAD))), 1),
        ((Checked("a b", missing=("x",)), Checked("a b", (MINOR, MINOR))), 1),
        ((Checked("a b", missing=("x",)), Checked("a b", (BAD,))), 0),
        ((Checked("word " * 10), Checked("word " * 12)), 0),
        ((Checked("word " * 10), Checked("word " * 11)), 1),
        ((Checked("a b"), Checked("a b")), 1),
        ((Checked("a b", (BAD,)), Checked(" ")), 0),
    ],
)
def test_the_best_attempt_is_kept_not_the_last(attempts: tuple[Checked, ...], best: int) -> None:
    assert best_of(attempts, words=10) == best


def test_without_an_attempt_there_is_no_best_one() -> None:
    with pytest.raises(ValueError, match="attempt"):
        best_of(())


YES_NO = ("Yes, close it", "No, keep it")
SI_NO = ("Sí, cerrar", "No, mantener")
JA_NEIN = ("Ja", "Nein")
SHI_BU = ("是", "不是")
DATA = ("PostgreSQL", "MongoDB")
CI = ("Invest 2 million in CI", "Invest 5 million in CI")
POOL = ("Close the pool", "Keep the pool open")
RUST = ("Use Rust", "Do not use Rust")
SERVICES = ("Extract the services now", "Extract the services next year")

THREE = ("PostgreSQL", "MongoDB", "DynamoDB")

COUNT_CASES: list[tuple[str, tuple[str, ...], bool]] = [
    ("No, the town should keep it.", YES_NO, True),
    ("**No.** The costs are too high.", YES_NO, True),
    ("The answer is no.", YES_NO, True),
    ("Yes, close it in May.", YES_NO, False),
    ("No doubt: close it.", YES_NO, False),
    ("No, that objection fails; yes, close it.", YES_NO, False),
    ("Nobody doubts that it must close.", YES_NO, False),
    ("Yes, close it.", YES_NO[::-1], True),
    ("Nein, das Becken bleibt offen.", JA_NEIN, True),
    ("Ja, aber erst im Mai.", JA_NEIN, False),
    ("Die Antwort lautet: Nein.", JA_NEIN, True),
    ("No, la piscina sigue abierta.", SI_NO, True),
    ("Sí, conviene cerrar.", SI_NO, False),
    ("No hay duda de que conviene cerrar.", SI_NO, False),
    ("不，泳池应该继续开放。", SHI_BU, True),
    ("是的，应该关闭。", SHI_BU, False),
    ("不过，应该关闭泳池。", SHI_BU, False),
    ("Use MongoDB for the new service.", DATA, True),
    ("**MongoDB.** It scales better.", DATA, True),
    ("Use PostgreSQL rather than MongoDB.", DATA, False),
    ("Use MongoDB rather than PostgreSQL.", DATA, True),
    ("Do not use PostgreSQL; use MongoDB.", DATA, True),
    ("Do not use MongoDB.", DATA, False),
    ("MongoDB is worse than the other.", DATA, False),
    ("Postgres wins, although MongoDB is faster.", DATA, False),
    ("Two seats chose MongoDB. The others did not.", DATA, False),
    ("If you need documents, use MongoDB.", DATA, False),
    ("Should we use MongoDB?", DATA, False),
    ("MongoDB was rejected by most.", DATA, False),
    ("The table weighed speed and cost. It took three rounds.", DATA, False),
    ("Instead of MongoDB, use PostgreSQL.", DATA, False),
    ("Migrate away from MongoDB.", DATA, False),
    ("Nicht MongoDB, sondern PostgreSQL.", DATA, False),
    ("Wir sollten MongoDB verwenden.", DATA, True),
    ("Conviene usar MongoDB en lugar de PostgreSQL.", DATA, True),
    ("Invest 5 million in CI this year.", CI, True),
    ("Invest 2 million in CI this year.", CI, False),
    ("Invest 2 instead of 5 million in CI.", CI, False),
    ("Five million were discussed for CI.", CI, False),
    ("Keep the pool open for the schools.", POOL, True),
    ("Close the pool in May.", POOL, False),
    ("The pool should be closed in May.", POOL, False),
    ("Do not use Rust for this.", RUST, True),
    ("Use Rust for this.", RUST, False),
    ("Use Rust for this.", RUST[::-1], True),
    ("Avoid the use of Rust.", RUST[::-1], False),
    ("Do not hesitate to use Rust.", RUST, False),
    ("Do not only use Rust, use tests.", RUST, False),
    ("Extract the services next year.", SERVICES, True),
    ("Extract the services now.", SERVICES, False),
    ("Extract the services now, and the rest next year.", SERVICES, False),
    ("应该采用微服务。", ("保留单体架构", "采用微服务"), True),
    ("应该保留单体，而不是采用微服务。", ("保留单体架构", "采用微服务"), False),
    ("We recommend DynamoDB.", THREE, True),
    ("The panel recommends MongoDB for its flexibility.", THREE, True),
    ("Relational storage is the right choice. MongoDB is fine for logs.", THREE, False),
    ("The relational database wins; MongoDB came second.", THREE, False),
    ("MongoDB is faster, yet the table prefers the relational store.", THREE, False),
    ("A majority prefers the relational database to MongoDB.", THREE, False),
    ("MongoDB should be the fallback.", THREE, False),
    ("Start with the relational database and use MongoDB for the cache.", THREE, False),
    ("Everybody had expected MongoDB to win.", THREE, False),
    ("MongoDB is best avoided.", THREE, False),
    ("The team should migrate MongoDB data first.", THREE, False),
    ("There is no case for MongoDB.", THREE, False),
    ("MongoDB loses to the relational store.", THREE, False),
    ("The decision is MongoDB.", THREE, True),
    ("The question was whether MongoDB is right.", THREE, False),
    ("The best reason to use MongoDB is speed; that did not convince.", THREE, False),
    ("Critics say MongoDB should win.", THREE, False),
    ("According to Ann, MongoDB is best.", THREE, False),
    ("Ann recommends MongoDB.", THREE, False),
    ("使用MongoDB。", ("使用PostgreSQL", "使用MongoDB"), True),
    ("不要使用MongoDB。", ("使用PostgreSQL", "使用MongoDB"), False),
    ("建议关闭泳池。", ("保持泳池开放", "关闭泳池"), True),
    ("泳池不应关闭。", ("保持泳池开放", "关闭泳池"), False),
    ("应该关闭。", ("应该", "不应该"), False),
    ("不应该，成本太高。", ("应该", "不应该"), True),
    ("否。", ("是", "否"), True),
    ("Nein: zu teuer.", ("Ja, schließen", "Nein, offen halten"), True),
    ("Jein, eher ja.", ("Nein", "Ja"), False),
    ("Yes and no.", ("No", "Yes"), False),
    ("Yes, but only as a pilot; otherwise no.", ("No", "Yes"), False),
    ("No single vendor suffices, so yes.", ("Yes", "No"), False),
    ("No - the risks outweigh the gains.", ("Yes", "No"), True),
    ("Not yet.", ("Yes", "No"), False),
    (
        "Das Becken soll geschlossen werden.",
        ("Das Becken offen lassen", "Das Becken schließen"),
        False,
    ),
    ("Das Becken schließen.", ("Das Becken offen lassen", "Das Becken schließen"), True),
    ("Wir sollten Rust nicht verwenden.", ("Rust verwenden", "Rust nicht verwenden"), True),
    ("No usar Rust.", ("Usar Rust", "No usar Rust"), True),
    ("Usar Rust en todo.", ("No usar Rust", "Usar Rust"), True),
    ("We should use Rust, not Go.", ("Use Rust", "Do not use Rust"), False),
    ("There is no reason not to use Rust.", ("Use Rust", "Do not use Rust"), False),
    ("Use Rust only in the core.", ("Do not use Rust", "Use Rust"), False),
    ("Stop using Rust.", ("Do not use Rust", "Use Rust"), False),
    (
        "Hire two engineers in May.",
        ("Hire two engineers in June", "Hire two engineers in May"),
        True,
    ),
    (
        "Hire two engineers in June, one month after May.",
        ("Hire two engineers in June", "Hire two engineers in May"),
        False,
    ),
    ("Build it in-house.", ("Buy the product", "Build it in-house"), True),
    ("Buy, do not build in-house.", ("Buy the product", "Build it in-house"), False),
    (
        "## Answer\n\n**Build it in-house**, with two people.",
        ("Buy the product", "Build it in-house"),
        True,
    ),
    (
        "Purchase a finished product; building it in-house costs more.",
        ("Buy the product", "Build it in-house"),
        False,
    ),
    ("Raise the fee to 5 €.", ("Raise the fee to 4 €", "Raise the fee to 5 €"), True),
    (
        "Raise the fee by a third, to 4 €, 5 € being too much.",
        ("Raise the fee to 4 €", "Raise the fee to 5 €"),
        False,
    ),
    ("Kubernetes.", ("Stay on VMs", "Kubernetes", "Nomad"), True),
    ("Kubernetes is overkill here.", ("Stay on VMs", "Kubernetes", "Nomad"), False),
    (
        "Kubernetes is not needed; remain on virtual machines.",
        ("Stay on VMs", "Kubernetes", "Nomad"),
        False,
    ),
    (
        "Remain on virtual machines: Kubernetes is too much.",
        ("Stay on VMs", "Kubernetes", "Nomad"),
        False,
    ),
    ("Kubernetes is the wrong tool.", ("Stay on VMs", "Kubernetes", "Nomad"), False),
    ("Kubernetes costs more than it brings.", ("Stay on VMs", "Kubernetes", "Nomad"), False),
    ("Do not use PostgreSQL.", DATA, True),
    ("Avoid PostgreSQL.", DATA, True),
    ("PostgreSQL should not be used.", DATA, True),
    ("PostgreSQL is not the answer; MongoDB is.", DATA, True),
    ("PostgreSQL is not the answer here; the document store carried the day.", DATA, True),
    ("After weighing everything, MongoDB comes out ahead.", DATA, True),
    ("PostgreSQL is not the only answer.", DATA, False),
    ("Do not use PostgreSQL without backups.", DATA, False),
    ("Do not use PostgreSQL for logs; use it for the rest.", DATA, False),
    ("Do not use PostgreSQL, said one; use PostgreSQL, said two.", DATA, False),
    ("Do not close the pool.", POOL, True),
    ("Do not close the pool before May.", POOL, False),
    ("Absolutely not.", YES_NO, True),
    ("Certainly not: it is too dear.", YES_NO, True),
    ("The answer is a clear no.", YES_NO, True),
    ("A clear no.", YES_NO, True),
    ("We should not.", YES_NO, True),
    ("No way around it: close it.", YES_NO, False),
    ("Auf keinen Fall.", JA_NEIN, True),
    ("De ninguna manera.", SI_NO, True),
    ("", DATA, False),
]


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(("answer", "options", "expected"), COUNT_CASES)
def test_an_answer_is_held_against_the_count(
    answer: str, options: tuple[str, ...], expected: bool
) -> None:
    found = contradiction(answer, options[0], options[1:])
    assert (found is not None) is expected
    assert found is None or (found.code == "contradiction" and found.serious)


@pytest.mark.parametrize(
    ("answer", "question", "delivered", "expected"),
    [
        ("We should not rewrite billing.", "Should we rewrite billing?", "yes", True),
        ("Do not rewrite billing.", "Should we rewrite billing?", "yes", True),
        ("Billing must not be rewritten.", "Should we rewrite billing?", "yes", True),
        ("The table is against rewriting billing.", "Should we rewrite billing?", "yes", True),
        ("We should rewrite billing.", "Should we rewrite billing?", "yes", False),
        ("We should not rewrite billing at one go.", "Should we rewrite billing?", "yes", False),
        ("Do not rewrite billing without tests.", "Should we rewrite billing?", "yes", False),
        ("Rewrite billing, not the ledger.", "Should we rewrite billing?", "yes", False),
        ("We should not wait: rewrite billing.", "Should we rewrite billing?", "yes", False),
        ("There is no reason not to rewrite it.", "Should we rewrite billing?", "yes", False),
        ("We should rewrite billing.", "Should we rewrite billing?", "no", True),
        ("We should not rewrite billing.", "Should we rewrite billing?", "no", False),
        ("Rewriting billing costs too much.", "Should we rewrite billing?", "no", False),
        ("We should not close the pool.", "Should we not close the pool?", "yes", False),
        ("Wir sollten das Bad nicht schließen.", "Sollen wir das Bad schließen?", "yes", True),
        ("不应该关闭泳池。", "应该关闭泳池吗？", "yes", True),
        ("Do not move.", "Should we move to Berlin?", "yes", True),
        ("We should not move.", "Should we move to Berlin?", "yes", True),
        ("Do not move everyone at once.", "Should we move to Berlin?", "yes", False),
        ("Do not hesitate to move.", "Should we move to Berlin?", "yes", False),
        ("Do not move before June.", "Should we move to Berlin?", "yes", False),
    ],
)
def test_a_yes_is_not_written_up_as_a_refusal_of_what_was_asked(
    answer: str, question: str, delivered: str, expected: bool
) -> None:
    other = "no" if delivered == "yes" else "yes"
    assert (contradiction(answer, delivered, [other], question) is not None) is expected


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Buy.", True),
        ("Buy the office.", True),
        ("Buy the office now.", True),
        ("We should buy the office now.", True),
        ("I would nevertheless buy the office.", True),
        ("> Rent the office.\n\nBuy the office.", True),
        ("Rent the office; buying comes later.", False),
        ("> Buy the office.\n\nRent it, for two years.", False),
        ("Keep leasing: prices to buy are too high.", False),
        ("Buying the office now would be a mistake.", False),
        ("Buy furniture, rent the office.", False),
        ("Buy the office only when rates fall.", False),
    ],
)
def test_what_the_question_speaks_of_does_not_hide_the_other_option(
    answer: str, expected: bool
) -> None:
    question = "Should we rent or buy the office?"
    assert (contradiction(answer, "rent", ["buy"], question) is not None) is expected


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("answer", "delivered", "others", "expected"),
    [
        ("Rent it for two years.", "rent", ["buy"], True),
        ("Renting is the better way.", "rent", ["buy"], True),
        ("Do not rent.", "rent", ["buy"], False),
        ("With great respect, buying is what I would do.", "rent", ["buy"], False),
        ("It is a matter of cash.", "rent", ["buy"], False),
        ("", "rent", ["buy"], False),
        ("Yes, in stages.", "yes", ["no"], True),
        ("The answer is yes.", "yes", ["no"], True),
        ("Rewrite it in stages.", "yes", ["no"], False),
        ("No.", "yes", ["no"], False),
        ("答案是肯定。", "yes", ["no"], True),
        ("Stay.", "stay here", ["stay here for now"], True),
    ],
)
def test_an_answer_speaks_for_what_was_chosen_if_it_names_it(
    answer: str, delivered: str, others: list[str], expected: bool
) -> None:
    assert speaks_for(answer, delivered, others) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("All experts agree on MongoDB.", True),
        ("Every expert agrees.", True),
        ("All three agree unanimously, and nobody dissents.", True),
        ("There is consensus.", True),
        ("The table chose MongoDB.", True),
        ("All agree that we should use MongoDB.", True),
        ("Alle sind sich einig.", True),
        ("Einstimmig für MongoDB.", True),
        ("Todos están de acuerdo.", True),
        ("专家一致同意使用MongoDB。", True),
        ("There is no consensus.", False),
        ("Not all agree.", False),
        ("The vote was not unanimous.", False),
        ("All agree that the schema is relational; they differ on the store.", False),
        ("All agree: the schema comes first.", False),
        ("Es gibt keinen Konsens.", False),
        ("Sin consenso.", False),
        ("尚未达成共识。", False),
        ("If all agree, use MongoDB.", False),
        ("1 of 2 points are agreed on, 1 disputed.", False),
        ("The table chose no answer. The positions stand side by side.", False),
        ("The panel settled on neither of them.", False),
        ("The table chose none.", False),
    ],
)
def test_a_claim_of_agreement_is_told_from_a_shared_point(text: str, expected: bool) -> None:
    assert bool(agreement_claimed(text, DATA)) is expected


def test_a_text_with_more_quotations_than_anybody_reads_is_not_trusted() -> None:
    text = " ".join(f"“invented words number {n}”" for n in range(MOST_QUOTATIONS + 50))
    checked = check_text(text, SOURCES)
    assert [each.code for each in checked.findings].count("unchecked") == 1
    assert "“" not in checked.text


HOSTILE = {
    "opening marks": "“a ",
    "marks alone": '"',
    "apostrophes": "'a ",
    "possessives": "'as' ",
    "nested marks": "„a “b ‘c ",
    "true quotations": "Ann said “the pool must close” [1/answer/ann], ",
    "inventions": "“words that nobody said” ",
    "ellipses": "“the pool … May … it” ",
    "citations": "1/answer/ann ",
    "half citations": "1/a/b.",
    "papers": "[document:x ",
    "turns as people call them": "Ann, round 1 ",
    "blocks with sources": "> words of it (Ann)\n>\n",
    "block lines": "> words of it\n",
    "block paragraphs": "> words of it\n>\n",
    "fences": "```\n",
    "back-ticks": "`a ",
    "numbers": "1,",
    "invisible characters": "a\u200b\u202e",
    "Chinese": "“我们应该等”",
    "blank lines": "\n ",
    "entities": "&quot;a ",
}


def steps(text: str, sources: Sequence[Source]) -> int:
    """Calls that the check makes, of Python's and of its libraries' functions."""
    count = 0

    def step(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        check_text(text, sources)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=list(HOSTILE))
def test_the_work_grows_no_faster_than_a_hostile_text(piece: str) -> None:
    small, large = (steps(piece * count, SOURCES) for count in (350, 1400))
    assert large < 5 * small + 1000


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("piece", ["“a b c ", "1/a/b.", "“the pool … close” ", "> a\n", "e\u0301"])
def test_a_megabyte_of_text_and_of_source_is_checked(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    source = Source("1/answer/ann", text, "ann", "Ann", round=1)
    assert check_text(text, [source]).text


@given(st.text(alphabet="“”„\"'‘’«»「」>[]()/1aé不 \n…-%.:", max_size=120))
def test_no_text_breaks_the_check(text: str) -> None:
    checked = check_text(text, SOURCES)
    for each in checked.quotations:
        assert 0 <= each.start < each.end <= len(checked.text)


@pytest.mark.parametrize("typed", [',,{}"', "``{}''", '„{}"'])
def test_marks_typed_on_a_plain_keyboard_are_marks(typed: str) -> None:
    words = "invented words that nobody ever said"
    text = f"Ann wrote {typed.format(words)} and left."
    (found,) = passages(text)
    assert words in text[found.inner[0] : found.inner[1]]
    assert text[: found.start] == "Ann wrote "
    assert text[found.end :] == " and left."
    assert check_text(text, SOURCES).findings


@pytest.mark.parametrize("text", ["Run ``make it's`` now.", "One,, two and three.", "a ``` b''"])
def test_code_and_slips_are_no_quotation_marks(text: str) -> None:
    assert passages(text) == []


@pytest.mark.parametrize("text", ["> 80 % want it", "> $5 a head", ">= 3 years of it", "> -2 °C"])
def test_more_than_a_number_is_no_block_quotation(text: str) -> None:
    assert check_text(text, SOURCES) == Checked(text)


def test_quotations_in_a_comparison_and_in_blocks_that_begin_with_a_number_are_checked() -> None:
    assert codes("> 80 % say “nobody at all wants the pool”")
    assert codes("Ann says:\n\n> 80 % of the swimmers want it closed")
