"""The verdict of a deliberation: checked, complete, and readable; and statements for the group."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from roundtable.core.declaration import Decision, Option
from roundtable.core.effects import Untrusted
from roundtable.core.events import DecisionsTabled
from roundtable.core.record import record_of
from roundtable.core.values import Budget, Material
from roundtable.core.verdict_check import NOT_FOUND, UNKNOWN_TURN
from roundtable.procedures import procedure_spec
from roundtable.procedures.deliberation import statement
from roundtable.procedures.table import Table as Seen
from roundtable.procedures.verdicts import CONTRADICTS, UNCITED, verdict_form
from roundtable.surfaces.cli.app import run
from tests.core.declared_table import SEATS, at_table, says, tabled
from tests.core.declared_table import vote as declared_vote
from tests.declaring import spoken, vote
from tests.foreseen import foreseen

from .deliberation_table import (
    DEAD,
    EXPERTS,
    NAMES,
    ONE,
    OPEN_QUESTION,
    RANKS,
    ROUND_1,
    ROUND_2,
    SPLIT,
    SYNTHESIS,
    THREE,
    TWO,
    Act,
    Votes,
    asked,
    bare,
    codes,
    deliberate,
    hold,
    prompt_of,
    sections,
    synthesis,
    table,
    verdict_of,
)

SPEC = procedure_spec("deliberation")
LAST_WORDS = f"The weakest spot is the price. Answer The later view of {ONE}."
SAID = f"The view of {ONE} in plain words."


# Z-08: quotations and citations


@pytest.mark.requirement("Z-08")
@pytest.mark.parametrize(
    "marks", ['"{}"', "“{}”", "„{}“", "«{}»", "»{}«", "「{}」", "『{}』", "\n> {}\n"]
)
def test_a_fabricated_quotation_is_dropped_and_flagged_and_an_exact_one_kept(marks: str) -> None:
    true, false = marks.format(SAID), marks.format("Nobody at this table ever said so")
    text = f"It was said: {true} and then {false} by [{ROUND_1[0]}]."
    found = verdict_of(deliberate(turns={SYNTHESIS: synthesis(Answer=text)}))
    assert true.strip() in found.answer
    assert "Nobody at this table" not in found.answer
    assert found.answer.count(NOT_FOUND) == 1
    assert found.flags == ("[not found]",)
    (finding,) = found.findings
    assert finding.excerpt == "Nobody at this table ever said so"


@pytest.mark.requirement("Z-08")
@pytest.mark.parametrize(
    "text",
    [
        f"One says “{SAID.lower()}” [{ROUND_1[0]}].",
        f"One says “The view of … in plain words” [{ROUND_1[0]}].",
        'They call it "a rewrite" because of the long list of other things, not "a patch".',
        'A 5" pipe and then a longer 7" pipe for the rest.',
        "The question was “Should we rewrite billing?”.",
        "The report says “tea is older than coffee is”.",
        "No quotation at all, and isn't that the spirit of 'things' as they are now?",
    ],
)
def test_true_and_short_quotations_and_other_marks_are_left_alone(text: str) -> None:
    cited = f"So it is [{ROUND_1[1]}]. {text}"
    state = deliberate(
        turns={SYNTHESIS: synthesis(Answer=cited)},
        context=(Material(source="report.md", text="Tea is older than coffee is."),),
    )
    assert (verdict_of(state).answer, verdict_of(state).flags) == (cited, ())


@pytest.mark.requirement("Z-08")
def test_quotations_are_checked_in_chinese_and_in_every_section() -> None:
    false = "“这句话在这里从来没有人说过”"
    found = verdict_of(
        deliberate(
            turns={SYNTHESIS: synthesis(Agreement=f"They hold {false}.", Gaps_and_Risks=false)}
        )
    )
    assert found.flags == ("[not found]",)
    assert (found.agreement + found.gaps).count(NOT_FOUND) == 2
    assert false not in found.agreement + found.gaps


@pytest.mark.requirement("Z-08")
def test_cited_turns_are_listed_and_turns_that_nobody_took_are_dropped() -> None:
    text = (
        f"Yes [{ROUND_2[1]}], as [{ROUND_1[0]}] and [1/answer/nobody] and [9/critique/{ONE}] say."
    )
    found = verdict_of(deliberate(turns={SYNTHESIS: synthesis(Answer=text)}))
    assert found.cites == (ROUND_2[1], ROUND_1[0])
    assert "nobody" not in found.answer
    assert found.answer.count(UNKNOWN_TURN) == 2
    assert found.flags == ("[unknown turn]",)


@pytest.mark.requirement("Z-08")
def test_a_verdict_that_cites_nobody_is_flagged() -> None:
    found = verdict_of(deliberate(turns={SYNTHESIS: synthesis(Answer="Do it.")}))
    assert found.flags == (UNCITED,)


@pytest.mark.requirement("Z-08", "I-32")
def test_every_dissent_is_there_whatever_the_host_writes() -> None:
    turns = {SYNTHESIS: synthesis(Answer="All agree.", Agreement="Everybody agrees with me.")}
    found = verdict_of(deliberate(turns=turns))
    assert [d.participant for d in found.dissent] == [TWO]
    assert found.agreement.startswith("Majority: 2 of 3.")


@pytest.mark.requirement("Z-27", "Z-08")
def test_a_verdict_against_the_count_is_written_once_more_and_then_flagged() -> None:
    against = synthesis(Answer=f"Leave billing alone, the answer is no [{ROUND_1[1]}].")
    said = iter([against, synthesis()])
    at = table(turns={SYNTHESIS: lambda r: spoken(next(said), r, delivers=delivered.pop())})
    delivered = ["o1", "o2"]
    state = hold(at)
    assert asked(at).count(SYNTHESIS) == 2
    assert "The count delivers o1, your verdict o2" in at.requests[-1].user
    assert (verdict_of(state).delivers, verdict_of(state).flags) == ("o1", ())
    stubborn = deliberate(turns={SYNTHESIS: lambda r: spoken(against, r, delivers="o2")})
    found = verdict_of(stubborn)
    assert CONTRADICTS in found.flags
    assert "The table chose “yes” (2 of 3), the writer delivers “no”." in found.findings[0].message


@pytest.mark.requirement("Z-27")
def test_a_host_that_delivers_what_nobody_chose_is_flagged() -> None:
    votes = {ONE: ("o1", "o1"), TWO: ("o2", "o2")}
    turns: dict[str, Act] = {SYNTHESIS: lambda r: spoken(synthesis(), r, delivers="o1")}
    found = verdict_of(deliberate(votes, turns, options={"seats": 2}))
    assert CONTRADICTS in found.flags
    assert "although the table chose none" in found.findings[0].message
    assert found.agreement.startswith("Impasse")


@pytest.mark.requirement("Z-27", "X-14")
@pytest.mark.parametrize(
    "text",
    ["I'm sorry, but I can't help with that.", "asdf qwer zxcv", "…", "The position of precedent."],
)
def test_a_host_that_refuses_or_answers_garbage_leaves_an_extract(text: str) -> None:
    found = verdict_of(deliberate(turns={SYNTHESIS: lambda _: text}))
    assert (found.method, found.author) == ("extractive", "")
    assert found.answer.startswith("The vote is for: yes (2 of 3)")


@pytest.mark.requirement("Z-27", "X-14")
@pytest.mark.parametrize(
    ("act", "told"),
    [
        (DEAD, "The host could not write the verdict, so it is an extract"),
        (lambda _: "asdf qwer zxcv", "without the parts of a verdict, which was not used."),
        (
            lambda r: spoken(synthesis(Answer=LAST_WORDS), r, delivers="o1"),
            "the host copied most of it from one of the speeches, so its text was not used.",
        ),
    ],
)
def test_an_extract_says_what_the_host_did_in_place_of_a_verdict(act: Act, told: str) -> None:
    turns: dict[str, Act] = {SYNTHESIS: act}
    state = deliberate(turns=turns)
    [note] = [each for each in state.notes if each.code == "extracted_verdict"]
    assert told in note.text
    assert verdict_of(state).method == "extractive"


@pytest.mark.requirement("Z-08", "Z-25")
def test_the_count_and_not_the_host_sets_the_confidence() -> None:
    boast = synthesis(Answer=f"Absolutely certain, 100% confidence [{ROUND_1[0]}].")
    plain = verdict_of(deliberate())
    assert verdict_of(deliberate(turns={SYNTHESIS: boast})).confidence == plain.confidence
    alike = {"models": ["a/one", "b/two", "c/three"]}
    together = verdict_of(deliberate(dict.fromkeys(EXPERTS, ("o1", "o1")), options=alike))
    assert together.confidence == "medium", "all three held it before talk"
    over = {"choice": "o1", "confidence": 99}
    gave_in: Votes = {ONE: ("o1", "o1"), TWO: ("o2", over), THREE: ("o2", over)}
    assert verdict_of(deliberate(gave_in, options=alike)).confidence == "low"


def test_the_host_is_told_the_outcome_by_ids() -> None:
    at = table()
    hold(at)
    user = prompt_of(at, SYNTHESIS).user
    assert "d1, majority: 2 of 3. o1 prevails." in user
    assert "- o1: 2 (First Principles, Pre-mortem)\n- o2: 1 (Precedent)" in user
    assert "Dissents: Precedent.\nDeliver o1 as the answer." in user


def test_the_host_is_told_what_the_options_of_every_decision_say() -> None:
    where = (Option(id="o3", text="Inside."), Option(id="o4", text="Outside."))
    both = (*tabled().decisions, Decision(id="d2", question="Where?", options=where))
    votes = (declared_vote("o1"), declared_vote("o4", on="d2"))
    state = at_table(DecisionsTabled(decisions=both), *(says(who, votes=votes) for who in SEATS))
    seen = Seen(state, "t")
    form = verdict_form(seen)
    plan = seen.declaration(form)
    listed = plan.variables["decisions"]
    assert isinstance(listed, Untrusted)
    for line in ("d1: Which drink?", "  o2: Coffee.", "d2: Where?", "  o4: Outside."):
        assert line in listed.text.splitlines()
    assert form.schema()["properties"]["delivers"]["enum"] == ["o1", "o2", "none"]


def test_without_a_countable_vote_the_host_writes_and_nothing_is_called_an_agreement() -> None:
    broken = {"1/answer": bare("Words."), "2/critique": bare("More words.")}
    found = verdict_of(deliberate(turns=broken))
    assert (found.meaningful, found.confidence, found.method) == (False, None, "written")
    assert found.agreement.startswith(
        "Not counted: None of the 3 experts declared a vote that can be counted."
    )


# The delivery


def test_the_delivery_of_a_majority_reads_well() -> None:
    votes = {**SPLIT, THREE: ("o2", {"choice": "o1 > o2", "confidence": 60})}
    state = deliberate(votes)
    shown = SPEC.deliver(state, "9.9")
    first, *lines = shown.removeprefix("⚖️ **Verdict**\n\n").splitlines()
    assert first == (
        "**Yes, 2 of 3, 1 for another answer, but one of them came over without naming an "
        "argument.** Do it step by step."
    )
    for line in (
        "Do it step by step [First Principles, round 1].",
        f"- {NAMES[ONE]}: yes, from the start",
        f"- {NAMES[THREE]}: no → yes, without naming an argument",
        f"- {NAMES[THREE]} went from “no” to “yes” without naming an argument: it gave in.",
        "**What talk changed:** Without talk the vote would have said “no”; after it, it says "
        "“yes”.",
    ):
        assert line in lines
    dissent = shown.partition("**Dissent:**\n")[2].partition("\n\n")[0].splitlines()
    assert dissent[0].startswith(
        f"- {NAMES[TWO]}, round 2: The position of {TWO}. Reason: The cost that {TWO} sees."
    )
    assert dissent[1].startswith(f"- {NAMES[THREE]}, round 1: The position of {THREE}. (gave in")
    assert "**Confidence:** Low (" in shown
    assert shown.endswith("⚖️ Host: test/captain · roundtable v9.9")


def test_an_impasse_lists_positions_and_no_dissent() -> None:
    state = deliberate({ONE: ("o1", "o1"), TWO: ("o2", "o2")}, options={"seats": 2})
    shown = SPEC.deliver(state, "1")
    assert "**Who holds what:**\n- First Principles: yes, from the start\n" in shown
    assert "**Dissent:** no answer prevailed" in shown


def test_a_unanimous_delivery_prints_the_saving_and_no_dissent() -> None:
    shown = SPEC.deliver(deliberate(dict.fromkeys(EXPERTS, ("o1", "o1"))), "1")
    assert "**Early stop:** All 3 independent answers came to the same conclusion" in shown
    assert "3 calls saved, about $0.03." in shown
    assert "**Dissent:** none" in shown


def test_the_report_holds_the_verdict_the_bias_and_every_speech() -> None:
    state = deliberate()
    (report,) = SPEC.outputs(state, datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    assert report.path == "memory/deliberations/2026-01-02-03-04-should-we-rewrite-billing.md"
    assert "| Precedent | 0 of 1 |" in report.text
    assert all(turn in report.text for turn in (*ROUND_1, *ROUND_2))


@pytest.mark.parametrize(
    ("topic", "options", "calls"),
    [
        ("Should we?", {}, (6, 1)),
        (OPEN_QUESTION, {}, (6, 2)),
        (OPEN_QUESTION, {"quick": True}, (6, 2)),
        ("Should we?", {"statement": True}, (9, 2)),
    ],
)
def test_the_estimate_is_the_longest_course(
    topic: str, options: dict[str, object], calls: tuple[int, int]
) -> None:
    estimate = foreseen(deliberate(topic=topic, options=options))
    assert (estimate.participant_calls[1], estimate.host_calls[1]) == calls


# Z-15: statements


def ranked(first: str, second: str, third: str) -> dict[str, Act]:
    def act(turn: str, ranking: str) -> Act:
        best, *others = ranking.split(" > ")
        votes = [vote(best, on="statement", acceptable=tuple(others))]
        return lambda r: spoken(sections(Objection=f"Objection of {turn}."), r, votes=votes)

    return {
        turn: act(turn, ranking)
        for turn, ranking in zip(RANKS, (first, second, third), strict=True)
    }


THREE_DRAFTS = "STATEMENT: Alpha holds.\n\n**STATEMENT 2:** Beta\nholds.\n- STATEMENT: Gamma holds."


@pytest.mark.requirement("Z-15")
def test_a_value_question_ends_in_a_statement_that_all_have_ranked() -> None:
    at = table()
    state = hold(at, options={"statement": True})
    assert asked(at) == [*ROUND_1, *ROUND_2, "0/draft/host", *RANKS, "0/revision/host"]
    found = verdict_of(state)
    assert (found.answer, found.method) == ("We go slowly, by May.", "written")
    assert found.agreement.startswith(
        "Of 2 statements this one won by the Schulze method; 3 of 3 rank it first."
    )
    assert found.dissent == ()
    assert found.cites == tuple(RANKS)
    cast = statement.votes(Seen(state, "deliberation"))
    assert {who: vote.ranking for who, vote in cast.items()} == dict.fromkeys(EXPERTS, ("s1", "s2"))


@pytest.mark.requirement("Z-15", "Z-03")
def test_schulze_picks_the_statement_that_beats_every_other() -> None:
    turns = {"draft": THREE_DRAFTS, **ranked("s1 > s2 > s3", "s3 > s2 > s1", "s2 > s1 > s3")}
    at = table(turns=turns)
    state = hold(at, options={"statement": True})
    assert statement.candidates(Seen(state, "deliberation")) == {
        "s1": "Alpha holds.",
        "s2": "Beta\nholds.",
        "s3": "Gamma holds.",
    }
    assert statement.winner(Seen(state, "deliberation")) == "s2"
    revision = prompt_of(at, "0/revision/host").user
    assert "Beta\nholds." in revision
    assert "Alpha" not in revision
    assert all(f"Objection of {turn}." in revision for turn in RANKS)
    found = verdict_of(state)
    assert [(d.participant, d.position) for d in found.dissent] == [
        (ONE, f"Objection of {RANKS[0]}."),
        (TWO, f"Objection of {RANKS[1]}."),
    ]
    assert "**Yes, 2 of 3, 1 for another answer.**" in SPEC.deliver(state, "1")


@pytest.mark.requirement("Z-15", "Z-05")
def test_the_statements_stand_in_another_order_for_each_reader() -> None:
    at = table(turns={"draft": THREE_DRAFTS})
    hold(at, options={"statement": True, "seats": 7})
    orders = set()
    for request in at.requests:
        if "/ranking/" in request.idempotency_key:
            fenced = request.user.partition("---OPTIONS (untrusted)---")[2]
            orders.add(tuple(sorted(("s1", "s2", "s3"), key=lambda s: fenced.index(f"{s}: "))))
    assert len(orders) > 1


@pytest.mark.requirement("Z-15", "Z-08")
@pytest.mark.parametrize("act", [DEAD, None, "I cannot.", "STATEMENT: only one"])
def test_a_host_that_cannot_draft_leaves_the_best_ranked_position(act: Act) -> None:
    state = deliberate(turns={"draft": act}, options={"statement": True, "choices": "go,stay"})
    found = verdict_of(state)
    assert (found.answer, found.method) == ("go", "extractive")
    assert "no_statement" in codes(state)
    assert [d.participant for d in found.dissent] == [TWO]
    assert state.status == "concluded"


@pytest.mark.requirement("Z-15")
def test_a_host_that_cannot_revise_leaves_the_winner_as_it_was_ranked() -> None:
    state = deliberate(turns={"revision": DEAD}, options={"statement": True})
    found = verdict_of(state)
    assert (found.answer, found.flags) == ("We go slowly.", (statement.NOT_REVISED,))


@pytest.mark.requirement("Z-15")
@pytest.mark.parametrize("act", [DEAD, bare("no ranks here")])
def test_statements_that_nobody_ranks_are_not_adopted(act: Act) -> None:
    state = deliberate(turns={"ranking": act}, options={"statement": True})
    assert verdict_of(state).answer == "yes"
    assert "no_statement" in codes(state)


@pytest.mark.requirement("Z-15")
def test_one_dead_reader_is_ranked_without() -> None:
    state = deliberate(turns={RANKS[1]: DEAD}, options={"statement": True})
    assert "2 of 2 rank it first" in verdict_of(state).agreement
    (note,) = [note for note in state.notes if note.code == "missing"]
    assert note.text.endswith("So the statements are ranked without it.")


@pytest.mark.requirement("Z-15", "Z-09")
@pytest.mark.parametrize("calls", range(2, 12))
def test_a_budget_ends_a_statement_with_what_there_is(calls: int) -> None:
    state = deliberate(options={"statement": True}, budget=Budget(max_calls=calls))
    assert state.usage.calls <= calls
    found = verdict_of(state)
    assert found.answer
    assert found.partial is (calls < 11)


def test_without_the_flag_nobody_drafts_anything() -> None:
    at = table()
    hold(at)
    assert not any("draft" in turn or "ranking" in turn for turn in asked(at))


def test_reasons_that_are_not_declared_as_points_are_none() -> None:
    votes = dict.fromkeys(EXPERTS, ({"choice": "o1", "new_points": []}, "o1"))
    state = deliberate(votes, options={"always_critique": True})
    assert record_of(state).points == ()


@pytest.mark.requirement("Z-31")
def test_a_condition_is_read_once_by_its_owner_and_by_the_writer() -> None:
    kept, dropped = (
        {"text": told, "kind": "demand", "otherwise": "open"}
        for told in ("Two engineers are free.", "The budget holds.")
    )
    first = {"choice": "o1", "conditions": [kept, dropped]}
    later = {"choice": "o1", "conditions": [kept]}
    at = table({**SPLIT, ONE: (first, later)})
    hold(at)
    owner = prompt_of(at, f"2/critique/{ONE}").user
    assert owner.count(kept["text"]) == owner.count(dropped["text"]) == 1
    # What the newer declaration repeats stands there; what it dropped is not lost to the writer.
    writer = prompt_of(at, SYNTHESIS).user
    assert writer.count(kept["text"]) == writer.count(dropped["text"]) == 1


# The command line


@pytest.mark.requirement("Z-09", "Z-11", "I-11")
@pytest.mark.parametrize(("limit", "code"), [("3", 3), ("12", 0)])
def test_the_command_line_rehearses_a_vote_and_tells_a_budget_by_its_exit_code(
    limit: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    models = "--models=scripted/stubborn,scripted/sycophant,scripted/liar"
    flags = [models, "--model=scripted/echo", f"--max-calls={limit}", "--procedure=deliberation"]
    assert run(["Should we rewrite billing?", *flags]) == code
    shown = capsys.readouterr().out
    assert ("Raise the limit" in shown) is (code == 3)
    assert ("2 of 3    " in shown) is (code == 0)
