# ruff: noqa: E501 - documents are quoted as they are
"""What a reader gets of a council: the answer, the estimate, the session log, the report."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from inline_snapshot import snapshot

from roundtable.core.state import State
from roundtable.core.values import Budget, SearchHit
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.rehearsal.estimate import Estimate, estimate_line
from roundtable.version import __version__
from roundtable.views.council import delivery, outputs, round2, session_log
from roundtable.views.notes import notes
from roundtable.views.report_md import markdown_report
from roundtable.views.result import result
from tests.declaring import spoken, vote
from tests.foreseen import foreseen
from tests.rehearsal import Cast, Table, Voice, dutiful, run_in_virtual_time

from .council_table import (
    DEAD,
    SPECIALISTS,
    Act,
    Finder,
    acting,
    council,
    declaring,
    hold,
    listed,
    scholar,
    sections,
    verdict,
)

NOON = datetime(2026, 3, 4, 12, 30, 0, tzinfo=ZoneInfo("Europe/Berlin"))
MUSE = sections(
    Perspective="Cocoa is kinder. It is late.",
    Alternative_Angles="Water.",
    Confidence="low",
    Dissent="Tea stains teeth.",
)
WRITTEN = verdict(
    Answer="Drink tea in the morning.",
    Confidence="Medium",
    Agreement="All want something warm.",
    Dissent="The Muse wants cocoa; the price decided against it.",
    Changed_Minds="The Engineer, by the price.",
    Gaps_and_Risks="Nobody measured the kettle.",
    Sources="https://example.org/tea",
)


def dissenting(request: SpeakRequest) -> str:
    votes = [vote("o2")]
    return spoken(
        dutiful(request).partition("```")[0], request, votes=votes, position="Cocoa it is."
    )


def example(**request: Any) -> State:
    table = council(
        {
            "answer/muse": declaring(MUSE, new_points=["Tea stains teeth."]),
            "summary": listed("Drink tea.", "Drink cocoa."),
            "cross-examination/muse": dissenting,
            "synthesis": WRITTEN,
        },
        search=Finder(SearchHit(title="Tea", url="https://example.org/tea", text="Old.")),
    )
    return hold(table, **request)


# The answer


@pytest.mark.requirement("C-63", "C-64", "C-61")
def test_the_answer_is_delivered_in_its_form() -> None:
    shown = delivery(example(), "9.9")
    assert shown == snapshot("""\
🏛️ **Council Answer**

**Drink tea, 2 of 3, 1 for another answer.** Do it step by step.

Drink tea in the morning.

**Confidence:** Medium (64% to 89%). Two of three reached it independently, before hearing each other, one holds another answer. Of recorded debates that ended like this, about 8 in 10 were right.
**Agreement:** Majority: 2 of 3. They held it independently, before hearing each other. The writer says: All want something warm.
**Vote:** Drink tea: 2; Drink cocoa: 1
**Who holds what:**
- Scholar: Drink tea, from the start
- Engineer: Drink tea, from the start
- Muse: Drink cocoa, from the start

**Why:**
- It is cheap.

**Dissent:**
- Muse, round 2: Cocoa it is. Reason: Tea stains teeth. “Critique of Others by sonnet.”
- The writer says: The Muse wants cocoa; the price decided against it.

**What would change it:**
- A higher price.

**Round 2:** performed
**What talk changed:** The writer says: The Engineer, by the price.
**Points:**
- open: Tea stains teeth. (raised by Muse)

**Gaps and risks:** Nobody measured the kettle.
**Voters:** 3 seats count as about 2.1 independent voters: 2 seats share one voter.
**Sources:** https://example.org/tea
**Flags:** [no citations]

