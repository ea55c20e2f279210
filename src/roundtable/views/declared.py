"""What a speech declares, as data for whoever shows it: never as protocol text.

A line depends on the declaration alone, and names options, points, conditions and people by their
ids; whoever has the whole discussion puts words and names in their place (`named_in`). What a line
is called is said by whoever shows it, in the reader's language: a line carries a code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..core.declaration import ANY, OWN, Declaration, DeclaredVote, StanceWord
from ..core.record import record_of
from ..core.state import State
from ..core.text import clip_words
from .report_parts import line, unmarked

LONGEST = 240
DeclaredCode = (
    StanceWord
    | Literal[
        "holds",
        "votes",
        "own",
        "any",
        "accepts",
        "rejects",
        "abstains",
        "demands",
        "asks",
        "moved",
        "adopts",
        "raises",
        "ends",
        "goes on",
        "to do",
        "for the record",
    ]
)


@dataclass(frozen=True, slots=True)
class Declared:
    """One line: `votes` o1; `moved` by ann: it is cheaper."""

    code: DeclaredCode
    ids: tuple[str, ...] = ()
    """Of options, points and conditions."""
    who: str = ""
    """A participant, by id; of something to do, its owner by name."""
    text: str = ""
    sure: int | None = None
    """In percent, of what is held."""

    def document(self) -> dict[str, Any]:
        """As the page gets it."""
        told = {"code": self.code, "ids": list(self.ids), "who": self.who, "text": self.text}
        return told if self.sure is None else {**told, "sure": self.sure}


def declared_lines(declaration: Declaration | None) -> list[Declared]:
    return [] if declaration is None else list(_lines(declaration))


def named_in(state: State) -> dict[str, str]:
    """What the ids stand for that declarations name: options, points and conditions."""
    record = record_of(state)
    words = {o.id: o.text for d in record.decisions for o in d.options}
    words |= {point.id: point.text for point in record.points}
    words |= {each.id: each.text for each in record.conditions}
    return {name: _short(text) for name, text in words.items()}


def _lines(d: Declaration) -> Iterator[Declared]:
    if d.abstain is not None:
        yield Declared("abstains", text=_short(d.abstain))
    if d.position or d.confidence is not None:
        yield Declared("holds", text=_short(d.position), sure=d.confidence)
    for vote in d.votes:
        yield from _vote(vote)
    for condition in d.conditions:
        yield Declared(
            "demands" if condition.kind == "demand" else "asks", text=_short(condition.text)
        )
    for each in d.adopted:
        code: DeclaredCode = "moved" if each.moved else "adopts"
        yield Declared(code, who=each.participant, text=_short(each.what))
    for stance in d.stances:
        yield Declared(stance.stance, (stance.id,), text=_short(stance.text))
    for point in d.new_points:
        yield Declared("raises", text=_short(point))
    if d.end is not None:
        yield Declared("ends" if d.end else "goes on")
    for action in d.actions:
        yield Declared("to do", who=line(action.owner), text=_short(action.text))
    if d.for_the_record:
        yield Declared("for the record", text=_short(d.for_the_record))


def _vote(vote: DeclaredVote) -> Iterator[Declared]:
    match vote.choice:
        case "own":
            yield Declared("own")
        case "any":
            yield Declared("any")
        case choice:
            yield Declared("votes", (choice,))
    if live_with := tuple(o for o in vote.acceptable if o not in (OWN, ANY)):
        yield Declared("accepts", live_with)
    if vote.rejects:
        yield Declared("rejects", vote.rejects)


def _short(text: str) -> str:
    return clip_words(unmarked(text), LONGEST)
