"""Whoever is cut off at the length limit: said while it runs, under the vote and in every file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from roundtable.core.cut_short import cut_short
from roundtable.core.declaration import LIMITED, UNDECLARED
from roundtable.core.events import SpeechGiven
from roundtable.core.headline import dropped_out
from roundtable.core.state import fold
from roundtable.core.turns import TRUNCATED
from roundtable.examples import examples
from roundtable.surfaces.cli.progress import told
from roundtable.views.notes import notes
from tests.servers import Fault, provider_server, raw
from tests.wire import Asked

from .desk import Desk, obedient

SEATS = (
    "--models=openai/brief,openai/short,openai/endless",
    "--host=openai/brief",
    "--experts=restaurateur,food-technologist,first-principles",
    "--no-log",
)
CUT = (
    "1 of 3 experts was cut off at its length limit, and the rest was not heard: First Principles "
    "(openai/endless) in rounds 1 and 2."
)


def unending(asked: Asked) -> str | Fault:
    """`endless` never comes to its declaration; `wordy` was cut behind it."""
    if asked.model not in ("endless", "wordy"):
        return obedient(asked)
    said = "And on " * 40 if asked.model == "endless" else f"{obedient(asked)}\n\nAnd"
    choice = {"index": 0, "delta": {"content": said}, "finish_reason": "length"}
    chunk = {"id": "x", "model": asked.model, "choices": [choice]}
    return raw(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")


@pytest.mark.requirement("Z-35", "Z-36", "I-06")
def test_who_was_cut_off_at_its_length_is_said_wherever_the_verdict_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(unending) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        asked = desk("Tea or coffee?", *SEATS)
        told = desk("Tea or coffee?", *SEATS, "--json")

    running = [line for line in asked.err.splitlines() if line.startswith("First Principles: ")]
    assert len(running) == 2
    assert all("words, cut off at its length limit" in line for line in running)
    verdict = " ".join(asked.out.split())
    assert f"! {CUT} Ask for shorter answers, or give these seats other models." in verdict
    assert "declared nothing in round 2, where it was cut off at its length limit" in verdict
    assert CUT in [note["text"] for note in told.document["notes"]]
    for form in ("md", "html"):
        exported = desk("export", "last", "--format", form)
        assert CUT in exported.out, form
    page = desk("export", "last", "--format", "page").out
    assert json.dumps(CUT, ensure_ascii=False)[1:-1] in page


@pytest.mark.requirement("Z-35")
def test_a_written_answer_that_was_cut_off_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(unending) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        asked = desk(
            "Tea or coffee?",
            "--models=openai/brief,openai/short",
            "--host=openai/wordy",
            "--experts=restaurateur,food-technologist",
            "--no-log",
        )

    assert "! The written answer was cut off at its length limit" in " ".join(asked.out.split())


@pytest.mark.requirement("Z-35", "I-06")
def test_what_the_budget_cut_is_not_said_to_be_too_long() -> None:
    records = examples()["free-buses"].records()
    at, speech = next(
        (n, r.event)
        for n, r in enumerate(records)
        if isinstance(r.event, SpeechGiven) and r.event.round
    )
    flags = (*speech.flags, TRUNCATED, UNDECLARED, LIMITED)
    cut = speech.model_copy(update={"flags": flags, "declaration": None})
    records = (*records[:at], replace(records[at], event=cut))
    state = fold(records)
    ((sentence, remedy),) = cut_short(state)
    assert sentence.startswith("1 of 1 experts was cut off by the budget, and the rest was not")
    assert remedy.startswith("What was cut stays cut, also under a higher limit: next time ask")
    assert sentence in [note.text for note in notes(state)]
    assert ", cut off by the budget" in told(records[-1], state)
    assert dropped_out(state, speech.participant).startswith("cut off by the budget in round 1")
