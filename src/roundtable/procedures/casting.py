"""The host's first turn: who should sit here, and what is missing in the question.

One call, before anybody speaks. It is a turn of the discussion like any other, so that it is
journalled before it is made, paid for once, and never made again after a crash. What it proposes is
checked: people who do not exist, nobody or too many are sent back once, and then the seats that
were chosen without a model stand. What it asks is put to whoever opened the discussion; what nobody
answers is assumed, and said to be assumed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from ..core.assumptions import SOURCE
from ..core.contracts import Contract, Violation
from ..core.decide import Procedure
from ..core.declaration_block import BrokenJson, parse_json, split_blocks
from ..core.effects import AskPerson, Effect, PromptPlan, Record, Task, TurnPlan, TurnPolicy
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
from ..core.text import clip, slug
from ..core.values import HOST_WIRE_NAME, OUTSIDE, Material, Participant
from ..ports import ChosenExpert
from .casting_terms import CASTING, NOBODY, Offered, offered, terms
from .endings import may_open
from .table import Table

MOST_QUESTIONS = 3
FEWEST_SEATS = 2
LONGEST_NAME, LONGEST_VIEW, LONGEST_WHY, LONGEST_QUESTION = 60, 240, 200, 200
PATIENCE = 900.0
"""Seconds for which an answer is waited for, where somebody may give it from elsewhere."""
TOKENS = 2048
POLICY = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1)
_UNUSUAL = re.compile(r"[^\w\s.,;:!?'’“”()/&%+°€$£¥—–…、。，；：！？（）《》「」·-]")
"""A persona is a plain sentence: no marks of a fence, a block, a template or a heading."""
_NOT_CAST = NoteAdded(
    code="not_cast",
    text="The host did not name seats that can be used, so those that were chosen without it sit "
    "here.",
    remedy="Name experts yourself with --experts, or try another host with --model.",
)


@dataclass(frozen=True, slots=True)
class Question:
    """A premise that is missing, and what is assumed where nobody supplies it."""

    key: str
    ask: str
    assume: str


@dataclass(frozen=True, slots=True)
class _Seat:
    """Somebody whom the host proposes: of the library by its id, or a written persona."""

    persona: ChosenExpert
    why: str
    looks_at: str = ""
    """Of a written one alone."""


# --- at the opening ----------------------------------------------------------------------------


def can_cast(participants: Sequence[Participant], host: Participant) -> bool:
    """Whether models that reason hold the table. Scripts, demonstration models and people from
    outside sit where they were put."""
    if host.speaker.demonstration or host.speaker.model.startswith("scripted/"):
        return False
    return not any(p.speaker.demonstration or p.speaker.model == OUTSIDE for p in participants)


# --- the rules ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WithCasting:
    """A procedure whose discussions may begin with the host's casting."""

    inner: Procedure

    @property
    def name(self) -> str:
        return self.inner.name

    def advance(self, state: State) -> tuple[Effect, ...]:
        if terms(state) is None or stop_requested(state):
            return self.inner.advance(state)
        return _prepare(Table(state, self.name)) or self.inner.advance(state)


def _prepare(table: Table) -> tuple[Effect, ...]:
    state = table.state
    if closed_stage(state, CASTING, 0) is None:
        # A discussion that has begun otherwise is not cast any more.
        begun = bool(state.stages) and (CASTING, 0) not in state.stages
        if begun or not may_open(state, CASTING, 0):
            return ()
        return run_stage(
            state, [_turn(table)], closing=lambda said, failed: _cast(table, said, failed)
        ).effects
    for question in open_questions(state):
        return (AskPerson(question.key, question.ask, (), "", patience=PATIENCE),)
    return _settled(state)


def open_questions(state: State) -> list[Question]:
    """What the host still waits for an answer to, in its order."""
    given = terms(state)
    if given is None or not given.get("ask") or state.closed is not None:
        return []
    return [each for each in _asked(state) if each.key not in state.choices]


def _asked(state: State) -> list[Question]:
    said = state.spoken_in(CASTING, 0) if closed_stage(state, CASTING, 0) else []
    return _questions(_read(said[0].text)[0]) if said else []


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
            assumed.append(question.assume)
    if assumed:
        text = "\n".join(f"a{n}: {each}" for n, each in enumerate(assumed, 1))
        added.append(MaterialAdded(material=Material(source=SOURCE, text=text), by=CASTING))
    return (Record(tuple(added)),) if added else ()


# --- the call ----------------------------------------------------------------------------------


