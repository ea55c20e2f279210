"""Patterns that are made when they are first used."""

from __future__ import annotations

import re

import pytest

from roundtable.core.pattern import pattern


def test_it_finds_what_the_same_expression_finds() -> None:
    words = pattern(r"(?P<first>[a-z])[a-z]*", re.IGNORECASE)
    made = re.compile(r"(?P<first>[a-z])[a-z]*", re.IGNORECASE)
    said = "Tea or coffee?"
    assert words.findall(said) == made.findall(said)
    assert words.sub("_", said) == made.sub("_", said)
    assert [each["first"] for each in words.finditer(said)] == ["T", "o", "c"]
    assert words.fullmatch(said) is None
    assert (words.pattern, words.flags, words.groups) == (made.pattern, made.flags, made.groups)


def test_it_is_made_once_and_not_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    compile_ = re.compile

    def counted(text: str, flags: int = 0) -> re.Pattern[str]:
        made.append(text)
        return compile_(text, flags)

    monkeypatch.setattr(re, "compile", counted)
    tea = pattern("tea")
    assert made == []
    assert tea.search("tea")
    assert not tea.search("coffee")
    assert made == ["tea"]


def test_a_wrong_expression_is_told_when_it_is_used() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error):
        wrong.search("tea")
