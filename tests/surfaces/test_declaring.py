"""A person at the terminal declares in plain words what a model declares in a block."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from roundtable.core.declaration import Decision, Declaration, Option
from roundtable.core.declaration_form import (
    BALLOT,
    LATER,
    OPENING,
    AskedValue,
    Form,
    Key,
    Listed,
)
from roundtable.surfaces.cli.declaring import ask_declaration

pytestmark = pytest.mark.requirement("Z-22")

QUESTION = Decision(
    id="d1",
    question="Which database?",
    options=(
        Option(id="o1", text="PostgreSQL"),
        Option(id="o2", text="MongoDB"),
        Option(id="o3", text="SQLite"),
    ),
)
DETAIL = Decision(id="d2", question="When?", options=(Option(id="o4", text="Now"),))
POINTS = (
    Listed("p1", "It is cheap.", own=True, asked=True),
    Listed("p2", "It is risky.", asked=True),
    Listed("p3", "Known already."),
)
NAMES = {"A": "Ada", "B": "Bob"}


class Typed:
    """Answers by a word of the question; Enter to all others."""

    def __init__(self, answers: Mapping[str, str | list[str]]) -> None:
        self.answers = {k: [v] if isinstance(v, str) else list(v) for k, v in answers.items()}
        self.asked: list[str] = []

    async def line(self, prompt: str) -> str | None:
        self.asked.append(prompt)
        for word, left in self.answers.items():
            if word in prompt and left:
                return left.pop(0)
        return None


def declared(form: Form, **answers: Any) -> tuple[dict[str, Any] | None, Declaration | None, Typed]:
    typed = Typed({name.replace("_", " "): each for name, each in answers.items()})
    fields = asyncio.run(ask_declaration(form, typed, NAMES))
    return fields, form.read_fields(fields).declaration if fields is not None else None, typed


def form(
    keys: tuple[Key, ...] = LATER, decisions: tuple[Decision, ...] = (QUESTION,), **more: Any
) -> Form:
    listed = POINTS if "stances" in keys else ()
    return Form(keys, decisions, listed, peers={"A": "ada", "B": "bob"}, **more)


def test_a_whole_declaration_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    _, found, typed = declared(
        form(),
        Your_choice="1",
        live_with="3",
        oppose="2",
        one_sentence="Use PostgreSQL.",
        condition=["Two engineers are free."],
        demand="f",
        How_sure="80 %",
        Do_you="d it will cost us a week",
        claim=["It scales."],
    )
    assert found is not None
    (vote,) = found.votes
    assert (vote.before, vote.choice, vote.acceptable, vote.rejects) == (
        "silent", "o1", ("o3",), ("o2",),
    )  # fmt: skip
    assert found.position == "Use PostgreSQL."
    assert [(c.text, c.kind) for c in found.conditions] == [("Two engineers are free.", "fact")]
    assert found.confidence == 80
    assert [(s.id, s.stance, s.text) for s in found.stances] == [
        ("p2", "disagree", "it will cost us a week")
    ]
    assert found.new_points == ("It scales.",)
    shown = capsys.readouterr().err
    assert "1. PostgreSQL" in shown
    assert "4. something else: you say it below" in shown
    assert "5. no preference" in shown
    assert "p3" not in shown
    assert all("Enter: " in prompt for prompt in typed.asked)


@pytest.mark.parametrize(("typed", "choice"), [("4", "own"), ("5", "any"), ("o2", "o2")])
def test_own_any_and_an_id_can_be_chosen_too(typed: str, choice: str) -> None:
    _, found, _ = declared(form(), Your_choice=typed, one_sentence="Flat files.")
    assert found is not None
    assert found.votes[0].choice == choice


def test_enter_through_everything_declares_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for keys in (LATER, BALLOT, OPENING):
        decisions = () if keys == OPENING else (QUESTION,)
        fields, _, _ = declared(form(keys, decisions))
        assert fields is None
    assert "are not counted" in capsys.readouterr().err


def test_whoever_takes_no_position_says_why_and_abstains() -> None:
    fields, found, _ = declared(form(), Why_do_you="I sell one of them.")
    assert fields == {"abstain": "I sell one of them."}
    assert found is not None
    assert found.abstain == "I sell one of them."


def test_a_position_in_the_first_round_is_enough() -> None:
    _, found, _ = declared(form(OPENING, ()), one_sentence="Wait a year.")
    assert found is not None
    assert (found.position, found.confidence, found.conditions) == ("Wait a year.", None, ())


def test_what_is_not_understood_is_asked_again() -> None:
    _, found, typed = declared(
        form(),
        Your_choice=["Postgres", "9", "2"],
        live_with=["2", "1, x", "3 1"],
        How_sure=["very", "200", "60"],
        Do_you=["maybe", "p"],
    )
    assert found is not None
    assert (found.votes[0].choice, found.votes[0].acceptable) == ("o2", ("o3", "o1"))
    assert found.confidence == 60
    assert found.stances[0].stance == "partly"
    assert sum("Your choice" in prompt for prompt in typed.asked) == 3


@pytest.mark.parametrize(
    ("recorded", "answers", "before"),
    [
        ("Recorded: on d1 you hold o2 and reject o3.", {}, "o2"),
        ("Recorded: on d1 the clerk put your statement under o2.", {}, "o2"),
        ("Recorded: on d1 the clerk put your statement under o2.", {"Where_did_you": "4"}, "own"),
        ("Recorded: on d1 you hold any.", {}, "silent"),
    ],
)
def test_a_change_of_mind_is_told_by_the_record_and_asked_for_its_argument(
    recorded: str, answers: dict[str, str], before: str
) -> None:
    moved = {"moved_you": "It needs no new people.", "Whose": "2"}
    _, found, typed = declared(form(recorded=recorded), Your_choice="1", **answers, **moved)
    assert found is not None
    assert found.votes[0].before == before
    told = [(each.participant, each.what) for each in found.moved_by]
    assert told == ([] if before == "silent" else [("bob", "It needs no new people.")])
    assert any("moved you" in prompt for prompt in typed.asked) is (before != "silent")


def test_details_may_be_left_to_the_others() -> None:
    _, found, _ = declared(form(decisions=(QUESTION, DETAIL)), Your_choice=["1"])
    assert found is not None
    assert [vote.choice for vote in found.votes] == ["o1", "any"]


def test_scores_values_and_the_end_are_asked_for_where_the_form_has_them() -> None:
    keys: tuple[Key, ...] = ("position", "scores", "values", "end", "actions", "for_the_record")
    asked = Form(
        keys,
        scored={"Ada": "ada"},
        values={"months": AskedValue("number", minimum=1, maximum=36)},
    )
    answers = {"one_sentence": "Go.", "agree_with_Ada": ["6", "4"], "End_the": "yes"}
    _, found, _ = declared(
        asked, months="12", next="Write it up.", minutes="I was asked late.", **answers
    )
    assert found is not None
    assert found.scores == {"ada": 4}
    assert found.values == {"months": 12}
    assert found.end is True
    assert found.actions[0].text == "Write it up."
    assert found.for_the_record == "I was asked late."
    assert declared(asked, one_sentence="Go.")[0] is None, "scores cannot be left out"


def test_what_others_worded_cannot_command_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evil = Decision(id="d1", question="\x1b[2J?", options=(Option(id="o1", text="\x1b]0;x\x07y"),))
    declared(form(decisions=(evil,)), Your_choice="1")
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert "\x07" not in shown


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("", []),
        ("w", [("c1", "withdraw", "")]),
        ("One engineer is free.", [("c1", "amend", "One engineer is free.")]),
    ],
)
def test_a_condition_of_ones_own_stands_unless_it_is_withdrawn_or_reworded(
    typed: str, taken: list[tuple[str, str, str]]
) -> None:
    asked = Form(
        LATER,
        (QUESTION,),
        (Listed("c1", "Two engineers are free.", own=True), Listed("c2", "Not now.")),
        peers={"A": "ada"},
    )
    answers = {"Withdraw": typed} if typed else {}
    _, found, keyboard = declared(asked, Your_choice="1", one_sentence="Use it.", **answers)
    assert found is not None
    assert [(each.id, each.stance, each.text) for each in found.stances] == taken
    assert sum("Withdraw it" in prompt for prompt in keyboard.asked) == 1
