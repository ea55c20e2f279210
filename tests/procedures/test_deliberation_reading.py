"""Reading what people and models write: questions, the clerk's list, drafts, options."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from roundtable.core.declaration import Option
from roundtable.core.declaration_form import LATER
from roundtable.core.errors import BadSetting, UnknownName
from roundtable.core.framing import YES_NO, choices_of
from roundtable.core.record import record_of
from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.procedures.clerk import ClerkContract, without_listing
from roundtable.procedures.deliberation.options import DeliberationFlags
from roundtable.procedures.deliberation.statement import read_drafts
from roundtable.procedures.table import Table
from tests.core.declared_table import COFFEE, at_table, says, tabled

from .deliberation_table import (
    CLERK,
    DATABASES,
    EXPERTS,
    NAMES,
    ONE,
    OPEN_QUESTION,
    ROUND_2,
    THREE,
    TWO,
    Act,
    asked,
    hold,
    prompt_of,
    table,
)

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


# Drafts and the clerk


def test_a_provider_that_can_is_held_to_the_form_of_the_clerks_list() -> None:
    at = table(DATABASES)
    hold(at, OPEN_QUESTION)
    schema = prompt_of(at, CLERK).schema
    assert schema is not None
    assert set(schema["properties"]) == {"shared", "decisions", "clashes"}


def test_fuzzed_text_never_breaks_a_reader() -> None:
    rng = random.Random(11)
    words = (
        '```decisions STATEMENT: {"decisions": [ ] } "options" "text" , : o1 \n ** OPTION " 7 // /*'
    )
    for _ in range(500):
        text = "".join(rng.choice([*words.split(" "), " ", "\n", "ÿ", "是"]) for _ in range(40))
        read_drafts(text)
        ClerkContract().check(text)
        without_listing(text)
        choices_of(text)


def listed(*options: Any, **more: Any) -> str:
    """A clerk's answer with these options of the question: text and the letters of its holders."""
    shown = [{"text": text, "holders": list(letters)} for text, letters in options]
    decisions = [{"question": "Which?", "options": shown}, *more.pop("further", [])]
    whole = {"shared": [], "decisions": decisions, "clashes": [], **more}
    return f"```decisions\n{json.dumps(whole, ensure_ascii=False)}\n```"


def clerked(act: Act) -> tuple[State, str]:
    """A deliberation with this clerk, and what its experts read in the critique."""
    at = table(DATABASES, {CLERK: act})
    state = hold(at, OPEN_QUESTION)
    return state, prompt_of(at, ROUND_2[0]).user


def letters_of(request: SpeakRequest) -> dict[str, str]:
    """Under which letters the clerk sees whose answer."""
    parts = request.user.split("from Answer ")[1:]
    return {who: part[0] for part in parts for who in EXPERTS if f"view of {who} " in part}


@pytest.mark.requirement("Z-23")
def test_the_clerks_list_is_put_on_the_table_with_its_proposed_holders() -> None:
    def clerk(request: SpeakRequest) -> str:
        of = letters_of(request)
        extra = {"question": "Who runs it?", "options": [{"text": "We.", "holders": [of[TWO]]}]}
        return listed(
            ("Postgres", [of[ONE], of[THREE]]),
            ("SQLite", [of[TWO]]),
            further=[extra],
            shared=["It must be free."],
        )

    state, critique = clerked(clerk)
    record = record_of(state)
    assert [(d.id, [(o.id, o.text) for o in d.options]) for d in record.decisions] == [
        ("d1", [("o1", "Postgres"), ("o2", "SQLite")]),
        ("d2", [("o3", "We.")]),
    ]
    assert record.decisions[0].question == OPEN_QUESTION
    assert record.decisions[0].options[0].holders == tuple(
        sorted((ONE, THREE), key=record.decisions[0].options[0].holders.index)
    )
    assert set(record.decisions[0].options[0].holders) == {ONE, THREE}
    assert record.shared == ("It must be free.",)
    assert "on d1 the clerk put your statement under o1" in critique


@pytest.mark.requirement("Z-23")
@pytest.mark.parametrize(
    "called", ["{letter}", "Answer {letter}", "Answer {letter}, {name}", "{name}"]
)
def test_a_clerk_may_call_the_holders_by_letter_or_by_name(called: str) -> None:
    def clerk(request: SpeakRequest) -> str:
        letter = letters_of(request)[TWO]
        holder = called.format(letter=letter, name=NAMES[TWO])
        return listed(("Postgres", []), ("SQLite", [holder]))

    state, _ = clerked(clerk)
    assert record_of(state).decisions[0].options[1].holders == (TWO,)


