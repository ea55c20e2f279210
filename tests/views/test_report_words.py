"""The report calls things as the page does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.views.report_decision import initials
from roundtable.views.report_md import markdown_report
from tests.rehearsal import Table, Voice, run_in_virtual_time


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Precedent", "PR"),
        ("Numbers", "NU"),
        ("product-manager", "PM"),
        ("Head of Finance", "HF"),
        ("李明", "李"),
        ("  ", "?"),
    ],
)
def test_initials_are_those_of_the_page(name: str, letters: str) -> None:
    assert initials(name) == letters


class Breaking(Voice):
    """Is cut off wherever it is asked once more."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        first = request.idempotency_key.endswith("/1")
        return reply if first else replace(reply, finish_reason="length")


def test_a_whole_speech_is_not_told_as_cut_off_because_what_was_to_complete_it_was() -> None:
    def undeclared(_: SpeakRequest) -> str:
        return "## Answer\nTea.\n\n## Reasons\n1. It is hot.\n2. It is cheap."

    at = Table({"*": Breaking(undeclared)})
    state = run_in_virtual_time(at.ask("Tea or coffee?", procedure="deliberation"))
    text = markdown_report(state, "")
    assert "declare · the declaration that was asked for once more was cut off" in text
    cut = [line for line in text.splitlines() if "cut off at its length limit" in line]
    assert all("[truncated]" in line for line in cut), "what is used was whole"
