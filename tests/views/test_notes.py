"""Notes are for people: names and plain words, and nothing twice."""

from __future__ import annotations

import pytest

from roundtable.core.causes import TOLD
from roundtable.core.errors import FAILURE_CAUSES
from roundtable.views.notes import plain


@pytest.mark.requirement("Z-36", "X-12")
@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("Somebody was late.", "Somebody was late."),
        (
            "PANEL DEGRADED: role Devil's Advocate, original xai/grok-4, fallback openai/urn, "
            "family urn.",
            "openai/urn speaks for Devil's Advocate in place of xai/grok-4, which cannot be used "
            "now.",
        ),
        ("PANEL DEGRADED: only 1 of the 4 models is here.", "Only 1 of the 4 models is here."),
    ],
)
def test_a_note_is_told_without_the_words_that_meta_keeps_it_under(kept: str, told: str) -> None:
    assert plain(kept) == told


def test_every_cause_has_words() -> None:
    assert set(TOLD) == set(FAILURE_CAUSES)
