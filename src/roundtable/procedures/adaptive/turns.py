"""The turns of a run: who is asked what, what is to be declared, and what is read from it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...core.contracts import Contract, says_nothing
from ...core.declaration_form import LAST, LATER, OPENING, Key
from ...core.effects import PromptPlan, PromptValue, SectionShape, Task, TurnPlan, Untrusted
from ...core.events import NewsThreadOpened, SearchFinished, SpeechGiven
from ...core.grounding import labelled
from ...core.text import count_words, first_sentences
from ...core.values import Participant, Verdict
from .. import verdicts
from ..work import declaring_work, works_to_judge
from .design import SeatPlan, may_sit
from .options import KIND
from .panels import BRIEFS, DEFAULT_OPENING, OPENINGS
from .recommendation import META_CONTRACT
from .table import (
    ANSWER,
    ANSWER_CONTRACT,
    CRITIQUE,
    CRITIQUE_CONTRACT,
    CRITIQUE_OF_PEERS,
    LAST_RESORT,
    META,
    POSITION,
    RECHECK,
    REWRITE,
    RISKS,
    SECOND,
    SYNTHESIS,
    SYNTHESIS_WRITES,
    UPDATED,
    VALIDATION,
    PanelTable,
    digest,
    without_digest,
)

SMALL_TOKENS = 220
INDEPENDENT = "Answer the question independently of the others; you will see their answers later."
PART = (
    "Everybody on the panel works on another part of the question. Do your part thoroughly; what "
    "you need from the others' parts, state as an assumption."
)
REVIEW = (
    "A first group has worked on the question; its whole output comes with it. Review it, "
    "validate what can be validated, and improve it: what you deliver replaces it."
)
INTEGRATE = (
    "A first group has worked on parts of the question; its whole output comes with it. Integrate "
    "the parts and synthesise them into one result: resolve what contradicts itself, and leave no "
    "part out."
)
CRITICISED = "They have criticised each other: take up what holds of it."
THIN_POSITION = 60
"""Words below which an updated position is shown with the answer that it updates."""
SHORT = "Give short, clear advice."
SECTIONS = ("Answer", "Agreement", "Dissent", "Open Questions", "Sources")
NO_CROSS_CRITIQUE = "There was no cross-critique in this run."
NOT_MEASURED = "N/A: no agreement scores were given in this run."
SYNTHESIS_LABEL = "rt-synthesis"
_URL = re.compile(r"https?://(?:[^\s<>()\[\]\"'`|]|\([^\s<>()]*\))+")


# --- the debate --------------------------------------------------------------------------------


def analysis(table: PanelTable, analyst: Participant) -> TurnPlan:
    terms = table.terms
    names = [f"- {each.name}" for each in may_sit(terms.bench, table.host.speaker.model)]
    variables: dict[str, PromptValue] = {
        **table.common(),
        **table.grounding(),
        "mode": f"{terms.task_mode} ({KIND[terms.task_mode]})",
        "candidates": "\n".join(names),
        "max_panel": str(terms.max_panel),
    }
    task = Task(PromptPlan("adaptive/meta-panel", variables), META_CONTRACT, max_tokens=2048)
    label = f"rt-meta-{analyst.id[-1].upper()}"
    policy = replace(table.policy("meta", analyst), dispensable=True)
    return table.seat_turn(analyst, META, 0, task, policy, name=label)


def answer(table: PanelTable, seat: Participant) -> TurnPlan:
    """Round 1: the same task for all, or in a hybrid each its own."""
    own_part = table.design.workflow == "hybrid"
    variables = _round1(table, seat, PART if own_part else INDEPENDENT)
    if own_part:
        variables["sub_task"] = _sub_task(table.plans[seat.id])
    keys: tuple[Key, ...] = ("votes", *OPENING) if table.record.decisions else OPENING
    form = table.form(seat, keys, round_=1)
    task = declaring_work(
        table,
        seat,
        1,
        "adaptive/round1",
        variables,
        form,
        ANSWER_CONTRACT,
        wanted=table.wants_work,
    )
    small = Task(
        PromptPlan(
            "adaptive/small-answer",
            {
                "question": Untrusted("question", table.state.start.topic),
                "role": seat.name,
                "brief": BRIEFS.get(seat.name, SHORT),
            },
        ),
        Contract(sections=(POSITION,)),
        max_tokens=SMALL_TOKENS,
        shape=(SectionShape(POSITION, 3, OPENINGS.get(seat.name, DEFAULT_OPENING)),),
    )
    return table.seat_turn(
        seat,
        ANSWER,
        1,
        task,
        table.policy("round1", seat),
        demo=small,
        independent=True,
        name=f"rt-r1-{seat.id}",
    )


def critique(table: PanelTable, seat: Participant, round_: int, *, last: bool) -> TurnPlan:
    """Round 2 and later: everybody's answers, what was said to them since, the own digest, and
    those of the others. After the `last` one nobody could answer a new point."""
    own = table.word_of(seat.id, round_)
    assert own is not None, "only who has spoken takes part in the cross-critique"
    peers = {
        other.name: speech
        for other in table.critics
        if other.id != seat.id and (speech := table.word_of(other.id, round_))
    }
    digested = {own.turn_id, *(speech.turn_id for speech in peers.values())}

    def shown(speech: SpeechGiven) -> Untrusted:
        text = without_digest(speech) if speech.turn_id in digested else speech.text
        source = f"{table.name(speech.participant)}, turn {speech.turn_id}"
        return Untrusted("speech", text, source)

    variables: dict[str, PromptValue] = {
        **table.common(),
        **table.grounding(),
        "role": seat.name,
        "brief": BRIEFS.get(seat.name, ""),
        "round": str(round_),
        "answers": tuple(shown(speech) for speech in table.answers),
        "critiques": tuple(
            shown(speech) for earlier in range(2, round_) for speech in table.critiques(earlier)
        ),
        "self_digest": Untrusted("speech", digest(own), f"yourself, the {seat.name}"),
        "peer_digests": tuple(
            Untrusted("speech", digest(speech), f"{role}, turn {speech.turn_id}")
            for role, speech in peers.items()
        ),
    }
    scored = {role: speech.participant for role, speech in peers.items()}
    keys: tuple[Key, ...] = (*(LAST if last else LATER), "scores")
    form = table.form(seat, keys, scored=scored, round_=round_)
    template = "adaptive/round2-cross-critique"
    wanted = table.wants_work
    task = declaring_work(
        table, seat, round_, template, variables, form, CRITIQUE_CONTRACT, wanted=wanted
    )
    small = Task(
        PromptPlan(
            "adaptive/small-critique",
            {
                "question": Untrusted("question", table.state.start.topic),
                "role": seat.name,
                "brief": BRIEFS.get(seat.name, SHORT),
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
    return table.seat_turn(
        seat,
        CRITIQUE,
        round_,
        task,
        table.policy("round2", seat),
        demo=small,
        name=f"rt-r{round_}-{seat.id}",
    )


def second(table: PanelTable, seat: Participant) -> TurnPlan:
    """Stage 2: the base of round 1, with everything that stage 1 put out before it."""
    hybrid = table.design.workflow == "hybrid"
    instruction = INTEGRATE if hybrid else REVIEW
    if any(table.critiques(round_) for round_ in table.critique_rounds):
        instruction = f"{instruction} {CRITICISED}"
    variables = _round1(table, seat, instruction)
    variables["earlier"] = tuple(
        Untrusted(
            "speech",
            f"STAGE 1 OUTPUT from {table.name(s.participant)}:\n{s.text}",
            f"turn {s.turn_id}",
        )
        for s in table.answers
    ) + tuple(
        Untrusted(
            "speech",
            f"STAGE 1 CRITIQUE from {table.name(s.participant)}, round {round_}:\n{s.text}",
            f"turn {s.turn_id}",
        )
        for round_ in table.critique_rounds
        for s in table.critiques(round_)
    )
    variables["sub_task"] = _sub_task(table.plans[seat.id])
    if hybrid:
        variables["uncovered"] = _uncovered(table)
    round_ = table.second_round
    form = table.form(seat, LAST, round_=round_)
    wanted = table.wants_work
    task = declaring_work(
        table, seat, round_, "adaptive/round1", variables, form, ANSWER_CONTRACT, wanted=wanted
    )
    policy = table.policy("stage2", seat)
    return table.seat_turn(
        seat, SECOND, table.second_round, task, policy, name=f"rt-stage2-{seat.id}"
    )


def _round1(table: PanelTable, seat: Participant, instruction: str) -> dict[str, PromptValue]:
    return {
        **table.common(),
        **table.grounding(),
        "role": seat.name,
        "brief": BRIEFS.get(seat.name, ""),
        "instruction": instruction,
        "earlier": (),
        "sub_task": _designed_brief(table, table.plans[seat.id]),
        "uncovered": (),
    }


def _designed_brief(table: PanelTable, plan: SeatPlan) -> tuple[Untrusted, ...]:
    """What the design gives this seat to do. In a debate all have the same task, so there only a
    role that is not one of ours is told what it stands for."""
    debates = table.design.workflow == "parallel_debate"
    return () if not plan.task or (debates and plan.role in BRIEFS) else _sub_task(plan)


def _uncovered(table: PanelTable) -> tuple[Untrusted, ...]:
    """The sub-tasks that nobody worked on: no seat was left for them, or its holder failed."""
    heard = {s.participant for s in table.answers}
    missing = [
        f"{plan.role}: {plan.task}".rstrip(": ")
        for plan in table.design.seats
        if plan.stage == 1 and plan.id not in heard
    ]
    source = "the workflow's design"
    return tuple(Untrusted("task", each, source) for each in (*missing, *table.design.left_out))


def _sub_task(plan: SeatPlan) -> tuple[Untrusted, ...]:
    text = plan.task or BRIEFS.get(plan.role) or f"What falls to the {plan.role}."
    return (Untrusted("task", text, "the workflow's design"),)


# --- the synthesis -----------------------------------------------------------------------------


def synthesis(table: PanelTable) -> TurnPlan:
    """By the neutral synthesiser."""
    return _writing(table, table.synthesiser, SYNTHESIS)


def by_orchestrator(table: PanelTable) -> TurnPlan:
    """By the orchestrator, where the synthesiser fails."""
    return _writing(table, table.host, LAST_RESORT)


def rewrite(table: PanelTable, draft: SpeechGiven, judged: Sequence[Judged]) -> TurnPlan:
    """By the synthesiser again, with what the panel corrected."""
    corrections = tuple(
        Untrusted("remark", each.correction, f"{table.name(each.participant)}: {each.judgement}")
        for each in judged
        if each.correction
    )
    return _writing(
        table,
        table.present(table.synthesiser),
        REWRITE,
        draft=(Untrusted("findings", draft.text, f"turn {draft.turn_id}"),),
        corrections=corrections,
    )


def _writing(
    table: PanelTable,
    writer: Participant,
    stage: str,
    draft: tuple[Untrusted, ...] = (),
    corrections: tuple[Untrusted, ...] = (),
) -> TurnPlan:
    heard = {s.participant for s in table.answers}
    variables: dict[str, PromptValue] = {
        **table.common(),
        **table.grounding(),
        "round1": tuple(_first_word(table, speech) for speech in table.answers),
        "round2": _criticism(table) or NO_CROSS_CRITIQUE,
        "stage2": tuple(_summary(table, s) for s in table.second_answers),
        "positions": table.by_name(
            [_position(table, speech) for speech in table.latest], listed=table.condition_texts
        ),
        "deliverables": works_to_judge(table),
        "consensus": _consensus_scores(table),
        "missing": ", ".join(seat.name for seat in table.seated(1) if seat.id not in heard),
        "thread_id": _thread(table),
        "draft": draft,
        "corrections": corrections,
    }
    task = verdicts.verdict_task(
        table, "adaptive/final-synthesis", variables, SECTIONS, max_tokens=SYNTHESIS_WRITES
    )
    policy = table.policy("synthesis", writer, repairs=1)
    return table.host_turn(stage, task, policy, name=SYNTHESIS_LABEL, speaker=writer)


def _criticism(table: PanelTable) -> tuple[Untrusted, ...]:
    """Who criticised whose claim and why, and where everybody stands after it."""
    found = []
    for round_ in table.critique_rounds:
        for speech in table.critiques(round_):
            said = speech.sections.get(CRITIQUE_OF_PEERS) or digest(speech)
            stands = digest(speech)
            text = f"{_head(table, speech)} criticises: {said}"
            if stands and stands != said:
                text += f"\nStands now: {stands}"
            found.append(Untrusted("speech", text, f"turn {speech.turn_id}"))
    return tuple(found)


def _consensus_scores(table: PanelTable) -> str:
    """The whole matrix and the percentage."""
    score = table.consensus
    if score.value is None:
        return NOT_MEASURED
    scores = json.dumps(table.matrix, ensure_ascii=False, indent=2)
    return f"{scores}\nConsensus: {score.value:.0f} %"


def _summary(table: PanelTable, speech: SpeechGiven) -> Untrusted:
    """A digest as `**ROLE** (model): digest`."""
    text = f"{_head(table, speech)}: {digest(speech)}"
    return Untrusted("speech", text, f"turn {speech.turn_id}")


def _first_word(table: PanelTable, speech: SpeechGiven) -> Untrusted:
    """An answer of round 1 in short. Where a later word took its place, with the risks that it
    named: they stand nowhere else in the writer's prompt."""
    told = _summary(table, speech)
    if any(each.turn_id == speech.turn_id for each in table.latest):
        return told
    risks = speech.sections.get(RISKS, "")
    lines = [f"{RISKS}: {risks}"] if risks and not says_nothing(risks) else []
    return replace(told, text="\n".join([told.text, *lines]))