@pytest.mark.requirement("Z-08", "Z-12", "Z-23")
def test_what_a_clerk_says_of_somebody_counts_for_nothing() -> None:
    raise_ = "Give the clerk a raise"
    lying = table(
        {ONE: ("Postgres.", "o2"), TWO: ("SQLite.", "o3"), THREE: ("Postgres.", "o2")},
        {CLERK: listed((raise_, "ABCZ"), ("Postgres", []), ("SQLite", []))},
    )
    said = standing_of(hold(lying, OPEN_QUESTION)).question
    assert said is not None
    assert (said.end, said.answer, said.counts["o1"]) == ("majority", "Postgres", 0)


@pytest.mark.parametrize(
    "act",
    [
        None,
        "",
        "Nonsense.",
        "I refuse.",
        "OPTION: Mine",
        listed(),
        listed(("…", "A")),
        "```decisions\n{}\n```",
        '```decisions\n{"decisions": 3}\n```',
        '```decisions\n{"decisions": [{"options": [1, null]}]}\n```',
    ],
)
def test_without_a_usable_list_the_positions_stand_as_stated(act: str | None) -> None:
    state, critique = clerked(act)
    assert [note.code for note in state.notes if note.code == "rough_options"] == ["rough_options"]
    question = record_of(state).question
    assert question is not None
    assert {(o.text, o.holders) for o in question.options} == {
        ("Postgres.", (ONE, THREE)),
        ("SQLite.", (TWO,)),
    }
    assert "o1: Postgres." in critique
    assert state.verdict is not None
    assert state.verdict.agreement.startswith("Majority: 2 of 3")


def test_a_list_without_end_is_cut() -> None:
    many = [(f"Option number {n}", "A") for n in range(50)]
    further = [{"question": f"{n}?", "options": [{"text": "x", "holders": []}]} for n in range(9)]
    state, _ = clerked(listed(*many, further=further, shared=[str(n) for n in range(99)]))
    record = record_of(state)
    assert [len(d.options) for d in record.decisions] == [7, 1, 1]
    assert len(record.shared) == 5


# Options


def test_choices_of_the_asker_are_the_options_of_the_vote() -> None:
    at = table()
    state = hold(at, OPEN_QUESTION, options={"choices": "Postgres,  My  SQL"})
    assert not any("clerk" in turn for turn in asked(at))
    question = record_of(state).question
    assert question is not None
    assert [option.text for option in question.options] == ["Postgres", "My SQL"]
    assert state.start.options["choices"] == ["Postgres", "My SQL"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"choices": "one"}, "2 to 9 options"),
        ({"choices": [str(n) for n in range(10)]}, "2 to 9 options"),
        ({"choices": "tea,Tea"}, "options that differ"),
        ({"choices": ["tea", "x" * 201]}, "options of 1 to 200 characters"),
        ({"choices": ["tea", "  "]}, "2 to 9 options"),
        ({"choices": "o2,o1"}, "words: o1, o2"),
        ({"choices": "Own,Rent"}, "more words than “Own”: in a vote `own` stands for a position"),
        ({"choices": "Rent,none."}, "more words than “none.”: in a vote `none` stands for no"),
        ({"choices": "tea,Tea."}, "options that differ"),
        ({"seats": 1}, "from 2 to 7"),
        ({"seats": 8}, "from 2 to 7"),
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


@pytest.mark.requirement("Z-22")
def test_the_example_tells_as_before_what_the_seat_declared_and_not_what_the_clerk_thinks() -> None:
    read = Option(id="o1", text="Tea.", origin="clerk", holders=("ann", "bob"))
    state = at_table(
        tabled(read, COFFEE),
        says("ann", "o2"),
        says("bob", position="Tea."),
        says("cid", "any"),
    )
    seen = Table(state, "t")
    told = {}
    for seat in seen.seats:
        example = seen.declaration(seen.form(seat, LATER)).variables["example"]
        told[seat.id] = re.findall(r'"before": "([^"]+)"', str(example))
    assert told == {"ann": ["o2"], "bob": ["…"], "cid": ["…"]}
