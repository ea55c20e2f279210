"""The turns of those who debate: meta-analysts, panelists, second stage. Who is asked what, with
which contract and within what time."""

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
from ...core.text import first_sentences
from ...core.values import Participant
from .design import SeatPlan
from .digests import (
    ANSWER_CONTRACT,
    CRITIQUE_CONTRACT,
    CRITIQUE_OF_PEERS,
    POSITION,
    UPDATED,
    digest,
)
from .modes import KIND
from .panels import Phase
from .recommendation import META_CONTRACT
from .roles import BRIEFS, DEFAULT_OPENING, OPENINGS
from .sitting import ANSWER, CRITIQUE, META, SECOND, Sitting

LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
PATIENT = TurnPolicy(timeout=600, retries=1)
"""For the embedded model, which may share its core with everything else on the machine."""
SMALL_TOKENS = 220
SYNTHESIS_READS, SYNTHESIS_WRITES = 6000, 4096

INDEPENDENT = "Answer the question independently of the others; you will see their answers later."
PART = "Everybody on the panel works on another part of the question. Do your part thoroughly."
REVIEW = (
    "A first group has worked on the question; its whole output comes with it. Review it, "
    "validate what can be validated, and improve it: what you deliver replaces it."
)
INTEGRATE = (
    "A first group has worked on parts of the question; its whole output comes with it. Integrate "
    "the parts and synthesise them into one result: resolve what contradicts itself, and leave no "
    "part out."
)


def analysis(sitting: Sitting, analyst: Participant) -> TurnPlan:
    terms = sitting.terms
    own = sitting.host.speaker.model
    names = [
        f"- {each.name}"
        for each in terms.bench
        if each.usable and each.allowed and each.model != own
    ]
    variables: dict[str, PromptValue] = {
        **common(sitting),
        **_grounding(sitting),
        "mode": f"{terms.task_mode} ({KIND[terms.task_mode]})",
        "candidates": "\n".join(names),
        "max_panel": str(terms.max_panel),
    }
    task = Task(PromptPlan("adaptive/meta-panel", variables), META_CONTRACT, max_tokens=2048)
    label = f"rt-meta-{analyst.id[-1].upper()}"
    return plan_turn(sitting, analyst, META, 0, label, "meta", task)


def answer(sitting: Sitting, seat: SeatPlan, participant: Participant) -> TurnPlan:
    """Round 1: the same task for all, or in a hybrid each its own."""
    own_part = sitting.design.workflow == "hybrid"
    variables = _round1(sitting, seat, PART if own_part else INDEPENDENT)
    if own_part:
        variables["sub_task"] = _sub_task(seat)
    task = Task(PromptPlan("adaptive/round1", variables), ANSWER_CONTRACT)
    brief = BRIEFS.get(seat.role, "Give short, clear advice.")
    small = Task(
        PromptPlan(
            "adaptive/small-answer",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "role": seat.role,
                "brief": brief,
            },
        ),
        Contract(sections=(POSITION,)),
        max_tokens=SMALL_TOKENS,
        shape=(SectionShape(POSITION, 3, OPENINGS.get(seat.role, DEFAULT_OPENING)),),
    )
    return plan_turn(
        sitting, participant, ANSWER, 1, f"rt-r1-{seat.id}", "round1", task, small=small
    )


def critique(sitting: Sitting, seat: SeatPlan, participant: Participant, round_: int) -> TurnPlan:
    """Round 2 and later: everybody's answers, the own digest, and those of the others."""
    here = [(s, p) for s, p in sitting.critics if sitting.word_of(s.id, round_)]
    own = sitting.word_of(seat.id, round_)
    assert own is not None, "only who has spoken takes part in the cross-critique"
    peers = {
        other.role: speech
        for other, _ in here
        if other.id != seat.id and (speech := sitting.word_of(other.id, round_))
    }
    variables: dict[str, PromptValue] = {
        **common(sitting),
        **_grounding(sitting),
        "role": seat.role,
        "brief": BRIEFS.get(seat.role, ""),
        "round": str(round_),
        "answers": tuple(
            Untrusted("speech", s.text, f"{sitting.role(s.participant)}, turn {s.turn_id}")
            for s in sitting.answers
        ),
        "self_digest": Untrusted("speech", digest(own), f"yourself, the {seat.role}"),
        "peer_digests": tuple(
            Untrusted("speech", digest(speech), f"{role}, turn {speech.turn_id}")
            for role, speech in peers.items()
        ),
        "score_lines": "\n".join(f"- {role}: X/5" for role in peers),
        "vote": sitting.terms.task_mode == "vote",
    }
    task = Task(PromptPlan("adaptive/round2-cross-critique", variables), CRITIQUE_CONTRACT)
    small = Task(
        PromptPlan(
            "adaptive/small-critique",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "role": seat.role,
                "brief": BRIEFS.get(seat.role, "Give short, clear advice."),
                "others": tuple(
                    Untrusted("speech", first_sentences(digest(speech), 1, 300), role)
                    for role, speech in peers.items()
                ),
            },
        ),
        Contract(sections=(CRITIQUE_OF_PEERS, UPDATED)),
        max_tokens=SMALL_TOKENS,
        shape=(
            SectionShape(CRITIQUE_OF_PEERS, 2, f"The {next(iter(peers))} overlooks that"),
            SectionShape(UPDATED, 1, "After hearing the others, my view is that"),
        ),
    )
    label = f"rt-r{round_}-{seat.id}"
    return plan_turn(sitting, participant, CRITIQUE, round_, label, "round2", task, small=small)


