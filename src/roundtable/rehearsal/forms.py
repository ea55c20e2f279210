"""What whoever plays a seat fills in beside prose: declarations, the clerk's list, statements.
Scripted characters and the imagined speakers of a rehearsal share it.

A declaration follows the form of the request. What the others hold is told from their words in the
prompt, as anybody at the table would tell it: scripted speakers say in a sentence what they hold.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.declaration import ANY, NONE, OWN, SILENT, Decision, StanceWord
from ..core.declaration_block import LABEL
from ..core.declaration_form import MAX_TEXT, AskedValue, Form, Key
from ..core.text import clip

Leaning = Literal["for", "against", "majority", "undecided"]
Fault = Literal["", "none", "contradicts", "two", "flood"]
"""What is wrong with a character's declaration: nothing, that there is none, that it says the
opposite of the prose, that there are two, or that it has no end."""

LISTING = "decisions"
MOST_STATEMENTS = 4
FLOOD = 10_000
_DELIVER = re.compile(r"^Deliver (?P<option>\S+)(?: option)? as the answer\.$", re.MULTILINE)
_RECORDED = re.compile(
    r"on (?P<decision>\w+) (?:you hold|the clerk put your statement under) (?P<option>\w+)"
)
_ANSWER = re.compile(r"^from Answer (?P<letter>[A-Z])(?:, [^\n]*)?\n(?P<words>.*)", re.DOTALL)
_HOLDS = re.compile(r"\bI hold: (?P<words>[^\n]+)")
_POSITION = re.compile(r"^Position: (?P<words>.+)$", re.MULTILINE)
_NO = ("no", "nein", "none")
_SCORES: dict[StanceWord, int] = {"agree": 5, "partly": 4, "unsure": 3, "disagree": 1}


@dataclass(frozen=True, slots=True)
class Manner:
    """How a character declares."""

    position: str
    leaning: Leaning = "for"
    """How it votes: for the first option, against it, with most of the others, or not really."""
    stance: StanceWord = "unsure"
    """What it says to points that are not its own."""
    because: str = ""
    """What it writes to each of them."""
    confidence: int = 70
    adopts: str = ""
    """What it claims to have taken over from another one."""
    condition: str = ""
    raises: bool = True
    """Whether it puts points of its own on the list."""
    record: str = ""
    """What it wants on record."""
    fault: Fault = ""
    shared: Mapping[str, str] = field(default_factory=dict)
    """By decision, the option that all hold who were heard, where this one is to part with them."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a prompt tells of the others and of the count; material, never a demand."""

    peers: Mapping[str, str]
    """Letter → words, where the others are known by letters."""
    others: tuple[str, ...]
    """The others' speeches, under whatever name."""
    delivers: str
    """What the count says the host has to deliver; empty if it does not."""


def read_told(fenced: Sequence[str], asked: str) -> Told:
    answers = {m["letter"]: m["words"] for text in fenced if (m := _ANSWER.match(text))}
    others = [t for t in fenced if t.startswith("from ") and not t.startswith("from yourself")]
    delivered = _DELIVER.search(asked)
    option = delivered["option"] if delivered else ""
    return Told(answers, tuple(others), NONE if option == "no" else option)


# --- declarations ------------------------------------------------------------------------------


def choice(decision: Decision, form: Form, manner: Manner, told: Told) -> str:
    """What a character votes for. Only whoever follows the majority leaves what it held."""
    if manner.leaning == "undecided" or not decision.options:
        return OWN if "position" in form.keys and decision == form.decisions[0] else ANY
    if manner.leaning == "majority" and (most := _held_by_most(decision, told)):
        return most
    held = before(decision, form, manner)
    if held in decision.option_ids:
        return held
    chosen = decision.option_ids[0]
    if manner.leaning == "against":
        no = (each.id for each in decision.options if each.text.casefold() in _NO)
        chosen = next(no, decision.option_ids[-1])
    if chosen != manner.shared.get(decision.id):
        return chosen
    return next((each for each in decision.option_ids if each != chosen), chosen)


def before(decision: Decision, form: Form, manner: Manner) -> str:
    """Where its earlier statement belongs: what is recorded of it, or what says its own words."""
    recorded = {m["decision"]: m["option"] for m in _RECORDED.finditer(form.recorded)}
    held = recorded.get(decision.id, "")
    if held in (*decision.option_ids, OWN):
        return held
    return _meant(decision, manner.position) or SILENT


def stated(form: Form | None, manner: Manner, told: Told) -> str:
    """What a character says that it holds, in a few words; empty for whoever says nothing of it."""
    if form is None or "delivers" in form.keys:
        return ""
    if not form.decisions:
        return manner.position if "position" in form.keys else ""
    question = form.decisions[0]
    option = choice(question, form, manner, told)
    if manner.fault == "contradicts":
        option = next((each for each in question.option_ids if each != option), option)
    return question.text_of(option) if option in question.option_ids else manner.position


def declaration(
    form: Form, manner: Manner, told: Told, sentences: Sequence[str], *, alone: bool
) -> str:
    """The block, or the blocks, that a character ends with."""
    if manner.fault == "none":
        return "" if not alone else sentences[0]
    fields = _fields(form, manner, told, sentences)
    if manner.fault == "flood":
        flood = [{"id": f"p{n}", "stance": "agree", "text": ""} for n in range(1, FLOOD + 1)]
        fields = {**fields, "stances": flood}
    if manner.fault != "two":
        return block(fields)
    other = {
        **fields,
        "position": "The opposite of that.",
        "votes": [{**vote, "choice": ANY} for vote in fields.get("votes", [])],
        "answer": "The opposite of that.",
    }
    return f"{block(fields)}\n\n{block({key: other[key] for key in form.keys if key in other})}"


