"""The turns: who is asked what in which round, with which contract and within what time."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.budget import HoldBack
from ...core.effects import (
    PromptPlan,
    PromptValue,
    Task,
    TurnPlan,
    TurnPolicy,
    Untrusted,
    turn_id,
)
from ...core.text import clip
from ...core.values import Participant
from ...views.five_round.rounds import (
    ACTIONABLE,
    ARBITRATION,
    CRITIQUE,
    CROSS_REFERENCE,
    DEFECTS,
    LEAST_CITATIONS,
    LEAST_METRICS,
    POINTS,
    PROPOSAL,
    RISKS,
    ROUNDS,
    TOP_RISKS,
    WEEKS,
    held,
)
from ...views.five_round.skipped import forced
from ...views.five_round.standing import disputes, statements
from . import contracts
from .sitting import Sitting
from .small import demo_task

LANGUAGES = {"en": "English", "de": "German", "es": "Spanish", "zh": "Chinese"}
RETRIES, INTERVAL, REPAIRS, TIMEOUT = 2, 5.0, 2, 180.0
PATIENT = TurnPolicy(timeout=600, retries=1)
"""For the embedded model, which may share its core with everything else on the machine."""
WRITES = 6144
HOST_WRITES = 8192
FRAME_TOKENS = 2500
"""What the host's prompt holds beside the speeches."""
LONGEST_CHALLENGE = 400
"""Characters of a challenge where it is listed."""
AFTER_ALL = 99
"""A round after every round."""


def round_turn(sitting: Sitting, number: int, stage: str, participant: Participant) -> TurnPlan:
    """One expert's turn in one of the first four rounds."""
    return TurnPlan(
        turn_id=turn_id(number, stage, participant.id),
        stage=stage,
        round=number,
        participant=participant,
        label=f"five-round-{participant.id}-r{number}",
        task=_task(sitting, number, stage, participant),
        demo_task=demo_task(sitting, stage, participant)
        if any(ref.demonstration for ref in participant.speakers)
        else None,
        policy=_policy(sitting, participant),
        hold_back=_for_the_host(sitting),
    )


def host_turn(sitting: Sitting) -> TurnPlan:
    """The host's summary."""
    state = sitting.state
    open_ = disputes(state)
    lines = [
        f"{each.id} ({each.kind} {each.ref}; for: {_names(sitting, each.for_it)}; against: "
        f"{_names(sitting, each.against)}): {' '.join(each.text.split())}"
        for each in open_
    ]
    opened = {stage for _, stage in held(state)}
    skipped = [
        f"R{each.number} {each.title}"
        for each in ROUNDS.values()
        if each.stage not in (*opened, ARBITRATION)
    ]
    silent = [p.name for p in state.participants if p not in sitting.present]
    variables: dict[str, PromptValue] = {
        **_common(sitting, AFTER_ALL),
        "length": ROUNDS[ARBITRATION].length,
        "disputes": _listed(sitting, "disputes", lines, "the rounds above"),
        "forced": forced(state),
        "skipped": ", ".join(skipped),
        "missing": ", ".join(silent),
        "weeks": str(WEEKS),
        "top_risks": str(TOP_RISKS),
        "goal": str(ACTIONABLE),
    }
    contract = contracts.arbitration(
        statements(state, AFTER_ALL), tuple(each.number for each in open_)
    )
    host = sitting.host
    return TurnPlan(
        turn_id=turn_id(0, ARBITRATION, host.id),
        stage=ARBITRATION,
        round=0,
        participant=host,
        label="five-round-host-r5",
        task=Task(_plan(ARBITRATION, variables), contract, max_tokens=HOST_WRITES),
        policy=_policy(sitting, host),
        after_round=max((number for number, _ in held(state)), default=0),
    )


