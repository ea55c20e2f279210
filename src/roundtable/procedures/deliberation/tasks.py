"""The turns of a deliberation: who is asked what, with which contract and within what time."""

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
from .clerk import labels
from .sitting import ANSWER, CLERK, CRITIQUE, SYNTHESIS, Sitting, position

EXPERT = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1)
HOST = TurnPolicy(timeout=120, deadline=150, retries=1)
CONCLUDING = TurnPolicy(timeout=180, deadline=200, retries=1, repairs=1)
PATIENT = TurnPolicy(timeout=600, retries=1)
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
SMALL_TOKENS = 220

FIRST = Contract(sections=("Answer", "Reasons", "Ballot"))
SECOND = Contract(sections=("Critique", "Answer", "Stances", "Ballot"))
VERDICT = Contract(sections=("Answer", "Agreement", "Gaps and Risks"))


def answer(sitting: Sitting, participant: Participant) -> TurnPlan:
    variables = {**_common(sitting), **_persona(sitting, participant)}
    variables["options"] = _options(sitting)
    small = Task(
        PromptPlan(
            "deliberation/small-answer",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "name": participant.name,
                "perspective": participant.perspective,
            },
        ),
        Contract(sections=("Answer",)),
        max_tokens=SMALL_TOKENS,
        shape=(
            SectionShape("Answer", 2, "In my view,"),
            SectionShape("Reasons", 1, "The main reason is that"),
        ),
    )
    task = Task(PromptPlan("deliberation/answer", variables), FIRST)
    return _expert_turn(sitting, participant, ANSWER, 1, task, small)


def clerk(sitting: Sitting) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "answers": tuple(
            Untrusted("speech", speech.text, f"Answer {label}")
            for label, speech in labels(sitting.answers).items()
        ),
    }
    task = Task(PromptPlan("deliberation/clerk", variables), max_tokens=2048)
    return _host_turn(sitting, CLERK, task, HOST, after_round=1)


def critique(sitting: Sitting, participant: Participant) -> TurnPlan:
    own = next(s for s in sitting.answers if s.participant == participant.id)
    peers = sitting.peers(participant.id)
    points = "\n".join(f"{p.point_id}: {p.text}" for p in sitting.state.points.values())
    variables = {
        **_common(sitting),
        **_persona(sitting, participant),
        "options": _options(sitting),
        "own": Untrusted("speech", own.text, "yourself"),
        "peers": tuple(
            Untrusted("speech", speech.text, f"Answer {label}") for label, speech in peers.items()
        ),
        "points": Untrusted("points", points),
    }
    small = Task(
        PromptPlan(
            "deliberation/small-critique",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "name": participant.name,
                "perspective": participant.perspective,
                "peers": tuple(
                    Untrusted("speech", first_sentences(position(speech), 1, 300), label)
                    for label, speech in peers.items()
                ),
            },
        ),
        Contract(sections=("Critique", "Answer")),
        max_tokens=SMALL_TOKENS,
        shape=(
            SectionShape("Critique", 1, "What these answers overlook is that"),
            SectionShape("Answer", 1, "After hearing the others, my view is that"),
        ),
    )
    task = Task(PromptPlan("deliberation/critique", variables), SECOND)
    return _expert_turn(sitting, participant, CRITIQUE, 2, task, small)


def synthesis(sitting: Sitting, outcome: str) -> TurnPlan:
    held = bool(sitting.critiques)
    variables: dict[str, PromptValue] = {
        **_common(sitting),
        "answers": _speeches(sitting, 1),
        "critiques": _speeches(sitting, 2) if held else (),
        "outcome": outcome,
    }
    task = Task(PromptPlan("deliberation/synthesis", variables), VERDICT)
    return _host_turn(sitting, SYNTHESIS, task, CONCLUDING, after_round=2 if held else 1)


def _common(sitting: Sitting) -> dict[str, PromptValue]:
    start = sitting.state.start
    return {
        "question": Untrusted("question", start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in start.context),
        "remarks": tuple(
            Untrusted("remark", speech.text, "the host")
            for speech in sitting.state.speeches
            if speech.stage == "remark"
        ),
        "language": LANGUAGES.get(start.language, start.language),
    }


def _persona(sitting: Sitting, participant: Participant) -> dict[str, PromptValue]:
    guidance = sitting.state.start.options.get("guidance")
    told = guidance.get(participant.id, "") if isinstance(guidance, dict) else ""
    return {
        "name": participant.name,
        "perspective": participant.perspective,
        "guidance": str(told),
    }


def _options(sitting: Sitting) -> PromptValue:
    """The options as a list, fenced: the question or the clerk worded them."""
    listed = "\n".join(f"{option}: {words}" for option, words in sitting.options.items())
    known = listed and (not sitting.needs_clerk or sitting.answers)
    return Untrusted("options", listed) if known else ""


def _speeches(sitting: Sitting, round_: int) -> tuple[Untrusted, ...]:
    speeches = sitting.answers if round_ == 1 else sitting.critiques
    return tuple(Untrusted("speech", speech.text, f"turn {speech.turn_id}") for speech in speeches)


def _expert_turn(
    sitting: Sitting, participant: Participant, stage: str, round_: int, task: Task, small: Task
) -> TurnPlan:
    return TurnPlan(
        turn_id=turn_id(round_, stage, participant.id),
        stage=stage,
        round=round_,
        participant=participant,
        label=f"deliberation-{participant.id}-r{round_}",
        task=task,
        small_task=small,
        policy=PATIENT if participant.speaker.demonstration else EXPERT,
        hold_back=_for_synthesis(sitting),
    )


def _host_turn(
    sitting: Sitting, stage: str, task: Task, policy: TurnPolicy, *, after_round: int
) -> TurnPlan:
    return TurnPlan(
        turn_id=turn_id(0, stage, sitting.host.id),
        stage=stage,
        round=0,
        participant=sitting.host,
        label=f"deliberation-{stage}",
        task=task,
        policy=policy,
        after_round=after_round,
        hold_back=None if stage == SYNTHESIS else _for_synthesis(sitting),
    )


def _for_synthesis(sitting: Sitting) -> HoldBack | None:
    """Keep one call, and what it reads and writes, for the host's last word."""
    if not sitting.host_writes:
        return None
    return HoldBack(sitting.host.speaker, input_tokens=4000, output_tokens=2000)
