"""Quotations: found word for word in a source, with their numbers, and as its own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.quotation_marks import passages
from roundtable.core.quotations import Evidence, Fit, Quoted, Source, is_quotation
from roundtable.core.wording import worded

SPEECH = (
    "The migration should wait until the audit is over, because the ledger is **not yet** stable."
    " It costs 1,250 € a month, and revenue fell by -4 % while latency rose to 500 ms.\n\n"
    "We should not adopt Rust this year. Ben said “we can always roll back later” and I doubt it."
)


def fit(quote: str, speech: str = SPEECH) -> Fit | None:
    return Evidence(Source("1/answer/ann", speech, "ann", "Ann")).fit(Quoted.of(quote))


CASES: list[tuple[str, str, Fit | None]] = [
    ("the very words are found", "the migration should wait until the audit", "own"),
    ("case and white space may differ", "THE  migration\nshould WAIT", "own"),
    ("punctuation may differ", "audit is over: because the ledger", "own"),
    ("emphasis may differ", "the ledger is not *yet stable*", "own"),
    ("a changed word is not found", "the migration must wait until the audit", None),
    ("an inserted negation is not found", "the migration should not wait", None),
    ("a dropped negation is not found", "the ledger is yet stable", None),
    ("two words left out without a sign are not found", "wait until is over", None),
    ("half a word is not found", "migration should wai", None),
    ("another order is not found", "wait should the migration", None),
    ("a changed sign is another number", "revenue fell by 4 %", "number"),
    ("a sign cut off is another number", "4 % while latency", "number"),
    ("a changed unit is another number", "latency rose to 500 s", "number"),
    ("a unit cut off is another number", "latency rose to 500", "number"),
    ("a changed digit is another number", "latency rose to 600 ms", "number"),
    ("a changed currency is another number", "It costs 1,250 $ a month", "number"),
    ("thousands may be separated or not", "It costs 1250 € a month", "own"),
    ("a comma for thousands is no decimal point", "It costs 1.250 € a month", "number"),
    ("a number and its unit may stand together", "latency rose to 500ms", "own"),
    (
        "an ellipsis leaves out harmless words",
        "The migration should wait … the audit is over",
        "own",
    ),
    ("brackets may hold the ellipsis", "The migration should wait [...] audit is over", "own"),
    ("an ellipsis never covers a negation", "because the ledger … stable", "negation"),
    ("an ellipsis never leaves a paragraph", "latency rose … adopt Rust this year", "stitched"),
    ("an ellipsis keeps the order", "the audit is over … the migration should wait", "stitched"),
    ("single words are not strung together", "migration … stable … latency", "stitched"),
    ("an ellipsis at the edges stands for nothing", "… until the audit is over …", "own"),
    ("words right behind a negation are cut", "adopt Rust this year", "cut_negation"),
    ("with the negation they are whole", "should not adopt Rust this year", "own"),
    ("what is only quoted is second-hand", "we can always roll back", "second_hand"),
    ("one word more does not make it own", "said we can always roll back later", "second_hand"),
    (
        "a sentence around a quotation is own",
        "Ben said we can always roll back later and I doubt it",
        "own",
    ),
    ("invisible characters do not count", "the migra\u200btion sho\u00aduld wait", "own"),
    ("an empty quotation stands nowhere", "", None),
    ("an ellipsis alone stands nowhere", "… …", None),
]


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(("behaviour", "quote", "expected"), CASES, ids=[c[0] for c in CASES])
def test_a_quotation_fits_a_speech(behaviour: str, quote: str, expected: Fit | None) -> None:
    assert fit(quote) == expected, behaviour


OTHERS: list[tuple[str, str, str, Fit | None]] = [
    (
        "German negation before",
        "Wir sollten nicht auf Rust setzen.",
        "auf Rust setzen",
        "cut_negation",
    ),
    (
        "German negation behind",
        "Wir empfehlen die Migration nicht.",
        "Wir empfehlen die Migration",
        "cut_negation",
    ),
    (
        "German ellipsis",
        "Das Becken soll auf keinen Fall im Mai schließen.",
        "Das Becken soll … im Mai schließen",
        "negation",
    ),
    ("German decimal comma", "Der Umsatz stieg um 1,5 Prozent.", "stieg um 1,5 Prozent", "own"),
    (
        "a decimal point for a comma",
        "Der Umsatz stieg um 1,5 Prozent.",
        "stieg um 1.5 Prozent",
        "own",
    ),
    ("German thousands", "Es kostet 1.250.000 Euro im Jahr.", "kostet 1250000 Euro im", "own"),
    (
        "Spanish ellipsis",
        "La piscina no debe cerrar en mayo.",
        "La piscina … debe cerrar en mayo",
        "negation",
    ),
    ("Spanish jamás", "Eso jamás debe pasar otra vez.", "debe pasar otra vez", "cut_negation"),
    ("Chinese words", "我们应该等到审计结束再迁移。", "等到审计结束", "own"),
    ("Chinese change", "我们应该等到审计结束再迁移。", "等到测试结束", None),
    ("Chinese negation cut off", "我们不应该现在迁移系统。", "应该现在迁移系统", "cut_negation"),
    ("Chinese ellipsis over 不", "这个系统目前还不够稳定可靠。", "这个系统……稳定可靠", "negation"),
    ("Chinese 非常 negates nothing", "这个系统目前非常稳定可靠。", "这个系统……稳定可靠", "own"),
    ("contraction cut off", "We don't need a new database.", "need a new database", "cut_negation"),
    ("curly apostrophe", "We don’t need a new database.", "We don't need a new database", "own"),
    ("a no that stands alone negates nothing", "No. We must wait.", "We must wait", "own"),
    ("plus is a sign", "It grew by +4 % this year.", "grew by 4 % this year", "number"),
    ("less is not more", "Keep it < 5 ms at all times.", "Keep it > 5 ms at all times", "number"),
    ("half a range", "Between 3–5 % of users left.", "5 % of users left", "number"),
    ("mega is not milli", "It draws 5 MW at peak.", "It draws 5 mW at peak", "number"),
    ("power of ten", "The odds are 10^-6 at most.", "The odds are 10^6 at most", "number"),
    ("bullet is no sign", "Needs:\n- 4 engineers for a year", "4 engineers for a year", "own"),
    ("hyphen is no sign", "We tested GPT-4 on this task.", "4 on this task", "own"),
    ("C++ is not C", "We should write it in C++ now.", "should write it in C now", None),
    ("accent makes another word", "El límite está en el papa.", "está en el papá", None),
    (
        "composed and decomposed letters are one",
        "Das Gebäude soll bleiben.",
        "Das Geba\u0308ude soll bleiben",
        "own",
    ),
    (
        "list items do not join over an ellipsis",
        "- we must leave now\n- the old office stays",
        "we must leave … old office stays",
        "stitched",
    ),
    (
        "block quote is second-hand",
        "I read this:\n\n> close the pool in May\n\nI disagree.",
        "close the pool in May",
        "second_hand",
    ),
    (
        "single quotes are second-hand",
        "Ben wrote 'close the pool in May' again.",
        "close the pool in May",
        "second_hand",
    ),
    (
        "a speech all in quotation marks is own",
        "“Close the pool in May, and sell it.”",
        "Close the pool in May",
        "own",
    ),
    (
        "an apostrophe quotes nothing",
        "The users' data and the teams' work stay here.",
        "data and the teams",
        "own",
    ),
    (
        "a far ellipsis is stitched",
        "We must act " + "and so on " * 40 + "at once today.",
        "We must act … at once today",
        "stitched",
    ),
    ("by no means", "This is by no means a finished design.", "a finished design", "cut_negation"),
    ("anything but", "It is anything but a safe plan.", "a safe plan", "cut_negation"),
    ("no need to", "There is no need to close the pool.", "close the pool", "cut_negation"),
    ("far negation", "I do not see why we keep the pool.", "keep the pool", "own"),
    (
        "numbers of a list",
        "1. Freeze the schema\n2. Move the rows",
        "Freeze the schema; move the rows",
        "own",
    ),
    (
        "later place without the negation",
        "We act not here. We act and win now.",
        "We act … win now",
        "own",
    ),
]


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("behaviour", "speech", "quote", "expected"), OTHERS, ids=[c[0] for c in OTHERS]
)
def test_a_quotation_fits_other_speeches(
    behaviour: str, speech: str, quote: str, expected: Fit | None
) -> None:
    assert fit(quote, speech) == expected, behaviour


def test_a_documents_quotations_are_its_own() -> None:
    paper = Source(
        "document:plan", "The board wrote “close the pool in May” last week.", kind="document"
    )
    assert Evidence(paper).fit(Quoted.of("close the pool in May")) == "own"


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('She said "we must wait" today', ["we must wait"]),
        ("She said “we must wait” today", ["we must wait"]),
        ("Sie sagt „wir warten noch“ heute", ["wir warten noch"]),
        ("Elle dit «on doit attendre» ici", ["on doit attendre"]),
        ("Er sagt »wir warten noch« heute", ["wir warten noch"]),
        ("他说「我们必须等待」。", ["我们必须等待"]),
        ('他说"我们必须等待"，她说"不必等待"。', ["我们必须等待", "不必等待"]),
        ("She said 'we must wait' today", ["we must wait"]),
        ("She said ‘we can’t wait’ today", ["we can’t wait"]),
        ("He said 'the users' data must stay' twice", ["the users' data must stay"]),
        ("the users' data and the boys' teams", []),
        ("rock 'n' roll of the '90s isn't over", []),
        ('a 7" pipe and a 5" pipe', []),
        ('He said "the "old plan" must go" now', ['the "old plan" must go']),
        ("She said “Ben wrote ‘wait’ again” now", ["Ben wrote ‘wait’ again"]),
        (
            "An “unclosed one goes on.\n\nNext “is closed” here",
            ["unclosed one goes on.", "is closed"],
        ),
        ('```\nx = "some words in code"\n```\nand “a quotation here”', ["a quotation here"]),
        ('run `print("hello big world")` and "stop at once"', ["stop at once"]),
        ("> a block\n> of words\n\nrest", ["> a block\n> of words"]),
        ("> [!NOTE]\n> a remark of the host", []),
        ("> first part\n>\n> second part", ["> first part", "> second part"]),
        ("> “We must wait for it.”\n> — Ann", ["We must wait for it."]),
    ],
)
def test_passages_between_marks_and_in_blocks(text: str, inside: list[str]) -> None:
    assert [text[slice(*each.inner)] for each in passages(text)] == inside


@pytest.mark.parametrize(
    ("words", "counts"),
    [("technical debt", False), ("we must wait", True), ("因地制宜", False), ("我们必须等", True)],
)
def test_one_or_two_words_are_a_term_and_three_a_quotation(words: str, counts: bool) -> None:
    assert is_quotation(words) is counts


@given(st.text(max_size=80))
def test_words_lie_in_their_order_within_the_text(text: str) -> None:
    wording = worded(text)
    places = [place for pair in zip(wording.starts, wording.ends, strict=True) for place in pair]
    assert places == sorted(places)
    assert all(wording.index_at(wording.place(i)) == i for i in range(len(wording.keys)))


@given(st.text(alphabet="“”„\"'‘’«»> \nab", max_size=60))
def test_passages_never_overlap(text: str) -> None:
    end = 0
    for passage in passages(text):
        assert end <= passage.start <= passage.inner[0] <= passage.inner[1] <= passage.end
        end = passage.end
