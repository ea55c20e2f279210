"""The meeting's turns: who is asked what, with which contract and within what time."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.budget import HoldBack
from ...core.contracts import Contract
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
from ...core.events import SpeechGiven
from ...core.values import Participant
from ...views.meeting import CONCLUSION_SECTIONS, DECISION_SECTIONS, first_words
from ...views.meeting_status import (
    CONCLUSION,
    DISCUSSION,
    MINUTES,
    OPENING,
    SUMMARY,
    called,
    speaks_from_outside,
)
from ..minutes import clerk_task
from .history import history, points_on_the_table
from .sitting import Sitting, SpeechContract

LANGUAGES = {"en": "English", "de": "German", "es": "Spanish", "zh": "Chinese"}
SUMMARY_CONTRACT = Contract(sections=("Key Points", "Emerging Consensus", "Open Questions"))
SPEECH = SpeechContract()
SPEECH_TOKENS, SMALL_SPEECH_TOKENS, SUMMARY_TOKENS = 2048, 160, 1024
CONCLUSION_READS, CONCLUSION_WRITES = 9_000, 4096
SMALL_OPENINGS = ("What I would add is that", "From my role I see that", "The main risk is that")
"""A demonstration model that begins like the one before it goes on like it."""
PATIENT = TurnPolicy(timeout=600, retries=1)
"""For the embedded model, which may share its core with everything else on the machine."""


def opening(sitting: Sitting) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "others": sitting.everybody(),
        "max_rounds": str(sitting.max_rounds),
    }
    task = Task(PromptPlan("meeting/opening", variables), max_tokens=SUMMARY_TOKENS)
    return _host_turn(sitting, OPENING, task, after_round=0)


def speeches(sitting: Sitting, round_: int) -> list[TurnPlan]:
    """A turn for everybody, each built on all that was said so far."""
    # Where everybody speaks from outside nobody is given a prompt, and a long history is not read
    # through in every decision.
    prompted = not all(speaks_from_outside(seat) for seat in sitting.state.participants)
    so_far: dict[str, PromptValue] = {
        **_common(sitting),
        "history": history(sitting, round_) if prompted else (),
        "points": points_on_the_table(sitting) if prompted else "",
    }
    return [_speech(sitting, p, round_, so_far) for p in sitting.state.participants]


def _speech(
    sitting: Sitting, participant: Participant, round_: int, so_far: dict[str, PromptValue]
) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **so_far,
        "name": participant.name,
        "role": participant.role,
        "perspective": participant.perspective,
        "others": sitting.everybody(but=participant.id),
        "round": str(round_),
        "max_rounds": str(sitting.max_rounds),
    }
    return TurnPlan(
        turn_id=turn_id(round_, DISCUSSION, participant.id),
        stage=DISCUSSION,
        round=round_,
        participant=participant,
        label=f"meeting-{participant.id}-r{round_}",
        task=Task(PromptPlan("meeting/speech", variables), SPEECH, max_tokens=SPEECH_TOKENS),
        demo_task=_small_speech(sitting, participant, round_),
        policy=_policy(sitting, participant),
        hold_back=_for_conclusion(sitting),
    )


def summary(sitting: Sitting, round_: int) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "others": sitting.everybody(),
        "round": str(round_),
        "max_rounds": str(sitting.max_rounds),
        "history": history(sitting, round_ + 1),
        "points": points_on_the_table(sitting),
    }
    task = Task(
        PromptPlan("meeting/summary", variables), SUMMARY_CONTRACT, max_tokens=SUMMARY_TOKENS
    )
    return _host_turn(sitting, f"{SUMMARY}-{round_}", task, after_round=round_)


def minutes(sitting: Sitting, round_: int, heard: Sequence[SpeechGiven]) -> TurnPlan:
    """The host as a clerk, over the speeches of a round that declare nothing."""
    names = {p.id: called(p) for p in sitting.state.participants}
    task = clerk_task(sitting.state, heard, points_on_the_table(sitting), new=True, names=names)
    return _host_turn(sitting, f"{MINUTES}-{round_}", task, after_round=round_)


def conclusion(sitting: Sitting, rounds: int) -> TurnPlan:
    last = sitting.state.stages.get((DISCUSSION, rounds))
    missing = last.closed.missing if last is not None and last.closed is not None else ()
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "others": sitting.everybody(),
        "rounds": str(rounds),
        "decision": sitting.decision,
        "history": history(sitting, rounds + 1),
        "points": points_on_the_table(sitting),
        "absent": ", ".join(called(p) for p in sitting.state.participants if p.id in missing),
    }
    task = Task(
        PromptPlan("meeting/conclusion", variables),
        conclusion_contract(sitting),
        max_tokens=CONCLUSION_WRITES,
    )
    return _host_turn(sitting, CONCLUSION, task, after_round=rounds)


def conclusion_contract(sitting: Sitting) -> Contract:
    more = DECISION_SECTIONS if sitting.decision else ()
    return Contract(sections=(*CONCLUSION_SECTIONS, *more))


def _small_speech(sitting: Sitting, participant: Participant, round_: int) -> Task:
    """A demonstration model completes openings better than it obeys, and forgets what is long:
    it hears the last speech before its own, in one sentence."""
    others = [s for s in sitting.speeches if s.participant != participant.id][-1:]
    heard = tuple(Untrusted("speech", first_words(s), _who(sitting, s.participant)) for s in others)
    place = [p.id for p in sitting.state.participants].index(participant.id) + round_
    opening = SMALL_OPENINGS[place % len(SMALL_OPENINGS)] if heard else "In my view,"
    return Task(
        PromptPlan(
            "meeting/small-speech",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "name": participant.name,
                "role": participant.role,
                "round": str(round_),
                "max_rounds": str(sitting.max_rounds),
                "others": heard,
            },
        ),
        Contract(sections=("Speech",)),
        max_tokens=SMALL_SPEECH_TOKENS,
        shape=(SectionShape("Speech", 3, opening),),
    )


def _who(sitting: Sitting, participant_id: str) -> str:
    seated = sitting.state.participant(participant_id)
    return called(seated) if seated else participant_id


def _common(sitting: Sitting) -> dict[str, PromptValue]:
    start = sitting.state.start
    return {
        "question": Untrusted("question", start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in sitting.state.context),
        "language": LANGUAGES.get(start.language, start.language),
    }


def _host_turn(sitting: Sitting, stage: str, task: Task, *, after_round: int) -> TurnPlan:
    return TurnPlan(
        turn_id=turn_id(0, stage, sitting.host.id),
        stage=stage,
        round=0,
        participant=sitting.host,
        label=f"meeting-{sitting.host.id}-{stage}",
        task=task,
        policy=_policy(sitting, sitting.host),
        after_round=after_round,
        hold_back=None if stage == CONCLUSION else _for_conclusion(sitting),
    )


def _policy(sitting: Sitting, participant: Participant) -> TurnPolicy:
    if participant.speaker.demonstration:
        return PATIENT
    seconds = sitting.turn_seconds
    return TurnPolicy(timeout=seconds, deadline=seconds, patience=sitting.patience)


def _for_conclusion(sitting: Sitting) -> HoldBack | None:
    """Keep one call, and what it reads and writes, for the host's last word."""
    if not sitting.host_writes:
        return None
    return HoldBack(sitting.host.speaker, CONCLUSION_READS, CONCLUSION_WRITES)
