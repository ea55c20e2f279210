"""The decision: what somebody who decides reads first, the same on the page, in the report and on
paper, in every way in which a discussion can end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from roundtable.bundle.reading import read_bundle
from roundtable.core.events import (
    AttemptStarted,
    DiscussionClosed,
    StoredEvent,
    TurnFailed,
    VerdictReached,
    load,
)
from roundtable.core.naming import TURN
from roundtable.core.state import State, fold
from roundtable.core.values import FindingCode, Verdict
from roundtable.core.verdict_check import MARKS as CHECK_MARKS
from roundtable.examples import examples
from roundtable.ports import SpeakRequest
from roundtable.procedures.messages import CODES
from roundtable.procedures.opening import OpenRequest
from roundtable.views.citing import cited, words_by_id
from roundtable.views.decision import LONGEST_QUESTION, Decision, Glance, question_of
from roundtable.views.decision_flags import FINDINGS, MARKS, NOTES
from roundtable.views.decision_json import document
from roundtable.views.decision_parts import Cite, short_name
from roundtable.views.decision_votes import LONGEST_LABEL, short_label
from roundtable.views.page import derived
from roundtable.views.row import Row
from tests.declaring import spoken
from tests.procedures.council_table import DEAD, council, declaring, verdict
from tests.procedures.council_table import hold as council_held
from tests.procedures.deliberation_table import (
    ONE,
    OPEN_QUESTION,
    THREE,
    TWO,
    Votes,
    hold,
    moved,
    table,
)
from tests.rehearsal import Cast, Table, Voice, dutiful, run_in_virtual_time

from .declaring import against
from .tables import NOON, opened, seat, speech, told

QUESTION = "Should we drink tea?"
HERE = Path(__file__).parent
SNAPSHOTS = HERE / "decisions"
GOLDENS = sorted((HERE.parent / "goldens").glob("v*.jsonl"))
RECORDED = sorted((HERE.parents[2] / "shared" / "data" / "recorded").glob("*.bundle"))


def decided(turns: dict[str, Any] | None = None, topic: str = QUESTION) -> Decision:
    return Decision.of(council_held(council(turns), topic))


def deliberated(votes: Votes, topic: str = QUESTION, **turns: Any) -> Decision:
    acts = {name.replace("_", "/"): act for name, act in turns.items()}
    return Decision.of(hold(table(votes, acts), topic))


def sides(decision: Decision, vote: int = 0) -> list[tuple[str, str]]:
    return [(piece.name, piece.side) for piece in decision.votes[vote].pieces]


def chips(decision: Decision) -> dict[str, str]:
    return {each.name: each.chip for each in decision.experts}


# How it ended


@pytest.mark.requirement("Z-34")
def test_three_of_three_is_a_decision_with_its_figure_and_nobody_against_it() -> None:
    found = decided()
    assert (found.kind, found.state) == ("decided", "Decided")
    assert found.question.short == QUESTION
    assert not found.question.cut
    (vote,) = found.votes
    assert (vote.title, vote.figure, vote.before_told, vote.settled) == (
        "On the question",
        "3 : 0",
        "Already so before they heard each other",
        True,
    )
    assert sides(found) == [("Scholar", "answer"), ("Engineer", "answer"), ("Muse", "answer")]
    assert [(o.label, o.count, o.delivered) for o in vote.options] == [
        ("Yes", 3, True),
        ("No", 0, False),
    ]
    assert vote.told == "On the question: 3 : 0. Scholar, Engineer and Muse for “Yes”."
    assert found.agreement is not None
    assert (found.agreement.holding, found.agreement.seated) == (3, 3)
    assert found.confidence.word in ("high", "medium")
    assert found.confidence.reason
    assert found.dissent.lead == "Nobody disagrees."
    assert found.dissent.pairs == ()
    assert set(chips(found).values()) == {"Kept"}
    assert found.facts.seats == 3
    assert found.facts.rounds == 2
    assert found.facts.seconds


@pytest.mark.requirement("Z-34")
def test_two_against_one_sets_words_against_words() -> None:
    found = decided({"/muse/": against})
    assert found.votes[0].figure == "2 : 1"
    assert sides(found)[-1] == ("Muse", "other")
    assert chips(found) == {"Scholar": "Kept", "Engineer": "Kept", "Muse": "Disagrees"}
    assert found.dissent.lead == "Muse would decide otherwise."
    (pair,) = found.dissent.pairs
    assert (pair.against.title, pair.against.position) == ("Muse", "No")
    assert (pair.majority.title, pair.majority.position) == ("The majority", "Yes")
    assert pair.against.quotes
    assert {quote.participant for quote in pair.majority.quotes} == {"scholar", "engineer"}
    for quote in (*pair.against.quotes, *pair.majority.quotes):
        assert quote.check == "word for word"
        assert quote.anchor.startswith("turn-")


@pytest.mark.requirement("Z-34")
def test_who_could_live_with_the_answer_is_in_the_lead() -> None:
    votes: Votes = {ONE: ("o1", "o1"), TWO: ("o2 > o1", "o2 > o1"), THREE: ("o1", "o1")}
    found = deliberated(votes)
    assert found.dissent.lead == "Precedent prefers another answer and could live with this one."


@pytest.mark.requirement("Z-34")
def test_one_against_one_against_one_is_no_answer_and_nobody_is_drawn_as_if_it_were() -> None:
    votes: Votes = {
        ONE: ("Postgres.", "o1"),
        TWO: ("SQLite.", "o2"),
        THREE: ("Redis.", "own"),
    }
    votes = {**votes, ONE: ("Postgres.", "Postgres."), TWO: ("SQLite.", "SQLite.")}
    votes = {**votes, THREE: ("Redis.", "Redis.")}
    found = deliberated(votes, OPEN_QUESTION)
    assert (found.kind, found.state) == ("split", "Split")
    assert found.votes[0].figure == "1 : 1 : 1"
    assert not found.votes[0].settled
    assert {side for _, side in sides(found)} == {"other"}
    assert found.answer.first == (
        "No answer: one for “Postgres”, one for “Redis”, one for “SQLite”."
    )
    assert found.confidence.word == "none"
    assert found.dissent.lead.startswith("The table is split")
    assert len(found.dissent.pairs) == 2
    assert all(pair.majority.title != "The majority" for pair in found.dissent.pairs)


@pytest.mark.requirement("Z-34")
def test_an_absent_expert_has_a_piece_a_line_and_a_flag() -> None:
    found = decided({"/muse/": DEAD})
    assert sides(found)[-1] == ("Muse", "absent")
    assert (found.votes[0].figure, found.votes[0].counts.absent) == ("2 : 0", 1)
    assert chips(found)["Muse"] == "Absent"
    assert [f.remedy for f in found.flags if f.text == "Muse did not answer."] == [
        "Ask only this expert"
    ]
    assert found.agreement is not None
    assert (found.agreement.holding, found.agreement.seated) == (2, 3)


@pytest.mark.requirement("Z-34")
def test_who_gave_in_is_counted_and_flagged_and_keeps_its_last_argument() -> None:
    votes: Votes = {ONE: ("o1", "o1"), TWO: ("o2", "o1"), THREE: ("o1", "o1")}
    found = deliberated(votes)
    assert (found.kind, found.votes[0].figure, found.votes[0].before_told) == (
        "decided",
        "3 : 0",
        "Before they heard each other: Yes 2, No 1",
    )
    assert [p.name for p in found.votes[0].pieces if p.gave_in] == ["Precedent"]
    assert "Precedent came over without naming an argument." in [f.text for f in found.flags]
    (one,) = [each for each in found.experts if each.chip == "Gave in"]
    assert one.cause is not None
    assert one.cause.text == "Came over without naming an argument."
    assert one.cause.cite is not None
    assert (one.cause.cite.round, one.cause.cite.check) == (1, "word for word")
    lead = "Nobody disagrees in the end; Precedent gave in without naming an argument."
    assert found.dissent.lead == lead
    against = found.dissent.strongest_against
    assert against is not None
    assert against.text.startswith("Precedent, before giving in: ")
    assert Glance.of(hold(table(votes, {}), QUESTION)).dissent


@pytest.mark.requirement("Z-34")
def test_who_moved_says_by_whose_argument() -> None:
    def persuaded(request: SpeakRequest) -> str:
        form = request.form
        assert form is not None
        if not form.peers:
            return spoken("Stay with coffee.", request, choice="o2", position="No.")
        letter = next(k for k, who in form.peers.items() if who == "scholar")
        return spoken(
            "Now tea.",
            request,
            votes=[{"on": "d1", "before": "o2", "choice": "o1", "acceptable": [], "rejects": []}],
            position="Yes.",
            adopted=moved(letter, "Tea calms the nerves of everybody at work"),
        )

    tea = "Three trials show that tea calms the nerves of everybody at work."
    found = decided({"1/answer/scholar": tea, "/muse/": persuaded})
    (muse,) = [each for each in found.experts if each.name == "Muse"]
    assert (muse.chip, muse.opening, muse.final) == ("Moved", "No.", "Yes.")
    assert muse.cause is not None
    assert muse.cause.text == "Tea calms the nerves of everybody at work"
    assert muse.cause.cite is not None
    assert (muse.cause.cite.label, muse.cause.cite.words) == ("Scholar, round 1", tea)
    assert found.votes[0].before_told == "Before they heard each other: Yes 2, No 1"
    assert found.slope is not None
    assert [(line.participant, line.start, line.end) for line in found.slope.lines] == [
        ("scholar", "o1", "o1"),
        ("engineer", "o1", "o1"),
        ("muse", "o2", "o1"),
    ]


@pytest.mark.requirement("Z-34")
def test_agreement_in_which_nobody_chose_is_no_answer() -> None:
    shy = declaring("It depends.", choice="any", position="It depends.")
    found = decided({"1/": shy, "2/": shy})
    assert (found.kind, found.state) == ("hollow", "No answer")
    assert found.answer.first == "No answer: all three say “It depends”, and nobody chose."
    assert found.votes[0].figure == "0 : 0"
    assert {side for _, side in sides(found)} == {"any"}
    assert (found.confidence.word, found.agreement) == ("none", None)


@pytest.mark.requirement("Z-34")
def test_a_demonstration_model_decides_nothing() -> None:
    small = Table({"*": Voice(dutiful)}, cast=Cast(facts={"demonstration": True}))
    found = Decision.of(council_held(small, QUESTION))
    assert (found.kind, found.state) == ("demonstration", "Demonstration model")
    assert {side for _, side in sides(found)} == {"demonstration"}
    assert set(chips(found).values()) == {"Not counted"}
    assert (found.confidence.word, found.confidence.low) == ("none", None)
    assert "Not for real decisions: a demonstration model spoke." in [f.text for f in found.flags]


@pytest.mark.requirement("Z-34")
def test_a_failed_discussion_says_why_what_is_kept_and_what_to_do() -> None:
    found = decided({"1/": DEAD})
    assert (found.kind, found.state) == ("failed", "Failed")
    assert found.cause is not None
    assert found.cause.remedy
    assert found.answer.first == f"No answer: {found.cause.text}"
    assert found.cause.text.count(". ") == 0, "one sentence"
    assert found.cause.more, "what each call came to is told beside it"
    assert found.answer.second == "Nothing was said yet."
    assert set(chips(found).values()) == {"Absent"}
    assert found.slope is None


def begun(turns: dict[str, Any]) -> list[StoredEvent]:
    """The events of a council up to the end of its first round."""
    at = council(turns)
    state = council_held(at, QUESTION)
    records = run_in_virtual_time(at.records(state))
    said = [n for n, r in enumerate(records) if r.event.type == "SpeechGiven"]
    return list(records[: said[3] + 1])


@pytest.mark.requirement("Z-34")
def test_what_was_being_said_when_it_was_interrupted_is_told_as_lost() -> None:
    at = council()
    records = run_in_virtual_time(at.records(council_held(at, QUESTION)))
    first = [n for n, r in enumerate(records) if getattr(r.event, "round", 0) == 1]
    start = next(n for n in first if records[n].event.type == "AttemptStarted")
    paid = [
        replace(
            r,
            event=r.event.model_copy(
                update={"reserved": r.event.reserved.model_copy(update={"cost_usd": 0.1})}
            ),
        )
        if isinstance(r.event, AttemptStarted)
        else r
        for r in records[: start + 1]
    ]
    state = fold(paid)
    found = Decision.of(state, interrupted=True)
    told = "One unfinished speech was lost; it is asked again when it goes on."
    assert found.answer.second == told
    assert found.cause is not None
    assert found.cause.remedy == "Go on: it begins again."
    assert found.made.cost_usd is None
    assert Row.of(state, interrupted=True).cost_usd is None


@pytest.mark.requirement("Z-34")
def test_what_nobody_drives_is_interrupted_and_keeps_what_was_said() -> None:
    state = fold(begun({}))
    assert Decision.of(state).kind == "live"
    found = Decision.of(state, interrupted=True)
    assert (found.kind, found.state) == ("interrupted", "Interrupted")
    assert found.answer.first == ("No answer yet: it was interrupted, and nobody leads it now.")
    assert found.answer.second == "Three speeches are kept."
    assert derived(state, interrupted=True)["decision"]["kind"] == "interrupted"
    assert derived(state)["decision"]["kind"] == "live"


@pytest.mark.requirement("Z-34")
def test_where_nothing_was_put_to_the_vote_there_is_no_vote_and_no_figure() -> None:
    # No procedure of today ends without a vote; ledgers of earlier versions do.
    found = Decision.of(
        told(
            [
                opened([seat("Ann"), seat("Bob")], "Growth or independence?"),
                *speech("1/answer/ann", "ann", "Growth first, while the market is open."),
                *speech("1/answer/bob", "bob", "What we cannot undo should come last."),
                VerdictReached(
                    verdict=Verdict(answer="It is yours to decide. It turns on values.")
                ),
                DiscussionClosed(status="concluded", stop_reason="verdict"),
            ]
        )
    )
    assert found.answer.first == "It is yours to decide."
    assert found.answer.second == "It turns on values."
    assert (found.kind, found.state) == ("values", "No vote")
    assert (found.votes, found.agreement, found.slope) == ((), None, None)
    assert {expert.chip for expert in found.experts} == {"No vote"}


@pytest.mark.requirement("Z-34", "Z-30")
def test_a_follow_up_has_a_decision_of_its_own() -> None:
    at = council()

    async def main() -> State:
        first = await at.ask(QUESTION)
        request = OpenRequest("And in winter?", follows=first.discussion_id, same_table=True)
        opened = await at.service.open(request)
        return await at.service.run(opened.discussion_id)

    found = Decision.of(run_in_virtual_time(main()))
    assert found.question.short == "And in winter?"
    assert found.kind in ("decided", "split")
    assert [each.name for each in found.experts] == ["Scholar", "Engineer", "Muse"]


@pytest.mark.requirement("Z-34")
def test_twelve_seats_all_have_a_piece_in_order_and_a_line() -> None:
    def speaking(request: SpeakRequest) -> str:
        who = request.idempotency_key.rpartition("/")[0].rpartition("/")[2]
        words = f"## Speech\n{'word ' * 220}"
        return spoken(words, request, choice="o2" if who in ("seat-3", "seat-7") else "o1")

    seats = [
        {"profile": f"seat-{n}", "display_name": f"Seat {n}", "role": "Judge"} for n in range(12)
    ]
    options = {"participants": seats, "max_rounds": 1}
    at = Table({"*": Voice(speaking)})
    found = Decision.of(run_in_virtual_time(at.ask(QUESTION, procedure="meeting", options=options)))
    assert len(found.votes[0].pieces) == len(found.experts) == found.facts.seats == 12
    assert found.votes[0].figure == "10 : 2"
    assert [name for name, side in sides(found) if side == "other"] == ["Seat 3", "Seat 7"]
    assert [side for _, side in sides(found)] == ["answer"] * 10 + ["other"] * 2


# The question and the answer


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize(
    ("topic", "short"),
    [
        ("Should we drink tea?", "Should we drink tea?"),
        (f"{'We are many. ' * 20}Should we move? We have a year.", "Should we move?"),
        (f"{'我们有很多人。' * 30}我们应该搬家吗？预算有限。", "我们应该搬家吗？"),
        (
            f"{'نحن فريق كبير جدا. ' * 12}هل ننتقل إلى مكتب جديد؟ الميزانية محدودة.",
            "هل ننتقل إلى مكتب جديد؟",
        ),
        (
            f"{'Words. ' * 30}The board asks: should we {'really ' * 17}go?",
            f"Should we {'really ' * 17}go?",
        ),
        (f"{'Words and more. ' * 20}We must act now. Why?", "We must act now. Why?"),
    ],
)
def test_the_question_is_the_sentence_that_asks(topic: str, short: str) -> None:
    found = question_of(topic)
    assert found.short == short
    assert found.whole == topic.strip()
    assert found.cut is (short != topic.strip())


@pytest.mark.requirement("Z-34")
def test_a_long_question_is_cut_between_words() -> None:
    found = question_of("Write the letter to the residents about " + "everything that " * 30)
    assert len(found.short) <= LONGEST_QUESTION
    assert found.short.endswith("…")
    assert found.short[:-1].split()[-1] in ("everything", "that")


def concluding(answer: str, **fields: Any) -> Callable[[SpeakRequest], str]:
    return lambda request: spoken(verdict(), request, answer=answer, **fields)


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize(
    ("brief", "first", "second"),
    [
        ("Yes, drink tea. Begin on Monday.", "Yes, drink tea.", "Begin on Monday."),
        ("Yes. Yes.", "Yes.", ""),
        (
            f"Yes, in stages: first {'green and ' * 14}black tea.",
            "Yes, in stages.",
            f"First {'green and ' * 14}black tea.",
        ),
        ("Option o1 prevails.", "“yes” prevails.", ""),
        ("Yes, as agreed [1/answer/scholar]. So be it.", "Yes, as agreed.", "So be it."),
    ],
)
def test_the_answer_is_one_sentence_then_another_and_never_the_same(
    brief: str, first: str, second: str
) -> None:
    found = decided({"synthesis": concluding(brief)})
    assert (found.answer.first, found.answer.second) == (first, second)


@pytest.mark.requirement("Z-34", "Z-27")
def test_an_answer_that_contradicts_the_count_is_replaced_by_it_and_flagged_first() -> None:
    def contradicting(request: SpeakRequest) -> str:
        words = verdict(Answer="No, we should not drink tea.")
        return spoken(words, request, delivers="o2", answer="No, drink coffee.")

    found = decided({"synthesis": contradicting, "/muse/": DEAD})
    assert found.answer.first == "Yes."
    assert found.flags[0].code == "contradiction"
    assert found.flags[0].text == "The written answer differs from what the table chose."
    assert len(found.flags) > 1


# Citations


@pytest.mark.requirement("Z-34", "Z-27")
def test_citations_become_chips_with_the_sentence_that_is_meant() -> None:
    tea = "Three trials show that tea calms the nerves."
    state = council_held(
        council(
            {
                "1/answer/scholar": f"Good morning to you all. {tea} That is all I know.",
                "synthesis": concluding(
                    "Yes.",
                    why=[
                        "Tea calms the nerves [1/answer/scholar].",
                        "It was said that “tea calms the nerves” [1/answer/scholar], and so on.",
                        "It is cheap.",
                    ],
                ),
            }
        ),
        QUESTION,
    )
    first, second, third = Decision.of(state).why
    assert first.text == "Tea calms the nerves."
    (chip,) = first.cites
    assert (chip.label, chip.words, chip.check) == ("Scholar, round 1", tea, "word for word")
    assert chip.anchor == "turn-1/answer/scholar"
    (chip,) = second.cites
    assert (chip.words, chip.check) == ("tea calms the nerves", "word for word")
    assert (third.text, third.cites, third.status) == ("It is cheap.", (), "")


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("quoted", "check"),
    [
        ("tea calms the nerves of everybody", "word for word"),
        ("tea calms … of everybody", "shortened"),
        ("tea excites the nerves of everybody", "not found"),
        ("coffee is what keeps us awake", "second hand"),
        ("sell all of the kettles", "second hand"),
    ],
)
def test_word_for_word_is_said_only_of_words_that_are_its_own(quoted: str, check: str) -> None:
    words = (
        "As we know, tea calms the nerves of everybody here. The advocate says “coffee is what "
        "keeps us awake”, and wrote:\n\n> sell all of the kettles\n\nI do not share that."
    )
    state = council_held(council({"1/answer/scholar": words}), QUESTION)
    found = cited(state, f"He says “{quoted}” [1/answer/scholar].")
    assert [each.check for each in found.cites] == [check]


@pytest.mark.requirement("Z-27")
def test_nobody_stands_for_a_sentence_that_it_only_quotes() -> None:
    words = (
        "Somebody claims: “Coffee keeps the whole table awake through the night.” "
        "I hold that coffee keeps nobody awake for long."
    )
    state = council_held(council({"1/answer/scholar": words}), QUESTION)
    (found,) = cited(state, "Coffee keeps the whole table awake [1/answer/scholar].").cites
    assert "nobody awake" in found.words
    assert found.check == "word for word"


@pytest.mark.requirement("Z-34")
def test_who_was_not_asked_before_it_broke_off_is_not_told_as_absent() -> None:
    seats = [seat("Ann"), seat("Bob"), seat("Cid")]
    events = [
        opened(seats),
        *speech("1/answer/ann", "ann", "Tea, for it calms."),
        TurnFailed(
            turn_id="1/answer/bob",
            stage="answer",
            round=1,
            participant="bob",
            cause="unavailable",
            message="It did not answer.",
            remedy="Try another model.",
        ),
        DiscussionClosed(status="stopped", stop_reason="stopped_by_user", detail="by hand"),
    ]
    found = Decision.of(told(events))
    assert chips(found)["Bob"] == "Absent"
    assert chips(found)["Cid"] == "Not asked"
    assert all(vote.counts.absent == 1 for vote in found.votes)


@pytest.mark.requirement("Z-34")
def test_a_reason_that_is_a_declared_point_says_how_the_table_stands_to_it() -> None:
    def raising(request: SpeakRequest) -> str:
        stances = [
            {"id": each.id, "stance": "agree", "text": ""}
            for each in (request.form.listed if request.form else ())
            if not each.own
        ]
        points = ["Tea is cheap."] if "/answer/scholar" in request.idempotency_key else []
        return spoken("Words of mine.", request, new_points=points, stances=stances)

    found = decided(
        {
            "synthesis": concluding("Yes.", why=["Tea is cheap.", "Cheap tea matters [p1]."]),
            "1/": raising,
            "2/": raising,
        }
    )
    assert [each.status for each in found.why] == ["Agreed by all 3", "Agreed by all 3"]
    assert found.why[1].text == "Cheap tea matters."
    assert [c.words for c in found.why[0].cites] == ["Tea is cheap."]


@pytest.mark.requirement("Z-34")
def test_what_would_change_it_is_split_only_where_its_writer_did() -> None:
    changes = ["Tea gets dearer: then drink water.", "A higher price."]
    found = decided({"synthesis": concluding("Yes.", would_change=changes)})
    assert [(each.when, each.then) for each in found.would_change] == [
        ("Tea gets dearer", "Drink water."),
        ("A higher price.", ""),
    ]


# Labels and names


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("yes", "Yes"),
        (
            "Leave it open until a review in week 12, which decides.",
            "Leave it open until a review in week 12",
        ),
        (
            "Only where fares cover little of the operating cost and the buses have room.",
            "Only where fares cover little…",
        ),
    ],
)
def test_an_option_has_a_label_of_whole_words(text: str, label: str) -> None:
    assert short_label(text) == label
    assert len(label) <= LONGEST_LABEL


def test_a_name_is_shortened_to_whole_words_where_it_stays_the_only_one() -> None:
    assert short_name("Build and Release Engineer") == "Build and Release"
    assert short_name("DevOps Engineer") == "DevOps Engineer"
    assert short_name("Database Administrator") == "Database Administrator"
    assert short_name("Telekommunikationstechnikerin") == "Telekommunikationstechn…"
    others = frozenset(["Build and Release Manager"])
    assert short_name("Build and Release Engineer", others) == "Build and Release Engineer"


# Nothing for programs in what people read


def state_of(file: Path) -> State:
    if file.suffix == ".bundle":
        return fold(read_bundle(file.read_bytes()).records)
    lines = file.read_text("utf-8").splitlines()
    if '"DiscussionOpened"' not in lines[0]:
        lines.insert(0, (file.parent / "v1.jsonl").read_text("utf-8").splitlines()[0])
    return fold(StoredEvent("rt_0000abcd", n, NOON, load(each)) for n, each in enumerate(lines, 1))


STATES: dict[str, Callable[[], State]] = {
    **{name: lambda e=each: fold(e.records()) for name, each in examples().items()},  # type: ignore[misc]
    **{file.name: lambda f=file: state_of(f) for file in (*GOLDENS, *RECORDED)},  # type: ignore[misc]
}
_PROGRAM = re.compile(
    "|".join(
        [
            *(re.escape(mark) for mark in CHECK_MARKS),
            r"PANEL DEGRADED",
            r"Summary-\d",
            r"\bwords_differ\b",
            r"\b(?:" + "|".join(code for code in CODES if "_" in code) + r")\b",
        ]
    )
)


def texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """All words of a document with where they stand; ids, quotations, and what is whole or meant
    for a sceptic apart."""
    skipped = ("words", "whole", "html", "written_html", "turn_id", "anchor", "id", "code")
    match value:
        case dict():
            for key, each in value.items():
                if key not in (*skipped, "participant", "participants", "option", "made", "works"):
                    yield from texts(each, f"{where}.{key}")
        case list():
            for each in value:
                yield from texts(each, where)
        case str():
            yield where, value
        case _:
            pass


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize("name", STATES)
def test_no_id_option_code_or_flag_reaches_whoever_decides(name: str) -> None:
    state = STATES[name]()
    known = words_by_id(state)
    for where, text in texts(document(Decision.of(state))):
        assert not _PROGRAM.search(text), (where, text)
        if where.endswith((".from", ".to")):
            continue
        assert not TURN.search(text), (where, text)
        ids = set(re.findall(r"(?<![\w/-])[opcd]\d{1,3}(?![\w/-])", text))
        assert not ids & set(known), (where, text)


def test_every_code_of_a_finding_has_a_sentence() -> None:
    assert set(FINDINGS) == set(get_args(FindingCode))
    for each in (*(make(2) for make in FINDINGS.values()), *MARKS.values(), *NOTES.values()):
        assert not each or each[0].isupper()
        assert not each or each.endswith(".")
    assert set(NOTES) <= set(CODES)


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize("name", STATES)
def test_quotations_are_checked_before_they_are_said_to_be_word_for_word(name: str) -> None:
    state = STATES[name]()
    said = {speech.turn_id: speech for speech in state.speeches}

    def cites(value: Any) -> Iterator[Cite]:
        if isinstance(value, Cite):
            yield value
        elif isinstance(value, tuple):
            for each in value:
                yield from cites(each)
        elif hasattr(value, "__slots__"):
            for slot in value.__slots__:
                yield from cites(getattr(value, slot))

    for each in cites(Decision.of(state)):
        assert said[each.turn_id].participant == each.participant
        assert each.check or not each.words


@pytest.mark.requirement("Z-34", "Z-37")
@pytest.mark.parametrize("name", examples())
def test_the_decision_of_a_recorded_example_stays_as_it_is(name: str) -> None:
    """To renew them after a change that is wanted: delete tests/views/decisions and run this."""
    found = document(Decision.of(STATES[name]()))
    found["answer"].pop("written_html")
    found["made"].pop("delivered_html")
    shown = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    kept = SNAPSHOTS / f"{name}.json"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(shown, "utf-8")
        pytest.fail(f"{kept.name} was written anew: read it, and run this again")
    assert shown == kept.read_text("utf-8")


def test_the_page_gets_the_decision_with_every_key_of_its_shape() -> None:
    concluded = concluding("Yes.", would_change=["A higher price."])
    found = derived(council_held(council({"synthesis": concluded}), QUESTION))["decision"]
    assert set(found) == {
        *("kind", "state", "partial", "facts", "question", "answer", "cause", "votes"),
        *("confidence", "agreement", "flags", "why", "open_points", "dissent", "would_change"),
        *("steps", "experts", "slope", "assumptions", "rests_on", "works", "record", "made"),
    }
    assert set(found["facts"]) == {"seats", "rounds", "opened_at", "ended_at", "seconds"}
    assert set(found["would_change"][0]) == {"if", "then", "how", "cites"}
    assert set(found["slope"]["lines"][0]) == {"participant", "from", "to"}
    assert json.dumps(found)