def contract_of(
    sitting: Sitting, number: int, stage: str, participant: Participant
) -> contracts.RoundContract:
    """What an expert's speech in this round must keep to."""
    known = statements(sitting.state, number)
    points = tuple(point.id for point in sitting.points.issues)
    if stage == PROPOSAL:
        return contracts.proposal()
    if stage == CROSS_REFERENCE:
        return contracts.cross_reference(known, participant.id, points)
    if stage == CRITIQUE:
        return contracts.critique(known, participant.id)
    first = next((s.text for s in sitting.proposals if s.participant == participant.id), "")
    raised = sitting.open_challenges(participant.id, number)
    return contracts.revised(known, tuple(each.number for each in raised), points, first)


def _task(sitting: Sitting, number: int, stage: str, participant: Participant) -> Task:
    variables: dict[str, PromptValue] = {
        **_common(sitting, number),
        "name": participant.name,
        "perspective": participant.perspective,
        "guidance": sitting.told_of(participant.id, "guidance"),
        "asks": sitting.told_of(participant.id, "asks"),
        "blind_spot": sitting.told_of(participant.id, "blind_spot"),
        "length": ROUNDS[stage].length,
    }
    others = ", ".join(p.name for p in sitting.present if p.id != participant.id)
    if stage == PROPOSAL:
        variables |= {"metrics": str(LEAST_METRICS), "points": str(POINTS)}
    elif stage == CROSS_REFERENCE:
        variables |= {
            "citations": str(LEAST_CITATIONS),
            "others": others,
            "listed": _points(sitting),
        }
    elif stage == CRITIQUE:
        variables |= {"risks": str(RISKS), "defects": str(DEFECTS), "others": others}
    else:
        raised = sitting.open_challenges(participant.id, number)
        lines = [
            f"{each.id} ({each.finding.kind}, by {sitting.name(each.author)}): "
            # Its support stands in the critique above.
            f"{clip(' '.join(each.finding.text.split()), LONGEST_CHALLENGE)}"
            for each in raised
        ]
        variables |= {
            "listed": _points(sitting),
            "challenges": _listed(sitting, "challenges", lines, "R3"),
            "again": number > ROUNDS[stage].number,
        }
    contract = contract_of(sitting, number, stage, participant)
    return Task(_plan(stage, variables), contract, max_tokens=WRITES)


def _plan(stage: str, variables: dict[str, PromptValue]) -> PromptPlan:
    return PromptPlan(f"five_round/{stage}", variables, repeats=True)


def _common(sitting: Sitting, number: int) -> dict[str, PromptValue]:
    start = sitting.state.start
    return {
        "question": Untrusted("question", start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in sitting.state.context),
        "history": sitting.history(number),
        "language": LANGUAGES.get(start.language, start.language),
    }


def _points(sitting: Sitting) -> tuple[Untrusted, ...]:
    lines = [
        f"{point.id} ({sitting.name(point.raised_by)}): {' '.join(point.text.split())}"
        for point in sitting.points.issues
    ]
    return _listed(sitting, "points", lines, "R1")


def _listed(
    sitting: Sitting, kind: str, lines: Sequence[str], source: str
) -> tuple[Untrusted, ...]:
    """A list in one fence, cut like the history where that is cut; nothing for an empty one."""
    if not lines:
        return ()
    if sitting.shown is not None:
        # What is left must still name each number.
        room = max(12, sitting.shown // len(lines))
        lines = [clip(line, room) for line in lines]
    return (Untrusted(kind, "\n".join(lines), source),)


def _names(sitting: Sitting, participants: Sequence[str]) -> str:
    return ", ".join(sitting.name(each) for each in participants) or "nobody"


def _policy(sitting: Sitting, participant: Participant) -> TurnPolicy:
    if participant.speaker.demonstration:
        return PATIENT
    return TurnPolicy(
        timeout=sitting.number("timeout", TIMEOUT),
        retries=RETRIES,
        interval=INTERVAL,
        repairs=REPAIRS,
    )


def _for_the_host(sitting: Sitting) -> HoldBack | None:
    """Keep one call, and what it reads and writes, for the host's last word."""
    if not sitting.host_writes:
        return None
    return HoldBack(sitting.host.speaker, sitting.tokens_said + FRAME_TOKENS, HOST_WRITES)
