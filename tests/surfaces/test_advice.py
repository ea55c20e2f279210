"""The hint for questions that need no table."""

from __future__ import annotations

import pytest

from roundtable.surfaces.advice import simple_question_hint


@pytest.mark.requirement("C-04")
@pytest.mark.parametrize(
    "question",
    [
        "what's 2+2",
        "What is the capital of France?",
        "12 * (3 + 4) = ?",
        "Who was Ada Lovelace?",
        "hello",
        "Hi there, how are you?",
        "thanks!",
        "Translate 'tea' to German",
        "When did the war end?",
    ],
)
def test_lookups_sums_and_chit_chat_get_a_hint(question: str) -> None:
    hint = simple_question_hint(question)

    assert hint is not None
    assert "simple question" in hint
    assert "Continuing anyway" in hint


@pytest.mark.requirement("C-04")
@pytest.mark.parametrize(
    "question",
    [
        "Should a team of five use microservices?",
        "What is better for a small SaaS, Postgres or MongoDB?",
        "What is the best way to grow a team?",
        "Who is responsible when an autonomous car of a hired fleet hits a cyclist at night?",
        "Is this design sound?",
        "History of the kettle",
        "Why do projects fail?",
        "Hire a designer first?",
        "Highlight the flaws in this plan",
    ],
)
def test_questions_with_many_sides_get_none(question: str) -> None:
    assert simple_question_hint(question) is None


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_no_question_gets_no_hint(question: str) -> None:
    assert simple_question_hint(question) is None
