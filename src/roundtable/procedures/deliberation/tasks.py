"""The turns of a deliberation: who is asked what, with which contract and within what time."""

from __future__ import annotations

from collections.abc import Mapping

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
from ...core.text import estimate_tokens, first_sentences
from ...core.values import Participant
from .contracts import FIRST, SECOND, VERDICT, BallotContract
from .sitting import (
    ANSWER,
    CLERK,
    CRITIQUE,
    LAST_ROUND,
    OTHER_ORDER,
    SYNTHESIS,
    Sitting,
    position,
)

EXPERT = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1)
HOST = TurnPolicy(timeout=120, deadline=150, retries=1)
CONCLUDING = TurnPolicy(timeout=180, deadline=200, retries=1, repairs=1)
PATIENT = TurnPolicy(timeout=600, retries=1)
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
SMALL_TOKENS = 220
TOKENS_PER_SEAT = 1500
"""What the host reads of one expert before it concludes, at most, as a rule."""


def answer(sitting: Sitting, participant: Participant) -> TurnPlan:
    variables = {**common(sitting), **persona(sitting, participant)}
    # Only what was given: what the others answered so far is not to be known here.
    variables["options"] = listed(sitting.given)
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
    contract = BallotContract(sections=FIRST, options=tuple(sitting.given.items()))
    task = Task(PromptPlan("deliberation/answer", variables), contract)
    return expert_turn(sitting, participant, ANSWER, 1, task, small)


def clerk(sitting: Sitting) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **common(sitting),
        "answers": tuple(
            Untrusted("speech", speech.text, f"Answer {label}")
            for label, speech in sitting.peers(sitting.host.id).items()
        ),
    }
    task = Task(PromptPlan("deliberation/clerk", variables), max_tokens=2048)
    return host_turn(sitting, CLERK, task, HOST, last=False)


def critique(sitting: Sitting, participant: Participant, *, reverse: bool = False) -> TurnPlan:
    """Reading the others; with `reverse`, the same answers and options from the last to the
    first."""
    options = dict(reversed(sitting.options.items())) if reverse else sitting.options
    own = next(s for s in sitting.answers if s.participant == participant.id)
    peers = sitting.peers(participant.id, reverse=reverse)
    points = "\n".join(f"{p.point_id}: {p.text}" for p in sitting.state.points.values())
    variables = {
        **common(sitting),
        **persona(sitting, participant),
        "options": listed(options),
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
    contract = BallotContract(sections=SECOND, options=tuple(sitting.options.items()))
    task = Task(PromptPlan("deliberation/critique", variables), contract)
    stage = OTHER_ORDER if reverse else CRITIQUE
    return expert_turn(sitting, participant, stage, LAST_ROUND, task, small)


def synthesis(sitting: Sitting, outcome: str) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **common(sitting),
        **everything_said(sitting),
        "options": listed(sitting.options),
        "outcome": outcome,
    }
    task = Task(PromptPlan("deliberation/synthesis", variables), Contract(sections=VERDICT))
    return host_turn(sitting, SYNTHESIS, task, CONCLUDING)


def common(sitting: Sitting) -> dict[str, PromptValue]:
    start = sitting.state.start
    return {
        "question": Untrusted("question", start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in sitting.state.context),
        "remarks": tuple(
            Untrusted("remark", speech.text, "the host")
            for speech in sitting.state.speeches
            if speech.stage == "remark"
        ),
        "language": LANGUAGES.get(start.language, start.language),
    }


def persona(sitting: Sitting, participant: Participant) -> dict[str, PromptValue]:
    guidance = sitting.state.start.options.get("guidance")
    told = guidance.get(participant.id, "") if isinstance(guidance, dict) else ""
    return {
        "name": participant.name,
        "perspective": participant.perspective,
        "guidance": str(told),
    }


def listed(options: Mapping[str, str]) -> PromptValue:
    """The options as a list, fenced: an asker or the clerk worded them."""
    if not options:
        return ""
    return Untrusted("options", "\n".join(f"{each}: {words}" for each, words in options.items()))


def everything_said(sitting: Sitting) -> dict[str, PromptValue]:
    """The speeches of both rounds under their turn ids, by which they are cited."""
    return {
        name: tuple(Untrusted("speech", s.text, f"turn {s.turn_id}") for s in speeches)
        for name, speeches in (("answers", sitting.answers), ("critiques", sitting.critiques))
    }


def expert_turn(
    sitting: Sitting,
    participant: Participant,
    stage: str,
    round_: int,
    task: Task,
    small: Task | None,
) -> TurnPlan:
    return TurnPlan(
        turn_id=turn_id(round_, stage, participant.id),
        stage=stage,
        round=round_,
        participant=participant,
        label=f"deliberation-{participant.id}-r{round_}",
        task=task,
        demo_task=small,
        policy=PATIENT if participant.speaker.demonstration else EXPERT,
        hold_back=_for_the_last_word(sitting),
    )


def host_turn(
    sitting: Sitting, stage: str, task: Task, policy: TurnPolicy, *, last: bool = True
) -> TurnPlan:
    """A turn of the host after the newest round. The last one needs nothing held back."""
    return TurnPlan(
        turn_id=turn_id(0, stage, sitting.host.id),
        stage=stage,
        round=0,
        participant=sitting.host,
        label=f"deliberation-{stage}",
        task=task,
        policy=policy,
        after_round=max((speech.round for speech in sitting.state.speeches), default=0),
        hold_back=None if last else _for_the_last_word(sitting),
    )


def _for_the_last_word(sitting: Sitting) -> HoldBack | None:
    """Keep one call, and what it reads and writes, for the host's last word."""
    if not sitting.host_writes:
        return None
    start = sitting.state.start
    material = estimate_tokens(start.topic) + sum(
        estimate_tokens(m.text) for m in sitting.state.context
    )
    read = 1000 + material + TOKENS_PER_SEAT * len(start.participants)
    return HoldBack(sitting.host.speaker, input_tokens=read, output_tokens=2000)
