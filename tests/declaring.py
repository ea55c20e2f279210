"""Declarations for tests: blocks as a dutiful speaker would fill them in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

from roundtable.core.declaration_block import LABEL, split_blocks
from roundtable.core.declaration_form import AskedValue, Form


class Asked(Protocol):
    """A request to a speaker, as far as a declaration depends on it."""

    @property
    def user(self) -> str: ...
    @property
    def form(self) -> Form | None: ...
    @property
    def schema(self) -> Mapping[str, Any] | None: ...


_DELIVER = re.compile(r"Deliver (?P<option>o\d+|s\d+|no option) as the answer")


def block(fields: dict[str, Any]) -> str:
    """The fenced block that ends a speech."""
    return f"```{LABEL}\n{json.dumps(fields, ensure_ascii=False)}\n```"


def vote(
    choice: str,
    *,
    on: str = "d1",
    before: str | None = None,
    acceptable: tuple[str, ...] = (),
    rejects: tuple[str, ...] = (),
) -> dict[str, Any]:
    """A vote; without `before` its speaker held the same before."""
    return {
        "on": on,
        "before": choice if before is None and choice != "any" else before or "silent",
        "choice": choice,
        "acceptable": list(acceptable),
        "rejects": list(rejects),
    }


def filled(form: Form, prompt: str = "", **fields: Any) -> dict[str, Any]:
    """What a dutiful speaker declares: the first option, a plain position, and nothing else. What
    is given replaces it; keys that the form does not ask for are left out."""
    delivered = _DELIVER.search(prompt)
    whole: dict[str, Any] = {
        "votes": [vote(d.option_ids[0], on=d.id) for d in form.decisions if d.options],
        "position": "Do it step by step.",
        "conditions": [],
        "confidence": 80,
        "stances": [],
        "adopted": [],
        "new_points": [],
        "abstain": None,
        "scores": dict.fromkeys(form.scored, 4),
        "end": False,
        "values": {name: _value(asked) for name, asked in form.values.items()},
        "actions": [],
        "for_the_record": "",
        "delivers": delivered["option"].replace("no option", "none") if delivered else "none",
        "answer": "Do it step by step.",
        "why": ["It is cheap."],
        "would_change": ["A higher price."],
        "stands": [],
        "rests_on": [],
    }
    if "choice" in fields:
        fields["votes"] = [vote(fields.pop("choice"), on=d.id) for d in form.decisions]
    return {key: fields.get(key, whole[key]) for key in form.keys}


def _value(asked: AskedValue) -> Any:
    if asked.kind == "number":
        return asked.minimum or 1
    first = asked.choices[0] if asked.choices else "one"
    return first if asked.kind == "choice" else [first]


def declared(form: Form | None, prompt: str = "", **fields: Any) -> str:
    """The block for this form; nothing where none is asked for."""
    return block(filled(form, prompt, **fields)) if form is not None else ""


_EXAMPLE = re.compile(rf"^```{LABEL}\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_DECISION = re.compile(r"^(?P<id>d\d+): .*\n(?P<options>(?:  o\d+: .*\n?)+)", re.MULTILINE)
_OPTION = re.compile(r"^  (o\d+): ", re.MULTILINE)
_FILLED_IN = {"confidence": 80, "position": "Do it step by step.", "answer": "Do it step by step."}
_EMPTY = (
    "conditions",
    "stances",
    "adopted",
    "new_points",
    "actions",
    "why",
    "would_change",
    "rests_on",
)


def by_prompt(text: str, prompt: str, **given: Any) -> str:
    """The words with a dutiful declaration made from the prompt alone, as a model at the end of a
    wire has to; the words alone where the prompt asks for none, or they hold one already. What is
    given replaces what would be filled in; `choice` is voted for wherever it is an option."""
    examples = _EXAMPLE.findall(prompt)
    if not examples or split_blocks(text)[1]:
        return text
    fields = json.loads(examples[-1])
    options = {each["id"]: _OPTION.findall(each["options"]) for each in _DECISION.finditer(prompt)}
    listed = _OPTION.findall(prompt) or ["own"]
    choice = given.pop("choice", "")
    delivered = _DELIVER.search(prompt)
    for key in fields:
        if key in given:
            fields[key] = given[key]
        elif key == "votes":
            asked = [(each["on"], options.get(each["on"]) or listed) for each in fields[key]]
            fields[key] = [vote(choice if choice in o else o[0], on=on) for on, o in asked]
        elif key == "delivers":
            told = delivered["option"] if delivered else "none"
            fields[key] = told.replace("no option", "none")
        elif key == "scores":
            fields[key] = dict.fromkeys(fields[key], 4)
        elif key in _EMPTY:
            fields[key] = []
        else:
            fields[key] = _FILLED_IN.get(key, fields[key])
    ending = block(fields)
    return ending if "and nothing else:\n" in prompt else f"{text}\n\n{ending}"


def spoken(text: str, request: Asked, **fields: Any) -> str:
    """The words, with the declaration that the request asks for unless they hold one already; an
    empty answer stays empty."""
    if request.form is None or split_blocks(text)[1] or not text.strip():
        return text
    if request.schema is not None:
        return declared(request.form, request.user, **fields)
    return f"{text}\n\n{declared(request.form, request.user, **fields)}"


_WORDS = {"AGREE": "agree", "PARTLY": "partly", "DISAGREE": "disagree", "UNSURE": "unsure"}


def fields(*lines: str, position: str = "Do it step by step.") -> dict[str, Any]:
    """A declaration in short lines: `AGREE p1: why`, `NEW: a claim`, `ACTION: what - Owner: who`,
    `END: yes`, `VOTE o1`, `VOTE o1 FROM o2`, `BECAUSE Ann: an argument`, `RECORD: words`. Without a
    vote its speaker has no preference."""
    found: dict[str, Any] = {
        "votes": [vote("any")],
        "position": position,
        "conditions": [],
        "confidence": 80,
        "stances": [],
        "adopted": [],
        "new_points": [],
        "abstain": None,
        "end": False,
        "actions": [],
        "for_the_record": "",
    }
    for line in lines:
        head, _, rest = line.partition(":")
        word, _, name = head.partition(" ")
        rest = rest.strip()
        match word:
            case "NEW":
                found["new_points"].append(rest)
            case "ACTION":
                what, _, owner = rest.partition(" - Owner: ")
                found["actions"].append({"what": what, "owner": owner, "due": ""})
            case "END":
                found["end"] = rest == "yes"
            case "RECORD":
                found["for_the_record"] = rest
            case "BECAUSE":
                found["adopted"].append({"from": name, "what": rest, "moved": True})
            case "VOTE":
                choice, _, before = name.partition(" FROM ")
                found["votes"] = [vote(choice, before=before or None)]
            case _:
                found["stances"].append({"id": name, "stance": _WORDS[word], "text": rest})
    return found
