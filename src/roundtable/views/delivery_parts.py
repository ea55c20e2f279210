"""What a delivery consists of: decisions, seats, dissent, points, conditions, confidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..core.declaration import OPPOSE, OWN
from ..core.prevailing import Before
from ..core.record import PointStatus
from ..core.standing import End
from ..core.text import clip, worded

SeatStatus = Literal[
    "voted", "own", "any", "abstains", "undeclared", "absent", "unasked", "demonstration", ""
]
"""How a seat stands: it voted for an option, holds a position of its own, has no preference,
abstains, declared nothing that counts, never answered, or is too small to be counted; empty where
it declared something, but no vote."""

ConditionStatus = Literal["granted", "refused", "open", ""]
"""How a demand stands: somebody agreed to it and nobody refused it; its own side refused it, or
everybody who answered; neither. Empty for a fact, which nobody can grant."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat on one decision, from its first word on it to its last."""

    participant: str
    name: str
    status: SeatStatus
    opening: str
    """What it held at first, in words; empty if that is not known."""
    final: str
    """What it holds in the end, in words; empty if it has no vote."""
    choice: str = ""
    """What it counts for, as data: an option, `own`, `any`, or empty."""
    cast: str = ""
    """What it voted for, as data."""
    voted: str = ""
    """What it voted for, in words, where it counts for something else: its own side refused a
    demand of its own, and it cannot have known that when it voted last."""
    first_choice: str = ""
    position: str = ""
    """Its last position in its own words."""
    outvoted: bool = False
    """Whether it voted for something else after those words."""
    holds: bool = False
    """Whether it holds what is delivered."""
    accepts: bool = False
    """Whether it voted otherwise and could live with what is delivered."""
    dissents: bool = False
    """Whether it voted, does not hold what is delivered, and could not live with it."""
    independent: bool = False
    """Whether it held its first choice before it heard the others."""
    moved: bool = False
    moved_by: str = ""
    """Whose argument changed its mind, by name."""
    argument: str = ""
    gave_in: bool = False
    """Whether it came over without naming an argument."""
    unexplained: bool = False
    """Whether it moved without naming one, wherever to."""
    demands: tuple[str, ...] = ()
    """Its demands that are not granted."""
    refused: tuple[str, ...] = ()
    """Those of them that its own side refused."""
    refused_by: tuple[str, ...] = ()
    """Who refused each of those, by name."""
    missed: str = ""
    """Since when it was lost: “absent in rounds 2 and 3”; empty if it was not."""
    last: str = ""
    """What it declared last, in words, where it has no vote: that is not counted."""
    uncounted: bool = False
    """Whether that is something else than what is delivered."""
    between: tuple[str, ...] = ()
    """What it voted for in between, in words, where it ends with what it held at first."""
    confidence: int | None = None
    reason: str = ""
    """Why it abstains."""
    turn_id: str = ""
    round: int = 0
    further: tuple[str, ...] = ()
    """Further arguments that it says moved it, each with whose it is."""

    @property
    def words(self) -> str:
        """The words in which it holds what it voted for; empty if it has none for that."""
        return "" if self.outvoted else self.position

    @property
    def told(self) -> str:
        """All of it in one line, without the name."""
        match self.status:
            case "absent":
                return "absent"
            case "unasked":
                return "was not asked"
            case "abstains":
                held = f" (at first: {self.opening.rstrip('.')})" if self.opening else ""
                return f"abstains{f': {self.reason}' if self.reason else ''}{held}"
            case "undeclared":
                return (self.missed or "declared nothing that can be counted") + self._last()
            case "demonstration":
                return "a demonstration model, which is not counted"
            case "":
                return f"has no vote{f', {self.missed}' if self.missed else ''}{self._last()}"
            case _ if self.voted:
                return "".join([f"voted {self.voted.rstrip('.')}; {self.fell_back}", *self._more()])
            case _:
                return "".join([self._path(), self._origin(), *self._more()])

    @property
    def out(self) -> str:
        """What it declared last, where that is not counted (“last declared: Coffee”); where it
        never declared anything, why."""
        if self.last:
            return f"last declared: {self.last.rstrip(' .。')}"
        return self.missed if self.status == "undeclared" else ""

    def _last(self) -> str:
        if not self.last:
            return ""
        said = self.position.rstrip(".")
        more = f" (“{said}”)" if said and worded(said) != worded(self.last) else ""
        return f"; not counted; {self.out}{more}"

    @property
    def fell_back(self) -> str:
        """Why it counts for something else than it voted for; empty if it does not."""
        if not self.voted:
            return ""
        pairs = zip(self.refused, self.refused_by, strict=True)
        why = " and ".join(f"“{text.rstrip('.')}” was refused by {by}" for text, by in pairs)
        return f"counts for {self.final.rstrip('.')}, because {why}"

    @property
    def how(self) -> str:
        """How it came to what it holds, and under which conditions."""
        if self.voted:
            return "".join([f"voted {self.voted.rstrip('.')}; {self.fell_back}", *self._more()])
        return "".join([self._origin(), *self._more()]).lstrip(",; ")

    def _path(self) -> str:
        if self.moved and self.opening:
            return f"{self.opening.rstrip('.')} → {self.final.rstrip('.')}"
        return self.final.rstrip(".")

    def _origin(self) -> str:
        if self.moved_by:
            first = f", moved by {self.moved_by}: {self.argument.rstrip('.')}"
            return "; and by ".join([first, *(each.rstrip(".") for each in self.further)])
        if self.unexplained:
            return ", without naming an argument"
        if not self.independent or self.moved or not self.choice:
            return ""
        if self.between:
            return f", at first and again in the end; in between: {', '.join(self.between)}"
        return ", from the start"

    def _more(self) -> list[str]:
        found = ["; could live with the answer"] if self.accepts else []
        if self.dissents and self.status == "any":
            found.append("; rejects the answer")
        refused = dict(zip(self.refused, self.refused_by, strict=True))
        for each in self.demands if not self.voted else ():
            told = f"refused by {refused[each]}" if each in refused else "on the condition"
            found.append(f"; {told}: {each.rstrip('.')}")
        return found + ([f"; {self.missed}"] if self.missed else [])


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that could be chosen, and by whom it was."""

    id: str
    text: str
    participants: tuple[str, ...]
    names: tuple[str, ...]
    delivered: bool
    at_first: int
    """How many held it before talk, as far as that is known."""
    acceptable: tuple[str, ...] = ()
    """Who chose otherwise and could live with it, by name."""
    rejected: tuple[str, ...] = ()
    """Who would oppose it even alone, by name."""

    @property
    def standing(self) -> str:
        """Who chose it, could live with it, rejects it."""
        told = (
            ("chosen by", self.names),
            ("could live with it:", self.acceptable),
            ("rejected by", self.rejected),
        )
        return "; ".join(f"{what} {', '.join(who) or 'nobody'}" for what, who in told)


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of the table."""

    id: str
    question: str
    end: End | None
    told: str
    """The end in plain words, with the figures and everybody who is missing."""
    reason: str
    answer: str
    """What is delivered, in the words in which it was put to the vote."""
    delivered: str | None
    options: tuple[Option, ...]
    seats: tuple[Seat, ...]
    seated: int
    holding: int
    """How many hold what is delivered, or what leads."""
    before: Before
    """How it stood before anybody heard the others."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Who spoke and never declared anything that can be counted: nobody knows whether it
        agrees."""
        return tuple(s.name for s in self.seats if s.status == "undeclared" and not s.last)

    @property
    def bearable(self) -> tuple[Option, ...]:
        """What nobody rejects and everybody holds or could live with, where not all hold it."""
        return tuple(
            each
            for each in self.options
            if not each.rejected
            and len({*each.names, *each.acceptable}) == self.seated > len(each.names)
        )

    @property
    def common_ground(self) -> str:
        """That in a sentence, also where the vote settles nothing; empty if there is none."""
        found = [f"{each.id} (“{clip(each.text.rstrip(' .。'), 120)}”)" for each in self.bearable]
        if not found:
            return ""
        each = "it" if len(found) == 1 else "each of them"
        return f"Nobody rejects {' or '.join(found)}; all could live with {each}."

    @property
    def share(self) -> float | None:
        """The one figure of agreement: those who hold the leading answer, of all who were seated.
        None where nothing was counted."""
        return self.holding / self.seated if self.end is not None and self.seated else None

    def named(self, *statuses: SeatStatus) -> tuple[str, ...]:
        return tuple(seat.name for seat in self.seats if seat.status in statuses)

    @property
    def accepting(self) -> tuple[str, ...]:
        return tuple(seat.name for seat in self.seats if seat.accepts)

    @property
    def dissenting(self) -> tuple[str, ...]:
        """Who voted otherwise and could not live with what is delivered."""
        return tuple(seat.name for seat in self.seats if seat.dissents)


