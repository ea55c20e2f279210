"""Words from outside: a turn that nobody is called for, and what somebody says in it.

A person or an outside agent declares what it holds in the fields of the same form that a model
fills in. What is wrong with them is said at once, and nothing is recorded until they can be read;
prose alone is accepted, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.avowal import odds
from ..core.copied import without_copied
from ..core.declaration import OWN, SILENT, Declaration
from ..core.declaration_block import LABEL, split_blocks
from ..core.declaration_form import PLACEHOLDER, Form, Reading
from ..core.deliverable import Deliverable, flags_of, split_deliverables
from ..core.effects import TurnPlan
from ..core.errors import NotAllowed
from ..core.events import NoteAdded, SpeechGiven, TurnFailed
from ..core.record import IN_TURN, SPEECH_ORDER
from ..core.state import State
from ..core.text import clip
from ..core.turns import UNDECLARED
from ..core.values import OUTSIDE
from .journal import Journal
from .moderation import CONCLUSION
from .tools import Tools

WAITING = "waiting"
"""The code of the note that reminds whoever holds the turn."""


async def await_words(plan: TurnPlan, journal: Journal, tools: Tools) -> None:
    """Wait until the turn's time is over, with a reminder half-way, and record that nobody came.
    Whoever speaks in time takes the turn through `Service.speak`; the driver then no longer wants
    this and cancels it."""
    half = plan.policy.patience / 2
    await tools.clock.sleep(half)
    id_, who = journal.state.discussion_id, plan.participant
    place = f"in round {plan.round}" if plan.round else f"({plan.stage})"
    reminder = NoteAdded(
        code=WAITING,
        text=f"{who.name} has {half:.0f} s left to speak {place}.",
        remedy=how_to_speak(id_, plan),
    )
    await journal.record((reminder, f"{WAITING}/{plan.turn_id}"))
    await tools.clock.sleep(half)
    absent = TurnFailed(
        turn_id=plan.turn_id,
        stage=plan.stage,
        round=plan.round,
        participant=plan.participant.id,
        cause="absent",
        message=f"Nobody spoke for {plan.participant.name} within {plan.policy.patience:.0f} s.",
        remedy="Speak sooner with `roundtable speak`, or give the turns more time.",
    )
    # A turn has one outcome: words that came in the same moment stay.
    await journal.record((absent, journal.state.outcome_key(plan.turn_id)))


def how_to_speak(discussion_id: str, plan: TurnPlan) -> str:
    """The command that takes a turn from outside."""
    if plan.stage == CONCLUSION:
        return f"roundtable conclude {discussion_id} TEXT"
    return f"roundtable speak {discussion_id} TEXT --as {plan.participant.id}"


SAID_ONLY = "[said, not declared]"
"""On a speech whose lines say where its speaker stands, in a form that is shown and not counted."""
NO_DECLARATION = (
    "No declaration came with it, so nothing of it is counted: give the fields of the form as "
    "`declaration` with your next speech."
)
ONLY_SAID = (
    "Lines such as AGREE p1 are shown as said, and not counted: give stances, new_points and votes "
    "as `declaration`."
)


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a speech from outside."""

    speech: SpeechGiven
    remarks: tuple[str, ...] = ()
    """What its declaration lacks, or how it was read, in plain words."""


def heard(
    state: State, plan: TurnPlan, text: str, fields: Mapping[str, Any] | None, key: str
) -> Heard:
    """The speech that these words make of a turn. NotAllowed says what is wrong with the
    declaration that came with them."""
    contract, form = plan.task.contract, plan.task.form
    text, works = split_deliverables(text) if plan.task.work else (text, ())
    text = without_copied(text, plan.task.prompt) if form is not None else text
    reading = _read(form, text, fields) if form is not None else Reading(text)
    if form is None and fields:
        raise NotAllowed("Nothing is to be declared in this turn.", "Speak without a declaration.")
    declaration = reading.declaration
    alone = form is not None and form.alone
    if alone and declaration is None:
        raise NotAllowed("Only a declaration is asked for in this turn.", MEND)
    prose = "" if alone else reading.prose
    if not prose.strip() and not alone:
        raise NotAllowed("The speech is empty.", "Say something with your declaration.")
    off = contract.check(prose) if prose else ()
    flags = [contract.flag] if off else []
    flags.extend(flags_of(works))
    remarks: list[str] = []
    if form is not None and declaration is None:
        flags.append(UNDECLARED)
        remarks.append(NO_DECLARATION)
        from ..core.closing_block import takes_positions

        if takes_positions(text):
            flags.append(SAID_ONLY)
            remarks.append(ONLY_SAID)
    elif form is not None and declaration is not None:
        differing = [] if alone else odds(prose, declaration, form)
        flags += differing
        remarks += [
            f"It is recorded, and flagged {each}: the declaration counts." for each in differing
        ]
        remarks += lacks(form, declaration, fields or {}, first=first_word(state, plan))
        remarks += [f"Read so: {each}." for each in reading.mended]
        remarks += amended_beside(state, plan, declaration)
    remarks += [f"{each.message} It is recorded, and flagged." for each in off]
    speech = speech_from_outside(
        state, plan, key, prose, declaration, flags=tuple(flags), deliverables=works
    )
    return Heard(speech, tuple(remarks))