def _turn(table: Table) -> TurnPlan:
    whom = offered(table.state)
    lines = [f"{each.id}: {each.name} ({each.domain}). {each.perspective}" for each in whom.nearest]
    seated = [
        f"{seat.id}: {seat.name}. {seat.perspective}" for seat in ([] if lines else table.seats)
    ]
    task = Task(
        PromptPlan(
            "shared/casting",
            {
                **table.common(),
                "shortlist": "\n".join(lines),
                "others": whom.others_by_field(),
                "seated": "\n".join(seated),
                "count": str(len(table.seats)),
            },
        ),
        CastingContract(most=len(table.seats) if whom else 0, whom=whom),
        max_tokens=TOKENS,
    )
    return table.host_turn(CASTING, task, POLICY)


@dataclass(frozen=True, slots=True)
class CastingContract(Contract):
    """A block labelled `casting` with seats that can be used."""

    flag: str = "[not cast]"
    most: int = 0
    """Seats at the table; 0 where none are to be named."""
    whom: Offered = NOBODY

    def check(self, text: str) -> tuple[Violation, ...]:
        found, problems = _read(text)
        if not problems and self.most:
            problems = _seats(found, self.whom, self.most)[1]
        return tuple(Violation(CASTING, told) for told in problems)


def _cast(table: Table, said: Sequence[SpeechGiven], _: Sequence[TurnFailed]) -> tuple[Event, ...]:
    """The seats that the host named, each with the speakers of the place it takes."""
    whom = offered(table.state)
    if not whom:
        return ()
    found, problems = _read(said[0].text) if said else ({}, ["nothing"])
    seats, wrong = ([], problems) if problems else _seats(found, whom, len(table.seats))
    if wrong:
        return (_NOT_CAST,)
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
        for seat, place in zip(seats, table.seats, strict=False)
    )
    guidance = {seat.persona.id: seat.persona.guidance for seat in seats if seat.persona.guidance}
    return (
        ParticipantsSeated(
            participants=seated, reason="cast by the host", guidance=guidance, instead=True
        ),
    )


# --- what the host wrote -----------------------------------------------------------------------


def _read(text: str) -> tuple[Mapping[str, Any], list[str]]:
    _, blocks = split_blocks(text, CASTING)
    block = blocks[-1] if blocks else text.strip()
    if not blocks and not block.startswith("{"):
        return {}, [f"The block labelled `{CASTING}` is missing."]
    try:
        found, _ = parse_json(block)
    except BrokenJson as broken:
        return {}, [f"The block is no JSON: {broken}"]
    return found, []


def _questions(found: Mapping[str, Any]) -> list[Question]:
    asked: list[Question] = []
    for each in _rows(found.get("questions")):
        ask = _line(each.get("ask"), LONGEST_QUESTION)
        if ask and len(asked) < MOST_QUESTIONS:
            assume = _line(each.get("assume"), LONGEST_QUESTION)
            asked.append(Question(f"clarify/{len(asked) + 1}", ask, assume))
    return asked


def _seats(found: Mapping[str, Any], whom: Offered, most: int) -> tuple[list[_Seat], list[str]]:
    """The seats, and what is wrong with them in words that their writer can act on."""
    rows = _rows(found.get("seats"))
    fewest = min(FEWEST_SEATS, most)
    if not fewest <= len(rows) <= most:
        return [], [f"seats names {len(rows)}; name {fewest} to {most}."]
    seats: list[_Seat] = []
    problems: list[str] = []
    for row in rows:
        looks_at = ""
        expert = _line(row.get("expert"), LONGEST_NAME)
        if expert:
            known = whom.find(expert)
            if known is None:
                problems.append(f"{expert} is not in the library: take an id of it, or write one.")
                continue
            persona = known
        else:
            written = _persona(row)
            if written is None:
                problems.append("A written seat needs name, perspective and looks_at.")
                continue
            persona, looks_at = written
        taken = {value for seat in seats for value in (seat.persona.id, _folded(seat.persona))}
        if persona.id in taken or _folded(persona) in taken:
            problems.append(f"{persona.name} is seated twice.")
            continue
        seats.append(_Seat(persona, _line(row.get("why"), LONGEST_WHY), looks_at))
    return seats, problems


def _persona(row: Mapping[str, Any]) -> tuple[ChosenExpert, str] | None:
    """A seat in the host's words, short and on one line each, and what it looks at."""
    name = _plain(row.get("name"), LONGEST_NAME)
    view = _plain(row.get("perspective"), LONGEST_VIEW)
    looks_at = _plain(row.get("looks_at"), LONGEST_VIEW)
    own = slug(name, default="expert") if name else ""
    if not own or not view or not looks_at or own in ("host", HOST_WIRE_NAME):
        return None
    return ChosenExpert(id=own, name=name, perspective=view), looks_at


def _folded(persona: ChosenExpert) -> str:
    return persona.name.casefold()


def _rows(value: JsonValue) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _line(value: Any, limit: int) -> str:
    """A text on one line; the placeholder of the example is none."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return clip(text, limit) if text.strip("…. ") else ""


def _plain(value: Any, limit: int) -> str:
    return _line(_UNUSUAL.sub(" ", value) if isinstance(value, str) else "", limit)
