"""Quotes: how much of a text was copied, and whether a quotation is one."""

from __future__ import annotations

from collections import UserDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.quotes import Sources, copied_share, find_quote

SOURCE = "The migration should wait until the audit is over because the ledger is not yet stable."


@pytest.mark.requirement("C-62")
def test_a_pasted_text_is_copied_whole_and_an_own_one_not_at_all() -> None:
    assert copied_share(SOURCE, SOURCE) == 1
    assert copied_share(SOURCE.upper().replace(",", ";"), SOURCE) == 1
    assert copied_share("Wait for the audit, then migrate in small steps and measure.", SOURCE) == 0


@pytest.mark.requirement("C-62")
def test_a_short_quotation_in_own_words_is_a_small_share() -> None:
    text = (
        "All three advise patience. As the Engineer says, “the ledger is not yet stable”, and "
        "nothing in the plan is urgent enough to run that risk before the year ends."
    )
    assert 0 < copied_share("because " + text, SOURCE, run=4) < 0.3


def test_a_text_shorter_than_a_run_is_copied_from_nobody() -> None:
    assert copied_share("The migration should wait", SOURCE) == 0
    assert copied_share("", SOURCE) == 0


@given(st.text(), st.text())
def test_the_share_lies_between_nothing_and_all(text: str, source: str) -> None:
    assert 0 <= copied_share(text, source) <= 1


SAID = {"1/anna": SOURCE, "1/ben": "Wait? No. 我们应该等到审计结束。"}


@pytest.mark.parametrize(
    ("quote", "turn"),
    [
        ("the migration should wait", "1/anna"),
        ("“The  migration should\nwait” — until the AUDIT is over!", "1/anna"),
        ("The migration … because the ledger is not yet stable", "1/anna"),
        ("The migration should wait [...] the ledger", "1/anna"),
        ("wait no", "1/ben"),
        ("等到审计结束", "1/ben"),
        ("the ledger … the migration", None),
        ("The migration should not wait", None),
        ("migration should wai", None),
        ("wait because the ledger", None),
        ("", None),
        ("…", None),
    ],
)
def test_a_quotation_is_found_word_for_word_or_not_at_all(quote: str, turn: str | None) -> None:
    assert find_quote(quote, SAID) == turn
    assert Sources(SAID).find(quote) == turn


WORDS = st.lists(st.sampled_from(["the", "The", "ledger", "…", "waits.", "审计", "no"]), max_size=7)


@given(st.lists(WORDS, max_size=6), WORDS, st.sets(st.integers(0, 5)))
def test_many_texts_are_looked_through_as_one_by_one(
    said: list[list[str]], quote: list[str], left_out: set[int]
) -> None:
    texts = {str(place): " ".join(words) for place, words in enumerate(said)}
    others = {key: text for key, text in texts.items() if int(key) not in left_out}
    found = Sources(texts).find(" ".join(quote), but=lambda key: int(key) in left_out)
    assert found == find_quote(" ".join(quote), others)


def test_each_text_is_read_once_however_many_quotations_are_looked_for() -> None:
    read: list[str] = []

    class Read(UserDict[str, str]):
        def __getitem__(self, key: str) -> str:
            read.append(key)
            return super().__getitem__(key)

    sources = Sources(Read({str(n): f"speech {n} says what it says" for n in range(50)}))
    assert [sources.find(f"speech {n} says what") for n in range(50)] == [str(n) for n in range(50)]
    assert len(read) == 50


@given(st.text(max_size=60))
def test_a_text_with_words_quotes_itself(text: str) -> None:
    found = find_quote(text, {"it": text})
    assert found in ("it", None)
    assert find_quote(f"Say {text}", {"it": f"Say {text}"}) == "it"
