"""The form of a declaration for whoever speaks from outside, as tools, pages and terminals show it:
what is on the table, what is recorded of the speaker, and which fields can be filled in with what.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.declaration import ANY, OPEN, OPPOSE, OWN, SILENT, Declaration
from ..core.declaration_form import (
    MAX_CONDITIONS,
    MAX_NEW,
    MAX_POSITION,
    MAX_TEXT,
    Form,
    Key,
)
from ..core.events import SpeechGiven
from ..core.record import record_of
from ..core.state import State
from ..core.text import clip
from ..core.visible import shown


@dataclass(frozen=True, slots=True)
class OutsideForm:
    """A form, in plain values and as few words as it can be filled in from."""

    fields: dict[str, str]
    """What each field of the declaration takes, with the ids that can be named now."""
    decisions: dict[str, str] = field(default_factory=dict)
    """Each decision, and each option of it, by id."""
    points: dict[str, str] = field(default_factory=dict)
    """Each point and condition by id; `?` before those that need an answer, `yours` after those
    that only you may amend or withdraw."""
    recorded: str = ""


def outside_form(form: Form) -> OutsideForm:
    decisions: dict[str, str] = {}
    for decision in form.decisions:
        decisions[decision.id] = shown(decision.question)
        decisions.update((option.id, shown(option.text)) for option in decision.options)
    points = {
        each.id: f"{'? ' if each.asked else ''}{shown(each.told)}{' (yours)' if each.own else ''}"
        for each in form.listed
    }
    fields: dict[str, str] = {key: _takes(form, key) for key in form.schema_keys}
    return OutsideForm(fields, decisions, points, form.recorded)


def _takes(form: Form, key: Key) -> str:
    options = [option for each in form.decisions for option in each.option_ids]
    match key:
        case "votes":
            on, ids = "|".join(each.id for each in form.decisions), "|".join(options)
            return (
                f"[{{on: {on}, before: {ids}|{OWN}|{SILENT}, choice: {ids}|{OWN}|{ANY}, "
                "acceptable: [options], rejects: [options]}], one for each decision; before: where "
                "your previous statement belongs"
            )
        case "position":
            return f"what you would do: one sentence, at most {MAX_POSITION} characters"
        case "conditions":
            otherwise = "|".join([*(["option"] if options else []), OWN, OPPOSE, OPEN])
            return (
                f"[{{text, kind: demand|fact, otherwise: {otherwise}}}], up to {MAX_CONDITIONS}, "
                "new ones without which your position falls; yours on the list stand until you "
                "amend or withdraw them under stances"
            )
        case "confidence":
            return "0 to 100"
        case "stances":
            return (
                "[{id, stance: agree|partly|disagree|unsure, text: why}]; what is yours: "
                f"amend, with its new wording, or withdraw; texts of at most {MAX_TEXT} characters"
            )
        case "adopted":
            return (
                f"[{{from: {'|'.join(form.peers)}, what, moved: true|false}}]; moved: what changed "
                "your choice, which every change needs"
            )
        case "new_points":
            return f"[text], up to {MAX_NEW} claims of at most {MAX_TEXT} characters"
        case "abstain":
            return "null, or why you take no position at all"
        case "scores":
            return "{" + ", ".join(f"{name}: 1-5" for name in form.scored) + "}"
        case "end":
            return "true to end the discussion now, which all must want"
        case "actions":
            return "[{what, owner, due}]"
        case "values":
            return (
                "{"
                + ", ".join(f"{name}: {each.wanted}" for name, each in form.values.items())
                + "}"
            )
        case "for_the_record":
            return "what must stand in the minutes whatever is decided"
        case "delivers" | "answer" | "why" | "would_change" | "stands" | "rests_on":
            return "of the host's verdict"


def recorded_of(state: State, speech: SpeechGiven) -> str:
    """What was recorded of a speech, read back to its speaker."""
    declared = speech.declaration
    if declared is None:
        return "Your words, and no declaration."
    return f"{_read_back(state, declared)}."


def _read_back(state: State, declared: Declaration) -> str:
    if declared.abstain is not None:
        return f"You abstain: {shown(declared.abstain)}"
    texts = {o.id: o.text for d in record_of(state).decisions for o in d.options}
    told = []
    for vote in declared.votes:
        words = f" (“{clip(shown(texts[vote.choice]), 80)}”)" if vote.choice in texts else ""
        told.append(f"on {vote.on} you hold {vote.choice}{words}")
        if vote.acceptable:
            told.append(f"could live with {', '.join(vote.acceptable)}")
        if vote.rejects:
            told.append(f"reject {', '.join(vote.rejects)}")
    told += [f"on {each.id}: {each.stance}" for each in declared.stances]
    if declared.position:
        told.append(f"position: {clip(shown(declared.position), 120).rstrip('.')}")
    return "; ".join(told) or "A declaration that takes no position"


def new_ids(state: State, speech: SpeechGiven) -> tuple[list[str], list[str], list[str]]:
    """The ids that the points and the conditions of a speech were given; and those of what it
    words anew."""
    record = record_of(state)
    said = speech.declaration.stances if speech.declaration else ()
    amended = [each.id for each in said if each.stance == "amend"]
    points = [p.id for p in record.points if p.turn_id == speech.turn_id and p.version == 1]
    made = [c.id for c in record.conditions if c.turn_id == speech.turn_id]
    return points, [each for each in made if each not in amended], amended
