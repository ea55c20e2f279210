"""Deliberations for tests: experts who vote as they are told, and a host who writes it up."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from roundtable.core.errors import SpeakerError
from roundtable.core.state import State
from roundtable.core.values import Verdict
from roundtable.ports import OnWords, Reply, SpeakRequest
from tests.declaring import declared, spoken, vote
from tests.rehearsal import Table, Voice, run_in_virtual_time

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]
"""What happens in a turn: words, to which the seat's declaration is added; whatever a function
says, as it stands; an error; silence."""
Held = str | Mapping[str, Any]
"""What an expert holds: an option, a ranking such as `o2 > o1`, a position in words where there are
no options yet, or fields of its declaration with one of these as `choice`."""
Votes = Mapping[str, tuple[Held, Held]]
"""What each expert holds before and after the critique."""

ONE, TWO, THREE = EXPERTS = ("first-principles", "precedent", "pre-mortem")
NAMES = {ONE: "First Principles", TWO: "Precedent", THREE: "Pre-mortem"}
ROUND_1 = [f"1/answer/{who}" for who in EXPERTS]
ROUND_2 = [f"2/critique/{who}" for who in EXPERTS]
BALLOTS = [f"2/ballot/{who}" for who in EXPERTS]
RANKS = [f"3/ranking/{who}" for who in EXPERTS]
CLERK, SYNTHESIS = "0/clerk/host", "0/synthesis/host"
QUESTION = "Should we rewrite billing?"
OPEN_QUESTION = "Which database fits a small team?"
SPLIT: Votes = {ONE: ("o1", "o1"), TWO: ("o2", "o2"), THREE: ("o1", "o1")}
DATABASES: Votes = {ONE: ("Postgres.", "o1"), TWO: ("SQLite.", "o2"), THREE: ("Postgres.", "o1")}
DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")
_ANSWER = re.compile(r"^from Answer ([A-Z])\n.*?^Position: (.+?)$", re.M | re.S)


def sections(**bodies: str) -> str:
    """A speech with these sections; an underscore stands for a blank."""
    return "\n\n".join(f"## {name.replace('_', ' ')}\n{body}" for name, body in bodies.items())


def answer(who: str, **bodies: str) -> str:
    whole = {
        "Answer": f"The view of {who} in plain words.",
        "Reasons": f"1. The cost that {who} sees.\n2. The risk that {who} sees.",
    }
    return sections(**{**whole, **bodies})


def review(who: str, **bodies: str) -> str:
    whole = {"Critique": "The weakest spot is the price.", "Answer": f"The later view of {who}."}
    return sections(**{**whole, **bodies})


def synthesis(**bodies: str) -> str:
    whole = {
        "Answer": f"Do it step by step [{ROUND_1[0]}].",
        "Agreement": "All see the cost.",
        "Gaps_and_Risks": "none",
    }
    return sections(**{**whole, **bodies})


def bare(text: str) -> Act:
    """These words in a turn, and no declaration."""
    return lambda _: text


def turn_of(request: SpeakRequest) -> str:
    return request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]


def moved(by: str, what: str) -> list[dict[str, Any]]:
    """What an expert declares that took over an argument, by the letter of whoever made it."""
    return [{"from": by, "what": what, "moved": True}]


def fields_of(request: SpeakRequest, votes: Votes) -> dict[str, Any]:
    """What the seat that is asked declares, by what it holds."""
    _, stage, who = turn_of(request).split("/")
    form = request.form
    if form is None or who == "host":
        return {}
    before, after = votes.get(who, ("o1", "o1"))
    held = before if stage in ("answer", "confirm") else after
    fields = {"choice": held} if isinstance(held, str) else dict(held)
    told = str(fields.pop("choice", ""))
    stances = [("p1", "agree", ""), ("p3", "disagree", "It costs too much.")]
    theirs = {each.id for each in form.listed if not each.own}
    found: dict[str, Any] = {
        "position": f"The position of {who}.",
        "new_points": [f"The cost that {who} sees.", f"The risk that {who} sees."],
        "stances": [{"id": p, "stance": s, "text": t} for p, s, t in stances if p in theirs],
    }
    if not form.decisions:
        return {**found, "position": told, "new_points": found["new_points"], **fields}
    if stage == "ranking":
        told = told if told.startswith("s") else "s1 > s2"
    first, *others = (part.strip() for part in told.split(">"))
    earlier = _earlier(request, who, before if isinstance(before, str) else before["choice"])
    earlier = first if stage == "ballot" else earlier
    known = {option for each in form.decisions for option in each.option_ids}
    found["votes"] = [
        vote(
            first if first in (*known, "own", "any") else _earlier(request, who, first),
            on=decision.id,
            before=earlier,
            acceptable=tuple(each for each in others if each in known),
        )
        for decision in form.decisions
    ]
    return {**found, **fields}


def _earlier(request: SpeakRequest, who: str, held: str) -> str:
    """The option under which what was held at first stands now."""
    assert request.form is not None
    first = held.split(">")[0].strip()
    options = request.form.decisions[0].options
    said = [o.id for o in options if o.id == first or o.text.rstrip(".") == first.rstrip(".")]
    put = [o.id for o in options if who in o.holders]
    return next(iter([*said, *put]), "silent")


def listing(user: str) -> str:
    """The clerk's list: answers with the same position hold the same option."""
    groups: dict[str, list[str]] = {}
    for letter, position in _ANSWER.findall(user):
        groups.setdefault(position, []).append(letter)
    ordered = dict(sorted(groups.items()))
    options = [{"text": text, "holders": letters} for text, letters in ordered.items()]
    block = {"shared": [], "decisions": [{"question": "?", "options": options}], "clashes": []}
    return f"```decisions\n{json.dumps(block)}\n```"


def voice(votes: Votes = SPLIT, turns: Mapping[str, Act] | None = None) -> Voice:
    """All experts and the host. `turns` says what happens in the turns whose id contains a key."""
    acts = turns or {}

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        turn = turn_of(request)
        _, stage, who = turn.split("/")
        fields = fields_of(request, votes)
        for part, act in acts.items():
            if part in turn and not isinstance(act, float):
                if isinstance(act, str):
                    return spoken(act, request, **fields) if act.strip() else act
                return act(request) if callable(act) else act
        if request.form is not None and request.form.alone:
            return declared(request.form, request.user, **fields)
        match stage:
            case "answer":
                return spoken(answer(who), request, **fields)
            case "critique" | "critique-in-reverse":
                return spoken(review(who), request, **fields)
            case "clerk":
                return listing(request.user)
            case "ranking":
                return spoken(sections(Objection=f"{who} wants a date."), request, **fields)
            case "draft":
                return "STATEMENT: We go slowly.\nSTATEMENT: We go at once."
            case "revision":
                return sections(Statement="We go slowly, by May.", Gaps_and_Risks="none")
        return spoken(synthesis(), request)

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