def speech_from_outside(
    state: State,
    plan: TurnPlan,
    key: str,
    text: str,
    declaration: Declaration | None,
    *,
    flags: tuple[str, ...] = (),
    deliverables: tuple[Deliverable, ...] = (),
) -> SpeechGiven:
    """What is recorded of whoever takes a turn from outside, with words or with a declaration
    alone."""
    others = any(s.participant != plan.participant.id for s in state.said.in_rounds)
    return SpeechGiven(
        turn_id=plan.turn_id,
        stage=plan.stage,
        round=plan.round,
        participant=plan.participant.id,
        model=OUTSIDE,
        text=text,
        sections=plan.task.contract.parse(text),
        flags=flags,
        after_round=plan.after_round,
        key=key,
        declaration=declaration,
        # Whoever speaks from outside can read what others said before.
        independent=plan.independent and not others,
        deliverables=deliverables,
    )


MEND = "Correct it and call again, or leave the declaration out: then nothing is counted."


def _read(form: Form, text: str, fields: Mapping[str, Any] | None) -> Reading:
    """What is declared, in fields or in a block within the words; NotAllowed if it is broken."""
    prose, blocks = split_blocks(text)
    if fields is None and not blocks:
        return Reading(text)
    if fields is not None and blocks:
        told = f"There are two declarations: the fields, and a block labelled `{LABEL}`."
        raise NotAllowed(told, "Give one of them.")
    reading = form.read_fields(fields) if fields is not None else form.read(text)
    if reading.declaration is None:
        told = " ".join(each.message for each in reading.problems)
        raise NotAllowed(f"The declaration cannot be read: {told}", MEND)
    return Reading(prose if blocks else text, reading.declaration, reading.problems, reading.mended)


def first_word(state: State, plan: TurnPlan) -> bool:
    """Whether a seat declared nothing before this round: then there is nothing that it could have
    given up, whatever it says was there before."""
    return not any(
        s.participant == plan.participant.id and s.declaration and 0 < s.round < plan.round
        for s in state.said.of_seats
    )


def amended_beside(state: State, plan: TurnPlan, declaration: Declaration) -> list[str]:
    """What was answered in words that its author has changed in the same round, unheard."""
    if state.start.options.get(SPEECH_ORDER) == IN_TURN:
        return []
    answered = {each.id for each in declaration.stances if each.stance not in ("amend", "withdraw")}
    return [
        f"{stance.id} was amended in this round by {speech.participant}: answer the new wording "
        "when the round is over."
        for speech in state.spoken_in(plan.stage, plan.round)
        if speech.declaration is not None and speech.participant != plan.participant.id
        for stance in speech.declaration.stances
        if stance.stance == "amend" and stance.id in answered
    ]


def lacks(
    form: Form, declaration: Declaration, fields: Mapping[str, Any], *, first: bool = False
) -> list[str]:
    """What was asked for and not declared, and what was declared and not asked for. `first` is its
    speaker's first word."""
    told = []
    if declaration.abstain is None:
        answered = {each.id for each in declaration.stances}
        asked = [each.id for each in form.listed if each.asked and each.id not in answered]
        if asked:
            told.append(f"Not answered: {', '.join(asked)}.")
        moved = [
            v.on
            for v in declaration.votes
            if v.before not in (SILENT, v.choice) or _left(form.held.get(v.on), v.choice)
        ]
        if moved and not first and form.peers and not declaration.moved_by:
            told.append(
                f"You changed your choice on {', '.join(moved)} and named no argument (adopted "
                "with moved: true), so it is recorded as given in."
            )
    unasked = [key for key, value in fields.items() if value and key not in form.schema_keys]
    if unasked:
        names = clip(", ".join(sorted(unasked)), 200)
        told.append(f"Not asked for now, and left out: {names}.")
    return told


def _left(held: str | None, choice: str) -> bool:
    """Whether a vote leaves what its seat declared last, whatever it says it held before."""
    return held not in (None, PLACEHOLDER, SILENT, OWN, choice)