@dataclass(frozen=True, slots=True)
class Dissenter:
    """A seat that does not share what is delivered, in its own words."""

    participant: str
    name: str
    position: str
    reason: str
    quotation: str
    """The sentence of its speeches that says it best."""
    turn_id: str
    turn: str
    """The turn as people call it."""
    gave_in: bool
    uncounted: str = ""
    """Why its vote is not counted, where it has none; else empty."""


@dataclass(frozen=True, slots=True)
class PointTold:
    id: str
    text: str
    by: str
    status: PointStatus
    holders: tuple[str, ...]
    opponents: tuple[str, ...]
    of: int
    """Seats that can answer it, its author counted in."""
    doubts: tuple[str, ...] = ()
    """Who is neither for it nor against it, with the word that it said."""
    unheard: tuple[str, ...] = ()
    """Who can still speak to it and has not been heard since."""
    opposed_before: tuple[str, ...] = ()
    """Who was against its first wording and has not spoken to this one."""
    absent: tuple[str, ...] = ()
    """Who could not speak to it."""

    @property
    def told(self) -> str:
        return f"{self.text} ({self.how})" if self.how else self.text

    @property
    def how(self) -> str:
        """Who stands where, in a few words."""
        match self.status:
            case "withdrawn":
                return f"by {self.by}"
            case "open":
                said = [f"raised by {self.by}", *self.doubts]
            case "held":
                said = [f"held by {len(self.holders)} of {self.of}"]
            case "disputed":
                against = ", ".join(self.opponents)
                said = [f"for it: {', '.join(self.holders) or 'nobody'}", f"against it: {against}"]
            case _:
                said = []
        for told, names in (
            ("against its first wording", self.opposed_before),
            ("not heard", self.unheard if self.status in ("open", "held") else ()),
            ("absent", self.absent if self.status == "agreed" else ()),
        ):
            if names:
                said.append(f"{told}: {', '.join(names)}")
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class ConditionTold:
    id: str
    text: str
    kind: Literal["demand", "fact"]
    owner: str
    name: str
    status: ConditionStatus
    otherwise: str
    agreed: tuple[str, ...] = ()
    """Who agreed to it, by name."""
    disagreed: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Who is neither for it nor against it, with the word that it said and why."""
    granted_before: tuple[str, ...] = ()
    """Who granted an earlier wording and has not answered this one."""
    of_the_answer: bool = True
    """Whether its owner voted for what is delivered; true of all where nothing is."""
    same_as: str = ""
    """The id of an earlier one that says the same, word for word or by its owner's own word."""
    reasons: tuple[str, ...] = ()
    """Who refused it, by name, with the reason that it gave."""

    @property
    def granted(self) -> bool:
        return self.status == "granted"

    @property
    def told(self) -> str:
        """How it stands, with whoever said so; empty for a fact."""
        for_it, against = ", ".join(self.agreed), ", ".join(self.disagreed)
        match self.status:
            case "granted":
                said = [f"granted by {for_it}"]
            case "refused":
                said = [f"refused by {against}"]
            case "open":
                sides = [
                    *([f"{for_it} for it"] if for_it else []),
                    *([f"{against} against it"] if against else []),
                ]
                said = [f"not granted: {', '.join(sides)}" if sides else "not granted yet"]
            case _:
                return ""
        if self.granted_before:
            said.append(f"reworded since it was granted by {', '.join(self.granted_before)}")
        return "; ".join([*said, *self.doubts])


