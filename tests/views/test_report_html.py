# ruff: noqa: E501
"""The HTML report: one file that needs nothing, runs nothing, and leads everywhere it says."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise

import pytest
from inline_snapshot import snapshot

from roundtable.core.events import DiscussionClosed, PointRaised, StanceTaken, VerdictReached
from roundtable.core.state import State
from roundtable.core.values import Dissent, Participant, SpeakerRef, Verdict
from roundtable.procedures import procedure_spec
from roundtable.views.report_html import LONG, html_report
from tests.procedures.council_table import Act, council, hold, scholar, sections, verdict

from .declaring import against
from .hostile import TEXTS
from .pages import Element, ids, inner_links, parsed
from .tables import long_table, mishaps, opened, seat, speech, told

SEATS = [seat("Ann", "🔍"), seat("Bob"), seat("Cid")]
# fmt: off
SVG = {
    "svg", "g", "defs", "use", "path", "rect", "circle", "text", "tspan", "title", "desc", "line",
    "polyline",
}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "nav", "main", "footer", "section",
    "article", "h1", "h2", "h3", "h4", "h5", "h6", "p", "a", "ul", "ol", "li", "dl", "dt", "dd",
    "div", "span", "small", "strong", "em", "s", "code", "pre", "blockquote", "br", "hr", "bdi",
    "time", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure",
    "figcaption", *SVG,
}
# fmt: on
OUTSIDE = (
    "src",
    "srcset",
    "srcdoc",
    "data",
    "poster",
    "background",
    "action",
    "formaction",
    "style",
)


def words(round_: int, who: str) -> str:
    return f"## Position\n{who} in round {round_}."


def page_of(state: State, delivered: str | None = None) -> Element:
    if delivered is None:
        delivered = procedure_spec(state.start.procedure).deliver(state, "9.9")
    return parsed(html_report(state, delivered))


def check(page: Element) -> None:
    """What holds for every report."""
    places = ids(page)
    assert len(places) == len(set(places)), "an id is there twice"
    assert not [place for place in places if re.search(r"\s", place)]
    assert set(inner_links(page)) <= set(places), "a link leads nowhere"
    for element in page.all():
        assert element.tag in TAGS
        assert not [name for name in element.attrs if name.startswith("on") or name in OUTSIDE]
        href = element.attrs.get("href")
        if element.tag == "use":
            assert href is not None
            assert href.startswith("#")
        elif href is not None:
            assert element.tag == "a"
            if not href.startswith("#"):
                assert href.startswith(("https://", "http://", "mailto:"))
                assert element.attrs["rel"] == "noopener noreferrer nofollow"
    levels = [int(e.tag[1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(page.all("main")) == len(page.all("nav")) == 1
    assert len(page.all("style")) == 1


@pytest.mark.requirement("I-10")
def test_a_small_report_as_a_whole() -> None:
    html = html_report(mishaps("## Tea\nIt calms: https://tea.example"), "")
    html = re.sub(r"<style>.*</style>", "<style>…</style>", html, flags=re.DOTALL)
    assert re.sub(r"sha256-[^']*", "sha256-…", html) == snapshot("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-…'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Tea or coffee? · Roundtable</title>
<style>…</style>
</head>
<body>
<a class="skip" href="#decision">Skip to the decision</a>
<header class="first" id="decision">
<p class="meta"><span class="chip bad">Failed</span> <span>2 experts, 1 round</span> <span>2 January 2026, 7 seconds</span></p>
<h1 class="q" dir="auto">Tea or coffee?</h1>
<p class="answer" dir="auto">No answer: 1 of 2 answered. <span>One speech is kept.</span></p>
<p class="remedy" dir="auto">Check the models.</p>
<ul class="flags" aria-label="To know">
<li class="flag warn" dir="auto">Another model spoke in place of the one that was wanted.</li>
</ul>
</header>
<nav aria-label="Contents">
<ul>
<li><a href="#experts">The experts</a></li>
<li><a href="#verdict">Verdict</a></li>
<li><a href="#participants">Participants</a></li>
<li><a href="#discussion">Discussion</a> <span class="rounds"><a href="#round-1" aria-label="Round 1">1</a></span></li>
<li><a href="#made">How this was made</a> <span class="below"><a href="#notes">Notes</a> <a href="#costs">Calls and costs</a> <a href="#provenance">Provenance</a></span></li>
</ul>
</nav>
<main>
<section id="experts" class="part" aria-labelledby="experts-head">
<h2 id="experts-head">The experts</h2>
<ul class="exp">
<li class="seat0"><p class="who"><strong><bdi>Ann</bdi></strong><span class="chip plain">No vote</span></p>
</li>
<li class="seat1"><p class="who"><strong><bdi>Bob</bdi></strong><span class="chip plain">Absent</span></p>
<p class="cause" dir="auto">Did not answer. </p>
</li>
</ul>
</section>
<section id="verdict" aria-labelledby="verdict-head">
<h2 id="verdict-head">Verdict</h2>
<div class="alert" role="note"><p dir="auto"><strong>Sorry: 1 of 2 answered.</strong></p><p dir="auto">Check the models.</p></div>
</section>
<section id="participants" aria-labelledby="participants-head">
<h2 id="participants-head">Participants</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Participants">
<table class="grid">
<thead><tr><th scope="col" dir="auto">Who</th><th scope="col" dir="auto">Role</th><th scope="col" dir="auto">Model</th><th scope="col" class="end" dir="auto">Speeches</th></tr></thead>
<tbody>
<tr><th scope="row" dir="auto">🔍 Ann</th><td>Ann&#x27;s role</td><td>m/spare</td><td class="end">1</td></tr>
<tr><th scope="row" dir="auto">Bob</th><td>Bob&#x27;s role</td><td>silent (m/bob)</td><td class="end">0</td></tr>
<tr><th scope="row" dir="auto">Host</th><td>host</td><td>silent (m/host)</td><td class="end">0</td></tr>
</tbody>
</table></div>
</section>
<section id="discussion" aria-labelledby="discussion-head">
<h2 id="discussion-head">Discussion</h2>
<section class="round" id="round-1" aria-labelledby="round-1-head">
<h3 id="round-1-head">Round 1</h3>
<article class="speech seat0" id="turn-1/answer/ann">
<header>
<h4><span aria-hidden="true">🔍</span> <bdi>Ann</bdi> <small>answer</small></h4>
<p class="about"><bdi dir="ltr"><a href="#turn-1/answer/ann">1/answer/ann</a></bdi> · <bdi>m/spare</bdi> · <time datetime="2026-01-02T12:00:08+00:00">12:00:08 UTC</time> · <bdi class="mark">[REPAIRED]</bdi> · <bdi class="mark">2 calls: answer, fallback</bdi> · <bdi class="mark">m/spare in place of m/ann, which gave an answer that makes no sense</bdi></p>
</header>
<div class="words" dir="ltr">
<h6 dir="auto">Tea</h6>
<p dir="auto">It calms: <a href="https://tea.example" rel="noopener noreferrer nofollow">https://tea.example</a></p>
</div>
</article>
<article class="speech seat1" id="turn-1/answer/bob">
<header>
<h4><bdi>Bob</bdi> <small>answer</small></h4>
<p class="about"><bdi dir="ltr"><a href="#turn-1/answer/bob">1/answer/bob</a></bdi> · <bdi>m/bob</bdi></p>
</header>
<div class="alert" role="note"><p dir="auto"><strong>No speech: No answer in 90 s.</strong></p><p dir="auto">Give it more time.</p></div>
</article>
</section>
</section>
<section id="made" aria-labelledby="made-head">
<h2 id="made-head">How this was made</h2>
<dl class="facts">
<div><dt>Status</dt><dd>failed</dd></div>
<div><dt>Procedure</dt><dd>council</dd></div>
<div><dt>Participants</dt><dd>2</dd></div>
<div><dt>Rounds</dt><dd>1</dd></div>
<div><dt>Calls</dt><dd>3</dd></div>
<div><dt>Cost</dt><dd>at least $0.0200 (1 call of unknown cost)</dd></div>
<div><dt>Date</dt><dd>2026-01-02 12:00 UTC</dd></div>
</dl>
<section id="notes" aria-labelledby="notes-head">
<h3 id="notes-head">Notes</h3>
<div class="scroll" tabindex="0" role="region" aria-label="Notes">
<table class="grid">
<thead><tr><th scope="col" dir="auto">Note</th><th scope="col" dir="auto">What happened</th><th scope="col" dir="auto">What to do</th></tr></thead>
<tbody>
<tr><th scope="row" dir="auto">degraded</th><td>Only one of two spoke.</td><td>Ask again.</td></tr>
<tr><th scope="row" dir="auto">substituted</th><td>m/spare spoke for Ann in place of m/ann, which gave an answer that makes no sense.</td><td>Choose another model.</td></tr>
</tbody>
</table></div>
</section>
<section id="costs" aria-labelledby="costs-head">
<h3 id="costs-head">Calls and costs</h3>
<div class="scroll" tabindex="0" role="region" aria-label="Calls and costs">
<table class="grid">
<thead><tr><th scope="col" dir="auto">Who</th><th scope="col" dir="auto">Models</th><th scope="col" class="end" dir="auto">Calls</th><th scope="col" class="end" dir="auto">Asked again</th><th scope="col" class="end" dir="auto">Failed</th><th scope="col" class="end" dir="auto">Tokens in</th><th scope="col" class="end" dir="auto">Out</th><th scope="col" class="end" dir="auto">Seconds</th><th scope="col" class="end" dir="auto">Cost</th></tr></thead>
<tbody>
<tr><th scope="row" dir="auto">Ann</th><td>m/ann, m/spare</td><td class="end">2</td><td class="end">1</td><td class="end">0</td><td class="end">200</td><td class="end">100</td><td class="end">3.0</td><td class="end">$0.0200</td></tr>
<tr><th scope="row" dir="auto">Bob</th><td>m/bob</td><td class="end">1</td><td class="end">0</td><td class="end">1</td><td class="end">about 1</td><td class="end">0</td><td class="end">0.0</td><td class="end">unknown</td></tr>
<tr><th scope="row" dir="auto">All</th><td></td><td class="end">3</td><td class="end">1</td><td class="end">1</td><td class="end">about 201</td><td class="end">about 100</td><td class="end">3.0</td><td class="end">at least $0.0200</td></tr>
</tbody>
</table></div>
<div class="scroll" tabindex="0" role="region" aria-label="Substitutions">
<table class="grid">
<caption>Substitutions</caption>
<thead><tr><th scope="col" dir="auto">Who</th><th scope="col" dir="auto">Turn</th><th scope="col" dir="auto">Asked</th><th scope="col" dir="auto">Then asked</th><th scope="col" dir="auto">Because</th></tr></thead>
<tbody>
<tr><th scope="row" dir="auto">Ann</th><td><a class="cite" href="#turn-1/answer/ann">Ann, round 1</a></td><td>m/ann</td><td>m/spare</td><td>it gave an answer that makes no sense</td></tr>
</tbody>
</table></div>
</section>
<section id="provenance" aria-labelledby="provenance-head">
<h3 id="provenance-head">Provenance</h3>
<div class="scroll" tabindex="0" role="region" aria-label="Provenance">
<table class="grid">
<thead><tr><th scope="col" dir="auto">What</th><th scope="col" dir="auto">Value</th></tr></thead>
<tbody>
<tr><th scope="row" dir="auto">Discussion</th><td>rt_0000abcd</td></tr>
<tr><th scope="row" dir="auto">Procedure</th><td>council</td></tr>
<tr><th scope="row" dir="auto">Opened</th><td>2026-01-02 12:00 UTC</td></tr>
<tr><th scope="row" dir="auto">Last event</th><td>13, 2026-01-02 12:00 UTC</td></tr>
<tr><th scope="row" dir="auto">Ended by</th><td>too_few_answers</td></tr>
<tr><th scope="row" dir="auto">Verdict by</th><td>nobody</td></tr>
<tr><th scope="row" dir="auto">Language</th><td>auto</td></tr>
<tr><th scope="row" dir="auto">Seed</th><td>7</td></tr>
<tr><th scope="row" dir="auto">Opened by</th><td dir="auto">—</td></tr>
<tr><th scope="row" dir="auto">Program</th><td>roundtable 9.9</td></tr>
</tbody>
</table></div>
<div class="scroll" tabindex="0" role="region" aria-label="Prompts">
<table class="grid">
<caption>Prompts</caption>
<thead><tr><th scope="col" dir="auto">Template</th><th scope="col" class="end" dir="auto">Version</th><th scope="col" dir="auto">Hash</th><th scope="col" class="end" dir="auto">Calls</th></tr></thead>
<tbody>
<tr><th scope="row" dir="auto">test/answer</th><td class="end">2</td><td>f00df00df00d</td><td class="end">3</td></tr>
</tbody>
</table></div>
</section>
</section>
</main>
<footer><p>rt_0000abcd · roundtable 9.9</p></footer>
</body>
</html>
""")


