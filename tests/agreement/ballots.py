"""Tables at which three seats vote as they are told, at first and in the end, in every procedure;
and every surface that tells what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from roundtable.core.errors import SpeakerError
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.surfaces.cli.screen import Screen
from roundtable.surfaces.cli.verdict import Verdict, typeset
from tests.agreement.test_scripts import SEATS, options_for
from tests.agreement.test_writers import BUILT_IN as PROCEDURES
from tests.declaring import block, filled, vote
from tests.rehearsal import FENCED, HEADINGS, Table, Voice, dutiful, run_in_virtual_time
from tests.views.test_delivery import SURFACES as DELIVERED

QUESTION = "Which drink should the office buy?"
TEA, COFFEE = "o1", "o2"
WORDS = {TEA: "Buy tea.", COFFEE: "Buy coffee."}


@dataclass(frozen=True)
class Act:
    """What a seat declares at one time: a choice, or whole fields; `text` is the whole answer."""

    choice: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    fails: bool = False
    """Whether it does not answer at all."""
    reshape: Callable[[str], str] = lambda said: said
    """What becomes of its answer on the way."""


def held(
    procedure: str,
    *seats: tuple[Act | str, Act | str],
    question: str = QUESTION,
    choices: str | None = "Tea,Coffee",
    **more: Any,
) -> State:
    """Each seat acts so before it heard the others, and so ever after."""
    names = SEATS[procedure][: len(seats)]
    acts = {
        name: tuple(Act(each) if isinstance(each, str) else each for each in both)
        for name, both in zip(names, seats, strict=True)
    }

    def speak(request: SpeakRequest) -> str | SpeakerError:
        turn = request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]
        round_, stage, who = turn.split("/")
        if who not in acts:
            return dutiful(request)
        later = int(round_) > 1 or stage in ("ballot", "confirm")
        if acts[who][later].fails:
            return SpeakerError("auth", "The key was refused.")
        return _said(request, acts[who][later], acts[who][0])

    options = {**options_for(procedure, len(seats)), **more}
    if choices is not None:
        options["choices"] = choices
    table = Table({"*": Voice(speak)})
    return run_in_virtual_time(table.ask(question, procedure=procedure, options=options))


def _said(request: SpeakRequest, act: Act, first: Act) -> str:
    if act.text is not None:
        return act.text
    form = request.form
    fields = dict(act.fields)
    if act.choice:
        before = first.choice or "silent"
        fields.setdefault("votes", [vote(act.choice, before=before)])
        fields.setdefault("position", WORDS.get(act.choice, "As I said."))
    says = str(fields.get("position") or "I take no side.")
    ending = block(filled(form, request.user, **fields)) if form is not None else ""
    if form is not None and form.alone:
        return act.reshape(ending)
    headings = HEADINGS.findall(FENCED.sub("", request.user))
    body = "\n\n".join(f"## {name}\n{says}" for name in headings) or says
    return act.reshape(f"{body}\n\n{ending}".strip())


def typed(state: State) -> str:
    """The verdict on a terminal, as one line."""
    return " ".join(" ".join(typeset(Verdict.of(state), Screen(200))).split())


SURFACES: dict[str, Callable[[State], str]] = {**DELIVERED, "typeset": typed}

__all__ = ["COFFEE", "PROCEDURES", "QUESTION", "SURFACES", "TEA", "Act", "held", "typed"]
