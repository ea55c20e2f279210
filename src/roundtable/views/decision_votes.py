"""The votes of a decision as they are drawn: one piece for each seat, figures, who went where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from ..core.declaration import ANY, OWN
from ..core.text import clip_words
from .decision_parts import (
    Counts,
    Piece,
    PieceSide,
    Slope,
    SlopeLine,
    SlopeOption,
    Vote,
    VoteOption,
    listed,
)
from .delivery_parts import Decided, Seat

LONGEST_LABEL = 40
ON_THE_QUESTION = "On the question"
OWN_POSITION = "A position of its own"
_CLAUSE = re.compile(r"\s*[,;:(（，；：—–]\s*")
_DANGLING = re.compile(
    r"\s+(?:and|or|of|for|the|a|an|in|on|to|with|by|at|from|as|und|der|die|das|y|de|la|el)…?$",
    re.IGNORECASE,
)
_ORDER: dict[PieceSide, int] = {
    "answer": 0,
    "other": 1,
    "own": 2,
    "any": 3,
    "abstains": 4,
    "undeclared": 5,
    "none": 6,
    "demonstration": 7,
    "absent": 8,
}


def votes(decisions: Sequence[Decided]) -> tuple[Vote, ...]:
    """Every decision of the table, the question first."""
    return tuple(
        _vote(each, ON_THE_QUESTION if place == 0 else each.question)
        for place, each in enumerate(decisions)
    )


def labels(decided: Decided) -> dict[str, str]:
    """A few words for each option, by which it is told from the others."""
    found: dict[str, str] = {}
    for option in decided.options:
        label = short_label(option.text)
        if label in found.values():
            others = [each.text for each in decided.options if each.id != option.id]
            label = _told_apart(option.text, others)
        found[option.id] = label
    return found


def short_label(text: str) -> str:
    """The first clause of an option, if it is short; else its first words."""
    words = text.strip().rstrip(" .。")
    words = words[:1].upper() + words[1:]
    if len(words) <= LONGEST_LABEL:
        return words
    clause = _CLAUSE.split(words, maxsplit=1)[0]
    if 8 <= len(clause) <= LONGEST_LABEL:
        return clause
    return _trimmed(clip_words(words, LONGEST_LABEL))


def _trimmed(label: str) -> str:
    """No label ends with a word that waits for another one."""
    while (cut := _DANGLING.sub("…", label)) != label:
        label = cut
    return label


def _told_apart(text: str, others: Sequence[str]) -> str:
    """From the first word on in which it differs from all others."""
    words = text.strip().rstrip(" .。").split()
    same = 0
    for other in others:
        theirs = other.split()
        alike = 0
        while alike < min(len(words), len(theirs)) and words[alike] == theirs[alike]:
            alike += 1
        same = max(same, alike)
    rest = " ".join(words[same:])
    return _trimmed(clip_words(f"… {rest}" if same and rest else text, LONGEST_LABEL))


def figure(decided: Decided) -> str:
    """Behind the answer against otherwise; every position for itself where nothing prevails."""
    own = len(decided.named("own"))
    behind = sorted((len(o.participants) for o in decided.options), reverse=True)
    if decided.delivered is not None:
        return f"{decided.holding} : {sum(behind) + own - decided.holding}"
    return _positions([*behind, *[1] * own])


def _positions(counts: Sequence[int]) -> str:
    held = sorted((each for each in counts if each), reverse=True)
    while len(held) < 2:
        held.append(0)
    return " : ".join(map(str, held))


def before(decided: Decided) -> str:
    """The same before anybody heard the others, if that is known of everybody who voted."""
    voted = [seat for seat in decided.seats if seat.choice]
    if not voted or not all(seat.independent and seat.first_choice for seat in voted):
        return ""
    at_first = [seat.first_choice for seat in voted]
    own = sum(choice == OWN for choice in at_first)
    options = [at_first.count(option.id) for option in decided.options]
    if ANY in at_first and not any(options) and not own:
        return ""
    return _positions([*options, *[1] * own])


def _vote(decided: Decided, title: str) -> Vote:
    short = labels(decided)
    rank = {o.id: (not o.delivered, -len(o.participants)) for o in decided.options}
    place = {option.id: n for n, option in enumerate(decided.options)}
    options = sorted(decided.options, key=lambda each: (*rank[each.id], place[each.id]))
    order = {option.id: n for n, option in enumerate(options)}
    pieces = sorted(
        (_piece(decided, seat, short) for seat in decided.seats),
        key=lambda each: (_ORDER[each.side], order.get(each.option, 0)),
    )
    return Vote(
        id=decided.id,
        title=title,
        figure=figure(decided),
        told=_told(decided, title, short),
        settled=decided.delivered is not None,
        pieces=tuple(pieces),
        options=tuple(
            VoteOption(
                each.id,
                short[each.id],
                each.text,
                len(each.participants),
                each.at_first,
                each.delivered,
            )
            for each in options
        ),
        counts=Counts(
            absent=len(decided.named("absent")),
            abstains=len(decided.named("abstains")),
            own=len(decided.named("own")),
            any=len(decided.named("any")),
            undeclared=len(decided.named("undeclared", "")),
            demonstration=len(decided.named("demonstration")),
        ),
        before=before(decided),
    )


def _piece(decided: Decided, seat: Seat, short: dict[str, str]) -> Piece:
    option = seat.choice if seat.choice in short else ""
    return Piece(
        seat.participant,
        seat.name,
        _side(decided, seat),
        option,
        short.get(option) or seat.final or seat.position,
        seat.gave_in,
    )


def _side(decided: Decided, seat: Seat) -> PieceSide:
    match seat.status:
        case "voted":
            return "answer" if seat.choice == decided.delivered else "other"
        case "own" | "any" | "abstains" | "undeclared" | "absent" | "demonstration":
            return seat.status
        case "" | "unasked":
            return "none"
        case _:
            assert_never(seat.status)


def _told(decided: Decided, title: str, short: dict[str, str]) -> str:
    own = decided.named("own")
    held = [f"{listed(o.names)} for “{short[o.id]}”" for o in decided.options if o.names]
    for told, names in (
        ("with a position of its own" if len(own) == 1 else "each with one of its own", own),
        ("without a preference", decided.named("any")),
        ("abstaining", decided.named("abstains")),
        ("without a vote", decided.named("undeclared", "")),
        ("not counted, on a demonstration model", decided.named("demonstration")),
        ("absent", decided.named("absent")),
        ("not asked", decided.named("unasked")),
    ):
        if names:
            held.append(f"{listed(names)} {told}")
    return f"{title.rstrip('?')}: {figure(decided)}. {'; '.join(held) or 'Nobody voted'}."


def focus(decisions: Sequence[Decided]) -> Decided | None:
    """The decision that shows what talk did: the question, unless all stayed where they were on it
    and somebody moved or dissents on another."""
    if not decisions:
        return None
    question = decisions[0]
    if question.delivered is None or any(s.moved or _otherwise(s) for s in question.seats):
        return question
    further = [d for d in decisions[1:] if any(s.moved or _otherwise(s) for s in d.seats)]
    return further[0] if further else question


def _otherwise(seat: Seat) -> bool:
    return bool(seat.choice) and not seat.holds


def slope(decisions: Sequence[Decided]) -> Slope | None:
    """Who went where; None where nobody voted."""
    decided = focus(decisions)
    if decided is None or not any(seat.choice for seat in decided.seats):
        return None
    vote = _vote(decided, "")
    shown = [SlopeOption(o.id, o.label, o.count, o.delivered) for o in vote.options]
    if any(OWN in (seat.choice, seat.first_choice) for seat in decided.seats):
        shown.append(SlopeOption(OWN, OWN_POSITION, vote.counts.own, False))
    known = {each.id for each in shown}
    return Slope(
        ON_THE_QUESTION if decided is decisions[0] else decided.question,
        tuple(shown),
        tuple(
            SlopeLine(
                seat.participant,
                seat.first_choice if seat.first_choice in known else "",
                seat.choice if seat.choice in known else "",
            )
            for seat in decided.seats
        ),
    )
