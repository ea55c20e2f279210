"""Scripted discussions that tempt a program to see agreement: what each seat says and declares.

A script (scripts.json) has seats with what each of them `says`, what it really `holds`, what a
hasty reader takes it for (`looks_like`) and what it says `after_talk`. Seats with the same `holds`
would act alike. `manners`: polite seats agree with every point of the others although they hold
something else, silent ones say nothing to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from roundtable.core.declaration_form import Form
from roundtable.ports import SpeakRequest
from tests.declaring import block, filled
from tests.rehearsal import FENCED, HEADINGS

Manner = Literal["honest", "conditions", "missing", "prose"]
"""How seats declare: honestly; honestly, but with what parts them from a plain yes in conditions;
not at all; or as a careless model words a ballot."""
ClerkKind = Literal["honest", "hasty"]

HERE = Path(__file__).with_name("scripts.json")
SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "agreement" / "scripts.json"


def scripts() -> list[dict[str, Any]]:
    """The project's own scripts, and those that lie beside the checkout, if any."""
    found = {each["id"]: each for each in json.loads(HERE.read_text("utf-8"))}
    if SHARED.exists():
        found.update({each["id"]: each for each in json.loads(SHARED.read_text("utf-8"))})
    return list(found.values())


@dataclass
class Cast:
    """The seats of a script at one table, in the order in which they sit, and their host."""

    script: dict[str, Any]
    manner: Manner = "honest"
    clerk: ClerkKind = "honest"
    seats: list[str] = field(default_factory=list)
    """Participant ids, set by whoever opens the table; the nth says what the nth seat says."""
    options: dict[str, str] = field(default_factory=dict)
    """What is known of the options of the question: id → what its holders hold."""

    def seat(self, participant: str) -> dict[str, Any]:
        known = self.seats.index(participant)
        found: dict[str, Any] = self.script["seats"][known]
        return found

    def speak(self, request: SpeakRequest) -> str:
        """The answer of whoever is asked."""
        turn = request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]
        _round, _stage, who = turn.split("/")
        if who not in self.seats:
            return self._host(request)
        return self._participant(request, who, later=self._later(turn))

    def _later(self, turn: str) -> bool:
        round_, stage, _ = turn.split("/")
        return int(round_) > 1 or stage in ("ballot", "confirm")

    # --- seats ---------------------------------------------------------------------------------

    def _participant(self, request: SpeakRequest, who: str, *, later: bool) -> str:
        seat = self.seat(who)
        after = seat.get("after_talk") if later else None
        says = after["position"] if after else seat["says"]
        ending = self._declaration(request, who, later=later)
        if request.form is not None and request.form.alone:
            return ending or says
        headings = HEADINGS.findall(FENCED.sub("", request.user))
        body = "\n\n".join(f"## {name}\n{says}" for name in headings) or says
        return f"{body}\n\n{ending}".strip()

    def _declaration(self, request: SpeakRequest, who: str, *, later: bool) -> str:
        form = request.form
        seat = self.seat(who)
        if form is None or self.manner == "missing":
            return ""
        if self.manner == "prose":
            return f"Ballot: {seat.get('ballot_in_prose', seat['position'])}"
        return block(self._fields(form, seat, later=later))

    def _fields(self, form: Form, seat: dict[str, Any], *, later: bool) -> dict[str, Any]:
        after = seat.get("after_talk") if later else None
        held = (after or seat)["holds"]
        position = (after or seat)["position"]
        because = str(after["because"]) if after else "none"
        adopted = []
        if because != "none" and form.peers:
            letter, _, what = because.removeprefix("Answer ").partition(": ")
            letter = letter if letter in form.peers else next(iter(form.peers))
            adopted = [{"from": letter, "what": what or because, "moved": True}]
        conditions = []
        choice_of = self._choice(form, held)
        if self.manner == "conditions" and self.script.get("yes_no") and seat.get("looks_like"):
            choice_of = self._choice(form, seat["looks_like"])
            conditions = [{"text": position, "kind": "demand", "otherwise": "oppose"}]
        votes = []
        for decision in form.decisions:
            choice = choice_of if decision.id == "d1" else "any"
            before = self._choice(form, seat["holds"]) if decision.id == "d1" else "silent"
            if conditions:
                before = choice
            votes.append(
                {
                    "on": decision.id,
                    "before": before if before != "any" else "silent",
                    "choice": choice,
                    "acceptable": [],
                    "rejects": [],
                }
            )
        return filled(
            form,
            votes=votes,
            position=position,
            conditions=conditions,
            confidence=seat.get("confidence", 80),
            stances=list(self._stances(form)),
            adopted=adopted,
            new_points=self._points(seat),
        )

    def _choice(self, form: Form, held: str) -> str:
        """The option that says what a seat holds, as it would recognise it; else its own."""
        if not form.decisions:
            return "own"
        if held in ("u", "dep1", "dep2", "dep3") or held.startswith("dep"):
            return "any" if self.script.get("yes_no") else "own"
        for option in form.decisions[0].options:
            if self._meaning(option.text, option.origin) == held:
                return option.id
        return "own"

    def _meaning(self, text: str, origin: str) -> str | None:
        """What an option stands for: the seats know what they meant by their own sentences."""
        if self.script.get("yes_no") and origin == "given":
            return text.casefold()
        for seat in self.script["seats"]:
            for said in (seat, seat.get("after_talk") or seat):
                if said["position"] == text:
                    return str(said["holds"])
        return None

    def _points(self, seat: dict[str, Any]) -> list[str]:
        shared = self.script.get("truism_all_share")
        return [*seat.get("reasons", []), *([shared] if shared else [])][:3]

    def _stances(self, form: Form) -> Iterator[dict[str, str]]:
        manners = self.script["manners"]
        for each in form.listed:
            if each.own or manners == "silent":
                continue
            agrees = manners == "polite" or each.text == self.script.get("truism_all_share")
            if each.id.startswith("c"):
                agrees = manners == "polite"
            if agrees:
                yield {"id": each.id, "stance": "agree", "text": ""}

    # --- the host ------------------------------------------------------------------------------

    def _host(self, request: SpeakRequest) -> str:
        body = ""
        if "```decisions" in request.user:
            body = f"```decisions\n{json.dumps(self._listing(request), ensure_ascii=False)}\n```"
        headings = HEADINGS.findall(FENCED.sub("", request.user))
        said = [f"## {name}\nAs the table decided." for name in headings]
        ending = ""
        if request.form is not None:
            ending = block(filled(request.form, request.user, answer="As the table decided."))
            if request.form.alone:
                return ending
        return "\n\n".join([*said, body, ending]).strip() or "As the table decided."

    def _listing(self, request: SpeakRequest) -> dict[str, Any]:
        """What the clerk sees: answers under letters, which it groups by what they hold, or, if
        hasty, by what they look like."""
        groups: dict[str, list[str]] = {}
        texts: dict[str, str] = {}
        pattern = r"^from Answer ([A-Z])(?:, [^\n]*)?\n(.*?)\n\[/fence"
        shown = re.findall(pattern, request.user, re.S | re.M)
        for letter, text in shown:
            for seat in self.script["seats"]:
                if seat["position"] in text:
                    held = seat["holds"]
                    if self.clerk == "hasty":
                        held = seat.get("looks_like", held)
                    groups.setdefault(held, []).append(letter)
                    texts.setdefault(held, seat["position"])
                    break
        options = [{"text": texts[held], "holders": who} for held, who in groups.items()]
        shared = self.script.get("truism_all_share")
        return {
            "shared": [shared] if shared else [],
            "decisions": [{"question": self.script["question"], "options": options}],
            "clashes": [],
        }
