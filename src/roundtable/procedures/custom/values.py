"""What the speeches of a stage declare: which keys its form asks for, and what they amount to.

Values, votes and points stand in the declaration. Nothing is read from the words of a speech.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.declaration import Decision, DeclaredValue, Option
from ...core.declaration_form import AskedValue, Form, Key
from ...core.events import DecisionsTabled
from ...core.record import QUESTION, Record
from ...core.values import Participant
from .model import Definition, Extract, Stage

Read = DeclaredValue


def asked_value(extract: Extract) -> AskedValue:
    return AskedValue(extract.kind, extract.choices, extract.min, extract.max)


def tabled_by_file(definition: Definition, topic: str) -> DecisionsTabled | None:
    """The decisions on options that the definition names; None if it names none."""
    decisions: list[Decision] = []
    number = 0
    for ballot in definition.ballots:
        options = []
        for text in ballot.choices:
            number += 1
            options.append(Option(id=f"o{number}", text=text))
        first = not decisions
        decisions.append(
            Decision(
                id=QUESTION if first else f"d{len(decisions) + 1}",
                question=topic if first else ballot.name,
                options=tuple(options),
            )
        )
    return DecisionsTabled(decisions=tuple(decisions)) if decisions else None


def decision_of(stage: Stage, record: Record) -> Decision | None:
    """The decision that a stage votes on, if it is on the table."""
    if stage.decides:
        return record.question
    ballot = stage.ballot
    if ballot is None:
        return None
    texts = ballot.choices
    return next((d for d in record.decisions if tuple(o.text for o in d.options) == texts), None)


def keys_of(stage: Stage, *, hears: bool, options: bool) -> tuple[Key, ...]:
    """What a stage asks to be declared. Whoever `hears` others can answer their points and say
    what moved it; with `options` there is something to vote on."""
    keys: list[Key] = []
    if stage.decides or stage.ballot:
        keys += ["votes"] if options else []
        keys += ["position", "conditions", "confidence"]
        keys += ["stances", "adopted"] if hears else []
        keys += ["new_points"] if stage.decides and not hears else []
    if stage.raised:
        keys += [key for key in ("stances", "new_points") if key not in keys]
    if stage.valued:
        keys.append("values")
    return (*keys, "abstain") if keys else ()


def completed(
    form: Form, stage: Stage, decision: Decision | None, peers: dict[str, str] | None
) -> Form:
    """The form of the table with what this stage asks for: its own decision alone, its values, and
    the others by the names under which the speaker knows them."""
    return replace(
        form,
        decisions=(decision,) if decision is not None and "votes" in form.keys else (),
        values={each.name: asked_value(each) for each in stage.valued},
        peers=form.peers if peers is None or not form.peers else peers,
    )


def peers_by_name(seats: tuple[Participant, ...], own: str) -> dict[str, str]:
    return {seat.name: seat.id for seat in seats if seat.id != own}
