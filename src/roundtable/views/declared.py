"""What a speech declares, in small readable lines beneath its words: never as protocol text.

It depends on the declaration alone. Options stand in it by their numbers, which the page's own
tables explain; whoever has the whole discussion gives their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..core.declaration import ANY, OWN, Declaration, DeclaredVote
from ..core.record import record_of
from ..core.state import State
from ..core.text import clip
from .names import names_of

LONGEST = 160


def declared_in(state: State, declaration: Declaration | None) -> list[str]:
    """The lines with the words of the options and the names of everybody."""
    record = record_of(state)
    words = {o.id: o.text for d in record.decisions for o in d.options}
    words |= {point.id: f"“{clip(point.text, 80)}”" for point in record.points}
    words |= {each.id: f"“{clip(each.text, 80)}”" for each in record.conditions}
    return declared_lines(declaration, words, names_of(state))


def declared_lines(
    declaration: Declaration | None,
    words: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[str]:
    if declaration is None:
        return []
    return list(_lines(declaration, words or {}, names or {}))


def _lines(d: Declaration, words: Mapping[str, str], names: Mapping[str, str]) -> Iterator[str]:
    if d.abstain is not None:
        yield f"Abstains: {d.abstain}" if d.abstain else "Abstains"
    if d.position:
        sure = f" ({d.confidence} % sure)" if d.confidence is not None else ""
        yield f"Holds: {clip(d.position, LONGEST)}{sure}"
    for vote in d.votes:
        yield _vote(vote, words, several=len(d.votes) > 1)
    for condition in d.conditions:
        kind = "Demands" if condition.kind == "demand" else "To be found out"
        yield f"{kind}: {clip(condition.text, LONGEST)}"
    for each in d.adopted:
        who = names.get(each.participant, each.participant)
        told = "Changed its mind by an argument of" if each.moved else "Takes over from"
        yield f"{told} {who}: {clip(each.what, LONGEST)}"
    by_word: dict[str, list[str]] = {}
    for stance in d.stances:
        said = words.get(stance.id, stance.id)
        text = f" ({clip(stance.text, 80)})" if stance.text else ""
        by_word.setdefault(stance.stance, []).append(f"{said}{text}")
    for word, said_to in by_word.items():
        yield f"{_STANCES[word]} {', '.join(said_to)}"
    for point in d.new_points:
        yield f"Raises: {clip(point, LONGEST)}"
    if d.end is not None:
        yield "Would end the discussion now" if d.end else "Would go on"
    for action in d.actions:
        yield f"To do: {clip(action.text, LONGEST)}{f' ({action.owner})' if action.owner else ''}"
    if d.for_the_record:
        yield f"For the record: {clip(d.for_the_record, LONGEST)}"


_STANCES = {
    "agree": "Agrees with",
    "partly": "Agrees partly with",
    "disagree": "Disagrees with",
    "unsure": "Is unsure about",
    "amend": "Rewords",
    "withdraw": "Withdraws",
}


def _vote(vote: DeclaredVote, words: Mapping[str, str], *, several: bool) -> str:
    def told(option: str) -> str:
        special = {OWN: "none of the options", ANY: "no preference"}
        return special.get(option) or clip(words.get(option, option), 80)

    on = f" on {vote.on}" if several else ""
    more = [f"could live with {', '.join(map(told, vote.acceptable))}"] if vote.acceptable else []
    more += [f"rejects {', '.join(map(told, vote.rejects))}"] if vote.rejects else []
    return "; ".join([f"Votes{on} for {told(vote.choice)}", *more])
