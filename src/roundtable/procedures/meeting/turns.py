"""The meeting's turns: who is asked what, with which form and contract, and within what time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.closing_block import prose
from ...core.contracts import Contract, Violation
from ...core.declaration_form import LAST, LATER, Key
from ...core.declaration_form import OPENING as FIRST
from ...core.effects import (
    PromptPlan,
    PromptValue,
    SectionShape,
    Task,
    TurnPlan,
    TurnPolicy,
    Untrusted,
    turn_id,
)
from ...core.events import CORRECTION
from ...core.text import count_words
from ...core.values import Participant
from ...views.meeting import CONCLUSION_SECTIONS, DECISION_SECTIONS, first_words
from ...views.meeting_status import (
    CONCLUSION,
    DISCUSSION,
    OPENING,
    SUMMARY,
    called,
    current_round,
    speaks_from_outside,
)
from ..clerk import clerk_turn, material
from ..table import PATIENT
from ..verdicts import verdict_task
from ..work import declaring_work, wants_work, works_to_judge
from .history import history, points_on_the_table
from .meeting_table import MeetingTable

MIN_WORDS, MAX_WORDS = 200, 500
OFF_LENGTH = "[not 200-500 words]"
SPEECH_TOKENS, SMALL_SPEECH_TOKENS, SUMMARY_TOKENS, LISTING_TOKENS = 2048, 160, 1024, 1536
SMALL_OPENINGS = ("What I would add is that", "From my role I see that", "The main risk is that")
"""A demonstration model that begins like the one before it goes on like it."""
SUMMARY_CONTRACT = Contract(sections=("Key Points", "Emerging Consensus", "Open Questions"))
WITH_IT: tuple[Key, ...] = ("end", "actions", "for_the_record")
"""What a meeting asks for beside what every table does."""


@dataclass(frozen=True, slots=True)
class SpeechContract(Contract):
    """A speech of 200 to 500 words; what follows it for code is not counted."""

    sections: tuple[str, ...] = ("Speech",)
    min_words: int = MIN_WORDS
    max_words: int | None = MAX_WORDS
    flag: str = OFF_LENGTH

    def check(self, text: str) -> tuple[Violation, ...]:
        words = count_words(prose(text))
        if words < self.min_words:
            message = f"The speech has {words} words; at least {self.min_words} are needed."
            return (Violation("short", message),)
        if self.max_words is not None and words > self.max_words:
            message = f"The speech has {words} words; at most {self.max_words} are allowed."
            return (Violation("long", message),)
        return ()


SPEECH = SpeechContract()


def opening(table: MeetingTable) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **_common(table),
        "others": table.everybody(),
        "max_rounds": str(table.max_rounds),
    }
    task = Task(PromptPlan("meeting/opening", variables), max_tokens=SUMMARY_TOKENS)
    return _host_turn(table, OPENING, task, after_round=0)


def speeches(table: MeetingTable, round_: int) -> list[TurnPlan]:
    """A turn for everybody, each built on all that was said so far."""
    # Where everybody speaks from outside nobody is given a prompt, and a long history is not read
    # through in every decision.
    prompted = not all(speaks_from_outside(seat) for seat in table.seats)
    so_far: dict[str, PromptValue] = {
        **_common(table),
        "history": history(table, round_) if prompted else (),
        "points": points_on_the_table(table, worded=False) if prompted else "",
    }
    return [_speech(table, seat, round_, so_far) for seat in table.seats]


def keys(table: MeetingTable, round_: int) -> tuple[Key, ...]:
    """What a speech of this round declares. Nobody could answer points of the last round; a first
    round that is the only one raises them all the same, because those who follow hear them."""
    if round_ == 1:
        heard: tuple[Key, ...] = ("stances",) if table.record.points and not table.parallel else ()
        votes: tuple[Key, ...] = ("votes",) if table.record.decisions else ()
        return (*votes, *FIRST[:-1], *heard, FIRST[-1], *WITH_IT)
    return (*(LAST if round_ >= table.max_rounds else LATER), *WITH_IT)


def _speech(
    table: MeetingTable, seat: Participant, round_: int, so_far: dict[str, PromptValue]
) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **so_far,
        **_who(table, seat),
        **_view(table, seat),
        "others": table.everybody(but=seat),
        "round": str(round_),
        "max_rounds": str(table.max_rounds),
        "place": _place(table, round_),
    }
    outside = speaks_from_outside(seat)
    # Side by side nobody knows of this round: what one withdraws in it others may still answer.
    beside = round_ if table.parallel else None
    form = table.form(seat, keys(table, round_), round_=beside, whole=outside)
    task = declaring_work(
        table,
        seat,
        # Whoever speaks in turn has before it what was brought in the same round.
        round_ if table.parallel else round_ + 1,
        "meeting/speech",
        variables,
        form,
        SPEECH,
        wanted=wants_work(table) and not outside,
        max_tokens=SPEECH_TOKENS,
    )
    if outside:
        # No prompt is made for it: a work that it brings is one, whatever the question asks for.
        task = replace(task, work=True)
    nobody_yet = not any(s.participant != seat.id for s in table.speeches)
    return table.seat_turn(
        seat,
        DISCUSSION,
        round_,
        task,
        _policy(table),
        demo=_small_speech(table, seat, round_),
        independent=round_ == 1 and (nobody_yet or table.parallel),
    )


def later(table: MeetingTable, seat: Participant) -> TurnPlan | None:
    """The turn in which a seat adds to what it declared in the newest round, or sets it right: as
    long as no further round has begun and nobody has concluded. None if there is no such turn."""
    state = table.state
    round_ = current_round(state)
    held = state.stages.get((DISCUSSION, round_))
    said = turn_id(round_, DISCUSSION, seat.id)
    if held is None or (held.closed is None and state.speech(said) is None):
        return None
    asked = keys(table, round_)
    if held.closed is not None:
        asked = tuple(key for key in asked if key != "new_points")
    if "stances" not in asked:
        # In a first round side by side there was nothing to answer; now there is.
        asked = (*asked, "stances")
    mine = [s for s in state.said.of_seats if s.corrects and s.participant == seat.id]
    before = sum(1 for s in mine if s.round == round_)
    form = table.form(seat, asked, alone=True, whole=True)
    task = Task(PromptPlan("meeting/speech", {}), form=form)
    plan = table.seat_turn(seat, CORRECTION, round_, task, _policy(table), independent=round_ == 1)
    return replace(plan, turn_id=turn_id(round_, f"{CORRECTION}-{before + 1}", seat.id))


def summary(table: MeetingTable, round_: int) -> TurnPlan:
    """What the host says between two rounds; while there is nothing to vote on yet, with the list
    of the positions in it, in the same call."""
    listing = not table.state.tabled and any(
        each.declaration.position for each in table.record.statements
    )
    heard = table.state.spoken_in(DISCUSSION, round_)
    variables: dict[str, PromptValue] = {
        **_common(table),
        "others": table.everybody(),
        "round": str(round_),
        "max_rounds": str(table.max_rounds),
        "history": history(table, round_ + 1, without=round_ if listing else 0),
        "points": points_on_the_table(table),
        "listing": listing,
        **(material(table, heard, names=True) if listing else {"answers": (), "demands": ""}),
    }
    tokens = LISTING_TOKENS if listing else 0
    task = Task(
        PromptPlan("meeting/summary", variables),
        SUMMARY_CONTRACT,
        max_tokens=SUMMARY_TOKENS + tokens,
    )
    return _host_turn(table, f"{SUMMARY}-{round_}", task, after_round=round_)


def clerk(table: MeetingTable) -> TurnPlan:
    """The list of positions alone, where no summary brings it."""
    newest = {speech.participant: speech for speech in table.speeches}
    return clerk_turn(table, list(newest.values()), name=f"meeting-{table.host.id}-clerk")


def conclusion(table: MeetingTable, rounds: int) -> TurnPlan:
    last = table.state.stages.get((DISCUSSION, rounds))
    missing = last.closed.missing if last is not None and last.closed is not None else ()
    variables: dict[str, PromptValue] = {
        **_common(table),
        "others": table.everybody(),
        "rounds": str(rounds),
        "decision": table.decides,
        "history": history(table, rounds + 1),
        "points": points_on_the_table(table),
        "absent": ", ".join(called(p) for p in table.seats if p.id in missing),
        "deliverables": works_to_judge(table),
    }
    more = DECISION_SECTIONS if table.decides else ()
    task = verdict_task(table, "meeting/conclusion", variables, (*CONCLUSION_SECTIONS, *more))
    return _host_turn(table, CONCLUSION, task, after_round=rounds)


def awaited_summary(table: MeetingTable, round_: int) -> TurnPlan:
    """A coordinator from outside is waited for as long as everybody else."""
    return _awaited(table, f"{SUMMARY}-{round_}", round_, table.patience)


def awaited_conclusion(table: MeetingTable) -> TurnPlan:
    return _awaited(table, CONCLUSION, current_round(table.state), table.conclusion_seconds)


def _awaited(table: MeetingTable, stage: str, after_round: int, seconds: float) -> TurnPlan:
    """A turn of the host for which nobody is called."""
    plan = _host_turn(
        table, stage, Task(PromptPlan("meeting/awaited", {})), after_round=after_round
    )
    return replace(plan, policy=TurnPolicy(timeout=seconds, patience=seconds))


def _small_speech(table: MeetingTable, seat: Participant, round_: int) -> Task:
    """A demonstration model completes openings better than it obeys, and forgets what is long:
    it hears the last speech before its own, in one sentence."""
    others = [s for s in table.speeches if s.participant != seat.id][-1:]
    heard = tuple(Untrusted("speech", first_words(s), table.called(s.participant)) for s in others)
    place = [p.id for p in table.seats].index(seat.id) + round_
    begins = SMALL_OPENINGS[place % len(SMALL_OPENINGS)] if heard else "In my view,"
    return Task(
        PromptPlan(
            "meeting/small-speech",
            {
                "question": Untrusted("question", table.state.start.topic),
                **_who(table, seat),
                "round": str(round_),
                "max_rounds": str(table.max_rounds),
                "others": heard,
            },
        ),
        Contract(sections=("Speech",)),
        max_tokens=SMALL_SPEECH_TOKENS,
        shape=(SectionShape("Speech", 3, begins),),
    )


def _common(table: MeetingTable) -> dict[str, PromptValue]:
    """What every prompt holds. Remarks of the chair stand in the history, where they were made."""
    return {**table.common(), "remarks": ()}


def _who(table: MeetingTable, seat: Participant) -> dict[str, PromptValue]:
    """A seat's name and role; one of them where they say the same."""
    if seat.described:
        return {"name": table.own_name(seat), "role": ""}
    return {"name": table.shown(seat), "role": "" if table.doubled(seat) else seat.role}