def _head(table: PanelTable, speech: SpeechGiven) -> str:
    return f"**{table.name(speech.participant)}** ({speech.model})"


def _position(table: PanelTable, speech: SpeechGiven) -> SpeechGiven:
    """A speech without its criticism of others and its digest, which stand elsewhere. "As before"
    is no position for whoever has not read what was before."""
    updated = speech.sections.get(UPDATED, "")
    if not updated:
        return speech.model_copy(update={"text": without_digest(speech)})
    if count_words(updated) < THIN_POSITION:
        earlier = next((s for s in table.answers if s.participant == speech.participant), None)
        if earlier is not None:
            before = without_digest(earlier)
            updated = f"{updated}\n\nThe answer of round 1, which this updates:\n{before}"
    return speech.model_copy(update={"text": updated})


def _thread(table: PanelTable) -> str:
    """The thread in which the program posts, if it made one."""
    made = [each for each in table.state.notifications if isinstance(each, NewsThreadOpened)]
    return made[0].thread_id if made else table.terms.thread_id


def written(table: PanelTable, speech: SpeechGiven) -> Verdict:
    """The verdict as it was written, checked and counted."""
    parts = {name: speech.sections.get(name, "") for name in SECTIONS}
    return verdicts.written(
        table,
        speech,
        agreement=parts["Agreement"],
        on_dissent=parts["Dissent"],
        gaps=parts["Open Questions"],
        sources=_sources(table, parts["Sources"]),
        among=table.latest,
    )


