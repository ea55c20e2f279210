"""The council's turns: who is asked what, with which contract and within what time."""

from __future__ import annotations

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
from ...core.grounding import NO_REAL_TIME_DATA, NOTHING_USEFUL, labelled
from ...core.text import first_sentences
from ...core.values import Participant
from .roles import BRIEFING, BY_ID, CROSS, VERDICT
from .sitting import ANSWER, BRIEF, CROSS_EXAMINATION, SUMMARY, SYNTHESIS, Sitting, position

SPECIALIST = TurnPolicy(timeout=90, deadline=90)
CAPTAIN = TurnPolicy(timeout=90, deadline=90)
CONCLUDING = TurnPolicy(timeout=180, deadline=180)
PATIENT = TurnPolicy(timeout=600, retries=1)
"""For the embedded model, which may share its core with everything else on the machine."""

LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
SMALL_ANSWER_TOKENS = 220
SYNTHESIS_READS, SYNTHESIS_WRITES = 4000, 4096


def briefing(sitting: Sitting) -> TurnPlan:
    variables = _common(sitting)
    task = Task(PromptPlan("council/briefing", variables), BRIEFING, max_tokens=2048)
    return _captain_turn(sitting, BRIEF, task, CAPTAIN, after_round=0)


def answer(sitting: Sitting, participant: Participant) -> TurnPlan:
    role = BY_ID[participant.id]
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "focus": sitting.focus(role.id),
        "sub_task": Untrusted("task", sitting.sub_task(role.id), "the Captain"),
        "web": tuple(
            Untrusted("web", f"{hit.title}\n{hit.text}", labelled(hit)) for hit in sitting.hits
        ),
    }
    if role.id == "scholar":
        variables["no_web"] = NOTHING_USEFUL if sitting.search_answered else NO_REAL_TIME_DATA
    small = Task(
        PromptPlan(
            "council/small-answer",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "name": role.name,
                "focus": role.small.focus,
            },
        ),
        Contract(sections=(role.position, "Dissent")),
        max_tokens=SMALL_ANSWER_TOKENS,
        shape=(
            SectionShape(role.position, 2, role.small.position_opening),
            SectionShape("Dissent", 1, role.small.dissent_opening),
        ),
    )
    task = Task(PromptPlan(f"council/{role.id}", variables), Contract(sections=role.sections))
    return _specialist_turn(sitting, participant, ANSWER, 1, task, small)


def summary(sitting: Sitting) -> TurnPlan:
    variables: dict[str, PromptValue] = {**_common(sitting), "answers": _speeches(sitting, 1)}
    task = Task(PromptPlan("council/summary", variables), max_tokens=2048)
    return _captain_turn(sitting, SUMMARY, task, CAPTAIN, after_round=1)


def cross_examination(sitting: Sitting, participant: Participant, findings: str) -> TurnPlan:
    role = BY_ID[participant.id]
    own = next(speech for speech in sitting.answers if speech.participant == participant.id)
    others = {
        BY_ID[speech.participant].name: speech
        for speech in sitting.answers
        if speech.participant != participant.id
    }
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "name": role.name,
        "perspective": role.perspective,
        "findings": Untrusted("findings", findings, "the Captain"),
        "own": Untrusted("speech", own.text, f"yourself, the {role.name}, in round 1"),
    }
    small = Task(
        PromptPlan(
            "council/small-cross-examination",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "name": role.name,
                "focus": role.small.focus,
                "others": tuple(
                    Untrusted("speech", first_sentences(position(speech), 1, 300), name)
                    for name, speech in others.items()
                ),
            },
        ),
        Contract(sections=("Critique of Others", "Updated Position")),
        max_tokens=SMALL_ANSWER_TOKENS,
        shape=(
            SectionShape("Critique of Others", 2, f"The {next(iter(others))} overlooks that"),
            SectionShape("Updated Position", 1, "After hearing the others, my view is that"),
        ),
    )
    task = Task(PromptPlan("council/cross-examination", variables), CROSS)
    return _specialist_turn(sitting, participant, CROSS_EXAMINATION, 2, task, small)


def synthesis(sitting: Sitting) -> TurnPlan:
    held = sitting.round2_held
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "answers": _speeches(sitting, 1),
        "second_answers": _speeches(sitting, 2) if held else (),
        "missing": ", ".join(
            p.name
            for p in sitting.state.start.participants
            if p.id not in {speech.participant for speech in sitting.answers}
        ),
    }
    task = Task(PromptPlan("council/synthesis", variables), VERDICT, max_tokens=SYNTHESIS_WRITES)
    return _captain_turn(sitting, SYNTHESIS, task, CONCLUDING, after_round=2 if held else 1)


def _common(sitting: Sitting) -> dict[str, PromptValue]:
    start = sitting.state.start
    remarks = tuple(
        Untrusted("remark", speech.text, "the host")
        for speech in sitting.state.speeches
        if speech.stage == "remark"
    )
    return {
        "question": Untrusted("question", start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in sitting.state.context),
        "remarks": remarks,
        "language": LANGUAGES.get(start.language, start.language),
    }


def _speeches(sitting: Sitting, round_: int) -> tuple[Untrusted, ...]:
    speeches = sitting.answers if round_ == 1 else sitting.second_answers
    return tuple(
        Untrusted("speech", speech.text, f"{BY_ID[speech.participant].name}, turn {speech.turn_id}")
        for speech in speeches
    )


def _specialist_turn(
    sitting: Sitting,
    participant: Participant,
    stage: str,
    round_: int,
    task: Task,
    small: Task,
) -> TurnPlan:
    return TurnPlan(
        turn_id=turn_id(round_, stage, participant.id),
        stage=stage,
        round=round_,
        participant=participant,
        label=f"council-{participant.id}-r{round_}",
        task=task,
        demo_task=small if any(ref.demonstration for ref in participant.speakers) else None,
        policy=_policy(participant, SPECIALIST),
        hold_back=_for_synthesis(sitting),
    )


def _captain_turn(
    sitting: Sitting, stage: str, task: Task, policy: TurnPolicy, *, after_round: int
) -> TurnPlan:
    captain = sitting.captain
    return TurnPlan(
        turn_id=turn_id(0, stage, captain.id),
        stage=stage,
        round=0,
        participant=captain,
        label=f"council-captain-{stage}",
        task=task,
        policy=_policy(captain, policy),
        after_round=after_round,
        hold_back=None if stage == SYNTHESIS else _for_synthesis(sitting),
    )


def _policy(participant: Participant, policy: TurnPolicy) -> TurnPolicy:
    return PATIENT if participant.speaker.demonstration else policy


def _for_synthesis(sitting: Sitting) -> HoldBack | None:
    """Keep one call, and what it reads and writes, for the Captain's last word."""
    if not sitting.captain_writes:
        return None
    return HoldBack(sitting.captain.speaker, SYNTHESIS_READS, SYNTHESIS_WRITES)