---
🔍 Scholar: codex · 🧮 Engineer: codex · 🎨 Muse: sonnet · 🎖️ Captain: test/captain · roundtable v9.9\
""")


@pytest.mark.requirement("C-63")
def test_a_quick_answer_without_dissent_says_so() -> None:
    text = delivery(hold(council({"synthesis": verdict()}), options={"quick": True}), "9.9")
    lines = text.splitlines()
    assert lines[0] == "🏛️ **Council Answer**"
    assert lines[2].startswith("**Nothing was put to the vote, so no agreement is counted.**")
    for line in (
        "Drink tea.",
        "**Confidence:** not meaningful (nothing was put to the vote)",
        "**Agreement:** Not counted: nothing was put to the vote. The writer says: All are thirsty.",
        "**Dissent:** none",
        "**Round 2:** skipped via --quick",
    ):
        assert line in lines
    assert not any(line.startswith("- Muse") for line in lines)
    assert lines[-1].endswith("🎖️ Captain: test/captain · roundtable v9.9")


@pytest.mark.requirement("C-64", "I-30", "X-36")
def test_the_footer_names_who_really_spoke_and_the_real_version() -> None:
    voices = {"codex": acting({"answer/engineer": DEAD}), "*": acting({"answer/muse": DEAD})}
    table = Table(voices, cast=Cast(fallbacks={"codex": ["gpt"]}))

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea?", options={"quick": True}))
        await table.service.speak(state.discussion_id, "coordinator", "Be brief.")
        return await table.service.run(state.discussion_id)

    state = run_in_virtual_time(main())
    footer = (
        "🔍 Scholar: codex · 🧮 Engineer: gpt · 🎨 Muse: — · 🎖️ Captain: test/captain"
        f" · roundtable v{__version__}"
    )
    assert delivery(state, __version__).splitlines()[-1] == footer
    models = {p["id"]: p["model"] for p in [*result(state)["participants"], result(state)["host"]]}
    assert models == {
        "scholar": "codex",
        "engineer": "gpt",
        "muse": "sonnet",
        "captain": "test/captain",
    }
    assert "Models: Captain test/captain, Scholar codex, Engineer gpt, Muse —" in session_log(
        state, NOON
    )


@pytest.mark.requirement("C-63", "C-54", "C-69", "C-11")
@pytest.mark.parametrize(
    ("acts", "request_", "defaults", "says"),
    [
        ({}, {}, {}, "performed"),
        ({"cross-examination/muse": DEAD}, {}, {}, "performed"),
        ({}, {"options": {"quick": True}}, {}, "skipped via --quick"),
        ({}, {"options": {"budget": "low"}}, {}, "skipped by budget low"),
        ({}, {}, {"round2": False}, "skipped by configuration"),
        ({}, {}, {"round2": "ask"}, "skipped: nobody was there to ask"),
        ({"cross-examination": DEAD}, {}, {}, "left out, because too few specialists answered"),
        ({}, {"budget": Budget(max_calls=5)}, {}, "skipped for lack of budget"),
        ({}, {"budget": Budget(max_calls=6)}, {}, "skipped for lack of budget"),
        ({}, {"budget": Budget(max_calls=7)}, {}, "skipped for lack of budget"),
    ],
)
def test_the_answer_says_whether_round_two_was_held_and_if_not_why(
    acts: dict[str, Act], request_: dict[str, Any], defaults: dict[str, Any], says: str
) -> None:
    state = hold(council(acts, defaults=defaults), **request_)
    assert f"**Round 2:** {says}\n" in delivery(state, "9.9")


@pytest.mark.requirement("C-63")
def test_a_council_stopped_in_round_two_does_not_blame_its_agents() -> None:
    table = council({"cross-examination": None})

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea?"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(10)
        await table.service.stop(state.discussion_id, by="anna")
        return await run

    state = run_in_virtual_time(main())
    assert round2(state) == "skipped: the discussion was stopped"
    assert delivery(state, "9.9").startswith("🏛️ **Council Answer** (partial)\n")


@pytest.mark.requirement("C-69", "Z-09")
def test_a_round_two_that_the_budget_refused_is_not_noted_as_lack_of_agents() -> None:
    state = hold(council(), budget=Budget(max_calls=6))
    assert "round2_omitted" not in [note.code for note in notes(state)]
    assert "budget" in [note.code for note in notes(state)]


@pytest.mark.requirement("C-67")
def test_a_council_without_a_verdict_delivers_no_answer() -> None:
    state = hold(council({"answer": DEAD}))
    assert delivery(state, "9.9") == ""
    assert "Sorry: 0 of 3 specialists answered" in markdown_report(state, delivery(state, "0.1.0"))


@pytest.mark.requirement("I-02", "C-63")
def test_a_demonstration_claims_no_confidence() -> None:
    small = Voice(lambda r: "\n".join(f"## {s.heading}\nWords." for s in r.shape))
    state = hold(Table({"*": small}, cast=Cast(facts={"demonstration": True})))
    assert "**Confidence:** not meaningful (demonstration model)\n" in delivery(state, "9.9")


@pytest.mark.requirement("I-32")
def test_a_lone_dissent_stands_in_every_document() -> None:
    state = example()
    for document in (
        delivery(state, "9.9"),
        session_log(state, NOON),
        markdown_report(state, delivery(state, "0.1.0")),
        json.dumps(result(state)),
    ):
        assert "Tea stains teeth." in document


# The estimate


def opened(
    options: dict[str, Any], cast: Cast | None = None, defaults: dict[str, Any] | None = None
) -> State:
    table = Table(cast=cast, defaults=defaults)
    return run_in_virtual_time(table.service.open(OpenRequest(topic="Tea?", options=options)))


def estimate(state: State) -> Estimate:
    return foreseen(state)


def line(state: State) -> str:
    return estimate_line(estimate(state), state)


@pytest.mark.requirement("C-30", "C-31", "X-35")
@pytest.mark.parametrize(
    ("options", "specialists", "captain", "multiplier"),
    [({"quick": True}, 3, 2, "~3x"), ({}, 6, 3, "~6-10x")],
)
def test_the_estimate_names_the_calls_that_are_then_made(
    options: dict[str, Any], specialists: int, captain: int, multiplier: str
) -> None:
    before = estimate(opened(options))
    assert (before.participant_calls[1], before.host_calls[1]) == (specialists, captain)
    assert before.multiplier == multiplier
    table = council()
    state = hold(table, options=options)
    assert state.usage.calls == before.calls
    assert before.tokens[0] < before.likely.tokens < before.tokens[1]


@pytest.mark.requirement("C-30", "X-35")
def test_the_estimate_line_shows_calls_tokens_money_and_multiplier_as_a_range() -> None:
    assert line(opened({"quick": True})) == snapshot(
        "📊 Estimate: 3 calls to experts and 2 calls to the Captain (test/captain), 6,800–15,000 tokens, about $0.023 ($0.017–$0.038); ~3x a single answer"
    )
    assert line(opened({}, defaults={"round2": "ask"})).endswith(
        "~6-10x a single answer if round 2 is held"
    )


@pytest.mark.requirement("Z-09", "X-35")
def test_an_unknown_price_makes_the_estimate_unknown_and_not_cheap() -> None:
    unknown = Cast(facts={"usd_per_million_in": None, "usd_per_million_out": None})
    free = Cast(facts={"usd_per_million_in": 0.0, "usd_per_million_out": 0.0})
    assert estimate(opened({}, unknown)).cost_usd is None
    assert "cost unknown" in line(opened({}, unknown))
    assert ", free" in line(opened({}, free))


# The session log


@pytest.mark.requirement("C-72", "C-73", "I-35")
def test_the_session_log_has_its_form() -> None:
    assert session_log(example(), NOON) == snapshot("""\
