"""Whatever is said, it stays text: nothing runs, nothing leaves, no rule of the page is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from roundtable.core.events import (
    BallotCast,
    DiscussionClosed,
    DiscussionPaused,
    DiscussionResumed,
    Event,
    MaterialAdded,
    NoteAdded,
    ParticipantSubstituted,
    PointRaised,
    StanceTaken,
    StopRequested,
    TurnFailed,
    VerdictReached,
)
from roundtable.core.state import fold
from roundtable.core.values import Dissent, Material, Verdict
from roundtable.surfaces.web.html_export import export_html
from tests.views.hostile import TEXTS
from tests.views.tables import opened, seat, speech

from .conftest import Open
from .stage import Stage, Visitor

MORE = (
    '<a href="javascript:alert(1)" style="position:fixed;inset:0">x</a>',
    "[x](data:text/html,<script>alert(1)</script>)",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "</script><script>alert(1)</script>",
    "<template><img src=x onerror=alert(1)></template>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
)


ATTACK = "<img src=x onerror=alert(1)>"


def mishandled() -> list[Event]:
    """What people and providers name beside speeches: documents, reasons, notes, points."""
    turn = "1/answer/ann"
    said: list[Event] = [
        MaterialAdded(material=Material(source=f"{ATTACK}{name}", text=name), by=ATTACK)
        for name in MORE
    ]
    said += [
        DiscussionPaused(by=ATTACK, reason=ATTACK),
        DiscussionResumed(by=ATTACK),
        NoteAdded(code=ATTACK, text=ATTACK, remedy=ATTACK),
        ParticipantSubstituted(
            participant="ann",
            turn_id=turn,
            from_model=ATTACK,
            to_model=ATTACK,
            cause="garbled",
            remedy=ATTACK,
        ),
        TurnFailed(
            turn_id="99/answer/bob",
            stage=ATTACK,
            round=99,
            participant="bob",
            cause="timeout",
            message=ATTACK,
            remedy=ATTACK,
        ),
    ]
    for number, text in enumerate((ATTACK, *MORE), 1):
        said.append(PointRaised(point_id=f"p{number}", text=text, turn_id=turn, round=1))
        for who, position in (("ann", "agree"), ("bob", "disagree")):
            said.append(
                StanceTaken.model_validate(
                    {
                        "participant": who,
                        "point_id": f"p{number}",
                        "position": position,
                        "turn_id": turn,
                        "round": 1,
                        "quote": ATTACK,
                        "because": ATTACK,
                    }
                )
            )
    said += [
        BallotCast(turn_id=turn, participant=who, round=1, position=ATTACK, ranking=((ATTACK,),))
        for who in ("ann", "bob")
    ]
    return [*said, StopRequested(by=ATTACK, reason=ATTACK)]


def hostile() -> list[Event]:
    """A discussion in which everything that a person can name is an attack."""
    attack = ATTACK
    seats = [
        seat("Ann").model_copy(update={"name": attack, "role": attack, "emoji": attack}),
        seat("Bob").model_copy(update={"perspective": attack}),
    ]
    events: list[Event] = [opened(seats, f"Is {attack} a topic? </title><script>alert(1)</script>")]
    for number, text in enumerate((*TEXTS, *MORE)):
        who = ("ann", "bob")[number % 2]
        events += speech(f"{number // 2 + 1}/answer/{who}", who, text, flags=(attack,))
    events += mishandled()
    whole = "\n\n".join((*TEXTS[:20], *MORE))
    events.append(
        VerdictReached(
            verdict=Verdict(
                answer=whole,
                agreement=attack,
                gaps=attack,
                changed_minds=attack,
                dissent=(Dissent(participant="bob", position=attack, reason=attack),),
                sources=(attack, "javascript:alert(1)"),
                flags=(attack,),
                author=attack,
            )
        )
    )
    events.append(DiscussionClosed(status="concluded", stop_reason="verdict"))
    return events


def poke(page: Page) -> None:
    """Move over and press whatever a reader might, without leaving the page."""
    for fold_ in page.locator("main details > summary").all():
        if fold_.is_visible():
            fold_.click()
    page.evaluate(
        """() => { for (const element of document.querySelectorAll("main *"))
             for (const kind of ["mouseover", "mouseenter", "focus", "toggle", "load", "error"])
               element.dispatchEvent(new Event(kind)); }"""
    )
    page.wait_for_function("() => document.readyState === 'complete'")


def check(guest: Visitor) -> None:
    page = guest.page
    expect(page.locator("#decision .answer")).to_be_visible()
    expect(page.locator("article.speech")).to_have_count(
        len((*TEXTS, *MORE)) + 1
    )  # one turn failed
    poke(page)
    page.locator(".foot").get_by_role("button", name="How this was made").click()
    for fold_ in page.locator("dialog details > summary").all():
        fold_.click()
    assert guest.ran == []
    assert guest.violations == []
    found = page.evaluate(
        """() => [...document.querySelectorAll("main *, dialog *")].flatMap((element) => [
             ...[...element.attributes].filter((a) => a.name.startsWith("on")).map((a) => a.name),
             ...(/^(script|iframe|object|embed|form|base|link|meta|style|img)$/i.test(element.tagName)
               ? [element.tagName] : []),
             ...(/^\\s*(javascript|data|vbscript|file):/i.test(element.getAttribute("href") || "")
               ? [element.getAttribute("href")] : [])])"""
    )
    assert found == []
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()


@pytest.mark.requirement("I-21")
def test_a_hostile_discussion_stays_text_on_the_page(stage: Stage, window: Open) -> None:
    found = stage.put("rt_bad00001", hostile())
    guest = window(noting=True)
    guest.open(stage.link(found))
    check(guest)
    assert [url for url in guest.requests if not url.startswith(stage.url)] == []


@pytest.mark.requirement("I-21", "Z-10")
def test_a_hostile_discussion_stays_text_in_the_exported_file(
    stage: Stage, window: Open, tmp_path: Path
) -> None:
    found = stage.put("rt_bad00002", hostile())
    records = stage.do(lambda: stage.app.service.records(found))
    file = tmp_path / "hostile.html"
    file.write_text(export_html(records, fold(records), "9"), "utf-8")
    guest = window(noting=True)
    guest.open(file.as_uri())
    check(guest)
    assert guest.requests == [file.as_uri()]


@pytest.mark.requirement("I-21")
def test_a_hostile_topic_stays_text_in_the_list(stage: Stage, window: Open) -> None:
    for number, text in enumerate((ATTACK, *MORE)):
        stage.put(f"rt_bad1{number:04}", [opened([seat("Ann"), seat("Bob")], f"Listed: {text}")])
    guest = window(noting=True)
    page = guest.open(stage.home)
    for text in (ATTACK, *MORE):
        shown = page.locator(".row").filter(has_text="Listed:").filter(has_text=text)
        expect(shown.first).to_be_visible()
    poke(page)
    assert guest.ran == []
    assert guest.violations == []
    assert page.locator("main img, main script, main iframe, main template").count() == 0
    assert [url for url in guest.requests if not url.startswith(stage.url)] == []


@pytest.mark.requirement("I-21")
def test_the_page_itself_breaks_none_of_its_rules(stage: Stage, window: Open) -> None:
    guest = window(noting=True)
    page = guest.open(stage.home)
    expect(page.get_by_role("heading", name="Decisions")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="What do you want to decide?")).to_be_visible()
    assert guest.violations == []
    assert [url for url in guest.requests if not url.startswith(stage.url)] == []
