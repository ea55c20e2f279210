"""The interface in other languages: every text that it can say has its translation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import get_args

import pytest

from roundtable.core.declaration import StanceWord
from roundtable.core.points import PointStatus
from roundtable.core.values import TurnedOut
from roundtable.surfaces.web.assets import ENTRY, HOME, IMPORT, LANGUAGES, asset, modules, resolved
from roundtable.views.comparison import ROWS
from roundtable.views.decision_parts import SET_ASIDE, STATES, Chip
from roundtable.views.decision_people import (
    COULD_LIVE_WITH_IT,
    THE_MAJORITY,
    THE_SAME,
    THE_WRITTEN_ANSWER,
)
from roundtable.views.decision_votes import ON_THE_QUESTION
from roundtable.views.row import YOUR_TURN

SAID = re.compile(r"(?<![\w.$])(t|n|later|laterCounted)\(")
PLACEHOLDER = re.compile(r"\{\w+\}")
FORMS = {"de": 2, "es": 2, "zh": 1}
"""In how many forms a counted text is said."""
SERVED: frozenset[str] = frozenset(
    {
        *STATES.values(),
        *get_args(Chip),
        *(what for what, _ in ROWS),
        *get_args(StanceWord),
        *get_args(PointStatus),
        *get_args(TurnedOut),
        COULD_LIVE_WITH_IT,
        ON_THE_QUESTION,
        SET_ASIDE,
        THE_MAJORITY,
        THE_SAME,
        THE_WRITTEN_ANSWER,
        YOUR_TURN,
    }
) - {""}
"""Words of the program that the page says in the reader's language."""


def arguments(source: str, at: int) -> list[str]:
    """The arguments of a call, as they are written; `at` is behind its opening bracket."""
    found, depth, begin, quote = [], 0, at, ""
    while True:
        letter = source[at]
        if quote:
            if letter == "\\":
                at += 1
            elif letter == quote:
                quote = ""
        elif letter in "\"'`":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}" and depth:
            depth -= 1
        elif letter == ")" or (letter == "," and not depth):
            found.append(source[begin:at].strip())
            begin = at + 1
            if letter == ")":
                return found
        at += 1


def told(module: str, source: str) -> Iterator[str]:
    """The keys of one module. What stands in a variable must have been said with `later` before."""
    taken = {
        name.strip()
        for _, names, target in IMPORT.findall(source)
        if resolved(module, target) == "words.js"
        for name in names.split(",")
    }
    for call in SAID.finditer(source):
        name = call[1]
        if name not in taken:
            continue
        given = arguments(source, call.end())
        texts = given[1:3] if name == "n" else given if name == "laterCounted" else given[:1]
        if name in ("t", "n") and '"' not in "".join(texts):
            continue
        assert all(re.fullmatch(r'"(?:[^"\\]|\\.)*"', each) for each in texts), (
            f"{module}: {name}({', '.join(texts)}): give each text to a call of its own, "
            f'or put it into a table with later("…").'
        )
        yield "|".join(json.loads(each) for each in texts)


@pytest.fixture(scope="module")
def keys() -> frozenset[str]:
    own = [each for each in modules(ENTRY, HOME) if not each.startswith("vendor/")]
    return SERVED.union(*(told(each, asset(each)) for each in own))


def words(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(asset(f"words/{language}.json"))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_interface_is_translated(language: str, keys: frozenset[str]) -> None:
    missing = sorted(keys - words(language).keys())
    assert not missing, (
        f"page/words/{language}.json lacks {len(missing)} texts. Add each as a key with its "
        f"translation (a counted one as “one|many”, with {FORMS[language]} form(s)): {missing}"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_kept_that_nothing_says(language: str, keys: frozenset[str]) -> None:
    left = sorted(words(language).keys() - keys)
    assert not left, (
        f"Nothing says these any more; take them out of page/words/{language}.json, "
        f'or mark the text with later("…") where it stands: {left}'
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_same_places_and_as_many_forms_as_its_language(language: str) -> None:
    wrong = []
    for key, value in words(language).items():
        forms = value.split("|")
        counted = "|" in key
        if len(forms) != (FORMS[language] if counted else 1):
            wrong.append(f"{key}: {len(forms)} forms")
        wanted = sorted(PLACEHOLDER.findall(key.split("|")[-1]))
        for form in forms:
            if sorted(PLACEHOLDER.findall(form)) != wanted:
                wrong.append(f"{key}: the places in {form!r} are other ones than {wanted}")
            if form != form.strip() or not form:
                wrong.append(f"{key}: {form!r} is empty or has spaces around it")
    assert not wrong


def test_keys_have_no_spaces_around_them(keys: frozenset[str]) -> None:
    assert [each for each in keys if any(part != part.strip() for part in each.split("|"))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_is_in_order_so_that_changes_can_be_read(language: str) -> None:
    found = list(words(language))
    assert found == sorted(found)


def test_a_text_that_could_not_be_found_is_refused() -> None:
    head = 'import { n, t } from "./words.js";'
    with pytest.raises(AssertionError, match="a call of its own"):
        list(told("some.js", head + 't(yes ? "Yes" : "No")'))
    said = 't("Yes"); n(2, "{n} seat", "{n} seats"); t(WORDS[code]); later("no text of ours");'
    assert list(told("some.js", head + said)) == ["Yes", "{n} seat|{n} seats"]
