"""The turns that bring a run to its end: synthesis, validation, rewriting."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...core.effects import PromptPlan, PromptValue, Task, TurnPlan, Untrusted
from ...core.events import NewsThreadOpened, SpeechGiven
from ...core.values import Participant
from .ballots import tally_text
from .design import SeatPlan
from .digests import CRITIQUE_OF_PEERS, digest
from .sitting import LAST_RESORT, REWRITE, SYNTHESIS, VALIDATION, Sitting
from .tasks import SYNTHESIS_WRITES, common, plan_turn
from .validation import VALIDATION_CONTRACT, Judged
from .verdict import SYNTHESIS_CONTRACT

NO_CROSS_CRITIQUE = "There was no cross-critique in this run."
NOT_MEASURED = "N/A: no agreement scores were given in this run."
LABEL = "rt-synthesis"


def synthesis(sitting: Sitting) -> TurnPlan:
    """By the neutral synthesiser."""
    return _writing(sitting, sitting.synthesiser, SYNTHESIS)


def by_orchestrator(sitting: Sitting) -> TurnPlan:
    """By the orchestrator, where the synthesiser fails."""
    return _writing(sitting, sitting.host, LAST_RESORT)


def rewrite(sitting: Sitting, draft: SpeechGiven, judged: Sequence[Judged]) -> TurnPlan:
    """By the synthesiser again, with what the panel corrected."""
    corrections = tuple(
        Untrusted("remark", each.correction, sitting.role(each.participant))
        for each in judged
        if each.correction
    )
    return _writing(
        sitting,
        sitting.present(sitting.synthesiser),
        REWRITE,
        draft=(Untrusted("findings", draft.text, f"turn {draft.turn_id}"),),
        corrections=corrections,
    )


def validation(
    sitting: Sitting, seat: SeatPlan, participant: Participant, draft: SpeechGiven
) -> TurnPlan:
    """By each who debated, on its own model."""
    own = next(s for s in sitting.last_words if s.participant == seat.id)
    variables: dict[str, PromptValue] = {
        **common(sitting),
        "role": seat.role,
        "own": Untrusted("speech", own.text, f"yourself, the {seat.role}, turn {own.turn_id}"),
        "draft": Untrusted("findings", draft.text, "the synthesiser"),
    }
    task = Task(
        PromptPlan("adaptive/round3-validation", variables), VALIDATION_CONTRACT, max_tokens=1024
    )
    return plan_turn(
        sitting,
        participant,
        VALIDATION,
        0,
        f"rt-r3-validate-{seat.id}",
        "validation",
        task,
        after_round=sitting.last_round,
        last=True,
    )


def _thread(sitting: Sitting) -> str:
    """The thread in which the program posts, if it made one."""
    made = [each for each in sitting.state.notifications if isinstance(each, NewsThreadOpened)]
    return made[0].thread_id if made else sitting.terms.thread_id


def _writing(
    sitting: Sitting,
    writer: Participant,
    stage: str,
    draft: tuple[Untrusted, ...] = (),
    corrections: tuple[Untrusted, ...] = (),
) -> TurnPlan:
    variables: dict[str, PromptValue] = {
        **common(sitting),
        "round1": round1_summaries(sitting),
        "round2": round2_summaries(sitting) or NO_CROSS_CRITIQUE,
        "stage2": tuple(_summary(sitting, s) for s in sitting.second_answers),
        "consensus": consensus_scores(sitting),
        "votes": _votes(sitting),
        "missing": ", ".join(_missing(sitting)),
        "thread_id": _thread(sitting),
        "draft": draft,
        "corrections": corrections,
    }
    task = Task(
        PromptPlan("adaptive/final-synthesis", variables),
        SYNTHESIS_CONTRACT,
        max_tokens=SYNTHESIS_WRITES,
    )
    return plan_turn(
        sitting,
        writer,
        stage,
        0,
        LABEL,
        "synthesis",
        task,
        after_round=sitting.last_round,
        last=True,
    )


def round1_summaries(sitting: Sitting) -> tuple[Untrusted, ...]:
    """Every digest as `**ROLE** (model): digest`."""
    return tuple(_summary(sitting, speech) for speech in sitting.answers)


def round2_summaries(sitting: Sitting) -> tuple[Untrusted, ...]:
    """Who criticised whose claim and why, and where everybody stands after it."""
    found = []
    for round_ in range(2, sitting.last_round + 1):
        for speech in sitting.critiques(round_):
            critique = speech.sections.get(CRITIQUE_OF_PEERS) or digest(speech)
            stands = digest(speech)
            text = f"{_head(sitting, speech)} criticises: {critique}"
            if stands and stands != critique:
                text += f"\nStands now: {stands}"
            found.append(Untrusted("speech", text, f"turn {speech.turn_id}"))
    return tuple(found)


def consensus_scores(sitting: Sitting) -> str:
    """The whole matrix and the percentage."""
    score = sitting.consensus
    if score.value is None:
        return NOT_MEASURED
    table = json.dumps(sitting.matrix, ensure_ascii=False, indent=2)
    return f"{table}\nConsensus: {score.value:.0f} %"


def _summary(sitting: Sitting, speech: SpeechGiven) -> Untrusted:
    text = f"{_head(sitting, speech)}: {digest(speech)}"
    return Untrusted("speech", text, f"turn {speech.turn_id}")


def _head(sitting: Sitting, speech: SpeechGiven) -> str:
    return f"**{sitting.role(speech.participant)}** ({speech.model})"


def _votes(sitting: Sitting) -> tuple[Untrusted, ...]:
    if sitting.terms.task_mode != "vote" or not (text := tally_text(sitting.state)):
        return ()
    return (Untrusted("findings", text, "the ballots"),)


def _missing(sitting: Sitting) -> list[str]:
    heard = {s.participant for s in sitting.answers}
    return [seat.role for seat in sitting.design.seats if seat.stage == 1 and seat.id not in heard]
