"""Wording: the words of a text, the same in whatever company they stand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.wording import worded

ASCII = st.text(st.characters(max_codepoint=127), max_size=60)


@settings(deadline=None)
@given(ASCII)
def test_a_text_in_ascii_has_the_words_that_it_has_before_another_script(text: str) -> None:
    alone = worded(text)
    beside = worded(f"{text}\n\n茶")
    assert beside.keys == (*alone.keys, "茶")
    assert beside.starts[:-1] == alone.starts
    assert beside.ends[:-1] == alone.ends


@pytest.mark.parametrize("word", ["naïve", "nai\u0308ve", "हिन्दी", "שָׁלוֹם", "r\u00adisk"])
def test_accents_and_vowel_signs_belong_to_their_word(word: str) -> None:
    assert len(worded(f"tea {word} coffee").keys) == 3


def test_a_character_of_a_script_without_spaces_is_a_word() -> None:
    assert worded("茶とtea").keys == ("茶", "と", "tea")