# Roundtable Session Log

- Discussion: rt_00000001
- Time: 2026-03-04 12:30:00 CET (+0100)
- Models: Captain test/captain, Scholar codex, Engineer codex, Muse sonnet
- Round 2: enabled

## Original Question

Tea or coffee?

## Round 1 Summaries

### Scholar

Findings by codex. none high, because it was checked. none

### Engineer

Analysis by codex. Verification by codex. high, because it was checked. none

### Muse

Cocoa is kinder. It is late. Water. low

## Round 2 Summaries

### Scholar

Critique of Others by codex. Contradictions / Tensions by codex. Updated Position by codex. medium, because of the others.

### Engineer

Critique of Others by codex. Contradictions / Tensions by codex. Updated Position by codex. medium, because of the others.

### Muse

Critique of Others by sonnet. Contradictions / Tensions by sonnet. Updated Position by sonnet. medium, because of the others.

## Final Synthesis

**Drink tea, 2 of 3, 1 for another answer.**

Drink tea in the morning.

**Confidence:** Medium (64% to 89%). Two of three reached it independently, before hearing each other, one holds another answer. Of recorded debates that ended like this, about 8 in 10 were right.
**Agreement:** Majority: 2 of 3. They held it independently, before hearing each other. The writer says: All want something warm.
**Who holds what:**
- Scholar: Drink tea, from the start
- Engineer: Drink tea, from the start
- Muse: Drink cocoa, from the start

