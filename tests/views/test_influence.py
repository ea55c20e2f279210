"""Influence and bias: the same figures in Markdown, HTML and JSON, for every procedure."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from roundtable.core.events import (
    BallotCast,
    DiscussionOpened,
    Event,
    PointRaised,
    ScoresGiven,
    SpeechGiven,
    StanceTaken,
    StoredEvent,
)
from roundtable.core.state import State, fold
from roundtable.core.values import Participant, SpeakerRef
from roundtable.views.influence import influence, influence_document, influence_parts
from roundtable.views.report_html import html_report
from roundtable.views.report_md import markdown_report
from roundtable.views.report_parts import Grid, Line
from roundtable.views.result import result

AT = datetime(2026, 1, 2, tzinfo=UTC)
FAMILIES = {"ann": "oak", "bob": "oak", "cem": "elm", "dan": "fir", "eve": "fir"}


def seat(who: str) -> Participant:
    ref = SpeakerRef(model=f"{FAMILIES.get(who, 'host')}/{who}", family=FAMILIES.get(who, ""))
    return Participant(id=who, name=who.title(), role="expert", speakers=(ref,))


def table(*events: Event, who: tuple[str, ...] = ("ann", "bob", "cem")) -> State:
    opened = DiscussionOpened(
        topic="Tea?",
        procedure="meeting",
        options={"max_rounds": 2},
        participants=tuple(seat(each) for each in who),
        host=seat("chair"),
        language="en",
        seed=1,
        program_version="1",
    )
    return fold(
        StoredEvent("rt_00000001", number, AT, event)
        for number, event in enumerate((opened, *events), 1)
    )


def spoke(who: str, round_: int = 1) -> SpeechGiven:
    return SpeechGiven(
        turn_id=f"{round_}/discussion/{who}",
        participant=who,
        stage="discussion",
        round=round_,
        text="So.",
        sections={},
        model=f"{FAMILIES[who]}/{who}",
    )


def vote(who: str, choice: str, round_: int) -> BallotCast:
    return BallotCast(
        turn_id=f"{round_}/discussion/{who}",
        participant=who,
        round=round_,
        position=choice,
        ranking=((choice,),),
    )


def stance(who: str, point: str, position: str, round_: int = 1) -> StanceTaken:
    return StanceTaken.model_validate(
        {
            "participant": who,
            "point_id": point,
            "position": position,
            "turn_id": f"{round_}/discussion/{who}",
            "round": round_,
        }
    )


def a_debate() -> State:
    """Ann and Bob hold the same everywhere, Cem the opposite; he gives in at the vote."""
    events: list[Event] = [spoke(who) for who in ("ann", "bob", "cem")]
    for number in range(1, 10):
        point = f"p{number}"
        raiser = "cem" if number == 9 else "ann"
        events.append(
            PointRaised(
                point_id=point, text=f"Claim {number}.", turn_id=f"1/discussion/{raiser}", round=1
            )
        )
        events += [stance("ann", point, "agree"), stance("bob", point, "agree")]
        events.append(stance("cem", point, "agree" if number < 3 else "disagree"))
    events += [vote("ann", "yes", 1), vote("bob", "yes", 1), vote("cem", "no", 1)]
    events += [spoke(who, 2) for who in ("ann", "bob", "cem")]
    events += [vote(who, "yes", 2) for who in ("ann", "bob", "cem")]
    events.append(stance("cem", "p9", "agree", 2))
    return table(*events)


@pytest.mark.requirement("Z-06", "Z-16")
def test_everybody_and_every_pair_has_its_figures() -> None:
    document = influence_document(a_debate())
    cem = document["participants"]["cem"]
    assert cem["conformity"] == {"chances": 1, "moved": 1}
    assert cem["own_points"] == {"judged": 1, "upheld": 1}
    assert cem["decisive"] is False
    pairs = {tuple(row["participants"]): row for row in document["pairs"]}
    assert pairs["ann", "bob"]["agreed"] == pairs["ann", "bob"]["questions"] == 10
    assert pairs["ann", "bob"]["correlation"] == 1
    assert pairs["ann", "cem"]["correlation"] < 0


@pytest.mark.requirement("Z-06", "Z-16")
def test_markdown_html_and_json_tell_the_same() -> None:
    state = a_debate()
    markdown, html = markdown_report(state, ""), html_report(state, "")
    assert "## Influence and bias" in markdown
    assert "| Cem | 1 of 1 | 1 of 1 | 0 of 0 |" in markdown
    assert "| Ann and Bob | 10 of 10 | +1.00 |" in markdown
    assert 'id="influence"' in html
    assert "Ann and Bob" in html
    assert result(state)["influence"] == influence_document(state)


@pytest.mark.requirement("Z-06")
def test_scores_show_who_prefers_its_own_family() -> None:
    rows = {
        "ann": {"bob": 5, "cem": 2, "dan": 2},
        "bob": {"ann": 3, "cem": 3, "dan": 3},
        "cem": {"ann": 3, "bob": 2, "dan": 4},
        "dan": {"ann": 3, "bob": 2, "cem": 4},
        "eve": {"ann": 3, "bob": 2, "cem": 4},
    }
    events = [
        ScoresGiven(turn_id=f"1/critique/{who}", participant=who, round=1, scores=given)
        for who, given in rows.items()
    ]
    state = table(*events, who=tuple(rows))
    favour = influence(state).family
    assert favour["ann"].value is not None
    assert favour["ann"].value > 0.5
    assert favour["bob"].value == pytest.approx(0, abs=0.5)
    [grid] = [p for p in influence_parts(state) if isinstance(p, Grid) and "family" in p.caption]
    assert grid.rows[0] == ("Ann", f"{favour['ann'].value:+.2f}")


@pytest.mark.requirement("Z-16")
def test_too_few_questions_say_so_in_place_of_a_figure() -> None:
    state = table(spoke("ann"), spoke("bob"), vote("ann", "yes", 1), vote("bob", "yes", 1))
    [pair] = influence_document(state)["pairs"]
    assert pair["correlation"] is None
    assert "8 are needed" in pair["correlation_reason"]
    assert any(isinstance(p, Line) and "8 are needed" in p.text for p in influence_parts(state))


def test_where_nothing_is_known_nothing_is_told() -> None:
    state = table(spoke("ann"))
    assert influence_document(state) == {}
    assert influence_parts(state) == ()
    assert "Influence" not in markdown_report(state, "")