def _view(table: MeetingTable, seat: Participant) -> dict[str, PromptValue]:
    """From where a seat looks; how it should argue is nothing that a meeting says."""
    told = table.persona(seat)
    named = {"name": told["name"]} if seat.described else {}
    return {**named, "perspective": told["perspective"], "own_seat": told["own_seat"]}


def _place(table: MeetingTable, round_: int) -> str:
    """Which round it is for whoever speaks in it: what is asked differs."""
    if table.max_rounds == 1:
        return "only"
    return "last" if round_ >= table.max_rounds else "first" if round_ == 1 else "later"


def _host_turn(table: MeetingTable, stage: str, task: Task, *, after_round: int) -> TurnPlan:
    host = table.host
    return TurnPlan(
        turn_id=turn_id(0, stage, host.id),
        stage=stage,
        round=0,
        participant=host,
        label=f"meeting-{host.id}-{stage}",
        task=task,
        policy=PATIENT
        if host.speaker.demonstration
        else replace(
            _policy(table), repairs=int(stage == CONCLUSION), dispensable=stage != CONCLUSION
        ),
        after_round=after_round,
    )


def _policy(table: MeetingTable) -> TurnPolicy:
    seconds = table.turn_seconds
    return TurnPolicy(timeout=seconds, deadline=seconds, patience=table.patience)
