"""The host's first turn: who should sit here, and what is missing in the question.

One call, before anybody speaks. It is a turn of the discussion like any other, so that it is
journalled before it is made, paid for once, and never made again after a crash. What it proposes is
checked: people who do not exist, nobody or too many are sent back once. Then those sit who can,
and where fewer than two can, the seats that were chosen without a model. What it asks is put to
whoever opened the discussion; what nobody answers is assumed, and said to be assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.assumptions import SOURCE
from ..core.contracts import Contract, Violation
from ..core.decide import Procedure
from ..core.effects import (
    AskPerson,
    Effect,
    LookUp,
    PromptPlan,
    Record,
    Task,
    TurnPlan,
    TurnPolicy,
)
from ..core.events import (
    Event,
    MaterialAdded,
    NoteAdded,
    ParticipantsSeated,
    SpeechGiven,
    TurnFailed,
)
from ..core.stages import closed_stage, run_stage
from ..core.state import State
from ..core.stopping import stop_requested
from ..core.text import first_sentences, slug
from ..core.values import OUTSIDE, Material, Options, Participant
from ..ports import ChosenExpert
from .cast_block import (
    FEWEST_SEATS,
    CastSeats,
    Question,
    block_schema,
    questions_in,
    read_block,
    seats_in,
)
from .casting_terms import CASTING, NOBODY, Offered, clarified_in, offered, terms
from .endings import may_open
from .table import Table
from .vocabulary import ModelWishes

PATIENCE = 900.0
"""Seconds for which an answer is waited for, where somebody may give it from elsewhere."""
TOKENS = 2048
LONGEST_TOLD = 160
"""Characters of what is said of an expert who may be seated."""
SEATS_ASKED = "seats"
"""The option that keeps how many seats whoever asks wanted, where that was said: by a number, or by
naming a model for each."""
MOST_TOLD = 3
"""Reasons that a note gives, so that a host that wrote nonsense fills no page."""
POLICY = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1, dispensable=True)
_REMEDY = "Name the experts yourself, or let another model be the host."


# --- at the opening ----------------------------------------------------------------------------


def can_cast(participants: Sequence[Participant], host: Participant) -> bool:
    """Whether models that reason hold the table. Scripts, demonstration models and people from
    outside sit where they were put."""
    if host.speaker.demonstration or host.speaker.model.startswith("scripted/"):
        return False
    return not any(p.speaker.demonstration or p.speaker.model == OUTSIDE for p in participants)


def seats_asked(said: int | None, wishes: ModelWishes) -> Options:
    """What a discussion is opened with so that its host seats no fewer than whoever asks said, or
    than it named models for."""
    listed = len(wishes.in_order)
    count = max(said or 0, listed if listed > 1 else 0)
    return {SEATS_ASKED: count} if count else {}


# --- the rules ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WithCasting:
    """A procedure whose discussions may begin with the host's casting."""

    inner: Procedure

    @property
    def name(self) -> str:
        return self.inner.name

    def advance(self, state: State) -> tuple[Effect, ...]:
        given = terms(state)
        if given is None or stop_requested(state):
            return self.inner.advance(state)
        if given.get("shortlist"):
            return _prepare(Table(state, self.name)) or self.inner.advance(state)
        return self._clarify(Table(state, self.name)) or self.inner.advance(state)

    def _clarify(self, table: Table) -> tuple[Effect, ...]:
        """The same without casting. A search comes before every call, and goes on beside a question
        that waits for its answer."""
        state = table.state
        asked_in = clarified_in(state)
        if asked_in != CASTING and closed_stage(state, asked_in, 0) is None:
            return ()
        found = _prepare(table)
        searches = tuple(
            each
            for each in (self.inner.advance(state) if found else ())
            if isinstance(each, LookUp)
        )
        first = searches and asked_in == CASTING and (CASTING, 0) not in state.stages
        return searches if first else (*found, *searches)


def _prepare(table: Table) -> tuple[Effect, ...]:
    state = table.state
    if closed_stage(state, clarified_in(state), 0) is None:
        # A discussion that has begun otherwise is not cast any more.
        begun = bool(state.stages) and (CASTING, 0) not in state.stages
        if begun or not may_open(state, CASTING, 0):
            return ()
        return run_stage(
            state, [_turn(table)], closing=lambda said, failed: _cast(table, said, failed)
        ).effects
    for question in open_questions(state):
        return (
            AskPerson(
                question.key, question.ask, (), "", patience=PATIENCE, assumed=question.assume
            ),
        )
    return _settled(state)


def open_questions(state: State) -> list[Question]:
    """What the host still waits for an answer to, in its order."""
    given = terms(state)
    if given is None or not given.get("ask") or state.closed is not None:
        return []
    return [each for each in _asked(state) if each.key not in state.choices]


def _asked(state: State) -> list[Question]:
    stage = clarified_in(state)
    said = state.spoken_in(stage, 0) if closed_stage(state, stage, 0) else []
    return questions_in(read_block(said[0].text)[0]) if said else []