@pytest.mark.requirement("I-10", "I-30")
def test_a_report_holds_all_that_was_said_by_whom_with_which_model() -> None:
    state = hold(council({"answer/muse": "## Perspective\nCocoa."}))
    page = page_of(state)
    check(page)
    articles = {e.attrs["id"]: e for e in page.all("article")}
    assert set(articles) == {f"turn-{each.turn_id}" for each in state.speeches}
    for each in state.speeches:
        article = articles[f"turn-{each.turn_id}"]
        seated = state.participant(each.participant)
        assert seated is not None
        assert seated.name in article.all("h4")[0].text
        (about,) = article.classed("about")
        assert each.model in about.text
        assert all(flag in about.text for flag in each.flags)
    assert "Cocoa." in articles["turn-1/answer/muse"].text


@pytest.mark.requirement("I-10")
def test_a_report_of_a_council_is_small() -> None:
    long = "Evidence is mixed, and nobody knows why that should be so. " * 40
    turns = {f"{stage}/{who}": long for stage in ("answer", "cross") for who in ("scholar", "muse")}
    state = hold(council({"answer/scholar": scholar(Findings=long), **turns}))
    html = html_report(state, procedure_spec("council").deliver(state, "9.9"))
    assert len(html.encode()) < 100_000


def test_the_same_discussion_gives_the_same_bytes() -> None:
    assert html_report(long_table(SEATS, 3, words), "x") == html_report(
        long_table(SEATS, 3, words), "x"
    )


