"""`--json`: one document on stdout, with every key that others rely on."""

from __future__ import annotations

import json

import pytest

from .desk import ECHO, QUICK, Desk

KEYS = {
    "discussion_id",
    "procedure",
    "topic",
    "status",
    "stop_reason",
    "participants",
    "speeches",
    "verdict",
    "usage",
    "notes",
}


@pytest.mark.requirement("I-03")
def test_the_document_has_every_pinned_key(desk: Desk) -> None:
    outcome = desk.command("Tea or coffee?", *ECHO, "--json", "--no-log")
    document = outcome.document

    assert outcome.code == 0
    assert document.keys() >= KEYS
    assert document["procedure"] == "council"
    assert document["topic"] == "Tea or coffee?"
    assert (document["status"], document["stop_reason"]) == ("concluded", "verdict")
    assert [p["id"] for p in document["participants"]] == ["scholar", "engineer", "muse"]
    assert document["usage"].keys() == {
        *("calls", "input_tokens", "output_tokens", "cost_usd"),
        *("known_cost_usd", "counted_cost_usd", "calls_of_unknown_cost"),
    }
    assert document["usage"]["calls"] == len(document["speeches"]) > 6
    for speech in document["speeches"]:
        assert speech.keys() >= {"turn_id", "round", "participant", "model", "text", "flags"}
    assert document["verdict"].keys() >= {"answer", "confidence", "agreement", "dissent"}
    assert all(note.keys() == {"code", "text", "remedy"} for note in document["notes"])


@pytest.mark.requirement("D-94", "I-18")
def test_non_ascii_stays_readable(desk: Desk) -> None:
    outcome = desk("茶か珈琲か? Ärger 🍵", *QUICK, "--json")

    assert '"topic": "茶か珈琲か? Ärger 🍵"' in outcome.out
    assert "\\u" not in outcome.out


def test_a_failed_discussion_is_still_one_document(desk: Desk) -> None:
    outcome = desk("Tea?", "--all=scripted/mute", "--model=scripted/echo", "--json", "--no-log")

    assert outcome.code == 1
    assert outcome.document["status"] == "failed"
    assert outcome.document["stop_reason"] == "too_few_answers"
    assert outcome.document["verdict"] is None
    assert "--preset=cheap" in outcome.document["remedy"]


@pytest.mark.requirement("I-11")
def test_a_budget_that_ends_it_is_in_the_document_and_in_the_exit_code(desk: Desk) -> None:
    outcome = desk.ask("--max-calls", "3", "--json")

    assert outcome.code == 3
    assert outcome.document["stop_reason"] == "budget"
    assert outcome.document["verdict"]["partial"] is True
    assert outcome.document["usage"]["calls"] <= 3
    assert "budget" in [note["code"] for note in outcome.document["notes"]]


def test_a_usage_error_leaves_stdout_empty(desk: Desk) -> None:
    outcome = desk("", *QUICK, "--json")

    assert (outcome.code, outcome.out) == (2, "")


def test_show_and_export_give_the_same_document(desk: Desk) -> None:
    asked = desk.ask("--json").document
    shown = desk("show", asked["discussion_id"], "--json").document
    exported = json.loads(desk("export", asked["discussion_id"], "--format", "json").out)

    assert asked == shown == exported


def test_the_list_is_one_document(desk: Desk) -> None:
    asked = desk.ask("--json").document

    [row] = desk("list", "--json").document

    assert row["discussion_id"] == asked["discussion_id"]
    assert row["topic"] == "Tea or coffee?"
    assert row["status"] == "concluded"