def _sources(table: PanelTable, text: str) -> tuple[str, ...]:
    """The addresses named; those that no search brought are called unverified."""
    finished = [s for s in table.state.searches if isinstance(s, SearchFinished)]
    found = {hit.url: labelled(hit) for each in finished for hit in each.hits}
    urls = dict.fromkeys(url.rstrip(".,;:!?*_") for url in _URL.findall(text))
    return tuple(found.get(url, f"{url} (unverified)") for url in urls)


# --- validation --------------------------------------------------------------------------------

Judgement = Literal["ACCURATE", "PARTIALLY", "INACCURATE"]
Validated = Literal["yes", "no", "partial"]
VALIDATION_CONTRACT = Contract(sections=("Verdict", "Correction"))
MAX_CORRECTION = 1_000
REWRITE_AT = 2
"""So many INACCURATE, and the synthesis is written anew."""

_TOKEN = re.compile(r"\b(INACCURATE|NOT\s+ACCURATE|PARTIALLY|PARTIAL|ACCURATE)\b", re.IGNORECASE)
_NOTHING = re.compile(r"^\W*(?:none|nothing|no corrections?|n/a)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judged:
    """One validator's judgement; None if its words hold none."""

    participant: str
    judgement: Judgement | None
    correction: str = ""


def validation(
    table: PanelTable, seat: Participant, draft: SpeechGiven, before: Judged | None = None
) -> TurnPlan:
    """By each who debated, on its own model, with all it said. `before` is what it judged of the
    first draft, where this is the second."""
    correction: PromptValue = ()
    if before is not None:
        told = f"{before.judgement}: {before.correction}".rstrip(": ")
        correction = (Untrusted("remark", told, f"yourself, the {seat.name}"),)
    variables: dict[str, PromptValue] = {
        **table.common(),
        "role": seat.name,
        "own": table.by_name(table.words_of(seat.id)),
        "draft": Untrusted("findings", draft.text, "the synthesiser"),
        "correction": correction,
    }
    task = Task(
        PromptPlan("adaptive/round3-validation", variables), VALIDATION_CONTRACT, max_tokens=1024
    )
    stage, label = VALIDATION, f"rt-r3-validate-{seat.id}"
    if before is not None:
        stage, label = RECHECK, f"{label}-again"
    plan = table.seat_turn(seat, stage, 0, task, table.policy("validation", seat), name=label)
    return replace(plan, after_round=table.last_round)


def judge(participant: str, text: str, sections: Mapping[str, str]) -> Judged:
    """The first of the three words, under its heading or in the whole text."""
    match = _TOKEN.search(sections.get("Verdict") or text)
    if match is None:
        return Judged(participant, None)
    word = match[1].upper()
    judgement: Judgement = "INACCURATE"
    if word.startswith("PARTIAL"):
        judgement = "PARTIALLY"
    elif word == "ACCURATE":
        judgement = "ACCURATE"
    correction = sections.get("Correction", "")
    if _NOTHING.match(correction):
        correction = ""
    return Judged(participant, judgement, first_sentences(correction, 5, MAX_CORRECTION))


def outcome(judged: Sequence[Judged]) -> Validated:
    """Nothing judged: no; all accurate: yes; anything else: partial."""
    known = [each.judgement for each in judged if each.judgement is not None]
    if not known:
        return "no"
    all_heard = len(known) == len(judged)
    return "yes" if all_heard and set(known) == {"ACCURATE"} else "partial"


def inaccurate(judged: Sequence[Judged]) -> list[Judged]:
    return [each for each in judged if each.judgement == "INACCURATE"]


def corrected(judged: Sequence[Judged]) -> list[Judged]:
    """Everybody who calls something in it wrong, partly or wholly."""
    return [each for each in judged if each.judgement in ("INACCURATE", "PARTIALLY")]


def newest(first: Sequence[Judged], second: Sequence[Judged], asked: Sequence[str]) -> list[Judged]:
    """What each holds of the second draft: those who were asked again and did not answer hold
    nothing that is known."""
    again = {each.participant: each for each in second}
    return [
        again.get(each.participant, Judged(each.participant, None))
        if each.participant in asked
        else each
        for each in first
    ]


def must_rewrite(judged: Sequence[Judged]) -> bool:
    return len(inaccurate(judged)) >= REWRITE_AT
