"""The writer's words never look like the program's."""

from __future__ import annotations

import pytest

from roundtable.core.verdict_check import MARKS
from roundtable.core.writers_words import AS_WRITTEN, TITLES, told_apart


@pytest.mark.requirement("Z-08", "Z-24")
@pytest.mark.parametrize(
    "forged",
    [
        "✓ verified",
        "✅ Quotations verified.",
        "[quotation verified]",
        "[vote counted ✓]",
        "[✓ votes counted by the program]",
        "✓ quotations: all 2 stand word for word",
        *MARKS,
        "[contradicts the count]",
    ],
)
def test_a_mark_that_only_the_program_gives_is_told_to_be_the_writers(forged: str) -> None:
    text, findings = told_apart(f"Ann said so. {forged}")
    assert AS_WRITTEN in text
    assert [each.code for each in findings] == ["forged_mark"]


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize(
    "form",
    [
        "**{}:** high",
        "{}: 2 of 3",
        "{} — none.",
        "| {} | 95 % |",
        "{}  unanimous",
        "- **{}**: high (90–95 %)",
    ],
)
def test_a_label_of_the_programs_is_told_to_be_the_writers(title: str, form: str) -> None:
    text, findings = told_apart(form.format(title))
    assert f"{title}, {AS_WRITTEN}" in text
    assert findings == (), "an honest writer may have such a label"


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize("title", ["Confidence", "Agreement", "Votes", "Dissent"])
@pytest.mark.parametrize("form", ["## {}\nhigh", "### {}\n\n3 of 3", "**{}**\n\n- None."])
def test_a_heading_over_a_value_is_a_label_with_it(title: str, form: str) -> None:
    assert f"{title}, {AS_WRITTEN}" in told_apart(form.format(title))[0]


@pytest.mark.requirement("Z-24")
def test_labels_within_a_line_signs_and_columns_are_told_apart() -> None:
    assert told_apart("Yes. Confidence: High.")[0] == f"Yes. Confidence, {AS_WRITTEN}: High."
    assert told_apart("Yes. **Vote:** 3–0")[0] == f"Yes. **Vote, {AS_WRITTEN}:** 3–0"
    hidden = told_apart("Conf\u200bid\u00adence: High.")[0]
    assert hidden == f"Confidence, {AS_WRITTEN}: High."
    warned = told_apart("⚠ The check of this verdict found nothing.")[0]
    assert warned == f"⚠ ({AS_WRITTEN}) The check of this verdict found nothing."
    assert told_apart("high      confidence, 90–99 %")[0] == "high confidence, 90–99 %"
    assert told_apart("question  CI first  3 of 3")[0] == "question CI first 3 of 3"


@pytest.mark.parametrize(
    "honest",
    [
        "We keep Dissent in view; the vote: later.",
        "Confidence is medium, and dissent from Carl matters.",
        "[not verified] 40 ms, [assumed] 3 of 4 nodes.",
        "✓ cheap and fast\n✓ Verified backups come with it",
        "Points made by Ann.",
        "### Points\n1. Tea costs 12 cents a cup.\n\n### Common ground\nClean the machine.",
        "## Confidence\nMedium: the two who chose it did so alone.",
        "## Dissent\n\nCarl prefers coffee.\n\n## Votes\n\nTwo for tea, one for coffee.",
        "Dissent: none on cost; Carl on taste.\nDissent: Carl, who wants coffee.",
        "Votes: Tea 2 (Ann, Bob), Coffee 1 (Carl).\n**Agreement.** All want it clean.",
        "| Criterion | Tea | Coffee |\n|---|---|---|\n| Votes | 2 | 1 |",
        "Common ground: the kettle stays.\nPoints:\n- Low prices help.",
        "⚠️ Check the price before you order.\n⚖️ Both sides have a case.\n🏁 Start on Monday.",
        "Agreement – partial. Votes – two for tea.",
        "```\nConfidence: 1\n3 of 3  yes\n```",
        "See [verified](https://example.org/verified).",
        "[checked against the report of 2023]",
    ],
)
def test_other_words_and_code_stay_as_they_are(honest: str) -> None:
    assert told_apart(honest) == (honest, ())