def block(fields: Mapping[str, Any], label: str = LABEL) -> str:
    return f"```{label}\n{json.dumps(fields, ensure_ascii=False, separators=(',', ':'))}\n```"


def _fields(form: Form, manner: Manner, told: Told, sentences: Sequence[str]) -> dict[str, Any]:
    answer = _answer(form, told.delivers)
    delivers = told.delivers or NONE
    if manner.fault == "contradicts" and form.decisions:
        others = (*form.decisions[0].option_ids, NONE)
        delivers = next(each for each in others if each != delivers)
    stances = [
        {"id": each.id, "stance": manner.stance, "text": manner.because}
        for each in form.listed
        if each.asked and not each.own
    ]
    whole: dict[Key, Any] = {
        "votes": [_vote(each, form, manner, told) for each in form.decisions],
        "position": _position(form, manner, told),
        "conditions": [{"text": manner.condition, "kind": "fact", "otherwise": "open"}]
        if manner.condition
        else [],
        "confidence": manner.confidence,
        "stances": stances[:8],
        "adopted": [
            {"from": letter, "what": manner.adopts, "moved": False} for letter in form.peers
        ][: 1 if manner.adopts else 0],
        "new_points": [clip(sentences[1], MAX_TEXT)] if manner.raises else [],
        "abstain": None,
        "scores": dict.fromkeys(form.scored, _SCORES.get(manner.stance, 3)),
        "end": manner.stance == "agree",
        "actions": [],
        "values": {name: _value(each, manner) for name, each in form.values.items()},
        "for_the_record": manner.record,
        "delivers": delivers,
        "answer": answer,
        "why": ["That is how the seats voted."],
        "would_change": ["Another vote."],
        "stands": list(form.works),
        "rests_on": [],
    }
    return {key: whole[key] for key in form.keys}


def _value(asked: AskedValue, manner: Manner) -> float | str | list[str]:
    """A value as a character gives it: the first that fits, or the last for whoever is against."""
    against = manner.leaning == "against"
    match asked.kind:
        case "number":
            low = asked.minimum if asked.minimum is not None else 0.0
            high = asked.maximum if asked.maximum is not None else low + 100
            return low if against else high if manner.leaning == "for" else (low + high) / 2
        case "choice":
            return asked.choices[-1 if against else 0]
        case "list":
            return list(reversed(asked.choices) if against else asked.choices) or [manner.position]


def _vote(decision: Decision, form: Form, manner: Manner, told: Told) -> dict[str, Any]:
    chosen = choice(decision, form, manner, told)
    strict = manner.leaning == "against" and chosen in decision.option_ids
    return {
        "on": decision.id,
        "before": before(decision, form, manner),
        "choice": chosen,
        # A ranking of all for whoever is not dead against the rest.
        "acceptable": []
        if strict
        else sorted(each for each in decision.option_ids if each != chosen and chosen != ANY),
        "rejects": [],
    }


def _position(form: Form, manner: Manner, told: Told) -> str:
    """Its own words; whoever follows the others has none once it has heard them."""
    if manner.leaning == "majority" and form.decisions and told.others:
        return stated(form, manner, told)
    return manner.position


def _held_by_most(decision: Decision, told: Told) -> str | None:
    """What most of the others say that they hold, the last of several alike; failing that, what
    the clerk found under most of them."""
    seen = [
        option
        for words in told.others
        if (said := _HOLDS.findall(words)) and (option := _meant(decision, said[-1]))
    ]
    if seen:
        counted = Counter(seen)
        most = max(counted.values())
        return next(option for option in reversed(seen) if counted[option] == most)
    held = max(decision.options, key=lambda option: len(option.holders))
    return held.id if held.holders else None


def _meant(decision: Decision, words: str) -> str | None:
    return next((o.id for o in decision.options if _bare(o.text) == _bare(words)), None)


def _bare(words: str) -> str:
    return words.strip(" .…").casefold()


# --- the host ----------------------------------------------------------------------------------


def verdict(form: Form, told: Told) -> tuple[str, ...]:
    """What a host writes up: what was counted, and nothing of its own."""
    if told.delivers in ("", NONE):
        return ("The table chose no answer.", "The positions stand side by side.")
    return (f"The table chose this: {_answer(form, told.delivers)}", "That is how the seats voted.")


def _answer(form: Form, delivers: str) -> str:
    if not form.decisions or delivers in ("", NONE):
        return "The table chose no answer."
    return form.decisions[0].text_of(delivers)


def listing(told: Told, topic: str) -> str:
    """The clerk's block: one option for each position, in the words in which it was stated."""
    holders: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for letter, words in told.peers.items():
        found = _POSITION.findall(words) or _HOLDS.findall(words) or [_first_prose(words)]
        text = found[-1].strip()
        holders.setdefault(_bare(text), []).append(letter)
        texts.setdefault(_bare(text), text)
    options = [{"text": texts[each], "holders": who} for each, who in holders.items()]
    if not options:
        options = [{"text": "What was said.", "holders": []}]
    decisions = [{"question": topic, "options": options[:7]}]
    return block({"shared": [], LISTING: decisions, "clashes": []}, LISTING)


def _first_prose(words: str) -> str:
    lines = (line.strip() for line in words.splitlines())
    return clip(next((line for line in lines if line and not line.startswith("#")), "This."), 300)


# --- other forms -------------------------------------------------------------------------------


def numbered(sentences: Sequence[str]) -> str:
    return "\n".join(f"{n}. {sentence}" for n, sentence in enumerate(sentences, 1))


def statements(sentences: Sequence[str]) -> str:
    return "\n".join(f"STATEMENT: {sentence}" for sentence in sentences[:MOST_STATEMENTS])
