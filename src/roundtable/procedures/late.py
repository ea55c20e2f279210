"""Late options: what a position became that was first put up after a seat had voted.

Nobody is asked to vote on a sentence alone. Beside such an option stands what its author says for
it, and its demands are put to whoever is asked about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.declaration import Decision, Option
from ..core.declaration_form import Form, Listed
from ..core.text import whole_sentences

if TYPE_CHECKING:
    from .table import Table

LONGEST = 700
"""Characters of what an author says for its option."""
PLANS = ("Revised Proposal", "Updated Position", "Proposal", "Answer", "Position")
"""The sections in which a speech says what it would do, the newest kind first."""


def late_options(table: Table, seat: str, stage: str) -> tuple[Option, ...]:
    """Others' own positions that were put up after this seat's last vote on their decision. Of
    several times that options were put up during a closing ballot, only the last one is new in a
    stage that follows it."""
    return tuple(_late(table, seat, stage))


def _late(table: Table, seat: str, stage: str) -> Iterator[Option]:
    tabled = table.state.tabled
    again = stage.endswith("-again")
    for decision in table.record.decisions:
        voted = table.record.vote(decision, seat)
        if voted.vote is None:
            continue
        for option in decision.options:
            if option.origin != "own" or seat in option.holders or option.id == voted.choice:
                continue
            first = next(n for n, each in enumerate(tabled) if _names(each.decisions, option.id))
            newest = first == len(tabled) - 1
            if voted.round <= tabled[first].after_round and (newest or not again):
                yield option


def _names(decisions: tuple[Decision, ...], option: str) -> bool:
    return any(option in each.option_ids for each in decisions)


def with_their_demands(table: Table, seat: str, form: Form, late: tuple[Option, ...]) -> Form:
    """The form with the demands of those who put these options up, to be granted or refused."""
    owners = {holder for option in late for holder in option.holders}
    known = {each.id for each in form.listed}
    asked = tuple(
        Listed(each.id, each.text, asked=True)
        for each in table.record.conditions
        if each.demand
        and each.owner in owners
        and seat not in (each.owner, *each.answers)
        and each.id not in known
    )
    return replace(form, listed=(*form.listed, *asked))


def said_for(table: Table, late: tuple[Option, ...]) -> str:
    """What is said for each of these options, and under which conditions it is held."""
    return "\n".join(line for option in late for line in _said_for(table, option))


def _said_for(table: Table, option: Option) -> Iterator[str]:
    yield f"{option.id}: {option.text}"
    for holder in option.holders:
        if words := plan_in_short(table, holder):
            yield f"  For it: {words}"
        for each in table.record.conditions:
            if each.owner == holder:
                kind = "demands" if each.demand else "to be found out"
                yield f"  {each.id} ({kind}; otherwise {each.condition.otherwise}): {each.text}"


def plan_in_short(table: Table, seat: str) -> str:
    """The beginning of a seat's newest plan, in whole sentences."""
    said = [s for s in table.state.said.of_seats if s.participant == seat and s.text]
    if not said:
        return ""
    newest = said[-1]
    body = next((newest.sections[name] for name in PLANS if newest.sections.get(name)), newest.text)
    prose = [line for line in body.splitlines() if not line.lstrip().startswith(("#", "|", "```"))]
    return whole_sentences(" ".join(" ".join(prose).split()), LONGEST)
