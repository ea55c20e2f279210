"""What people read of a speech: its words, never what is written for the program."""

from __future__ import annotations

import pytest

from roundtable.views.spoken import first_line, spoken


@pytest.mark.requirement("Z-31")
@pytest.mark.parametrize("label", ["declaration", "decisions", "casting"])
def test_no_block_for_the_program_is_among_the_words(label: str) -> None:
    text = f'## Scholar\nFind the facts.\n\n```{label}\n{{"questions": []}}\n```'
    assert spoken(text) == "## Scholar\nFind the facts."
    assert spoken(f"```{label}\n{{}}\n```") == ""


def test_code_that_somebody_shows_stays() -> None:
    text = "Use this:\n\n```python\nprint(1)\n```"
    assert spoken(text) == text


@pytest.mark.requirement("Z-34")
def test_the_line_of_a_speech_says_its_words_without_marks_and_citations() -> None:
    assert first_line("Drink **tea** [1/answer/张伟]; it calms.") == "Drink tea; it calms."
    assert first_line("Recompute. [@Data Engineer R1: partly] It is late.") == (
        "Recompute. It is late."
    )
