"""The shipped library itself: enough experts, complete, findable, and no two alike."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib import resources
from itertools import combinations

import pytest

from roundtable.experts.expert import LANGUAGES, Expert
from roundtable.experts.words import terms
from roundtable.models.entry import TAGS

ALIKE = 0.35
"""The most words, of all that two experts use, that they may share."""

TECHNICAL = (
    "backend",
    "frontend",
    "full stack",
    "software architecture",
    "devops",
    "security",
    "database",
    "algorithm",
    "data engineer",
)
OTHERS = {
    "product": ("product manager", "growth", "product analy", "ux", "customer success"),
    "business": ("marketing strateg", "brand", "sales", "public relations", "business analy"),
    "design": ("interaction design", "visual design", "service design", "design system"),
    "management": ("project manage", "tech lead", "agile coach"),
    "quality": ("performance", "qa"),
}


def described(expert: Expert) -> str:
    return (
        " ".join((expert.id, expert.name, *expert.tags.get("en", ()))).casefold().replace("-", " ")
    )


@pytest.mark.requirement("B-31")
def test_there_are_enough_experts_of_enough_domains(library: dict[str, Expert]) -> None:
    domains = Counter(expert.domain for expert in library.values())

    assert len(library) >= 180
    assert len(domains) >= 20
    assert min(domains.values()) >= 3, domains


@pytest.mark.requirement("B-31")
def test_no_id_and_no_name_occurs_twice() -> None:
    folder = resources.files("roundtable.experts").joinpath("library")
    rows = [
        (row["id"], row["name"], row["domain"], file.name)
        for file in folder.iterdir()
        if file.name.endswith(".toml")
        for row in tomllib.loads(file.read_text("utf-8"))["expert"]
    ]
    for place in (0, 1):
        counts = Counter(row[place] for row in rows)
        assert [name for name, count in counts.items() if count > 1] == []
    assert [row for row in rows if f"{row[2]}.toml" != row[3]] == []


@pytest.mark.requirement("B-31")
def test_every_expert_is_complete(library: dict[str, Expert]) -> None:
    for expert in library.values():
        assert len(expert.perspective.split()) >= 12, expert.id
        assert len(expert.guidance.split()) >= 20, expert.id
        assert len(expert.asks) >= 2, expert.id
        assert all(question.endswith("?") for question in expert.asks), expert.id
        assert expert.needs, expert.id
        assert set(expert.needs) <= set(TAGS), expert.id


@pytest.mark.requirement("B-31")
def test_every_expert_can_be_found_in_four_languages(library: dict[str, Expert]) -> None:
    for expert in library.values():
        assert set(expert.tags) == set(LANGUAGES), expert.id
        for language, tags in expert.tags.items():
            assert len(set(tags)) == len(tags), (expert.id, language)
            findable = [tag for tag in tags if any(terms(tag, language))]
            assert len(findable) >= 4, (expert.id, language)


@pytest.mark.requirement("B-32")
@pytest.mark.parametrize("speciality", TECHNICAL)
def test_every_technical_speciality_has_its_expert(
    library: dict[str, Expert], speciality: str
) -> None:
    assert any(speciality in described(expert) for expert in library.values())


@pytest.mark.requirement("B-33")
@pytest.mark.parametrize(("area", "speciality"), [(a, s) for a, row in OTHERS.items() for s in row])
def test_every_further_speciality_has_its_expert(
    library: dict[str, Expert], area: str, speciality: str
) -> None:
    found = [expert.id for expert in library.values() if speciality in described(expert)]
    assert found, area


@pytest.mark.requirement("B-31")
def test_no_two_experts_are_alike(library: dict[str, Expert]) -> None:
    used = {
        expert.id: set(terms(f"{expert.perspective} {expert.guidance}", "en"))
        for expert in library.values()
    }
    alike = [
        (one, other, round(share, 2))
        for one, other in combinations(used, 2)
        if (share := len(used[one] & used[other]) / len(used[one] | used[other])) > ALIKE
    ]
    assert alike == []
    perspectives = [expert.perspective for expert in library.values()]
    assert len(set(perspectives)) == len(perspectives)
