"""One delivery: every surface says the same of who holds what, and shows what the check found."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from roundtable.bundle.reading import read_bundle
from roundtable.core.events import StoredEvent, load
from roundtable.core.notifications_text import concluded
from roundtable.core.state import State, fold
from roundtable.examples import examples
from roundtable.ports import SpeakRequest
from roundtable.procedures import procedure_spec
from roundtable.surfaces.openai.prompt import delivered as openai_text
from roundtable.surfaces.toolset.ask import _collected
from roundtable.surfaces.toolset.summary import summarized
from roundtable.views.comparison import Comparison
from roundtable.views.decision import Decision
from roundtable.views.delivered import delivered
from roundtable.views.delivery import Delivery
from roundtable.views.page import derived, page_event
from roundtable.views.report_html import html_report
from roundtable.views.report_md import markdown_report
from roundtable.views.result import result
from tests.declaring import declared
from tests.procedures.council_table import DEAD, council, hold, verdict
from tests.rehearsal import dutiful

from .declaring import against
from .pages import parsed
from .tables import NOON

QUESTION = "Should we drink tea?"


def terminal(state: State) -> str:
    return procedure_spec(state.start.procedure).deliver(state, "9.9")


SURFACES: dict[str, Callable[[State], str]] = {
    "terminal": terminal,
    "markdown": lambda state: markdown_report(state, terminal(state)),
    "html": lambda state: parsed(html_report(state, terminal(state))).text,
    "json": lambda state: json.dumps(result(state), ensure_ascii=False),
    "page": lambda state: json.dumps(derived(state), ensure_ascii=False),
    "summary": lambda state: summarized(state).model_dump_json(),
    "collect": lambda state: _collected(state).model_dump_json(),
    "chat": concluded,
    "openai": openai_text,
}


@pytest.fixture(scope="module")
def split() -> State:
    """Yes by the Scholar and the Engineer, no by the Muse."""
    return hold(council({"/muse/": against}), QUESTION)


@pytest.fixture(scope="module")
def absent() -> State:
    """The Muse never answers."""
    return hold(council({"/muse/": DEAD}), QUESTION)


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize("surface", SURFACES)
def test_every_surface_says_the_same_of_how_it_ended(split: State, surface: str) -> None:
    told = SURFACES[surface](split)
    assert "Yes, 2 of 3, 1 for another answer." in told
    assert "Muse" in told


@pytest.mark.requirement("Z-24")
@pytest.mark.parametrize("surface", SURFACES)
def test_an_absent_expert_is_in_the_first_line_everywhere(absent: State, surface: str) -> None:
    assert Delivery.of(absent).headline == "Yes, 2 of 3, 1 absent (Muse)."
    assert "Yes, 2 of 3, 1 absent (Muse)." in SURFACES[surface](absent)


@pytest.mark.requirement("Z-24")
def test_figures_and_seats_are_equal_on_all_surfaces(split: State) -> None:
    document, page = result(split), derived(split)
    tools, collected = summarized(split), _collected(split)
    share = {
        document["end"]["agreement"],
        document["ending"]["agreement"],
        document["rounds"][-1]["agreement"],
        page["delivery"]["end"]["agreement"],
        page["decision"]["agreement"]["holding"] / page["decision"]["agreement"]["seated"],
        tools.share,
        collected.share,
    }
    assert share == {2 / 3}
    ends = {document["end"]["end"], page["delivery"]["end"]["end"], tools.end, collected.end}
    assert ends == {"majority"}
    held = [
        {s["participant"]: s["final"] for s in each["seats"]}
        for each in (document, page["delivery"])
    ]
    held += [{s.participant: s.final for s in each.seats} for each in (tools, collected)]
    assert all(each == {"scholar": "yes", "engineer": "yes", "muse": "no"} for each in held)
    for told in (terminal(split), markdown_report(split, terminal(split))):
        assert "- Scholar: yes, from the start\n- Engineer: yes, from the start\n" in told
        assert "- Muse: no, from the start\n" in told
    assert "| Muse | no | no | from the start; Muse, round 2 |" in markdown_report(split, "")
    options = document["vote"][0]["options"]
    assert [(o["text"], o["names"]) for o in options] == [
        ("yes", ["Scholar", "Engineer"]),
        ("no", ["Muse"]),
    ]


@pytest.mark.requirement("Z-24")
def test_the_answer_comes_first_in_at_most_five_lines_and_people_have_names(split: State) -> None:
    told = Delivery.of(split)
    assert len(told.opening) <= 5
    assert told.opening[0] == told.headline
    heading, blank, first, *rest = terminal(split).splitlines()
    assert (heading, blank) == ("🏛️ **Council Answer**", "")
    assert first.startswith("**Yes, 2 of 3, 1 for another answer.**")
    assert "/cross-examination/" not in "\n".join(rest), "a turn is called by its name"
    assert "\n- Muse, round 2: No, drink coffee. Reason: Tea stains teeth." in "\n".join(rest)
    [dissent] = result(split)["dissent"]
    assert (dissent["name"], dissent["turn_id"]) == ("Muse", "2/cross-examination/muse")


def test_a_comparison_shows_the_answer_and_who_disagrees_as_the_verdict_does() -> None:
    buses, rails = (fold(examples()[name].records()) for name in ("free-buses", "rails-monolith"))
    rows = {row.what: row.cells for row in Comparison.of(buses, rails).rows}
    assert rows["Answer"] == tuple(Decision.of(each).answer.first for each in (buses, rails))
    accepting, differing = rows["Who disagrees"]
    assert accepting.startswith("Muse prefers another answer and could live with this one. Muse: ")
    assert "Software Architect differs on “" in differing


# What the check found


def inventing(request: SpeakRequest) -> str:
    invented = "Muse said “nobody here ever wanted any tea at all” [9/answer/muse]."
    words = verdict(Answer=f"Yes, drink tea. {invented}")
    return f"{words}\n\n{declared(request.form, request.user, answer='Yes, drink tea.')}"


def contradicting(request: SpeakRequest) -> str:
    words = verdict(Answer="No, we should not drink tea.")
    block = declared(request.form, request.user, delivers="o2", answer="No, drink coffee.")
    return f"{words}\n\n{block}"


@pytest.fixture(scope="module")
def flagged() -> State:
    return hold(council({"synthesis": inventing}), QUESTION)


@pytest.fixture(scope="module")
def contradicted() -> State:
    return hold(council({"synthesis": contradicting}), QUESTION)


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("surface", SURFACES)
def test_a_fabricated_quotation_and_turn_are_visible_everywhere(
    flagged: State, surface: str
) -> None:
    told = SURFACES[surface](flagged)
    assert "[quotation not found]" in told
    assert "Nobody said these words" in told
    assert "nobody here ever wanted" not in told.split("Nobody said these words")[0]


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("surface", SURFACES)
def test_an_answer_that_contradicts_the_count_is_flagged_in_the_first_line(
    contradicted: State, surface: str
) -> None:
    assert (
        Delivery.of(contradicted).headline
        == "⚠ The written answer contradicts the count. Yes, 3 of 3."
    )
    assert "⚠ The written answer contradicts the count. Yes, 3 of 3." in SURFACES[surface](
        contradicted
    )


def test_a_writer_cannot_speak_in_place_of_the_count(contradicted: State) -> None:
    told = Delivery.of(contradicted)
    assert told.answer == "Yes"
    assert told.contradicts
    document, program = result(contradicted), delivered(contradicted)
    assert program is not None
    assert program.answer == document["answer"] == "Yes"
    assert program.headline == document["headline"]
    assert program.written == document["verdict"]["answer"]
    assert program.written.startswith("No, we should not drink tea.")


# What talk changed


def persuaded(request: SpeakRequest) -> str:
    if request.form is None or "votes" not in request.form.keys:
        return dutiful(request)
    words = dutiful(request).split("```")[0]
    if "adopted" not in request.form.keys or not request.form.peers:
        return f"{words}{declared(request.form, request.user, choice='o2', position='No.')}"
    letter = next(k for k, who in request.form.peers.items() if who == "scholar")
    moved = [{"from": letter, "what": "Findings by codex", "moved": True}]
    vote = {"on": "d1", "before": "o2", "choice": "o1", "acceptable": [], "rejects": []}
    fields = {"votes": [vote], "position": "Yes.", "adopted": moved}
    return f"{words}{declared(request.form, request.user, **fields)}"


@pytest.mark.requirement("Z-24", "Z-04")
def test_who_moved_is_told_with_the_argument_and_whose_it_is() -> None:
    state = hold(council({"/muse/": persuaded}), QUESTION)
    muse = next(seat for seat in Delivery.of(state).seats if seat.participant == "muse")
    assert (muse.opening, muse.final, muse.moved_by) == ("no", "yes", "Scholar")
    assert "- Muse: no → yes, moved by Scholar: Findings by codex" in terminal(state)
    assert "| Muse | the question | no → yes | Muse, round 2 | Scholar: Findings by codex |" in (
        markdown_report(state, terminal(state))
    )


# Ledgers of earlier versions

GOLDENS = sorted((Path(__file__).parents[1] / "goldens").glob("v1*.jsonl"))
RECORDED = sorted(
    (Path(__file__).parents[2].parent / "shared" / "data" / "recorded").glob("*.bundle")
)


@cache
def stored(file: Path) -> list[StoredEvent]:
    if file.suffix == ".bundle":
        return list(read_bundle(file.read_bytes()).records)
    lines = file.read_text("utf-8").splitlines()
    if '"DiscussionOpened"' not in lines[0]:  # events to follow those of the first golden
        lines.insert(0, (file.parent / "v1.jsonl").read_text("utf-8").splitlines()[0])
    return [StoredEvent("rt_0000abcd", n, NOON, load(each)) for n, each in enumerate(lines, 1)]


@cache
def read(file: Path) -> State:
    return fold(stored(file))


@pytest.mark.parametrize("file", [*GOLDENS, *RECORDED], ids=lambda each: each.name)
@pytest.mark.parametrize("surface", SURFACES)
def test_ledgers_of_earlier_versions_are_told_on_every_surface(file: Path, surface: str) -> None:
    state = read(file)
    told = SURFACES[surface](state)
    assert told.strip() or state.verdict is None
    if state.verdict is not None and surface != "openai":
        assert Delivery.of(state).headline.split("“")[0].rstrip() in told.replace('\\"', '"')


@pytest.mark.parametrize("file", [*GOLDENS, *RECORDED], ids=lambda each: each.name)
def test_every_event_of_earlier_versions_has_a_type_on_the_page(file: Path) -> None:
    assert all("type" in page_event(record) for record in stored(file))


def test_an_event_that_no_view_knows_is_told_to_have_happened_and_no_more() -> None:
    hidden = [
        page_event(record)
        for file in GOLDENS
        for record in stored(file)
        if record.event.type in ("NewsPlanned", "NewsTried", "TaskLinked")
    ]
    assert hidden
    assert all(each.keys() == {"seq", "at", "type"} for each in hidden)