# Safety


@pytest.mark.requirement("I-21", "Z-10")
def test_the_policy_allows_one_style_sheet_and_nothing_else() -> None:
    page = page_of(mishaps())
    (style,) = page.all("style")
    (policy,) = [
        e.attrs["content"]
        for e in page.all("meta")
        if e.attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    digest = b64encode(sha256(style.text.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in style.text
    assert "@import" not in style.text


def everywhere(text: str) -> State:
    """A discussion in which a text stands wherever others' words can stand."""
    odd = Participant(
        id="odd",
        name=text or "x",
        role=text,
        emoji=text[:20],
        perspective=text,
        speakers=(SpeakerRef(model=text or "m"),),
    )
    turn = "1/answer/ann"
    return told(
        [
            opened([SEATS[0], odd], text),
            *speech(turn, "ann", text, model=text or "m", flags=(text,)),
            *speech("1/answer/odd", "odd", f"As said: “{text}”"),
            PointRaised(point_id="p1", text=text, turn_id=turn, round=1),
            StanceTaken(
                participant="ann",
                point_id="p1",
                position="agree",
                turn_id=turn,
                round=1,
                quote=text,
            ),
            StanceTaken(
                participant="odd", point_id="p1", position="disagree", turn_id=turn, round=1
            ),
            VerdictReached(
                verdict=Verdict(answer=text, dissent=(Dissent(participant="odd", position=text),))
            ),
            DiscussionClosed(status="failed", stop_reason="budget", detail=text, remedy=text),
        ]
    )


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_is_text_wherever_it_stands(text: str) -> None:
    page = parsed(html_report(everywhere(text), text))
    check(page)
    svg = [tag for picture in page.all("svg") for tag in picture.all()]
    assert {e.tag for e in svg} <= SVG
    # Pictures are the program's own: outside of them nothing is drawn.
    assert len(page.all("svg")) == 2


@pytest.mark.requirement("I-21")
def test_a_script_in_a_speech_can_be_read() -> None:
    text = "<script>alert(1)</script>"
    page = page_of(mishaps(text))
    (article, _) = page.all("article")
    assert text in article.text


@pytest.mark.requirement("I-20")
def test_planted_keys_do_not_reach_the_report() -> None:
    key = "sk-ant-PLANTED1234567890abcd"
    state = everywhere(f"Use {key} now.")
    html = html_report(state, f"Use {key}.")
    assert "PLANTED" not in html
    assert "[redacted]" in html


# Finding one's way


@pytest.mark.requirement("I-30")
def test_what_the_verdict_cites_leads_to_the_speech() -> None:
    state = hold(council({"synthesis": verdict(Answer="Tea [1/answer/scholar], [9/no/body].")}))
    (said,) = [e for e in page_of(state).all("section") if e.attrs["id"] == "verdict"]
    cited = [(e.text, e.attrs["href"]) for e in said.classed("cite")]
    assert cited == [("Scholar, round 1", "#turn-1/answer/scholar")]


def test_quotations_of_the_verdict_that_were_really_said_are_marked() -> None:
    answer = "“The kettle boils in three minutes flat” but not “the kettle never boils at all”."
    turns: dict[str, Act] = {
        "answer/scholar": scholar(Findings="The kettle boils in three minutes, flat."),
        "synthesis": verdict(Answer=answer),
    }
    page = page_of(hold(council(turns)))
    (shown,) = [e for e in page.all("section") if e.attrs["id"] == "verdict"]
    assert [e.text for e in shown.classed("verified")] == [
        "“The kettle boils in three minutes flat”"
    ]
    (proof,) = shown.classed("proof")
    assert proof.attrs["href"] == "#turn-1/answer/scholar"


@pytest.mark.requirement("Z-08")
def test_nobody_proves_a_quotation_by_having_quoted_it() -> None:
    invented = "The Engineer said: “the kettle was never even switched on”."
    turns: dict[str, Act] = {
        "answer/scholar": scholar(Findings=invented, Dissent=invented),
        "answer/muse": sections(Idea="The Scholar asked whether “tea calms all of us down”."),
        "answer/engineer": sections(Solution="I say that tea calms all of us down."),
        "synthesis": verdict(Answer="Tea.", Dissent=f"Scholar: {invented}"),
    }
    page = page_of(hold(council(turns), options={"quick": True}))
    assert "never even switched on" in page.text
    verified = page.classed("verified")
    assert [e.text for e in verified] == ["“tea calms all of us down”"], "the Engineer did say it"
    (proof,) = page.classed("proof")
    assert proof.attrs["href"] == "#turn-1/answer/engineer"


def test_turns_in_every_language_can_be_cited() -> None:
    page = page_of(long_table([seat("学者"), seat("عالم")], 2, words), "见 [2/answer/学者]。")
    check(page)
    assert "turn-2/answer/学者" in inner_links(page)


def test_the_contents_list_every_section_and_round() -> None:
    page = page_of(long_table(SEATS, 3, words))
    (contents,) = page.all("nav")
    sections_ = [e.attrs["id"] for e in page.all("section")]
    assert inner_links(contents) == sections_
    assert "round-3" in sections_
    (skip,) = page.classed("skip")
    assert skip.attrs["href"] == "#decision"


def test_headings_of_a_speech_come_below_the_speech() -> None:
    page = page_of(mishaps("# Big\n\n## Smaller"))
    check(page)
    assert [(e.tag, e.text) for e in page.all("article")[0].all("h5", "h6")] == [
        ("h5", "Big"),
        ("h6", "Smaller"),
    ]


def test_a_long_speech_is_folded_under_its_first_sentences() -> None:
    long = "# Title\nIt begins so. " + "And it goes on. " * (LONG // 16 + 1)
    page = page_of(mishaps(long))
    (details,) = page.all("details")
    assert details.all("summary")[0].text.endswith("It begins so. And it goes on.")
    assert not page_of(mishaps("Short.")).all("details")


def test_a_report_of_two_hundred_speeches_is_folded_and_whole() -> None:
    long = long_table([*SEATS, seat("Dan"), seat("Eve")], 40, lambda n, w: f"{w} {n}. " * 200)
    page = page_of(long)
    check(page)
    assert len(page.all("article")) == 202
    assert all(article.all("details") for article in page.all("article")[1:-1])


@pytest.mark.parametrize(
    ("text", "direction", "language"),
    [
        ("Tea is called 茶", "ltr", None),
        ("三项试验发现了很小的影响。", "ltr", "zh"),
        ("お茶を飲みましょう。", "ltr", "ja"),
        ("1. الشاي أفضل من القهوة API", "rtl", "ar"),
        ("תה עדיף", "rtl", "he"),
        ("…", "ltr", None),
    ],
)
def test_a_speech_runs_in_its_own_direction(
    text: str, direction: str, language: str | None
) -> None:
    page = page_of(mishaps(text))
    check(page)
    (body,) = page.all("article")[0].classed("words")
    assert (body.attrs["dir"], body.attrs.get("lang")) == (direction, language)


def test_tables_are_named_and_have_headers() -> None:
    page = page_of(long_table(SEATS, 3, words))
    grids = page.classed("grid")
    assert len(grids) > 8
    for grid in grids:
        assert all(e.attrs["scope"] in ("col", "row") for e in grid.all("th"))
    for region in page.classed("scroll"):
        assert region.attrs["tabindex"] == "0"
        assert region.attrs["aria-label"]


def test_pictures_are_drawn_where_there_is_something_to_draw() -> None:
    drawn = [e.text for e in page_of(long_table(SEATS, 3, words)).all("figcaption")]
    assert drawn == [
        "Who holds what on which point",
        "How often each two hold the same",
        "Convergence over the rounds",
        "Scores of round 3",
    ]
    assert not page_of(mishaps()).all("figure")


@pytest.mark.requirement("I-32")
def test_a_lone_dissent_stands_beside_the_verdict() -> None:
    page = page_of(hold(council({"/engineer/": against}), "Should we drink tea?"))
    (said,) = [e for e in page.all("section") if e.attrs["id"] == "verdict"]
    assert "Yes, 2 of 3, 1 for another answer." in said.text
    assert "Tea stains teeth." in said.text


def test_a_discussion_without_anything_is_a_report_too() -> None:
    page = page_of(told([opened(SEATS)]))
    check(page)
    assert "There is no verdict yet" in page.classed("alert")[0].text


def test_a_failed_discussion_says_why_and_what_to_do() -> None:
    page = page_of(mishaps())
    check(page)
    first, second = page.classed("alert")
    assert first.text == "Sorry: 1 of 2 answered.Check the models."
    assert second.text == "No speech: No answer in 90 s.Give it more time."
