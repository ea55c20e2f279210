# ruff: noqa: E501
"""The Markdown report: complete, in order, and nobody's words get out of their place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from inline_snapshot import snapshot
from markdown_it import MarkdownIt

from roundtable.core.events import DiscussionClosed, VerdictReached
from roundtable.core.state import State
from roundtable.core.values import Dissent, Verdict
from roundtable.procedures import procedure_spec
from roundtable.views.report_md import markdown_report
from tests.procedures.council_table import DEAD, council, hold, scholar, verdict

from .declaring import against
from .hostile import TEXTS
from .tables import long_table, mishaps, opened, seat, speech, told

SEATS = [seat("Ann", "🔍"), seat("Bob"), seat("Cid")]


def words(round_: int, who: str) -> str:
    return f"## Position\n{who} in round {round_}."


def delivered(state: State) -> str:
    return procedure_spec(state.start.procedure).deliver(state, "9.9")


def headings(text: str, below: int = 3) -> list[str]:
    """The headings of the document itself, as a Markdown reader finds them."""
    tokens = MarkdownIt("commonmark", {"html": True}).parse(text)
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and int(token.tag[1]) <= below:
            found.append(f"{'#' * int(token.tag[1])} {inline.content}")
    return found


@pytest.mark.requirement("I-10", "I-30")
def test_a_small_report_as_a_whole() -> None:
    assert markdown_report(mishaps("## Tea\nIt calms."), "") == snapshot("""\
# Tea or coffee?

Status: failed · Procedure: council · Participants: 2 · Rounds: 1 · Calls: 3 · Cost: at least $0.0200 (1 call of unknown cost) · Date: 2026-01-02 12:00 UTC

## Verdict

**Sorry: 1 of 2 answered.**

Check the models.

## Participants

| Who | Role | Model | Speeches |
| --- | --- | --- | --: |
| 🔍 Ann | Ann's role | m/spare | 1 |
| Bob | Bob's role | silent (m/bob) | 0 |
| Host | host | silent (m/host) | 0 |

## Discussion

### Round 1

#### 🔍 Ann: answer

*turn 1/answer/ann · m/spare · 12:00:08 UTC · [REPAIRED] · 2 calls: answer, fallback · m/spare in place of m/ann, which gave an answer that makes no sense*

> ## Tea
> It calms.

#### Bob: answer

*turn 1/answer/bob · m/bob*

*No speech: No answer in 90 s.*

Give it more time.

## Notes

| Note | What happened | What to do |
| --- | --- | --- |
| degraded | Only one of two spoke. | Ask again. |
| substituted | m/spare spoke for Ann in place of m/ann, which gave an answer that makes no sense. | Choose another model. |

## Calls and costs

| Who | Models | Calls | Asked again | Failed | Tokens in | Out | Seconds | Cost |
| --- | --- | --: | --: | --: | --: | --: | --: | --: |
| Ann | m/ann, m/spare | 2 | 1 | 0 | 200 | 100 | 3.0 | $0.0200 |
| Bob | m/bob | 1 | 0 | 1 | about 1 | 0 | 0.0 | unknown |
| All |  | 3 | 1 | 1 | about 201 | about 100 | 3.0 | at least $0.0200 |

**Substitutions**

| Who | Turn | Asked | Then asked | Because |
| --- | --- | --- | --- | --- |
| Ann | 1/answer/ann | m/ann | m/spare | it gave an answer that makes no sense |

## Provenance

| What | Value |
| --- | --- |
| Discussion | rt_0000abcd |
| Procedure | council |
| Opened | 2026-01-02 12:00 UTC |
| Last event | 13, 2026-01-02 12:00 UTC |
| Ended by | too_few_answers |
| Verdict by | nobody |
| Language | auto |
| Seed | 7 |
| Opened by | — |
| Program | roundtable 9.9 |

**Prompts**

| Template | Version | Hash | Calls |
| --- | --: | --- | --: |
| test/answer | 2 | f00df00df00d | 3 |

