"""One discussion on every surface: whoever sits at the table, the page, the HTML report, the
Markdown report, the JSON result and the list say the same answer, vote, confidence and absences."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest

from roundtable.core.state import State
from roundtable.procedures import procedure_spec
from roundtable.speakers.scripted import ScriptedSpeaker
from roundtable.views.page import derived
from roundtable.views.report_html import html_report
from roundtable.views.report_md import markdown_report
from roundtable.views.result import result
from roundtable.views.row import Row
from tests.procedures.deliberation_table import hold
from tests.rehearsal import Cast, Table

TABLES = {
    "all who speak": "stubborn sycophant hedger refuser liar gullible injector",
    "one is mute": "stubborn mute liar",
    "one refuses": "refuser liar injector",
    "they agree": "liar gullible injector",
    "a majority": "stubborn stubborn liar",
    "some give in": "stubborn sycophant hedger mute liar",
    "too few answer": "mute refuser stubborn",
    "nobody answers": "mute mute refuser",
}
_TAGS = re.compile(r"<[^>]*>")
_FIGURES = re.compile(r"^(?P<text>.*?) (?P<count>\d+)$")


@dataclass(frozen=True)
class Told:
    """What a reader takes from a surface."""

    answers: tuple[str, ...]
    """The sentences that say what came out; the first one is the headline."""
    votes: frozenset[tuple[str, int]] | None
    """Options that have votes, by their words."""
    confidence: str
    absent: frozenset[str]


def held(models: str, host: str = "echo") -> State:
    seats = models.split()
    at = Table(
        {"*": ScriptedSpeaker(sleep=asyncio.sleep)},  # type: ignore[dict-item]
        cast=Cast(f"scripted/{host}"),
    )
    named = ",".join(f"scripted/{each}" for each in seats)
    return hold(at, "Should we?", options={"models": named, "seats": len(seats)})


def option(text: str) -> str:
    """Surfaces begin an option with a capital or end it with a stop, and mean the same."""
    return text.strip().rstrip(".").casefold()


def of_page(state: State) -> Told:
    decision: dict[str, Any] = derived(state)["decision"]
    vote = decision["votes"][0] if decision["votes"] else None
    return Told(
        (decision["answer"]["first"], decision["answer"]["second"]),
        vote and frozenset((option(o["text"]), o["count"]) for o in vote["options"] if o["count"]),
        decision["confidence"]["word"],
        frozenset(each["name"] for each in decision["experts"] if each["chip"] == "Absent"),
    )


def of_json(state: State) -> Told:
    found = result(state)
    vote = found["vote"][0] if found["vote"] else None
    return Told(
        (found["answer"],),
        vote
        and frozenset(
            (option(o["text"]), len(o["participants"]))
            for o in vote["options"]
            if o["participants"]
        ),
        found["confidence"]["word"] if found["confidence"] else "none",
        frozenset(found["absent"]),
    )


def of_html(state: State) -> Told:
    report = html_report(state, procedure_spec(state.start.procedure).deliver(state, "9"))
    head = report[report.index('<header class="first"') : report.index("</header>")]
    answer = re.search(r'<p class="answer"[^>]*>(.*?)(?:<span>(.*?)</span>)?</p>', head, re.DOTALL)
    assert answer is not None
    key = re.search(r'<p class="key">(.*?)</p>', head)
    keys = [plain(each) for each in re.findall(r"<span[^>]*>(.*?)</span>", key[1])] if key else []
    counted = [match for each in keys if (match := _FIGURES.match(each))]
    sure = re.search(r"Confidence</span><strong>(\w+)", head)
    return Told(
        (plain(answer[1]), plain(answer[2] or "")),
        frozenset(
            (option(m["text"]), int(m["count"]))
            for m in counted
            if int(m["count"]) and m["text"] != "Absent"
        )
        if key
        else None,
        sure[1].lower() if sure else "none",
        frozenset(re.findall(r'class="out" title="([^"]+)"', head)) if key else frozenset(),
    )


def of_markdown(state: State) -> Told:
    report = markdown_report(state, procedure_spec(state.start.procedure).deliver(state, "9"))
    vote = re.search(r"^\*\*Vote:\*\* (.*?)\s*$", report, re.MULTILINE)
    sure = re.search(r"^\*\*Confidence:\*\* (\w+)", report, re.MULTILINE)
    votes = [each.rpartition(": ") for each in vote[1].split("; ")] if vote else []
    return Told(
        (report,),
        frozenset((option(text), int(count)) for text, _, count in votes if int(count))
        if vote
        else None,
        sure[1].lower() if sure else "none",
        frozenset(re.findall(r"^- (.+?): absent$", report, re.MULTILINE)),
    )


def plain(markup: str) -> str:
    return " ".join(unescape(_TAGS.sub("", markup)).split())


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize("host", ["echo", "liar", "contradicting"])
@pytest.mark.parametrize("models", TABLES.values(), ids=TABLES)
def test_every_surface_says_the_same_of_it(models: str, host: str) -> None:
    state = held(models, host)
    page, json_, html, markdown = (of(state) for of in (of_page, of_json, of_html, of_markdown))
    row = Row.of(state, interrupted=False)
    assert page.answers[0] == row.answer == html.answers[0]
    assert row.confidence.word == page.confidence
    if state.verdict is None:
        assert (page.confidence, json_.confidence, html.confidence) == ("none", "none", "none")
        return
    if page.answers[0].startswith("No answer"):
        assert json_.answers[0] == "", "a program must not take the writer's words for the table's"
    else:
        assert option(json_.answers[0]) in [option(each) for each in page.answers]
    assert json_.answers[0] in markdown.answers[0]
    assert page.answers[0][0].isupper()
    assert page.answers[0].endswith((".", "”"))
    assert page.votes == json_.votes == html.votes == markdown.votes
    assert page.confidence == json_.confidence == html.confidence == markdown.confidence
    assert page.absent == json_.absent == html.absent == markdown.absent


@pytest.mark.requirement("Z-34")
def test_what_was_held_by_scripted_speakers_says_so_wherever_it_is_read() -> None:
    state = held("stubborn liar injector")
    told = "Held by scripted speakers, for trying things out."
    assert told in [flag["text"] for flag in derived(state)["decision"]["flags"]]
    assert told in html_report(state, procedure_spec(state.start.procedure).deliver(state, "9"))


@pytest.mark.requirement("Z-34")
def test_seats_on_one_model_are_told_once_as_fewer_voices_and_not_where_nothing_was_chosen() -> (
    None
):
    def flags(models: str) -> list[str]:
        return [flag["text"] for flag in derived(held(models))["decision"]["flags"]]

    voices = [each for each in flags("liar liar liar") if "voices" in each or "voter" in each]
    assert len(voices) == 1
    assert voices[0].startswith("All three experts run on models of one family")
    assert not [each for each in flags("mute mute refuser") if "voices" in each or "voter" in each]
