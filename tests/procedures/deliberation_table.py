"""Deliberations for tests: experts who vote as they are told, and a host who writes it up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from roundtable.core.errors import SpeakerError
from roundtable.core.state import State
from roundtable.core.values import Verdict
from roundtable.ports import OnWords, Reply, SpeakRequest
from tests.rehearsal import Table, Voice, run_in_virtual_time

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]
Votes = Mapping[str, tuple[str, str]]
"""What each expert votes before and after the critique: an id, or a whole ballot section."""

ONE, TWO, THREE = EXPERTS = ("first-principles", "precedent", "pre-mortem")
NAMES = {ONE: "First Principles", TWO: "Precedent", THREE: "Pre-mortem"}
ROUND_1 = [f"1/answer/{who}" for who in EXPERTS]
ROUND_2 = [f"2/critique/{who}" for who in EXPERTS]
RANKS = [f"3/ranking/{who}" for who in EXPERTS]
CLERK, SYNTHESIS = "0/clerk/host", "0/synthesis/host"
QUESTION = "Should we rewrite billing?"
OPEN_QUESTION = "Which database fits a small team?"
SPLIT: Votes = {ONE: ("o1", "o1"), TWO: ("o2", "o2"), THREE: ("o1", "o1")}
DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")


def sections(**bodies: str) -> str:
    """A speech with these sections; an underscore stands for a blank."""
    return "\n\n".join(f"## {name.replace('_', ' ')}\n{body}" for name, body in bodies.items())


def ballot(stated: str, key: str = "Choice", confidence: object = 85, because: str = "") -> str:
    """A ballot section. `stated` with a line break in it is one already."""
    if "\n" in stated or ":" in stated:
        return stated
    lines = [f"{key}: {stated}", f"Confidence: {confidence}"]
    return "\n".join([*lines, f"Because: {because}"] if because else lines)


def answer(who: str, stated: str, key: str = "Choice", **bodies: str) -> str:
    whole = {
        "Answer": f"The view of {who} in plain words.",
        "Reasons": f"1. The cost that {who} sees.\n2. The risk that {who} sees.",
        "Ballot": ballot(stated, key),
    }
    return sections(**{**whole, **bodies})


def review(who: str, stated: str, **bodies: str) -> str:
    whole = {
        "Critique": "The weakest spot is the price.",
        "Answer": f"The later view of {who}.",
        "Stances": "p1: agree\np3: disagree",
        "Ballot": ballot(stated, "Ranking"),
    }
    return sections(**{**whole, **bodies})


def synthesis(**bodies: str) -> str:
    whole = {
        "Answer": f"Do it step by step [{ROUND_1[0]}].",
        "Agreement": "All see the cost.",
        "Gaps_and_Risks": "none",
    }
    return sections(**{**whole, **bodies})


def turn_of(request: SpeakRequest) -> str:
    return request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]


def voice(votes: Votes = SPLIT, turns: Mapping[str, Act] | None = None) -> Voice:
    """All experts and the host. `turns` says what happens in the turns whose id contains a key."""
    acts = turns or {}

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        turn = turn_of(request)
        _, stage, who = turn.split("/")
        for part, act in acts.items():
            if part in turn and not isinstance(act, float):
                return act(request) if callable(act) else act
        before, after = votes.get(who, ("o1", "o1"))
        match stage:
            case "answer" if "The options to vote on" in request.user:
                return answer(who, before)
            case "answer":
                return answer(who, before, "Position")
            case "critique" | "critique-in-reverse":
                return review(who, after)
            case "ranking":
                return sections(Objection=f"{who} wants a date.", Ballot=ballot("s1 > s2"))
            case "draft":
                return "STATEMENT: We go slowly.\nSTATEMENT: We go at once."
            case "revision":
                return sections(Statement="We go slowly, by May.", Gaps_and_Risks="none")
        return synthesis()

    return Voice(script)


class Slow(Voice):
    """Takes ten seconds for each answer."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        await asyncio.sleep(9)
        return await super().speak(request, on_words)


def table(votes: Votes = SPLIT, turns: Mapping[str, Act] | None = None, **more: Any) -> Table:
    return Table({"*": voice(votes, turns)}, **more)


def hold(at: Table, topic: str = QUESTION, **request: Any) -> State:
    """Hold a whole deliberation and return how it ended."""
    return run_in_virtual_time(at.ask(topic, procedure="deliberation", **request))


def deliberate(
    votes: Votes = SPLIT, turns: Mapping[str, Act] | None = None, **request: Any
) -> State:
    return hold(table(votes, turns), **request)


def asked(at: Table) -> list[str]:
    return [turn_of(request) for request in at.requests]


def prompt_of(at: Table, turn: str) -> SpeakRequest:
    return next(request for request in at.requests if turn_of(request) == turn)


def codes(state: State) -> list[str]:
    return [note.code for note in state.notes]


def verdict_of(state: State) -> Verdict:
    assert state.verdict is not None
    return state.verdict
