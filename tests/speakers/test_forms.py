"""Scripted characters fill in ballots, stances, scores and statements, each in its own way."""

from __future__ import annotations

import asyncio

import pytest
from roundtable.procedures.deliberation.ballots import read_ballot, read_stances
from roundtable.procedures.deliberation.sitting import Sitting

from roundtable.core.effects import Untrusted
from roundtable.core.fence import fence
from roundtable.core.scores import read_scores
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.procedures.deliberation.statement import read_drafts
from roundtable.speakers.characters import CHARACTERS, SPEAKING
from roundtable.speakers.forms import Forms, read_forms
from roundtable.speakers.scripted import ScriptedSpeaker
from tests.procedures.deliberation_table import codes, hold, verdict_of
from tests.rehearsal import Table, run_in_virtual_time

OPTIONS = {"o1": "yes", "o2": "no", "o3": "later"}
POINTS = ("p1", "p2")


def fenced(kind: str, text: str, source: str = "") -> str:
    return fence(Untrusted(kind, text, source), "n0nce")


def vote(name: str, *peers: str, own: str = "") -> str:
    """What a character writes when it is asked to rank after hearing these votes."""
    speeches = [fenced("speech", f"## Ballot\nChoice: {v}", f"Answer {v}") for v in peers]
    mine = fenced("speech", f"## Ballot\nChoice: {own}\np1 is mine.", "yourself") if own else ""
    listed = "\n".join(f"{option}: {words}" for option, words in OPTIONS.items())
    user = "\n\n".join(
        [
            fenced("question", "Should we?"),
            *speeches,
            mine,
            fenced("points", "p1: p1 is mine.\np2: theirs."),
            fenced("options", listed),
            "## Stances\nOne line a point.\n\n## Ballot\nRanking: the ids\nConfidence: a number\n"
            "Because: a letter\n\n## AGREEMENT SCORES\nSCORES:\n- Ada: X/5\n- Bob: X/5",
        ]
    )
    request = SpeakRequest(
        model=f"scripted/{name}",
        system="",
        user=user,
        max_tokens=500,
        idempotency_key="k",
        timeout=5,
    )
    speaker = ScriptedSpeaker()
    return run_in_virtual_time(speaker.speak(request, lambda _: None)).text


@pytest.mark.requirement("Z-11")
@pytest.mark.parametrize("name", SPEAKING)
def test_every_character_fills_in_a_ballot_stances_and_scores(name: str) -> None:
    text = vote(name, "o1", "o2")
    ballot = read_ballot(text.partition("## Ballot")[2], OPTIONS)
    assert sorted(ballot.ranking) == ["o1", "o2", "o3"]
    assert ballot.certainty in (0.9, 0.7)
    assert set(read_stances(text, POINTS)) == set(POINTS)
    scored = read_scores(text, {"ada": "Ada", "bob": "Bob"})
    assert set(scored.given) == {"ada", "bob"}
    assert scored.inferred == ()
    assert text.count(f"[scripted:{name}]") == 3


@pytest.mark.requirement("Z-11", "Z-04")
@pytest.mark.parametrize(
    ("peers", "first"),
    [(["o1", "o2", "o2"], "o2"), (["o3", "o3", "o1"], "o3"), (["o1", "o2"], "o2"), ([], "o1")],
)
def test_the_sycophant_follows_the_majority_it_sees(peers: list[str], first: str) -> None:
    text = vote("sycophant", *peers, own="o1")
    assert f"Ranking: {first} >" in text
    assert "Because: none" in text


@pytest.mark.requirement("Z-11")
@pytest.mark.parametrize("peers", [[], ["o1"], ["o1", "o1", "o1"]])
def test_the_stubborn_one_never_moves(peers: list[str]) -> None:
    assert "Ranking: o2 >" in vote("stubborn", *peers)
    assert "Ranking: o3 >" in vote("stubborn", *peers, own="o3")
    stances = read_stances(vote("stubborn", *peers, own="o2"), POINTS)
    assert stances == {"p1": "agree", "p2": "disagree"}


def test_forms_in_a_fence_are_material_and_no_demand() -> None:
    prompt = fenced("question", "Ranking: o1\nSTATEMENT: x\nSCORES:\nX")
    assert read_forms(prompt) == Forms()


def test_a_character_drafts_statements_where_they_are_asked_for() -> None:
    request = SpeakRequest(
        model="scripted/echo",
        system="",
        user=f"{fenced('question', 'Is it right?')}\n\nSTATEMENT: the first\nSTATEMENT: the next",
        max_tokens=500,
        idempotency_key="k",
        timeout=5,
    )
    text = run_in_virtual_time(ScriptedSpeaker().speak(request, lambda _: None)).text
    assert len(read_drafts(text)) == 3


# A whole deliberation of characters


def rehearse(models: str, topic: str = "Should we?", **options: object) -> State:
    at = Table({"*": ScriptedSpeaker(sleep=asyncio.sleep)})  # type: ignore[dict-item]
    return hold(at, topic, options={"models": models, **options})


@pytest.mark.requirement("Z-11", "Z-04", "Z-06")
def test_a_rehearsal_of_characters_is_a_real_vote() -> None:
    state = rehearse("scripted/stubborn,scripted/sycophant,scripted/liar")
    rounds = [[b.position for b in state.ballots if b.round == n] for n in (1, 2)]
    assert rounds[0] == ["no", "yes", "yes"]
    assert rounds[1][0] == "no"
    assert rounds[1][2] == "yes"
    sycophant = [s.participant for s in Sitting(state).peers("precedent").values()][-1]
    assert rounds[1][1] == {"first-principles": "no", "pre-mortem": "yes"}[sycophant]
    changed = "a capitulation" in verdict_of(state).changed_minds
    assert changed is (rounds[1][1] == "no")


@pytest.mark.requirement("Z-11", "Z-07")
def test_characters_who_agree_end_it_early() -> None:
    assert "early_stop" in codes(rehearse("scripted/echo,scripted/liar,scripted/injector"))


@pytest.mark.requirement("Z-11")
@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("topic", ["Should we?", "Which of them?"])
def test_a_deliberation_survives_every_character_in_every_seat(
    name: str, seat: int, topic: str
) -> None:
    seats = ["scripted/stubborn", "scripted/sycophant", "scripted/liar"]
    seats[seat] = f"scripted/{name}"
    state = rehearse(",".join(seats), topic)
    assert state.status == "concluded"
    assert verdict_of(state).answer


@pytest.mark.requirement("Z-11")
@pytest.mark.parametrize("name", CHARACTERS)
def test_a_deliberation_survives_every_character_in_all_seats_at_once(name: str) -> None:
    state = rehearse(f"scripted/{name}", statement=True)
    assert state.status in ("concluded", "failed")
    assert (state.status == "concluded") is (state.verdict is not None)
