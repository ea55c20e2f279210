"""A person's declaration at the terminal: the fields of the form, asked for in plain words.

Enter skips whatever may be skipped. Numbers stand for options, so that nobody has to know an id;
what the person answers becomes the same fields that a model or a page fills in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ...core.declaration import ANY, OWN, SILENT, Decision
from ...core.declaration_form import MAX_CONDITIONS, MAX_NEW, AskedValue, Form, Listed
from .terminal import echo_error, for_screen

STANCES = ("agree", "partly", "disagree", "unsure")
_RECORDED = re.compile(
    r"on (?P<decision>\w+) (?P<how>you hold|the clerk put your statement under) (?P<held>\w+)"
)


class Keyboard(Protocol):
    """Somebody who answers line by line."""

    async def line(self, prompt: str) -> str | None:
        """One line; None if it is empty."""
        ...


class _LeftOut(Exception):
    """The person would rather declare nothing."""


async def ask_declaration(
    form: Form, keyboard: Keyboard, names: Mapping[str, str]
) -> dict[str, Any] | None:
    """What the person holds, in the fields of the form; None if it declares nothing, so that its
    words stand alone. `names` are the others' names by the letters of the form."""
    for _ in range(2):
        try:
            fields = await _Asking(form, keyboard, names).fields()
        except _LeftOut:
            echo_error("Nothing is declared: your words stand, and are not counted.")
            return None
        problems = form.read_fields(fields).problems
        if not problems:
            return fields
        echo_error(" ".join(each.message for each in problems))
    return None


