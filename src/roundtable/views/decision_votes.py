"""The votes of a decision as they are drawn: one piece for each seat, figures, who went where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from ..core.declaration import OWN
from ..core.text import capitalised, clip_words
from .decision_parts import (
    Counts,
    Piece,
    PieceSide,
    Slope,
    SlopeLine,
    SlopeOption,
    Stood,
    Vote,
    VoteOption,
    listed,
)
from .delivery_parts import Decided, Seat

LONGEST_LABEL = 40
ON_THE_QUESTION = "On the question"
OWN_POSITION = "A position of its own"
OWN_ANSWER = "An answer of its own"
_CLAUSE = re.compile(r"\s*[,;:(（，；：—–]\s*")
_DANGLING = re.compile(
    r"\s+(?:and|or|of|for|the|a|an|in|on|to|with|by|at|from|as|und|der|die|das|y|de|la|el)…?$",
    re.IGNORECASE,
)
_ORDER: dict[PieceSide, int] = {
    "answer": 0,
    "other": 1,
    "own": 2,
    "rejects": 3,
    "any": 4,
    "abstains": 5,
    "undeclared": 6,
    "none": 7,
    "demonstration": 8,
    "absent": 9,
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
    words = capitalised(words)
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
        against = sum(behind) + own + len(_rejecting(decided)) - decided.holding
        return f"{decided.holding} : {against}"
    return _positions([*behind, *[1] * own])


def _rejecting(decided: Decided) -> list[str]:
    """Who has no preference but this one: not what was chosen."""
    return [seat.name for seat in decided.seats if seat.status == "any" and seat.dissents]


def _positions(counts: Sequence[int]) -> str:
    held = sorted((each for each in counts if each), reverse=True)
    while len(held) < 2:
        held.append(0)
    return " : ".join(map(str, held))


def _stood(decided: Decided, options: Sequence[VoteOption]) -> tuple[Stood, ...]:
    """What they held before anybody heard the others, most first, if that is known."""
    if not decided.before.known:
        return ()
    own = decided.before.own
    held = [Stood(each.label, each.at_first) for each in options if each.at_first]
    held += [Stood(OWN_ANSWER, own, own=True)] if own else []
    return tuple(sorted(held, key=lambda each: -each.count))


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
    shown = tuple(
        VoteOption(
            each.id,
            short[each.id],
            each.text,
            len(each.participants),
            each.at_first,
            each.delivered,
        )
        for each in options
    )
    return Vote(
        id=decided.id,
        title=title,
        figure=figure(decided),
        told=_told(decided, title, short),
        settled=decided.delivered is not None,
        pieces=tuple(pieces),
        options=shown,
        counts=Counts(
            absent=len(decided.named("absent")),
            abstains=len(decided.named("abstains")),
            own=len(decided.named("own")),
            rejects=len(_rejecting(decided)),
            any=len(decided.named("any")) - len(_rejecting(decided)),
            undeclared=len(decided.named("undeclared", "")),
            demonstration=len(decided.named("demonstration")),
        ),
        before=_stood(decided, shown),
        unchanged=decided.before.unchanged,
    )


def _piece(decided: Decided, seat: Seat, short: dict[str, str]) -> Piece:
    option = seat.choice if seat.choice in short else ""
    rejects = seat.status == "any" and seat.dissents
    return Piece(
        seat.participant,
        seat.name,
        _side(decided, seat),
        option,
        short.get(option) or ("" if rejects else seat.final or seat.out) or seat.position,
        seat.gave_in,
    )


def _side(decided: Decided, seat: Seat) -> PieceSide:
    match seat.status:
        case "voted":
            return "answer" if seat.choice == decided.delivered else "other"
        case "any" if seat.dissents:
            return "rejects"
        case "own" | "any" | "abstains" | "undeclared" | "absent" | "demonstration":
            return seat.status
        case "" | "unasked":
            return "none"
        case _:
            assert_never(seat.status)


def _told(decided: Decided, title: str, short: dict[str, str]) -> str:
    own = decided.named("own")
    held = [f"{listed(o.names)} for “{short[o.id]}”" for o in decided.options if o.names]
    out = [f"{seat.name} ({seat.out})" if seat.out else seat.name for seat in decided.seats]
    voteless = [out[n] for n, s in enumerate(decided.seats) if s.status in ("undeclared", "")]
    rejecting = _rejecting(decided)
    indifferent = [name for name in decided.named("any") if name not in rejecting]
    for told, names in (
        ("with a position of its own" if len(own) == 1 else "each with one of its own", own),
        ("rejecting it", rejecting),
        ("without a preference", indifferent),
        ("abstaining", decided.named("abstains")),
        ("without a vote", voteless),
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