def demands_told(conditions: Iterable[ConditionTold]) -> list[str]:
    """Demands with their owners and how they stand, what several of them demand once."""
    together: dict[str, list[ConditionTold]] = {}
    for each in conditions:
        if each.kind == "demand":
            first = each.same_as if each.same_as in together else each.id
            together.setdefault(first, []).append(each)
    found = []
    for same in together.values():
        names = " and ".join(dict.fromkeys(each.name for each in same))
        told = "; ".join(dict.fromkeys(each.told for each in same))
        more = [reason.rstrip(" .。") for each in same for reason in each.reasons]
        more += [OTHERWISE[e.otherwise] for e in same if e.otherwise in OTHERWISE and not e.granted]
        said = f" {'; '.join(dict.fromkeys(more))}." if more else ""
        found.append(f"{names}: {same[0].text} ({told}){said}")
    return found


OTHERWISE = {OPPOSE: "Otherwise against it", OWN: "Otherwise a position of its own"}
"""What a seat holds if its demand is not met, where that is no option."""


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure the answer is, computed from how agreement arose."""

    word: str
    """high, medium, low; `none` where there is nothing to be sure of."""
    reason: str
    probability: float | None = None
    low: float | None = None
    high: float | None = None
    meaning: str = ""

    @property
    def told(self) -> str:
        """The word, the band and the reason."""
        if self.word == "none":
            return f"none. {self.reason}".strip()
        band = ""
        if self.low is not None and self.high is not None:
            band = f" ({self.low:.0%} to {self.high:.0%})"
        return f"{self.word.capitalize()}{band}. {self.reason}".strip()