class _Asking:
    def __init__(self, form: Form, keyboard: Keyboard, names: Mapping[str, str]) -> None:
        self._form = form
        self._keyboard = keyboard
        self._names = names
        self._recorded = {m["decision"]: m for m in _RECORDED.finditer(form.recorded)}

    async def fields(self) -> dict[str, Any]:
        keys = self._form.schema_keys
        found: dict[str, Any] = {}
        if self._form.asks_votes:
            question, *further = self._form.decisions
            first = await self._vote(question, "take no position")
            if first is None:
                return await self._abstain()
            votes = [first]
            for each in further:
                # Whoever answers the question need not care about every detail.
                indifferent = {"on": each.id, "before": SILENT, "choice": ANY}
                votes.append(await self._vote(each, "no preference") or indifferent)
            found["votes"] = votes
        if "position" in keys:
            position = await self._line("What would you do, in one sentence?", "skip")
            if position is None and not _chose(found.get("votes", ())):
                return await self._abstain()
            found["position"] = position or ""
        if "conditions" in keys:
            found["conditions"] = await self._conditions()
        if "confidence" in keys:
            found["confidence"] = await self._number("How sure are you, from 0 to 100?", 0, 100)
        if "stances" in keys:
            asked = [each for each in self._form.listed if each.asked and not each.own]
            taken = [await self._stance(each) for each in asked]
            mine = [each for each in self._form.listed if each.own and each.id.startswith("c")]
            taken += [await self._own_condition(each) for each in mine]
            found["stances"] = [each for each in taken if each]
        if "adopted" in keys:
            found["adopted"] = await self._argument(found.get("votes", ()))
        if "new_points" in keys:
            prompt = "A claim that the others should answer?"
            found["new_points"] = await self._several(prompt, MAX_NEW)
        if "scores" in keys:
            found["scores"] = {name: await self._score(name) for name in self._form.scored}
        if "values" in keys:
            asked_for = self._form.values.items()
            found["values"] = {name: await self._value(name, each) for name, each in asked_for}
        if "end" in keys:
            answer = await self._line("End the discussion now? [yes/no]", "no")
            found["end"] = (answer or "").casefold().startswith("y")
        if "actions" in keys:
            told = await self._several("Something to do next?", MAX_NEW)
            found["actions"] = [{"what": each, "owner": "", "due": ""} for each in told]
        if "for_the_record" in keys:
            prompt = "Anything for the minutes, whatever is decided?"
            found["for_the_record"] = await self._line(prompt, "nothing") or ""
        return found

    # --- votes ---------------------------------------------------------------------------------

    async def _vote(self, decision: Decision, enter: str) -> dict[str, Any] | None:
        """A vote; None if the person gives none."""
        echo_error(f"To decide: {for_screen(decision.question)}")
        for number, option in enumerate(decision.options, 1):
            echo_error(f"  {number}. {for_screen(option.text)}")
        choices = [*decision.option_ids, OWN, ANY]
        echo_error(f"  {len(choices) - 1}. something else: you say it below")
        echo_error(f"  {len(choices)}. no preference")
        if known := self._recorded.get(decision.id):
            echo_error(f"  So far you are recorded under {_number(choices, known['held'])}.")
        choice = await self._one_of("Your choice?", choices, enter)
        if choice is None:
            return None
        return {
            "on": decision.id,
            "before": await self._before(decision, choices, choice),
            "choice": choice,
            **await self._others(decision, choice),
        }

    async def _before(self, decision: Decision, choices: Sequence[str], choice: str) -> str:
        """Where the person stood: what is on record of it, or what it says itself."""
        known = self._recorded.get(decision.id)
        if known is None:
            return SILENT
        held = known["held"] if known["held"] in choices[:-1] else SILENT
        if known["how"] == "you hold" or held == choice:
            return held
        told = f"You were put under {_number(choices, held)}. Where did you stand?"
        return await self._one_of(told, choices[:-1], f"under {_number(choices, held)}") or held

    async def _others(self, decision: Decision, choice: str) -> dict[str, list[str]]:
        options = decision.option_ids
        rest = [each for each in options if each != choice]
        if not rest:
            return {"acceptable": [], "rejects": []}
        prompt = "Which others could you live with, best first?"
        acceptable = await self._some_of(prompt, options, rest)
        rest = [each for each in rest if each not in acceptable]
        prompt = "Which would you oppose even if everyone else chose it?"
        rejects = await self._some_of(prompt, options, rest) if rest else []
        return {"acceptable": acceptable, "rejects": rejects}

    async def _argument(self, votes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What changed the person's mind, if it did."""
        moved = [v for v in votes if v["before"] not in (SILENT, v["choice"])]
        if not moved or not self._form.peers:
            return []
        what = await self._line("You changed your choice. Which argument moved you?", "none")
        if what is None:
            return []
        letters = list(self._form.peers)
        for number, letter in enumerate(letters, 1):
            echo_error(f"  {number}. {for_screen(self._names.get(letter, letter))}")
        whose = await self._one_of("Whose was it?", letters, "nobody's")
        return [{"from": whose, "what": what, "moved": True}] if whose else []

    async def _abstain(self) -> dict[str, Any]:
        if "abstain" in self._form.schema_keys:
            why = await self._line("Why do you take no position?", "declare nothing at all")
            if why is not None:
                return {"abstain": why}
        raise _LeftOut

    # --- what goes with them -------------------------------------------------------------------

    async def _conditions(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        while len(found) < MAX_CONDITIONS:
            text = await self._line("A condition without which this falls?", "none")
            if text is None:
                break
            prompt = "Is it a demand that can be granted (d), or a fact to find out (f)?"
            kind = await self._line(prompt, "a demand") or "demand"
            fact = kind.casefold().startswith("f")
            found.append({"text": text, "kind": "fact" if fact else "demand", "otherwise": "open"})
        return found

    async def _own_condition(self, made: Listed) -> dict[str, str] | None:
        """Whether a condition of the person's own still stands, as it does if nothing is said."""
        echo_error(f"Your condition {made.id}: {for_screen(made.text)}")
        answer = await self._line("Withdraw it (w), or give its new wording?", "it stands")
        if answer is None:
            return None
        if answer.casefold() in ("w", "withdraw"):
            return {"id": made.id, "stance": "withdraw", "text": ""}
        return {"id": made.id, "stance": "amend", "text": answer}

    async def _stance(self, point: Listed) -> dict[str, str] | None:
        echo_error(f"{point.id}: {for_screen(point.text)}")
        while answer := await self._line(f"Do you {', '.join(STANCES)}?", "say nothing"):
            word, _, reason = answer.partition(" ")
            fits = [each for each in STANCES if each.startswith(word.casefold().strip(",:"))]
            if fits:
                return {"id": point.id, "stance": fits[0], "text": reason.strip()}
            echo_error(f"Please answer with one of {', '.join(STANCES)}; a reason may follow.")
        return None

    async def _score(self, name: str) -> int:
        prompt = f"How far do you agree with {name}, from 1 (not at all) to 5 (fully)?"
        score = await self._number(prompt, 1, 5, "declare nothing at all")
        if score is None:
            raise _LeftOut
        return score

    async def _value(self, name: str, asked: AskedValue) -> str | list[str]:
        separated = ", with ; between them" if asked.kind == "list" else ""
        told = await self._line(f"{name}: {asked.wanted}{separated}?", "declare nothing at all")
        if told is None:
            raise _LeftOut
        return [e.strip() for e in told.split(";") if e.strip()] if asked.kind == "list" else told

    # --- lines ---------------------------------------------------------------------------------

    async def _line(self, prompt: str, enter: str) -> str | None:
        return await self._keyboard.line(f"{prompt} (Enter: {enter})")

    async def _several(self, prompt: str, most: int) -> list[str]:
        found: list[str] = []
        while len(found) < most and (told := await self._line(prompt, "none")):
            found.append(told)
        return found

    async def _number(self, prompt: str, least: int, most: int, enter: str = "skip") -> int | None:
        while answer := await self._line(prompt, enter):
            bare = answer.rstrip("% ")
            if bare.isdecimal() and least <= int(bare) <= most:
                return int(bare)
            echo_error(f"Please answer with a number from {least} to {most}.")
        return None

    async def _one_of(self, prompt: str, choices: Sequence[str], enter: str) -> str | None:
        while answer := await self._line(f"{prompt} [1-{len(choices)}]", enter):
            if answer.isdecimal() and 1 <= int(answer) <= len(choices):
                return choices[int(answer) - 1]
            if answer.casefold() in choices:
                return answer.casefold()
            echo_error(f"Please answer with a number from 1 to {len(choices)}.")
        return None

    async def _some_of(
        self, prompt: str, options: Sequence[str], allowed: Sequence[str]
    ) -> list[str]:
        while answer := await self._line(prompt, "none"):
            numbers = [part for part in re.split(r"[,;\s]+", answer) if part]
            chosen = [
                options[int(n) - 1] for n in numbers if n.isdecimal() and 0 < int(n) <= len(options)
            ]
            if len(chosen) == len(numbers) and all(each in allowed for each in chosen):
                return list(dict.fromkeys(chosen))
            known = ", ".join(str(options.index(each) + 1) for each in allowed)
            echo_error(f"Please answer with numbers from this list: {known}.")
        return []


def _chose(votes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a vote says by itself what its voter would do."""
    return any(vote["choice"] not in (OWN, ANY) for vote in votes)


def _number(choices: Sequence[str], held: str) -> str:
    return str(choices.index(held) + 1) if held in choices else held
