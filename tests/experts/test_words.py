"""Words of four languages in one form, and topics said in English."""

from __future__ import annotations

import pytest

from roundtable.experts.gloss import in_english
from roundtable.experts.words import content_words, language_of, parts, stem, terms

from .topics import HELD_OUT, MORE, TUNED, read_topics


def test_the_language_of_a_topic_is_recognised() -> None:
    topics = [topic for name in (TUNED, MORE, HELD_OUT) for topic in read_topics(name)]

    assert [t.text for t in topics if language_of(t.text) != t.language] == []
    assert language_of("Kubernetes") == "en"
    assert language_of("") == "en"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("server", "servers"),
        ("company", "companies"),
        ("kunde", "kunden"),
        ("mitarbeiter", "mitarbeitern"),
        ("bewertung", "bewertungen"),
        ("cliente", "clientes"),
        ("inversion", "inversiones"),
        ("modelo", "modelos"),
    ],
)
def test_singular_and_plural_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_words_that_say_nothing_are_dropped_in_their_own_language_only() -> None:
    assert content_words("It was a war at sea", "en") == ["war", "sea"]
    assert content_words("Das war ein Vertrag", "de") == ["vertrag"]


def test_accents_and_case_do_not_matter() -> None:
    assert list(terms("CLÍNICA", "es")) == list(terms("clinica", "es"))


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    assert list(terms("单体应用", "zh")) == ["单体", "体应", "应用"]


def test_a_compound_has_parts() -> None:
    assert {stem("handwerk"), stem("betrieb")} <= set(parts("handwerksbetrieb"))
    assert list(parts("abc")) == []


def test_english_stays_as_it_is() -> None:
    assert in_english("Tea or coffee?") == "Tea or coffee?"


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("Darf mein Arbeitgeber mir kündigen?", {"employer", "dismiss"}),
        ("¿Puede el médico cambiar la dosis?", {"physician", "dosage"}),
        ("老板不发工资怎么办？", {"employer", "salary"}),
        ("Wie sichern wir unser Kubernetes-Cluster gegen Angriffe?", {"kubernetes", "attack"}),
        ("Haftpflichtversicherung für Vereine?", {"insurance"}),
    ],
)
def test_a_topic_is_said_in_english_as_far_as_its_words_are_known(
    topic: str, words: set[str]
) -> None:
    assert words <= set(in_english(topic).split())
