"""Contracts: what a speech must contain is checked by code, and odd Markdown breaks nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.contracts import (
    ANYTHING,
    Contract,
    Violation,
    parse_sections,
    says_nothing,
    with_sections,
)

HEADINGS = ("Findings", "Contradictions / Tensions", "Confidence")


@given(st.text(), st.lists(st.text(), max_size=4))
def test_no_text_and_no_heading_makes_the_parser_raise(text: str, headings: list[str]) -> None:
    found = parse_sections(text, headings)
    assert set(found) <= set(headings)


@given(
    st.lists(
        st.sampled_from(["## Findings", "**Confidence**", "```", "~~~", "", "# Other", "words"])
    )
)
def test_every_section_found_was_asked_for_and_comes_from_the_text(lines: list[str]) -> None:
    found = parse_sections("\n".join(lines), ("Findings", "Confidence"))
    assert all(part in ["", *lines] for body in found.values() for part in body.split("\n"))


@pytest.mark.requirement("C-21", "C-59")
@pytest.mark.parametrize(
    "heading",
    [
        "## Contradictions / Tensions",
        "# contradictions/tensions",
        "###### CONTRADICTIONS / TENSIONS ######",
        "##Contradictions / Tensions",
        "   ## **Contradictions / Tensions:**",
        "**Contradictions / Tensions**",
        "**Contradictions / Tensions:**",
        "**Contradictions / Tensions**:",
        "## ⚔️ Contradictions / Tensions",
    ],
)
def test_a_heading_is_found_at_any_level_or_in_bold(heading: str) -> None:
    assert parse_sections(f"{heading}\n\nA body.\n", HEADINGS) == {
        "Contradictions / Tensions": "A body."
    }


@pytest.mark.parametrize(
    "line",
    [
        "Findings",
        "The **Findings** are in.",
        "**Findings** are **in**",
        "    ## Findings",
        "****",
        "#",
        "> ## Findings",
        "- **Findings**",
    ],
)
def test_a_line_that_is_no_heading_opens_no_section(line: str) -> None:
    assert parse_sections(f"{line}\nbody", HEADINGS) == {}


def test_headings_that_were_not_asked_for_stay_in_the_section_around_them() -> None:
    text = "Preamble.\n## Findings\nA.\n### Detail\nB.\n## Confidence\nhigh"
    assert parse_sections(text, HEADINGS) == {
        "Findings": "A.\n### Detail\nB.",
        "Confidence": "high",
    }


def test_a_heading_that_comes_twice_joins_its_bodies() -> None:
    text = "## Findings\nA.\n## Confidence\nlow\n## Findings\nB."
    assert parse_sections(text, HEADINGS) == {"Findings": "A.\nB.", "Confidence": "low"}


@pytest.mark.requirement("C-22")
@pytest.mark.parametrize("mark", ["```", "~~~"])
def test_a_comment_in_a_block_of_code_is_no_heading(mark: str) -> None:
    text = f"## Findings\n{mark}python\n# Confidence\nx = 1\n{mark}\n## Confidence\nhigh"
    assert parse_sections(text, HEADINGS) == {
        "Findings": f"{mark}python\n# Confidence\nx = 1\n{mark}",
        "Confidence": "high",
    }


def test_a_block_of_code_that_nobody_closes_swallows_no_section() -> None:
    text = "## Findings\n```\nx = 1\n## Confidence\nhigh"
    assert parse_sections(text, HEADINGS)["Confidence"] == "high"


def test_code_within_a_line_begins_no_block() -> None:
    text = "## Findings\n```x = 1```\n## Confidence\nhigh\n```y```"
    assert parse_sections(text, HEADINGS)["Confidence"] == "high\n```y```"


def test_line_ends_of_every_platform_are_understood() -> None:
    assert parse_sections("## Findings\r\nA.\r\n## Confidence\rlow", HEADINGS) == {
        "Findings": "A.",
        "Confidence": "low",
    }


def test_a_long_line_of_blanks_does_not_make_the_parser_explode() -> None:
    line = "# a" + " " * 20_000 + "b"
    assert parse_sections(f"## Findings\n{line}", HEADINGS) == {"Findings": line}


@pytest.mark.requirement("C-68")
def test_a_contract_names_each_section_that_is_missing_or_empty() -> None:
    contract = Contract(sections=("Findings", "Sources", "Dissent"))
    assert contract.check("## Findings\nA.\n## Sources\n\n") == (
        Violation("section", "The section “## Sources” is missing or empty.", "Sources"),
        Violation("section", "The section “## Dissent” is missing or empty.", "Dissent"),
    )
    assert contract.check("## Findings\nA.\n## Sources\nnone\n## Dissent\nnone") == ()


@pytest.mark.requirement("X-32", "X-42")
def test_a_contract_holds_a_speech_to_its_length() -> None:
    contract = Contract(min_words=3, max_words=5)
    assert [v.code for v in contract.check("one two")] == ["short"]
    assert [v.code for v in contract.check("one two three")] == []
    assert [v.code for v in contract.check("one two three four five six")] == ["long"]
    assert [v.code for v in contract.check("圆桌会议讨论技术")] == []


def test_the_empty_contract_accepts_anything() -> None:
    assert ANYTHING.check("?") == ()
    assert ANYTHING.parse("## Findings\nA.") == {}


EMPTY = ["", " \n", "None", "none.", "- None", "**None.**", "N/A", "n/a", "No.", "No dissent."]
EMPTY += ["(none)", "Nothing!", "—", "...", "Not applicable.", "Keine.", "Ninguno.", "nada"]


@pytest.mark.parametrize("text", EMPTY)
def test_a_section_that_only_says_that_it_is_empty_says_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.requirement("I-32")
@pytest.mark.parametrize(
    "text",
    [
        "None of the evidence holds.",
        "No — the plan will fail.",
        "Nothing in the data supports it.",
        "No.\n- But the licence forbids it.",
        "Keine der Quellen trägt.",
        "Nobody asked the users.",
        "Notable risk",
    ],
)
def test_a_dissent_that_begins_with_a_denial_is_still_a_dissent(text: str) -> None:
    assert not says_nothing(text)


@pytest.mark.requirement("C-68")
@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("## Confidence: high", "high"),
        ("**Confidence:** high, it was checked", "high, it was checked"),
        ("**Confidence**: high", "high"),
        ("## 3. Confidence\nhigh", "high"),
        ("### Confidence: high\nit was checked", "high\nit was checked"),
    ],
)
def test_headings_are_read_as_models_really_write_them(text: str, body: str) -> None:
    assert parse_sections(text, ["Confidence"]) == {"Confidence": body}


def test_bold_words_within_a_sentence_are_no_heading() -> None:
    assert parse_sections("**Dissent** is what I expect here.", ["Dissent"]) == {}


def test_a_heading_within_a_section_is_not_the_section_of_that_name() -> None:
    text = (
        "## Answer\nTea.\n### Dissent\nOne is for coffee.\n**Dissent:** mild\n### Price\nLow.\n"
        "## Dissent\nCoffee keeps awake."
    )
    assert parse_sections(text, ("Answer", "Dissent")) == {
        "Answer": "Tea.\n### Dissent\nOne is for coffee.\n**Dissent:** mild\n### Price\nLow.",
        "Dissent": "Coffee keeps awake.",
    }
    mended = with_sections(text, "## Dissent\nIt is bitter.", ("Dissent",))
    assert "One is for coffee." in mended
    assert mended.endswith("## Dissent\nIt is bitter.")


def test_sections_of_different_levels_are_found_where_each_name_comes_once() -> None:
    text = "# Answer\nTea.\n### Dissent\nCoffee.\n**Price:** low"
    assert parse_sections(text, ("Answer", "Dissent", "Price")) == {
        "Answer": "Tea.",
        "Dissent": "Coffee.",
        "Price": "low",
    }