---

rt_0000abcd · roundtable 9.9
""")


@pytest.mark.requirement("I-10", "I-30")
def test_every_speech_stands_there_with_its_turn_model_and_flags() -> None:
    state = hold(council({"answer/muse": "## Perspective\nCocoa."}))
    text = markdown_report(state, delivered(state))
    for each in state.speeches:
        assert f"*turn {each.turn_id} · {each.model} · " in text
        assert all(flag in text for flag in each.flags)
    assert "\n> ## Perspective\n" in text
    assert [h for h in headings(text) if h.startswith("### ")] == [
        "### Opening",
        "### Round 1",
        "### Round 2",
    ]


def test_participants_of_a_stage_stand_in_the_order_of_the_table_not_of_arrival() -> None:
    state = hold(council({"answer/scholar": 50.0, "answer/engineer": 20.0}))
    arrived = [s.participant for s in state.speeches if s.stage == "answer"]
    text = markdown_report(state, delivered(state))
    places = [text.index(f"turn 1/answer/{who} ") for who in ("scholar", "engineer", "muse")]
    assert arrived == ["muse", "engineer", "scholar"]
    assert places == sorted(places)


def test_a_long_table_has_every_table_of_the_report() -> None:
    text = markdown_report(long_table(SEATS, 3, words), "Drink tea.")
    assert [h for h in headings(text) if h.startswith("## ")] == [
        "## Verdict",
        "## Who holds what",
        "## Participants",
        "## Points and stances",
        "## Agreement scores",
        "## Changes of mind",
        "## Influence and bias",
        "## Discussion",
        "## Calls and costs",
        "## Provenance",
    ]
    assert "| p1 | Point 1 of Ann matters most of all things here | Ann | ✓ agree |" in text
    assert "| Tea ✓ | 2 of 3 | 2 | Bob, Cid |" in text
    assert "| Ann | Tea | Coffee | Ann, round 3 | 80 % |" in text
    assert "| Cid | p1 | disagree → agree | Cid, round 3 | no argument named |" in text
    assert "| test/answer | 2 | f00df00df00d | 9 |" in text


def test_an_argument_that_brought_somebody_round_is_named() -> None:
    text = markdown_report(long_table(SEATS, 2, words), "Drink tea.")
    assert "| Bob | p2 | disagree → agree | Bob, round 2 | Ann: Point 1 of Ann" in text


def test_scores_that_were_inferred_are_marked() -> None:
    text = markdown_report(long_table(SEATS, 1, words), "Drink tea.")
    assert "**Round 1: 80 % agreement**" in text
    assert "| Ann | — | 2\\* | 3 |" in text
    assert "\\* not stated cleanly, so inferred." in text


@pytest.mark.requirement("I-32")
def test_a_dissent_that_the_delivery_leaves_out_stands_in_the_report() -> None:
    state = long_table(SEATS, 1, words)
    assert "| Cid | Coffee wakes. | — | Ann, round 1 |" in markdown_report(state, "Drink tea.")
    kept = markdown_report(state, "Drink tea. Cid says: Coffee\nwakes.")
    assert kept.count("Coffee wakes.") == 0


@pytest.mark.requirement("I-32")
def test_a_lone_dissent_of_a_council_stands_in_the_report() -> None:
    state = hold(council({"scholar": against}), "Should we drink tea?")
    assert "Tea stains teeth." in markdown_report(state, delivered(state)).split("## Discussion")[0]


def test_without_a_verdict_the_report_says_why_and_what_to_do() -> None:
    failed = markdown_report(mishaps(), "")
    assert "## Verdict\n\n**Sorry: 1 of 2 answered.**\n\nCheck the models.\n" in failed
    going_on = markdown_report(told([opened(SEATS)]), "")
    assert "**There is no verdict yet: the discussion is not finished.**" in going_on


def test_a_stopped_discussion_shows_its_partial_verdict_and_that_it_was_stopped() -> None:
    partial = Verdict(answer="Tea, perhaps.", partial=True, dissent=())
    state = told(
        [
            opened(SEATS),
            *speech("1/answer/ann", "ann", "Tea."),
            VerdictReached(verdict=partial),
            DiscussionClosed(status="stopped", stop_reason="budget", detail="Out of money."),
        ]
    )
    text = markdown_report(state, "Tea, perhaps.")
    assert "Verdict: partial" in text
    assert "Tea, perhaps.\n\n**Out of money.**" in text


def test_a_council_without_answers_shows_who_failed_and_why() -> None:
    state = hold(council({"answer": DEAD}))
    text = markdown_report(state, delivered(state))
    assert text.count("*No speech: The key was refused.*") == 3
    assert "Sorry: 0 of 3 specialists answered" in text


@pytest.mark.requirement("I-30")
def test_costs_are_shown_for_everybody_and_what_nobody_knows_is_not_zero() -> None:
    text = markdown_report(mishaps(), "")
    assert "| Ann | m/ann, m/spare | 2 | 1 | 0 | 200 | 100 | 3.0 | $0.0200 |" in text
    assert "| Bob | m/bob | 1 | 0 | 1 | about 1 | 0 | 0.0 | unknown |" in text
    assert "| All |  | 3 | 1 | 1 | about 201 | about 100 | 3.0 | at least $0.0200 |" in text
    assert (
        "| Ann | 1/answer/ann | m/ann | m/spare | it gave an answer that makes no sense |" in text
    )


# What others wrote


@pytest.mark.parametrize("text", TEXTS)
def test_no_speech_and_no_verdict_changes_the_outline_of_the_document(text: str) -> None:
    def outline(words: str) -> list[str]:
        state = told(
            [
                opened(SEATS[:2]),
                *speech("1/answer/ann", "ann", words),
                *speech("1/answer/bob", "bob", "Coffee."),
                VerdictReached(verdict=Verdict(answer=words)),
                DiscussionClosed(status="concluded", stop_reason="verdict"),
            ]
        )
        return headings(markdown_report(state, words), below=2)

    assert outline(text) == outline("Tea.")


def test_headings_of_a_verdict_come_below_those_of_the_document() -> None:
    text = markdown_report(
        long_table(SEATS, 1, words), "# One\n\nTwo\n===\n\n## Three\n\n```\n# no\n```"
    )
    assert headings(text, below=4)[1:5] == ["## Verdict", "### One", "### Two", "#### Three"]
    assert "\n# no\n" in text


def test_a_question_of_many_lines_with_markup_is_one_heading() -> None:
    state = told([opened(SEATS, "Tea\n# or *coffee* | <b>?")])
    first = markdown_report(state, "").splitlines()[0]
    assert first == r"# Tea # or \*coffee\* \| \<b\>?"


def test_a_cell_cannot_break_its_table() -> None:
    odd = seat("Eve | 5/5 |\n| x")
    text = markdown_report(told([opened([odd, SEATS[0]])]), "")
    (row,) = [line for line in text.splitlines() if line.startswith("| Eve")]
    assert row.startswith(r"| Eve \| 5/5 \| \| x |")


@pytest.mark.requirement("I-20")
def test_planted_keys_do_not_reach_the_report() -> None:
    key = "sk-ant-PLANTED1234567890abcd"
    state = hold(
        council({"answer/scholar": scholar(Findings=key), "synthesis": verdict(Answer=key)}),
        f"Is {key} safe?",
    )
    text = markdown_report(state, f"Use {key}.")
    assert "PLANTED" not in text
    assert "[redacted]" in text


def test_dissenters_whose_seat_was_set_anew_are_still_named() -> None:
    gone = Verdict(answer="Tea.", dissent=(Dissent(participant="nobody", position="No."),))
    state = told([opened(SEATS), VerdictReached(verdict=gone)])
    assert "| nobody | No. |" in markdown_report(state, "Tea.")