**Dissent:**
- Muse, round 2: Cocoa it is. Reason: Tea stains teeth. “Critique of Others by sonnet.”
- The writer says: The Muse wants cocoa; the price decided against it.
""")


@pytest.mark.requirement("C-72", "C-73")
def test_a_quick_session_has_no_second_round_in_its_log() -> None:
    log = session_log(example(options={"quick": True}), NOON)
    assert "- Round 2: skipped (--quick)\n" in log
    assert "## Round 2 Summaries" not in log


@pytest.mark.requirement("C-72", "C-66", "C-68")
def test_the_log_says_who_did_not_answer_and_whose_answer_was_unstructured() -> None:
    state = hold(council({"answer/muse": None, "answer/engineer": "Just tea."}))
    log = session_log(state, NOON)
    assert "### Muse\n\nNo answer: sonnet said nothing within 90 s.\n" in log
    assert "### Engineer\n\n[unstructured response] Just tea.\n" in log


@pytest.mark.requirement("C-72", "C-67")
def test_a_session_without_a_synthesis_says_why() -> None:
    log = session_log(hold(council({"answer": DEAD})), NOON)
    assert "## Final Synthesis\n\nNone: Sorry: 0 of 3 specialists answered" in log


@pytest.mark.requirement("I-35")
def test_the_time_in_the_log_carries_its_zone() -> None:
    state = example()
    assert "- Time: 2026-03-04 11:30:00 UTC (+0000)\n" in session_log(state, NOON.astimezone(UTC))
    away = timezone(timedelta(hours=-8), "PST")
    assert "- Time: 2026-03-04 03:30:00 PST (-0800)\n" in session_log(state, NOON.astimezone(away))


@pytest.mark.requirement("C-74")
def test_the_log_is_concise_however_long_the_speeches_are() -> None:
    long = scholar(Findings="A sentence that says little. " * 2000)
    log = session_log(hold(council({"answer": long, "cross-examination": long})), NOON)
    assert len(log) < 7 * 1000


@pytest.mark.requirement("C-70", "C-71", "I-35")
@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("Tea or coffee?", "tea-or-coffee"),
        ("../../etc/passwd", "etc-passwd"),
        ("Café 🚀 für alle", "cafe-fur-alle"),
    ],
)
def test_the_log_is_kept_in_its_place_under_its_local_date_and_topic(topic: str, name: str) -> None:
    state = hold(council(), topic)
    (log,) = outputs(state, NOON)
    assert log.path == f"memory/roundtable/2026-03-04-12-30-{name}.md"
    assert log.text == session_log(state, NOON)


@pytest.mark.requirement("C-70")
def test_no_log_is_kept_when_the_configuration_says_no() -> None:
    assert outputs(hold(council(defaults={"log_sessions": False})), NOON) == ()
    assert len(outputs(hold(council(defaults={"log_sessions": True})), NOON)) == 1


@pytest.mark.parametrize("path", ["../../etc", "/tmp/logs", "memory/roundtable/../../x"])
def test_another_place_for_logs_is_ignored_with_a_warning(path: str) -> None:
    state = hold(council(defaults={"log_path": path}))
    assert [path in note.text for note in state.notes if note.code == "log_path"] == [True]
    (log,) = outputs(state, NOON)
    assert log.path.startswith("memory/roundtable/2026")


# Secrets

KEY = "sk-ant-api03-PLANTEDplanted1234567890"
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    + "PLANTEDplanted/1234567890+\n" * 60
    + "-----END PRIVATE KEY-----"
)


@pytest.mark.requirement("C-74", "I-20")
@pytest.mark.parametrize("secret", [KEY, PEM, "ACME_API_KEY=PLANTEDplanted1234567890"])
def test_planted_keys_reach_no_document(secret: str) -> None:
    table = council(
        {
            "answer/scholar": scholar(Findings=f"Use {secret} now.", Dissent=f"Not {secret}."),
            "answer/engineer": declaring(
                f"{secret} " * 3,
                position=f"Take {secret}.",
                new_points=[f"{secret} works."],
                conditions=[{"text": f"Rotate {secret}.", "kind": "demand", "otherwise": "open"}],
            ),
            "answer/muse": DEAD,
            "synthesis": verdict(Answer=f"Log in with {secret}.", Gaps_and_Risks=secret),
        }
    )
    state = hold(table, f"Is {secret} safe?", created_by=secret)
    assert any("PLANTED" in speech.text for speech in state.speeches)
    documents = {
        "delivery": delivery(state, "9.9"),
        "log": session_log(state, NOON),
        "report": markdown_report(state, delivery(state, "0.1.0")),
        "result": json.dumps(result(state)),
    }
    for name, document in documents.items():
        assert "PLANTED" not in document, name
        assert "[redacted]" in document, name


@pytest.mark.requirement("C-74", "I-20")
@pytest.mark.parametrize("before", range(820, 900, 7))
def test_a_key_that_stands_where_the_log_is_cut_does_not_get_out_in_part(before: int) -> None:
    text = "x" * before + f" {KEY} and so on " + "y" * 200
    state = hold(council({"answer/scholar": text}), options={"quick": True})
    assert "sk-ant" not in session_log(state, NOON)


# The other documents


@pytest.mark.requirement("I-10")
def test_the_result_document_is_plain_json_and_complete() -> None:
    state = example(options={"quick": True})
    document = json.loads(json.dumps(result(state)))
    assert document["discussion_id"] == state.discussion_id
    assert (document["status"], document["stop_reason"]) == ("concluded", "verdict")
    turns = [speech["turn_id"] for speech in document["speeches"]]
    assert (turns[0], turns[-1]) == ("0/briefing/captain", "0/synthesis/captain")
    assert sorted(turns[1:-1]) == sorted(f"1/answer/{who}" for who in SPECIALISTS)
    assert document["verdict"]["answer"] == "Drink tea in the morning."
    assert document["usage"] == {
        "calls": 5,
        "input_tokens": 500,
        "output_tokens": 250,
        "cost_usd": 0.05,
        "known_cost_usd": 0.05,
        "counted_cost_usd": 0.0,
        "calls_of_unknown_cost": 0,
    }
    assert document["ballots"] == [], "nothing was put to the vote"
