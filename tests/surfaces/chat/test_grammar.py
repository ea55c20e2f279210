"""What a chat message wants, and that it means the same as a command line."""

from __future__ import annotations

import pytest

from roundtable.surfaces.chat.grammar import Asks, Wants, understand


@pytest.mark.requirement("C-01", "X-01")
@pytest.mark.parametrize("slash", ["/roundtable", "/council", "/Council", "/roundtable@table_bot"])
def test_both_slashes_mean_the_council(slash: str) -> None:
    assert understand(f"{slash} What's better, tea or coffee? --quick") == Asks(
        ("What's", "better,", "tea", "or", "coffee?", "--quick"), "council"
    )


@pytest.mark.requirement("C-02", "C-05")
@pytest.mark.parametrize("sub", ["setup", "config", "help"])
def test_sub_commands_come_before_everything_else(sub: str) -> None:
    assert understand(f"/roundtable {sub}") == Wants(sub)  # type: ignore[arg-type]
    assert understand(f"/council {sub.upper()}") == Wants(sub)  # type: ignore[arg-type]
    assert understand(f"roundtable {sub}") == Wants(sub)  # type: ignore[arg-type]


def test_a_slash_alone_asks_for_help_and_a_longer_sentence_is_a_question() -> None:
    assert understand("/roundtable") == Wants("help")
    assert understand("/roundtable help me to choose") == Asks(
        ("help", "me", "to", "choose"), "council"
    )


@pytest.mark.requirement("C-03")
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ask the council: tea or coffee?", "tea or coffee?"),
        ("Could you ask the council whether we need Kafka?", "we need Kafka?"),
        ("Please do a multi-agent review of this plan", "review of this plan"),
        ("Should we move? Get multiple perspectives", "Should we move?"),
    ],
)
def test_a_phrase_calls_the_council(text: str, question: str) -> None:
    assert understand(text) == Asks(tuple(question.split()), "council")


@pytest.mark.requirement("C-03", "A-12")
@pytest.mark.parametrize(
    "text",
    [
        "Good morning",
        "The council met yesterday",
        "We sat at a roundtable yesterday",
        "roundtable discussions are fun",
        "/roundtables are nice",
        "a multi-agents system",
        "",
    ],
)
def test_chatter_is_not_for_the_table(text: str) -> None:
    assert understand(text) is None


@pytest.mark.requirement("A-12")
def test_in_a_dedicated_channel_every_message_is_a_topic_and_commands_still_work() -> None:
    assert understand("Tea or coffee?", dedicated=True) == Asks(("Tea", "or", "coffee?"))
    assert understand("/council Tea?", dedicated=True) == Asks(("Tea?",), "council")
    assert understand("/start", dedicated=True) is None
    assert understand("Tea or coffee?", dedicated=False) is None


@pytest.mark.requirement("A-01")
def test_the_bare_word_with_flags_is_a_command() -> None:
    assert understand("roundtable --debate Tea or coffee?") == Asks(
        ("--debate", "Tea", "or", "coffee?")
    )
