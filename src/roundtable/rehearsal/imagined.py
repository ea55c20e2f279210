"""The imagined speaker of a rehearsal: a speech of the usual length, and a declaration that can be
counted. What it says is filler; what it declares decides which way the discussion goes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..core.declaration import Declaration
from ..core.effects import Task, TurnPlan
from ..core.text import clip
from ..core.values import Prompt
from . import forms
from .forms import Manner

Mood = Literal["agreeing", "differing"]
"""Whether the table is of one mind from the start, or until the end of several."""

_FILLER = "In {0}, sentence {1} of {2} weighs {1} reasons about it, as {0} would. "
"""No two turns say the same: who copies others is told from who writes."""
_FENCED = re.compile(r"\[fence (?P<nonce>\S+)\]\n(?P<text>.*?)\n\[/fence (?P=nonce)\]", re.DOTALL)
_CHARACTERS = 4
_PARTS = 3
_KNOWN = {
    "confidence": "medium, as far as that can be said.",
    "verdict": "ACCURATE",
    "workflow": "parallel_debate",
    "rounds": "2",
    "dissent": "none",
}
"""What stands in sections from which a procedure reads how it goes on."""


@dataclass(frozen=True, slots=True)
class Imagined:
    """What somebody would have said."""

    text: str
    sections: dict[str, str]
    declaration: Declaration | None
    whole: str
    """All of it, with the block that declares."""


def imagined(
    plan: TurnPlan,
    task: Task,
    prompt: Prompt,
    tokens: float,
    mood: Mood,
    place: int,
    shared: Mapping[str, str],
) -> Imagined:
    """The speech of this turn, as long as is usual, to what the prompt says. `place` is where its
    speaker sits, `shared` by decision what all hold who were really heard."""
    manner = _manner(plan, mood, place, shared)
    fenced = [match["text"].strip() for match in _FENCED.finditer(prompt.user)]
    asked = _FENCED.sub("", prompt.user)
    told = forms.read_told(fenced, asked)
    block = ""
    if task.form is not None:
        said = [_filled(plan, 80), _filled(plan, 90)]
        block = forms.declaration(task.form, manner, told, said, alone=task.form.alone)
    listing = forms.listing(told, "the question") if f"```{forms.LISTING}" in asked else ""
    room = max(0, round(tokens * _CHARACTERS) - len(block) - len(listing))
    prose = "" if task.form is not None and task.form.alone else _prose(plan, task, asked, room)
    if task.form is not None and prose:
        held = forms.stated(task.form, manner, told)
        prose = f"{prose}\n\nI hold: {held}" if held else prose
    prose = "\n\n".join(part for part in (prose, listing) if part)
    reading = task.form.read("\n\n".join((prose, block))) if task.form is not None else None
    declared = reading.declaration if reading is not None else None
    text = prose or (declared.position or declared.answer if declared else "") or _filled(plan, 60)
    whole = "\n\n".join(part for part in (prose, block) if part)
    return Imagined(text, task.contract.parse(text), declared, whole)


def _manner(plan: TurnPlan, mood: Mood, place: int, shared: Mapping[str, str]) -> Manner:
    if mood == "agreeing":
        held = "Do it, in the careful way."
        return Manner(held, "for", "agree", "So it is.", confidence=80, raises=plan.round <= 1)
    name = clip(plan.participant.name, 60)
    return Manner(
        f"What {name} ({plan.participant.id}) holds, and nothing else.",
        # Where the options were named before anybody spoke, they part on those.
        "against" if place % 2 else "for",
        "disagree",
        "That does not touch it.",
        record="The other way costs more.",
        shared=shared,
    )


def _prose(plan: TurnPlan, task: Task, asked: str, room: int) -> str:
    if re.search(r"^STATEMENT:", asked, re.MULTILINE):
        parts = [f"{n}. {_filled(plan, room // _PARTS)}" for n in range(1, _PARTS + 1)]
        return forms.statements(parts)
    headings = task.contract.sections or tuple(part.heading for part in task.shape)
    if not headings:
        return f"{plan.participant.name}: {_filled(plan, room)}"
    share = max(1, room // len(headings) - 12)
    return "\n\n".join(f"## {heading}\n{_body(plan, heading, share)}" for heading in headings)


def _body(plan: TurnPlan, heading: str, room: int) -> str:
    known = _KNOWN.get(heading.casefold().removeprefix("updated "))
    if known is not None:
        return f"{known} {_filled(plan, room - len(known))}" if room > 200 else known
    if heading == "Reasons":
        return forms.numbered([_filled(plan, room // _PARTS)] * _PARTS)
    return _filled(plan, room)


def _filled(plan: TurnPlan, room: int) -> str:
    sentence = _FILLER.format(plan.participant.name, "{0}", plan.stage)
    times = max(1, -(-room // len(sentence)))
    text = "".join(sentence.replace("{0}", str(n)) for n in range(1, times + 1))
    return text[: max(room, 20)].strip()
