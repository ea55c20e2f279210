"""Versions: who made which version of a deliverable, and which of them stand.

A version takes the place of those that its author names, or of the same seat's earlier one of that
name, or of the only one of that name that was there when it was written. The others stand beside
it: two seats that wrote the same file independently made two works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .deliverable import Deliverable
from .events import SpeechGiven
from .record import IN_TURN, SPEECH_ORDER
from .state import State
from .text import clip
from .turns import CONDENSED
from .values import OUTSIDE

FIRST_LINES, LONGEST_LINE = 4, 120
"""What is shown of a work to whoever judges positions and does not work on it."""


@dataclass(frozen=True, slots=True)
class Version:
    """One work as somebody delivered it, under an id by which it can be named."""

    id: str
    work: Deliverable
    turn_id: str
    participant: str
    round: int
    number: int
    """1 for the first, and one more than what it takes the place of."""
    replaces: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.work.name


@dataclass(frozen=True, slots=True)
class Delivered:
    """The versions that stand at the end."""

    versions: tuple[Version, ...]
    chosen: bool
    """Whether the writer of the verdict named them. Otherwise it is all that nothing replaced."""


def versions_of(state: State) -> tuple[Version, ...]:
    """Every version in the order in which they came, those too large to be kept included."""
    return state.derived("versions", _versions)


def _versions(state: State) -> tuple[Version, ...]:
    found: list[Version] = []
    in_turn = state.start.options.get(SPEECH_ORDER) == IN_TURN
    for speech in state.said.with_works:
        # A speech replaces what was there before it, not what stands in the same speech.
        before = tuple(found)
        # Whoever speaks in turn, or from outside, has heard those who spoke before in its round.
        hears_all = in_turn or speech.model == OUTSIDE
        for work in speech.deliverables:
            replaced = _replaced(before, speech, work, hears_all=hears_all)
            found.append(
                Version(
                    id=f"w{len(found) + 1}",
                    work=work,
                    turn_id=speech.turn_id,
                    participant=speech.participant,
                    round=speech.round,
                    number=1 + max((each.number for each in replaced), default=0),
                    replaces=tuple(each.id for each in replaced),
                )
            )
    return tuple(found)


def _replaced(
    before: Sequence[Version], speech: SpeechGiven, work: Deliverable, *, hears_all: bool
) -> tuple[Version, ...]:
    if CONDENSED in speech.flags:
        # Its author may have read only a part of what it revised: both stand.
        return ()
    # Whoever speaks in the same round may else have spoken at the same time.
    seen = [
        v
        for v in before
        if hears_all or v.round < speech.round or v.participant == speech.participant
    ]
    if named := tuple(v for v in seen if v.id in work.revises):
        return named
    alike = [v for v in seen if v.name.casefold() == work.name.casefold()]
    if own := [v for v in alike if v.participant == speech.participant]:
        return (own[-1],)
    if speech.independent:
        return ()
    left = _unreplaced(alike)
    return tuple(left) if len(left) == 1 else ()


def _unreplaced(versions: Sequence[Version]) -> list[Version]:
    gone = {each for v in versions if v.work.whole and not v.work.left_out for each in v.replaces}
    return [v for v in versions if v.id not in gone]


def current_versions(state: State) -> tuple[Version, ...]:
    """What nothing that is whole has taken the place of. What was cut off or left out stands only
    where nothing whole stands in its place."""
    versions = versions_of(state)
    known = {each.id: each for each in versions}
    left = _unreplaced(versions)
    sound = {each.id for each in left if each.work.whole and not each.work.left_out}
    return tuple(
        each
        for each in left
        if each.id in sound or not _stands_otherwise(each, known, {v.id for v in left})
    )


def _stands_otherwise(each: Version, known: dict[str, Version], left: set[str]) -> bool:
    """Whether what it was to take the place of is still there."""
    return any(old in left and known[old].work.whole for old in each.replaces)


def in_short(state: State, participant: str) -> str:
    """The works of one seat that stand, in a few lines each: what it is called, how long it is and
    how it begins. Empty where there is none."""
    told: list[str] = []
    for each in current_versions(state):
        if each.participant == participant:
            lines = [line for line in each.work.text.splitlines() if line.strip()][:FIRST_LINES]
            told.append(f"Delivers {each.id}, {each.name}, {each.work.lines:,} lines:")
            told += [f"  {clip(line, LONGEST_LINE)}" for line in lines]
    return "\n".join(told)


def delivered(state: State) -> Delivered:
    """What the discussion delivers: what the verdict's writer named, or all that stands."""
    known = {each.id: each for each in versions_of(state)}
    named = state.verdict.stands if state.verdict else ()
    chosen = tuple(known[each] for each in named if each in known and not known[each].work.left_out)
    return Delivered(chosen, True) if chosen else Delivered(current_versions(state), False)
