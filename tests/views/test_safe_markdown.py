"""Markdown of others as HTML: what it may become, and what it may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.quotes import Sources
from roundtable.views.safe_markdown import Labels, Surroundings, linked, to_html

from .hostile import TEXTS
from .pages import parsed

# fmt: off
TAGS = {
    "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "div", "span",
}
# fmt: on
ATTRIBUTES = {"href", "rel", "class", "dir", "start", "tabindex", "title", "aria-label"}
SAID = {"1/answer/ann": "Three trials found a small effect.", "2/x/bob": "I agree."}
AROUND = Surroundings({**{turn: f"turn-{turn}" for turn in SAID}, "p1": "point-p1"}, Sources(SAID))


def check(html: str) -> None:
    """Nothing but plain elements, and links that lead where links may lead."""
    for element in parsed(html).all():
        assert element.tag in TAGS
        assert set(element.attrs) <= ATTRIBUTES
        href = element.attrs.get("href")
        if element.tag == "a":
            assert href
            assert href.startswith(("http://", "https://", "mailto:", "#turn-", "#point-"))
            if not href.startswith("#"):
                assert element.attrs["rel"] == "noopener noreferrer nofollow"
        else:
            assert href is None


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_text_stays_text(text: str) -> None:
    check(to_html(text, below=2, around=AROUND))
    check(f"<p>{linked(text, AROUND)}</p>")


@pytest.mark.requirement("I-21")
@given(st.lists(st.sampled_from([*TEXTS[:52], "\n\n", "> ", "- ", "|", "`", "**"]), max_size=8))
def test_hostile_texts_in_any_mixture_stay_text(texts: list[str]) -> None:
    check(to_html("".join(texts), below=2, around=AROUND))


@given(st.text(alphabet="[]()<>!#*_`|~\\\"'“”&;:/ \n-ahtps1.p", max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    check(to_html(text, below=2, around=AROUND))


@pytest.mark.requirement("I-21")
def test_the_words_of_a_hostile_text_can_still_be_read() -> None:
    text = "<script>alert('1')</script> & <b>bold</b>"
    assert parsed(to_html(text)).text.strip() == text


def test_markdown_becomes_structure_below_the_given_heading() -> None:
    text = "# One\n\n###### Six\n\na **b** ~~c~~\nd\n\n| x | y |\n|--:|:-:|\n| 1 | 2 |"
    page = parsed(to_html(text, below=2))
    assert [(e.tag, e.text) for e in page.all("h3", "h6")] == [("h3", "One"), ("h6", "Six")]
    assert [e.tag for e in page.all("strong", "s", "br")] == ["strong", "s", "br"]
    assert [(e.text, e.attrs.get("class")) for e in page.all("td")] == [
        ("1", "end"),
        ("2", "middle"),
    ]
    assert all(e.attrs["dir"] == "auto" for e in page.all("p", "h3", "td", "th"))


def test_a_link_says_where_it_leads_unless_its_text_does() -> None:
    page = parsed(to_html("[https://bank.example](https://evil.example/a) <https://ok.example>"))
    assert page.text.strip() == "https://bank.example (evil.example) https://ok.example"
    lead = parsed(to_html("[me](mailto:a@b.example)"))
    assert lead.text.strip() == "me (mailto:a@b.example)"


def test_bare_addresses_become_links_without_the_full_stop_after_them() -> None:
    page = parsed(to_html("See https://ok.example/a?b=1&c=2. Not `https://code.example`."))
    assert [(e.attrs["href"], e.text) for e in page.all("a")] == [
        ("https://ok.example/a?b=1&c=2", "https://ok.example/a?b=1&c=2")
    ]


def test_an_image_is_its_words_and_is_not_loaded() -> None:
    html = to_html("![a *chart*](https://evil.example/pixel.png)")
    assert "evil.example" not in html
    assert parsed(html).text.strip() == "[image: a *chart*]"


def test_turns_and_points_that_exist_become_links_and_others_do_not() -> None:
    text = "[1/answer/ann], (2/x/bob), `2/x/bob`, [p1] p1 [p2] 9/none/eve 11/answer/ann"
    page = parsed(to_html(text, around=AROUND))
    assert [(e.attrs["href"], e.text) for e in page.all("a")] == [
        ("#turn-1/answer/ann", "1/answer/ann"),
        ("#turn-2/x/bob", "2/x/bob"),
        ("#turn-2/x/bob", "2/x/bob"),
        ("#point-p1", "p1"),
    ]


def test_only_quotations_that_were_said_are_marked() -> None:
    text = "“Three trials found a small effect”, “Four trials found a small effect”, “I agree”"
    page = parsed(to_html(text, around=AROUND))
    assert [e.text for e in page.classed("verified")] == ["“Three trials found a small effect”"]
    (proof,) = page.classed("proof")
    assert proof.attrs["href"] == "#turn-1/answer/ann"
    assert proof.attrs["title"] == "word for word in 1/answer/ann"


def test_a_quotation_in_somebodys_own_words_needs_another_who_said_it() -> None:
    said = {"1/a/ann": "Bob holds that “wood is heavier than stone”.", "1/a/bob": "Wood floats."}
    links = {turn: f"turn-{turn}" for turn in said}
    text = "Ann: Bob holds that “wood is heavier than stone”."
    assert parsed(to_html(text, around=Surroundings(links, Sources(said)))).classed("verified")
    own = Surroundings(links, Sources(said), own={"ann": said["1/a/ann"]})
    assert not parsed(to_html(text, around=own)).classed("verified")
    assert not parsed(
        to_html(text, around=Surroundings(links, Sources(said)).not_by("ann"))
    ).classed("proof")
    by_bob = Surroundings(links, Sources(said)).not_by("bob")
    assert parsed(to_html(text, around=by_bob)).classed("verified")


def test_quotations_in_chinese_are_found_too() -> None:
    around = Surroundings(
        {"1/a/b": "turn-1/a/b"}, Sources({"1/a/b": "三项试验发现了很小的影响，一项没有。"})
    )
    page = parsed(to_html("他说「三项试验发现了很小的影响，一项没有」。", around=around))
    assert len(page.classed("verified")) == 1


def test_a_text_of_endless_length_is_cut_and_says_so() -> None:
    page = parsed(to_html("word " * 20_000))
    assert page.text.strip().endswith("[40,000 further characters are not shown]")


def test_a_citation_in_brackets_of_the_text_gets_no_others_on_paper() -> None:
    html = to_html("Ann (1/answer/ann) and 2/x/bob", around=AROUND)
    assert [a.attrs["class"] for a in parsed(html).all("a")] == ["cite within", "cite"]


LABELLED = Surroundings(
    {"1/proposal/data-engineer": "turn-1/proposal/data-engineer"},
    labels=Labels.of({"1/proposal/data-engineer": "Data Engineer, round 1"}),
)


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize(
    ("marked", "told", "links"),
    [
        ("As [@Data Engineer R1] says.", "As [Data Engineer, round 1] says.", 1),
        (
            "[@Data Engineer R1: partly] Late.",
            "Agrees in part with [Data Engineer, round 1] Late.",
            1,
        ),
        ("【@Data Engineer R1：不同意】", "Disagrees with [Data Engineer, round 1]", 1),
        ("[@Nobody R3: agree] So.", "Agrees with (Nobody, round 3) So.", 0),
        ("Write to [@handle] or a@b.c.", "Write to [@handle] or a@b.c.", 0),
    ],
)
def test_a_mark_of_whom_somebody_means_is_said_in_words(marked: str, told: str, links: int) -> None:
    found = parsed(to_html(marked, around=LABELLED))
    assert found.text.strip() == told
    assert len(found.all("a")) == links


LETTERS = "ab Z.,;:!?'\"“”()-+=#>/@1\n\t\u00a0\u2003é日→"


@given(st.text(LETTERS, max_size=40))
def test_words_without_a_mark_become_what_the_parser_makes_of_them(text: str) -> None:
    # A mark that stands for itself has the parser read the rest, which it leaves as it is.
    parsed_too = to_html(f"{text}\n\n\\*", around=AROUND)
    assert parsed_too == to_html(text, around=AROUND) + '<p dir="auto">*</p>\n'