def second(sitting: Sitting, seat: SeatPlan, participant: Participant) -> TurnPlan:
    """Stage 2: the base of round 1, with everything that stage 1 put out before it."""
    hybrid = sitting.design.workflow == "hybrid"
    variables = _round1(sitting, seat, INTEGRATE if hybrid else REVIEW)
    variables["earlier"] = tuple(
        Untrusted(
            "speech",
            f"STAGE 1 OUTPUT from {sitting.role(s.participant)}:\n{s.text}",
            f"turn {s.turn_id}",
        )
        for s in sitting.answers
    )
    variables["sub_task"] = _sub_task(seat)
    task = Task(PromptPlan("adaptive/round1", variables), ANSWER_CONTRACT)
    return plan_turn(
        sitting,
        participant,
        SECOND,
        sitting.second_round,
        f"rt-stage2-{seat.id}",
        "stage2",
        task,
    )


def _round1(sitting: Sitting, seat: SeatPlan, instruction: str) -> dict[str, PromptValue]:
    return {
        **common(sitting),
        **_grounding(sitting),
        "role": seat.role,
        "brief": BRIEFS.get(seat.role, ""),
        "instruction": instruction,
        "earlier": (),
        "sub_task": (),
        "vote": sitting.terms.task_mode == "vote",
    }


def _sub_task(seat: SeatPlan) -> tuple[Untrusted, ...]:
    text = seat.task or BRIEFS.get(seat.role) or f"What falls to the {seat.role}."
    return (Untrusted("task", text, "the workflow's design"),)


def common(sitting: Sitting) -> dict[str, PromptValue]:
    state = sitting.state
    return {
        "question": Untrusted("question", state.start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in sitting.material),
        "remarks": tuple(
            Untrusted("remark", s.text, "the host") for s in state.speeches if s.stage == "remark"
        ),
        "language": LANGUAGES.get(state.start.language, state.start.language),
    }


def _grounding(sitting: Sitting) -> dict[str, PromptValue]:
    text, from_the_web = sitting.grounding
    return {
        "prior": tuple(Untrusted("context", m.text, m.source) for m in sitting.prior),
        "current_context": Untrusted("web", text, "the web search") if from_the_web else text,
    }


def plan_turn(
    sitting: Sitting,
    participant: Participant,
    stage: str,
    round_: int,
    label: str,
    phase: Phase,
    task: Task,
    *,
    small: Task | None = None,
    after_round: int = 0,
    last: bool = False,
) -> TurnPlan:
    """One turn of a phase. All but the last keep a call back for the synthesis."""
    writer = sitting.synthesiser.speaker
    hold_back = HoldBack(writer, SYNTHESIS_READS, SYNTHESIS_WRITES)
    return TurnPlan(
        turn_id=turn_id(round_, stage, participant.id),
        stage=stage,
        round=round_,
        participant=participant,
        label=label,
        task=task,
        demo_task=small,
        policy=_policy(sitting, participant, phase),
        after_round=after_round,
        hold_back=None if last or writer.demonstration else hold_back,
    )


def _policy(sitting: Sitting, participant: Participant, phase: Phase) -> TurnPolicy:
    speaker = participant.speaker
    if speaker.demonstration:
        return PATIENT
    seconds = sitting.terms.timeouts.seconds(phase, speaker.model)
    return TurnPolicy(timeout=seconds, deadline=seconds)
