"""The grammar says what a section may be made of."""

from __future__ import annotations

import re

import pytest

from roundtable.speakers.grammar import MOST_NAMES, MOST_WORDS, names_in, sentences


def as_pattern(grammar: str) -> re.Pattern[str]:
    """The same language as a regular expression, which it is as long as no rule is recursive."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def expand(rule: str) -> str:
        parts = re.findall(r'"[^"]*"|\[[^\]]*\]|\{[^}]*\}|[a-z]+|[()|?]', rule)
        return "".join(
            re.escape(part[1:-1])
            if part.startswith('"')
            else f"(?:{expand(rules[part])})"
            if part.isalpha()
            else part
            for part in parts
        )

    return re.compile(expand(rules["root"]))


def allows(text: str, *, count: int = 1, names: tuple[str, ...] = ("Postgres", "MongoDB")) -> bool:
    return as_pattern(sentences(count, names)).fullmatch(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The choice depends on what the team needs.",
        "Postgres is well-known, and it's the team's own choice.",
        "This is what users' data and MongoDB's model have in common.",
        "In my view, I would not choose either of them.",
    ],
)
def test_a_plain_sentence_is_allowed(text: str) -> None:
    assert allows(text)


@pytest.mark.parametrize(
    "text",
    [
        "The team of 5 needs a database that works.",
        "The answer is at https://example.com for all to see.",
        "The study by John Smith shows that it works.",
        "The choice depends on what the team needs",
        "The choice is: use what the team knows best.",
        "The choice depends on what\nthe team needs now.",
        "Zulu databases are what the team really needs.",
        "The team decides.",
        "",
    ],
    ids=["digit", "url", "name", "no end", "colon", "line", "first word", "short", "empty"],
)
def test_anything_else_is_not(text: str) -> None:
    assert not allows(text)


def test_a_name_is_allowed_only_when_it_was_given() -> None:
    text = "The team would be happier with Postgres."
    assert allows(text, names=("Postgres",))
    assert not allows(text, names=())


def test_a_sentence_has_an_upper_bound() -> None:
    assert allows(f"The{' word' * MOST_WORDS}.")
    assert not allows(f"The{' word' * (MOST_WORDS + 1)}.")
    assert not allows(f"The word is {'x' * 40} and nothing else.")


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_section_has_exactly_so_many_sentences(count: int) -> None:
    sentence = "The choice depends on what the team needs."
    assert [n for n in range(1, 7) if allows(" ".join([sentence] * n), count=count)] == [count]


def test_a_sentence_that_was_begun_is_gone_on_with() -> None:
    pattern = as_pattern(sentences(2, begun=True))
    rest = " the choice depends on what they need."
    assert pattern.fullmatch(f"{rest} The choice depends on what they need.")
    assert not pattern.fullmatch(f"The{rest} The{rest}")


@pytest.mark.parametrize("count", [0, -1])
def test_a_section_without_sentences_is_a_mistake(count: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        sentences(count)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Should we use Postgres or MongoDB?", ("Postgres", "MongoDB")),
        ("Is it AWS, Azure or Google Cloud? We use AWS.", ("AWS", "Azure", "Google", "Cloud")),
        ("---USER QUERY (untrusted)---\nShould we?\n---END USER QUERY---\nAnswer it.", ()),
        ('is "Quoted" or `Code` or http://Host or the K8s or version V2', ()),
        ("soll man Ökostrom kaufen", ()),
        ("", ()),
    ],
)
def test_names_are_capitalised_words_of_letters_inside_a_sentence(
    text: str, names: tuple[str, ...]
) -> None:
    assert names_in(text) == names


def test_a_long_text_gives_only_so_many_names() -> None:
    text = " ".join(f"and N{'a' * (n + 1)}" for n in range(MOST_NAMES + 5))
    assert len(names_in(text)) == MOST_NAMES