def _settled(state: State) -> tuple[Effect, ...]:
    """The answers and what is assumed in place of others become material of every later prompt."""
    if any(each.by == CASTING for each in state.added):
        return ()
    added: list[Event] = []
    assumed: list[str] = []
    for question in _asked(state):
        choice = state.choices.get(question.key)
        if choice is not None and choice.by == "person":
            source = f"the asker, asked: {question.ask}"
            added.append(
                MaterialAdded(material=Material(source=source, text=choice.answer), by=CASTING)
            )
        elif question.assume:
            assumed.append(f"{question.ask} Assumed: {question.assume}")
    if assumed:
        text = "\n".join(f"a{n}: {each}" for n, each in enumerate(assumed, 1))
        added.append(MaterialAdded(material=Material(source=SOURCE, text=text), by=CASTING))
    return (Record(tuple(added)),) if added else ()


# --- the call ----------------------------------------------------------------------------------


def _turn(table: Table) -> TurnPlan:
    whom = offered(table.state)
    lines = [
        f"{_called(each)} ({each.domain}): {first_sentences(each.perspective, 1, LONGEST_TOLD)}"
        for each in whom.nearest
    ]
    most = len(table.seats) if whom else 0
    task = Task(
        PromptPlan(
            "shared/casting",
            {
                **table.common(),
                "shortlist": "\n".join(lines),
                "others": whom.others_by_field(),
                "count": _how_many(table),
            },
        ),
        CastingContract(most=most, whom=whom),
        max_tokens=TOKENS,
        schema=block_schema(most),
    )
    return table.host_turn(CASTING, task, POLICY)


def _how_many(table: Table) -> str:
    """How many the host is to name: as many as there are seats where that was said."""
    most = len(table.seats)
    fixed = most <= FEWEST_SEATS or _asked_for(table) >= most
    return f"exactly {most}" if fixed else f"{FEWEST_SEATS} to {most}"


def _asked_for(table: Table) -> int:
    asked = table.state.start.options.get(SEATS_ASKED)
    return asked if isinstance(asked, int) else 0


def _called(expert: ChosenExpert) -> str:
    """The id, and the name where that says something else."""
    return expert.id if slug(expert.name) == expert.id else f"{expert.id}, {expert.name}"


@dataclass(frozen=True, slots=True)
class CastingContract(Contract):
    """A block labelled `casting` with seats that can be used."""

    flag: str = "[not cast]"
    most: int = 0
    """Seats at the table; 0 where none are to be named."""
    whom: Offered = NOBODY

    def check(self, text: str) -> tuple[Violation, ...]:
        if self.most:
            problems: Sequence[str] = seats_in(text, self.whom, self.most).problems
        else:
            problems = read_block(text)[1]
        return tuple(Violation(CASTING, told) for told in problems)


def _cast(
    table: Table, said: Sequence[SpeechGiven], failed: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    """The seats that the host named, each with the speakers of the place it takes."""
    whom = offered(table.state)
    if not whom:
        return ()
    most = len(table.seats)
    named = seats_in(said[0].text, whom, most) if said else CastSeats()
    if len(named.seats) < min(FEWEST_SEATS, most):
        left_out = any(each.cause == "budget" for each in failed)
        return (_NOT_PAID if left_out else _not_cast(named),)
    seated = tuple(
        Participant(
            id=seat.persona.id,
            name=seat.persona.name,
            role=seat.persona.domain or seat.persona.name,
            emoji=place.emoji,
            perspective=seat.persona.perspective,
            speakers=place.speakers,
            why=seat.why,
            looks_at=seat.looks_at,
            described=bool(seat.looks_at),
        )
        for seat, place in zip(named.seats, table.seats, strict=False)
    )
    seated += _kept_beside(table, seated)
    guidance = {
        seat.persona.id: seat.persona.guidance for seat in named.seats if seat.persona.guidance
    }
    cast = ParticipantsSeated(
        participants=seated, reason="cast by the host", guidance=guidance, instead=True
    )
    return (cast, _cast_in_part(named)) if named.refused else (cast,)


def _kept_beside(table: Table, cast: Sequence[Participant]) -> tuple[Participant, ...]:
    """Who was chosen without the host and stays beside those whom it named, where whoever asks
    said how many sit here: the host may seat fewer only of its own accord."""
    missing = _asked_for(table) - len(cast)
    taken = {one for each in cast for one in (each.id, each.name.casefold())}
    left = [p for p in table.seats if p.id not in taken and p.name.casefold() not in taken]
    places = table.seats[len(cast) :]
    return tuple(
        each.model_copy(update={"speakers": place.speakers})
        for each, place in zip(left[: max(0, missing)], places, strict=False)
    )


def _not_cast(named: CastSeats) -> NoteAdded:
    return NoteAdded(
        code="not_cast",
        text="The host named no seats that can be used, so the experts were chosen without it."
        f"{_told(named)}",
        remedy=_REMEDY,
    )


_NOT_PAID = NoteAdded(
    code="not_cast",
    text="The limit was too low to ask the host who should sit here, so the experts were chosen "
    "without it.",
    remedy="Raise the limit, or name the experts yourself.",
)


def _cast_in_part(named: CastSeats) -> NoteAdded:
    return NoteAdded(
        code="cast_in_part",
        text=f"Not everything that the host wrote about seats could be used.{_told(named)}",
        remedy=_REMEDY,
    )


def _told(named: CastSeats) -> str:
    return f" Refused: {' '.join(named.refused[:MOST_TOLD])}" if named.refused else ""
