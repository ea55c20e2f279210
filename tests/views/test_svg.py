"""Pictures: well-formed, escaped, told in words, and the same every time."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.views.opinion_map import OpinionMap
from roundtable.views.svg import (
    agreement_matrix_svg,
    convergence_chart_svg,
    opinion_map_svg,
    scores_svg,
)
from roundtable.views.svg.canvas import fitted, plain, width, wrapped

from .test_opinion_map import TWO_CAMPS, debate, opinion_map

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert("1")</script>\x00\x1b\u202e & \'" onload=x ]]> <!--'
NAMES = [
    "Chief Information Security Officer (Regulated Industries)",
    "数据库可靠性工程师与迁移专家",
    "مهندس موثوقية قواعد البيانات",
    HOSTILE,
    "",
    "👩‍🔬 Zoë",
]


def drawn(name: str = "x") -> OpinionMap:
    return opinion_map(
        debate("abcde", TWO_CAMPS, {"split": "+--.+"}, names={"a": name, "e": "Eve"})
    )


PICTURES: list[Callable[[OpinionMap], str]] = [
    opinion_map_svg,
    agreement_matrix_svg,
    lambda shown: convergence_chart_svg(shown.rounds),
    lambda shown: scores_svg({"a": {"b": 4, "e": 1}, "b": {"a": 5}}, shown.names),
]


def parsed(svg: str) -> Xml.Element:
    """As a browser would see it; XML that is not well-formed is an error."""
    root = Xml.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


@pytest.mark.requirement("Z-14")
def test_the_map_shows_camps_bridges_and_every_stance_and_tells_them_in_words() -> None:
    root = parsed(opinion_map_svg(drawn("Anna")))
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"Camp A", "Camp B", "What divides them", "What bridges the camps", "Anna"} <= {*words}
    uses = [use.get("href", "") for use in root.iter(f"{SVG}use")]
    assert uses.count("#opinion-map-bridge") == 3  # Eve, b who went over on one point, the legend
    assert uses.count("#opinion-map-moved") == 2  # b changed its mind, and the legend
    description = root.findtext(f"{SVG}desc") or ""
    assert "Camp A: Anna and b." in description
    assert "Eve bridges camps A and B." in description
    assert "On docs. (a bridge): agree: Anna, b, Eve, c and d." in description
    assert root.findtext(f"{SVG}title") == "Opinion map"


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_and_foreign_names_are_only_letters(
    picture: Callable[[OpinionMap], str], name: str
) -> None:
    svg = picture(drawn(name))
    root = parsed(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "defs", "g", "use", "text", "path", "rect", "circle"}
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]
    assert "\u202e" not in svg
    assert "style" not in svg


@pytest.mark.parametrize("picture", PICTURES)
def test_pictures_are_accessible_and_follow_the_page(picture: Callable[[OpinionMap], str]) -> None:
    root = parsed(picture(drawn()))
    assert root.get("role") == "img"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert (root.get("aria-labelledby") or "").split() == ids[:2]
    assert len(ids) == len(set(ids))
    assert root.findtext(f"{SVG}title")
    assert root.findtext(f"{SVG}desc")
    assert root.get("fill") == "currentColor"
    assert picture(drawn()) == picture(drawn())


def test_nothing_to_draw_is_told_in_words() -> None:
    empty = opinion_map(debate("ab"))
    assert "no points were raised" in opinion_map_svg(empty)
    assert "it takes two" in agreement_matrix_svg(empty)
    assert "No convergence" in convergence_chart_svg(empty.rounds)
    assert "it takes two" in scores_svg({})
    alone = opinion_map(debate("a", {"p": "+"}))
    assert "fewer than two" in opinion_map_svg(alone)
    for picture in PICTURES:
        parsed(picture(empty))
        parsed(picture(alone))


@pytest.mark.requirement("A-62", "A-63")
def test_scores_stand_in_their_cells_with_the_agreement_of_all() -> None:
    svg = scores_svg({"Analyst": {"Critic": 5, "Sage": 4}, "Critic": {"Analyst": 3, "Sage": 4}})
    root = parsed(svg)
    assert [t.text for t in root.iter(f"{SVG}text") if (t.text or "").isdigit()] == [*"5434"]
    assert "together 80 %" in svg
    assert "Critic: Analyst 3, Sage 4." in (root.findtext(f"{SVG}desc") or "")


@pytest.mark.parametrize("count", range(1, 13))
def test_everything_stays_within_the_picture(count: int) -> None:
    people = "abcdefghijkl"[:count]
    table = {f"p{n}": "".join("+-"[(i + n) % 2] for i in range(count)) for n in range(30)}
    shown = opinion_map(debate(people, table, names=dict(zip(people, NAMES * 2, strict=False))))
    for picture in PICTURES[:2]:
        root = parsed(picture(shown))
        wide, high = float(root.get("width", "0")), float(root.get("height", "0"))
        assert wide < 1200
        for element in root.iter():
            if element.tag in (f"{SVG}text", f"{SVG}use") and element.get("x"):
                assert 0 <= float(element.get("x", "0")) <= wide
                assert 0 <= float(element.get("y", "0")) <= high
    if count > 1:
        assert "and 14 more points" in opinion_map_svg(shown)


@settings(max_examples=80)
@given(st.text(max_size=60), st.integers(20, 200), st.integers(1, 3))
def test_words_are_cut_to_the_room_there_is(text: str, room: int, lines: int) -> None:
    whole = plain(text)
    assert not re.search(r"[\x00-\x1f]", whole)
    assert width(fitted(whole, room)) <= max(room, width("…") + 1)
    found = wrapped(whole, room, lines)
    assert 1 <= len(found) <= lines
    if width(whole) <= room:
        assert found == [whole]


def test_many_rounds_fit_into_the_chart() -> None:
    rounds = [{"p": "+-+"}] * 40
    shown = opinion_map(debate("abc", *rounds))
    root = parsed(convergence_chart_svg(shown.rounds))
    assert float(root.get("width", "0")) < 900
