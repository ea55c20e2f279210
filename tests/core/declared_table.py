"""Tables by events: who declared what, for the tests of the record and of the standing."""

from __future__ import annotations

from typing import Any

from roundtable.core.declaration import (
    Adopted,
    Condition,
    Decision,
    Declaration,
    DeclaredStance,
    DeclaredVote,
    Option,
)
from roundtable.core.events import DecisionsTabled, Event, SpeechGiven
from roundtable.core.state import State, fold
from roundtable.core.values import Options, SpeakerRef

from .samples import opened, recorded, seat

SEATS = ("ann", "bob", "cid")
TEA, COFFEE = Option(id="o1", text="Tea."), Option(id="o2", text="Coffee.")


def tabled(*options: Option, question: str = "Which drink?") -> DecisionsTabled:
    """The question with these options; tea and coffee without."""
    held = options or (TEA, COFFEE)
    return DecisionsTabled(decisions=(Decision(id="d1", question=question, options=held),))


def own(number: int, text: str, who: str) -> Option:
    """An own position that was put on the table."""
    return Option(id=f"o{number}", text=text, origin="own", holders=(who,))


def vote(
    choice: str,
    before: str = "silent",
    *,
    on: str = "d1",
    acceptable: tuple[str, ...] = (),
    rejects: tuple[str, ...] = (),
) -> DeclaredVote:
    return DeclaredVote(on=on, before=before, choice=choice, acceptable=acceptable, rejects=rejects)


def demand(text: str, otherwise: str = "oppose") -> Condition:
    return Condition(text=text, kind="demand", otherwise=otherwise)


def stance(point: str, word: Any, text: str = "") -> DeclaredStance:
    return DeclaredStance(id=point, stance=word, text=text)


def by(participant: str, what: str) -> tuple[Adopted, ...]:
    """An argument that moved whoever declares it."""
    return (Adopted(participant=participant, what=what, moved=True),)


def says(
    who: str,
    choice: str | DeclaredVote | None = None,
    round_: int = 1,
    *,
    text: str = "",
    stage: str = "",
    independent: bool | None = None,
    declares: bool = True,
    model: str = "",
    **fields: Any,
) -> SpeechGiven:
    """A speech; in round 1 its speaker has heard nobody, unless it is said otherwise."""
    stage = stage or ("answer" if round_ == 1 else "critique")
    if choice is not None:
        fields["votes"] = (vote(choice) if isinstance(choice, str) else choice,)
    return SpeechGiven(
        turn_id=f"{round_}/{stage}/{who}",
        stage=stage,
        round=round_,
        participant=who,
        model=model or f"test/{who}",
        text=text or f"Words of {who} in round {round_}.",
        declaration=Declaration(**fields) if declares else None,
        independent=round_ == 1 if independent is None else independent,
    )


def at_table(
    *events: Event,
    seats: tuple[str, ...] = SEATS,
    models: dict[str, SpeakerRef] | None = None,
    options: Options | None = None,
    version: str = "",
) -> State:
    """What these events make of a table with these seats."""
    known = models or {}
    people = tuple(seat(who, known.get(who, SpeakerRef(model=f"test/{who}"))) for who in seats)
    start = opened().model_copy(
        update={
            "participants": people,
            "topic": "Which drink?",
            "options": options or {},
            "program_version": version,
        }
    )
    return fold(recorded(start, *events))
