"""Works in a council: a specialist writes one, another revises it, the Captain hands it over."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.core.deliverable import block
from roundtable.core.versions import versions_of
from roundtable.surfaces.files import write_outputs

from .council_table import council, declaring, hold, prompt_of, scholar, sections

TOPIC = "Write the notice for our customers: does the price go up in May?"
NOTICE = "Dear customers,\n\nfrom May on …\n"
ANSWER = f"{scholar()}\n\n{block('notice.md', NOTICE)}"
REVISED = sections(
    **{
        "Critique_of_Others": "Too long.",
        "Contradictions_/_Tensions": "none",
        "Updated_Position": "Say it in one line.",
        "Updated_Confidence": "high",
        "What_Changed": "nothing",
    }
)


@pytest.mark.requirement("Z-31")
def test_a_text_is_revised_by_another_specialist_and_left_as_a_file(tmp_path: Path) -> None:
    table = council(
        {
            "answer/scholar": declaring(ANSWER),
            "cross-examination/muse": declaring(
                f"{REVISED}\n\n{block('notice.md', 'Hello,', ['w1'])}"
            ),
        }
    )
    state = hold(table, TOPIC)
    assert [(v.participant, v.number) for v in versions_of(state)] == [("scholar", 1), ("muse", 2)]
    (path,) = [p for p in write_outputs(state, tmp_path) if p.name == "notice.md"]
    assert path.read_text("utf-8") == "Hello,\n"
    assert NOTICE in prompt_of(table, "2/cross-examination/muse").user
    assert "Hello," in prompt_of(table, "0/synthesis/captain").user


@pytest.mark.requirement("Z-31")
def test_a_question_without_a_wish_for_work_gets_no_word_about_it() -> None:
    table = council({"answer/scholar": declaring(ANSWER)})
    assert versions_of(hold(table)) == ()
    assert not any("deliverable NAME" in request.user for request in table.requests)
