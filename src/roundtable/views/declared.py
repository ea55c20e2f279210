"""What a speech declares, in small readable lines beneath its words: never as protocol text.

A line depends on the declaration alone, and names options, points and people by their ids; whoever
has the whole discussion puts words and names in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.declaration import ANY, OWN, Declaration, DeclaredVote, StanceWord
from ..core.naming import name_of
from ..core.record import record_of
from ..core.state import State
from ..core.text import clip
from .report_parts import line

LONGEST = 240
_STANCES: dict[StanceWord, str] = {
    "agree": "Agrees with",
    "partly": "Agrees partly with",
    "disagree": "Disagrees with",
    "unsure": "Is unsure about",
    "amend": "Rewords",
    "withdraw": "Withdraws",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """One line: `Votes for` o1; `Changed its mind by an argument of` ann: it is cheaper."""

    label: str
    ids: tuple[str, ...] = ()
    """Of options, points and conditions."""
    who: str = ""
    """A participant, by id."""
    text: str = ""


def declared_lines(declaration: Declaration | None) -> list[Declared]:
    return [] if declaration is None else list(_lines(declaration))


def declared_in(state: State, declaration: Declaration | None) -> list[str]:
    """The lines in words."""
    record = record_of(state)
    words = {o.id: o.text for d in record.decisions for o in d.options}
    words |= {point.id: point.text for point in record.points}
    words |= {each.id: each.text for each in record.conditions}
    found = []
    for each in declared_lines(declaration):
        ids = ", ".join(f"“{clip(line(words[i]), 80)}”" if i in words else i for i in each.ids)
        who = name_of(state, each.who) if each.who else ""
        told = " ".join(part for part in (each.label, ids, who) if part)
        found.append(f"{told}: {each.text}" if each.text else told)
    return found


def _lines(d: Declaration) -> Iterator[Declared]:
    if d.abstain is not None:
        yield Declared("Abstains", text=_short(d.abstain))
    if d.position:
        sure = f" ({d.confidence} % sure)" if d.confidence is not None else ""
        yield Declared("Holds", text=f"{_short(d.position)}{sure}")
    for vote in d.votes:
        yield from _vote(vote)
    for condition in d.conditions:
        label = "Demands" if condition.kind == "demand" else "Wants to know"
        yield Declared(label, text=_short(condition.text))
    for each in d.adopted:
        label = "Changed its mind by an argument of" if each.moved else "Takes over from"
        yield Declared(label, who=each.participant, text=_short(each.what))
    for stance in d.stances:
        yield Declared(_STANCES[stance.stance], (stance.id,), text=_short(stance.text))
    for point in d.new_points:
        yield Declared("Raises", text=_short(point))
    if d.end is not None:
        yield Declared("Would end the discussion now" if d.end else "Would go on")
    for action in d.actions:
        owner = f" ({line(action.owner)})" if action.owner else ""
        yield Declared("To do", text=f"{_short(action.text)}{owner}")
    if d.for_the_record:
        yield Declared("For the record", text=_short(d.for_the_record))


def _vote(vote: DeclaredVote) -> Iterator[Declared]:
    match vote.choice:
        case "own":
            yield Declared("Votes for none of the options")
        case "any":
            yield Declared("Has no preference among the options")
        case choice:
            yield Declared("Votes for", (choice,))
    if vote.acceptable:
        yield Declared("Could live with", tuple(o for o in vote.acceptable if o not in (OWN, ANY)))
    if vote.rejects:
        yield Declared("Rejects", vote.rejects)


def _short(text: str) -> str:
    return clip(line(text), LONGEST)
