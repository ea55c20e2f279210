"""A declaration that comes after its speech: what a seat from outside adds, or sets right.

What it gives replaces what it declared before under the same keys; the rest stands. Only the new
declaration is recorded, whole, in a turn of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.declaration import Declaration
from ..core.effects import TurnPlan
from ..core.errors import NotAllowed
from ..core.state import State
from .external import MEND, Heard, first_word, lacks, speech_from_outside


def heard_later(state: State, plan: TurnPlan, fields: Mapping[str, Any], key: str) -> Heard:
    """What these fields make of a seat's earlier declaration. NotAllowed says what is wrong."""
    asked = plan.task.form
    assert asked is not None, "a turn without words asks for a declaration"
    given = {name: value for name, value in fields.items() if value not in (None, [], "")}
    if not any(name in asked.schema_keys for name in given):
        known = ", ".join(asked.schema_keys)
        raise NotAllowed("The declaration is empty.", f"Give one of: {known}.")
    before = _before(state, plan)
    kept = _fields(before) if before is not None else {}
    # Earlier stances stand where they were said: others may have spoken to the points since.
    merged = {**kept, **given}
    form = replace(asked, keys=tuple(each for each in asked.keys if each in merged))
    reading = form.read_fields(merged)
    if reading.declaration is None:
        told = " ".join(each.message for each in reading.problems)
        raise NotAllowed(f"The declaration cannot be read: {told}", MEND)
    speech = speech_from_outside(state, plan, key, "", reading.declaration)
    remarks = [*lacks(form, reading.declaration, given, first=first_word(state, plan))]
    remarks += [f"Read so: {each}." for each in reading.mended]
    return Heard(speech, tuple(remarks))


def _before(state: State, plan: TurnPlan) -> Declaration | None:
    mine = [s for s in state.said.of_seats if s.participant == plan.participant.id]
    said = [s for s in mine if s.round == plan.round]
    return next((s.declaration for s in reversed(said) if s.declaration is not None), None)


def _fields(declared: Declaration) -> dict[str, Any]:
    """A declaration as its speaker would give it again. Points and stances are on the
    table already."""
    found = declared.model_dump(
        mode="json", exclude_defaults=True, exclude={"new_points", "stances"}
    )
    if "adopted" in found:
        found["adopted"] = [
            {"from": each.participant, "what": each.what, "moved": each.moved}
            for each in declared.adopted
        ]
    if "actions" in found:
        found["actions"] = [
            {"what": each.text, "owner": each.owner, "due": each.due} for each in declared.actions
        ]
    return found
