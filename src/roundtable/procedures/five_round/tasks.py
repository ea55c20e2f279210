"""The turns: who is asked what in which round, with which contract, and what it is to declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.declaration import Decision
from ...core.declaration_form import LAST, LATER, OPENING, Form, Key
from ...core.effects import PromptPlan, PromptValue, Task, Texts, TurnPlan, TurnPolicy, Untrusted
from ...core.events import SpeechGiven
from ...core.record import record_before
from ...core.text import clip, whole_sentences
from ...core.values import Participant
from ...core.verdict_sources import REMARK
from ...views.five_round.rounds import (
    ACTIONABLE,
    ARBITRATION,
    CRITIQUE,
    CROSS_REFERENCE,
    DEFECTS,
    LEAST_CITATIONS,
    LEAST_METRICS,
    PROPOSAL,
    REVISION,
    RISKS,
    ROUNDS,
    TOP_RISKS,
    WEEKS,
    held,
    planned,
    round_name,
)
from ...views.five_round.skipped import forced
from ...views.five_round.standing import (
    Challenge,
    challenges,
    disputes,
    rejected,
    replies,
    statements,
)
from .. import verdicts
from ..clerk import given_choices
from ..table import Table
from ..work import declaring_work, wants_work, works_to_judge, works_to_read
from . import contracts
from .small import demo_task

RETRIES, INTERVAL, REPAIRS, TIMEOUT = 2, 5.0, 2, 180.0
WRITES = 6144
HOST_WRITES = 8192
FRAME_TOKENS = 2500
"""What the host's prompt holds beside the speeches."""
LONGEST_CHALLENGE = 1500
"""Characters of a challenge or of its support where they are listed; beyond that, whole sentences
of them."""
AFTER_ALL = 99
"""A round after every round."""


# --- who and what there is ---------------------------------------------------------------------


class FiveRoundTable(Table):
    """A table whose experts know each other by name, and where what is shown of earlier rounds may
    be cut."""

    @property
    def shown(self) -> int | None:
        """Characters of each round that later prompts show; None is all of it."""
        value = self.option("history")
        return value if isinstance(value, int) else None

    def peers(self, reader: str, *, reverse: bool = False) -> dict[str, str]:  # noqa: ARG002
        return {p.name: p.id for p in present(self) if p.id != reader}

    def form(self, participant: Participant, keys: Sequence[Key], **asked: Any) -> Form:
        form = Table.form(self, participant, keys, **asked)
        if self.shown is None:
            return form
        room = max(12, self.shown // max(1, len(form.listed)))
        decisions = tuple(_cut(each, self.shown) for each in form.decisions)
        listed = tuple(replace(each, text=clip(each.text, room)) for each in form.listed)
        return replace(form, listed=listed, decisions=decisions)

    def shortened(self, text: str) -> str:
        return text if self.shown is None else clip(text, self.shown)

    def own_words(self, seat: str, form: Form | None = None) -> PromptValue:
        words = Table.own_words(self, seat, form)
        if self.shown is None or not isinstance(words, Untrusted):
            return words
        return replace(words, text=self.shortened(words.text))


def _cut(decision: Decision, shown: int) -> Decision:
    """The decision with no more of its options than may be shown."""
    room = max(12, shown // max(1, len(decision.options)))
    options = tuple(o.model_copy(update={"text": clip(o.text, room)}) for o in decision.options)
    return decision.model_copy(update={"options": options})


def proposals(table: Table) -> list[SpeechGiven]:
    return table.state.spoken_in(PROPOSAL, 1)


def cut_proposals(table: FiveRoundTable) -> list[SpeechGiven]:
    """The proposals as later prompts show them."""
    said = proposals(table)
    if table.shown is None:
        return said
    room = table.shown // max(1, len(said))
    return [each.model_copy(update={"text": clip(each.text, room)}) for each in said]


def present(table: Table) -> tuple[Participant, ...]:
    """The experts with a proposal: only they have something to discuss and to defend."""
    spoke = {speech.participant for speech in proposals(table)}
    return tuple(p for p in table.seats if p.id in spoke)


def last_plans(table: Table) -> list[SpeechGiven]:
    """Each expert's newest plan: its revision, or else its proposal."""
    rounds = [(stage, n) for n, stage in held(table.state) if stage in (PROPOSAL, REVISION)]
    return table.last_words(*rounds)


def number(table: Table, name: str, default: float) -> float:
    value = table.option(name)
    return float(value) if isinstance(value, int | float) else default


def told_of(table: Table, participant: str, key: str) -> str:
    """A fact about an expert that was settled at the opening, or by the host's casting."""
    if key == "guidance" and table.state.seated is not None:
        return table.state.seated.guidance.get(participant, "")
    handed_on = table.option("guidance")
    if key == "guidance" and isinstance(handed_on, dict):  # a follow-up of a table that was cast
        return str(handed_on.get(participant, ""))
    experts = table.option("experts")
    known = experts.get(participant) if isinstance(experts, dict) else None
    value = known.get(key) if isinstance(known, dict) else None
    if isinstance(value, list):
        return " ".join(str(each) for each in value)
    return value if isinstance(value, str) else ""


# --- turns -------------------------------------------------------------------------------------


def round_turn(
    table: FiveRoundTable, round_: int, stage: str, participant: Participant
) -> TurnPlan:
    """One expert's turn in one of the first four rounds."""
    small = any(ref.demonstration for ref in participant.speakers)
    return table.seat_turn(
        participant,
        stage,
        round_,
        _task(table, round_, stage, participant),
        _policy(table),
        demo=demo_task(table, stage, participant, last_plans(table)) if small else None,
        independent=stage == PROPOSAL,
    )


def host_turn(table: FiveRoundTable) -> TurnPlan:
    """The host's summary."""
    state = table.state
    open_ = disputes(state)
    lines = [
        f"{each.id} ({each.kind} {each.ref}; {each.told(table.name)}): "
        f"{' '.join(each.text.split())}"
        for each in open_
    ]
    defended = [
        f"{each.id} ({each.finding.kind}, by {table.name(each.author)} against "
        f"{table.name(each.target)}): {' '.join(each.finding.text.split())}"
        for each in rejected(state)
    ]
    opened = {stage for _, stage in held(state)}
    skipped = [
        f"R{each.number} {each.title}"
        for each in ROUNDS.values()
        if each.stage not in (*opened, ARBITRATION)
    ]
    silent = [p.name for p in table.seats if p not in present(table)]
    variables: dict[str, PromptValue] = {
        **_common(table, AFTER_ALL),
        "length": ROUNDS[ARBITRATION].length,
        "disputes": _listed(table, "disputes", lines, "the rounds above"),
        "defended": _listed(table, "challenges", defended, "R4"),
        "forced": forced(state),
        "skipped": ", ".join(skipped),
        "missing": ", ".join(silent),
        "weeks": str(WEEKS),
        "top_risks": str(TOP_RISKS),
        "goal": str(ACTIONABLE),
        "declared": _declared(table),
        "deliverables": works_to_judge(table),
    }
    contract = contracts.arbitration(
        statements(state, AFTER_ALL),
        tuple(each.number for each in open_),
        state.updated_at.date() if state.updated_at else None,
    )
    task = verdicts.verdict_task(
        table,
        f"five_round/{ARBITRATION}",
        variables,
        contract.sections,
        max_tokens=HOST_WRITES,
        contract=contract,
        repeats=True,
    )
    last = max((round_ for round_, _ in held(state)), default=0)
    plan = table.host_turn(ARBITRATION, task, _policy(table), name=f"{table.label}-host-r5")
    return replace(plan, after_round=last)


def _declared(table: FiveRoundTable) -> tuple[Untrusted, ...]:
    """What the record holds of everybody at the end; the speeches do not say it."""
    record = table.record
    lines = [f"{seat.name} {told}" for seat in present(table) if (told := _last_said(table, seat))]
    for point in record.points:
        if point.withdrawn:
            continue
        stands = [
            f"{table.name(who)} {said.stance}" + (f" ({said.text})" if said.text else "")
            for who, said in point.stances.items()
        ]
        told = f"; {', '.join(stands)}" if stands else ""
        lines.append(
            f"{point.id}, by {table.name(point.author)}: {point.text} [{point.status}{told}]"
        )
    return _listed(table, "points", lines, "the declarations")


def _last_said(table: FiveRoundTable, seat: Participant) -> str:
    """Its last position with the round in which it said so, and what it voted for last: a ballot
    may come after the words."""
    record = table.record
    stated = [each for each in record.of(seat.id) if each.declaration.position]
    votes = [
        f"{vote.choice} on {each.id}" if len(record.decisions) > 1 else vote.choice
        for each in record.decisions
        if (vote := record.vote(each, seat.id)).vote is not None
    ]
    told = []
    if stated:
        speech = table.state.speech(stated[-1].turn_id)
        spoke = speech is not None and speech.stage in ROUNDS
        where = round_name(speech.round, speech.stage) if speech and spoke else "its ballot"
        told.append(f"said in {where}: {stated[-1].declaration.position}")
    if votes:
        told.append(f"voted last: {', '.join(votes)}")
    return "; ".join(told)


def contract_of(
    table: Table, round_: int, stage: str, participant: Participant
) -> contracts.RoundContract:
    """What an expert's speech in this round must keep to."""
    known = statements(table.state, round_)
    if stage == PROPOSAL:
        return contracts.proposal()
    if stage == CROSS_REFERENCE:
        return contracts.cross_reference(known, participant.id)
    if stage == CRITIQUE:
        return contracts.critique(known, participant.id)
    first = next((s.text for s in proposals(table) if s.participant == participant.id), "")
    raised = open_challenges(table, participant.id, round_)
    return contracts.revised(known, tuple(each.number for each in raised), first)


def open_challenges(table: Table, participant: str, round_: int) -> tuple[Challenge, ...]:
    """What an expert must answer in a revision: in a second pass what it has not granted."""
    mine = tuple(each for each in challenges(table.state) if each.target == participant)
    if round_ == ROUNDS[REVISION].number:
        return mine
    answered = replies(table.state)
    settled = {n for n, answer in answered.items() if answer.reply in ("accept", "partly")}
    return tuple(each for each in mine if each.number not in settled)


# --- tasks -------------------------------------------------------------------------------------


def form_of(table: Table, round_: int, stage: str, participant: Participant) -> Form | None:
    """What is declared in a round. R2 can vote only where the asker named the options: the clerk
    lists them at the same time. R3 declares nothing: what it brings are challenges, and nobody has
    answered one yet. R4 is the last word, and votes."""
    keys: tuple[Key, ...]
    given = bool(given_choices(table))
    if stage == PROPOSAL:
        keys = ("votes", *OPENING) if given else OPENING
    elif stage == CROSS_REFERENCE:
        keys = LATER if given else tuple(key for key in LATER if key != "votes")
    elif stage == REVISION:
        keys = LAST
    else:
        return None
    return table.form(participant, keys, round_=round_)


def _task(table: FiveRoundTable, round_: int, stage: str, participant: Participant) -> Task:
    variables: dict[str, PromptValue] = {
        **_common(table, round_),
        **table.persona(participant),
        "guidance": told_of(table, participant.id, "guidance"),
        "asks": told_of(table, participant.id, "asks"),
        "blind_spot": told_of(table, participant.id, "blind_spot"),
        "length": ROUNDS[stage].length,
    }
    others = ", ".join(p.name for p in present(table) if p.id != participant.id)
    if stage == PROPOSAL:
        variables |= {"metrics": str(LEAST_METRICS)}
    elif stage == CROSS_REFERENCE:
        variables |= {"citations": str(LEAST_CITATIONS), "others": others}
    elif stage == CRITIQUE:
        variables |= {
            "risks": str(RISKS),
            "defects": str(DEFECTS),
            "others": others,
            "least": str(contracts.WORDS_PER_FINDING),
            "stands": _stands_now(table, round_, participant),
        }
    else:
        lines = [
            f"{each.id} ({each.finding.kind}, by {table.name(each.author)}): {_challenged(each)}"
            for each in open_challenges(table, participant.id, round_)
        ]
        variables |= {
            "challenges": _listed(table, "challenges", lines, "R3"),
            "answered": _answered(table, round_, participant),
            "again": round_ > ROUNDS[stage].number,
        }
    contract = contract_of(table, round_, stage, participant)
    template = f"five_round/{stage}"
    form = form_of(table, round_, stage, participant)
    # Works are written with a plan and revised with it; between the two they are examined.
    if stage in (PROPOSAL, REVISION):
        return declaring_work(
            table,
            participant,
            round_,
            template,
            variables,
            form,
            contract,
            wanted=wants_work(table),
            max_tokens=WRITES,
            repeats=True,
        )
    variables["deliverable"] = works_to_read(table, participant, round_)
    if form is None:
        return Task(PromptPlan(template, variables, repeats=True), contract, max_tokens=WRITES)
    return table.declaring_task(
        template, variables, form, contract, max_tokens=WRITES, repeats=True
    )


def _challenged(each: Challenge) -> str:
    text = whole_sentences(" ".join(each.finding.text.split()), LONGEST_CHALLENGE)
    support = whole_sentences(" ".join(each.finding.support.split()), LONGEST_CHALLENGE)
    return f"{text} Support: {support}" if support else text


def _stands_now(
    table: FiveRoundTable, round_: int, participant: Participant
) -> tuple[Untrusted, ...]:
    """Where the others stand since they have read each other: the speeches do not say it."""
    record = record_before(table.state, round_)
    lines = [
        f"{each.name} stands now: {said[-1].declaration.position}"
        for each in present(table)
        if each.id != participant.id
        and (said := [s for s in record.of(each.id) if s.declaration.position and s.round > 1])
    ]
    return _listed(table, "points", lines, "the declarations of R2")


def _answered(
    table: FiveRoundTable, round_: int, participant: Participant
) -> tuple[Untrusted, ...]:
    """What the others say to an expert's own points and conditions, each with its reason."""
    record = record_before(table.state, round_)
    own = [(p.id, p.text, p.stances) for p in record.points if p.author == participant.id]
    own += [(c.id, c.text, c.answers) for c in record.conditions if c.owner == participant.id]
    lines: list[str] = []
    for name, text, answers in own:
        said = [
            f"  {_SAID.get(each.stance, each.stance)}: {table.name(who)}"
            + (f": {each.text}" if each.text else "")
            for who, each in answers.items()
            if who != participant.id
        ]
        lines += ["\n".join([f"{name}: {text}", *said])] if said else []
    return _listed(table, "points", lines, "the declarations")


_SAID = {"agree": "for", "disagree": "against"}


def _common(table: FiveRoundTable, round_: int) -> dict[str, PromptValue]:
    common = table.common()
    return {
        "question": common["question"],
        "context": common["context"],
        "history": history(table, round_),
        "language": common["language"],
        "today": common["today"],
    }


def history(table: FiveRoundTable, before_round: int) -> Texts:
    """What was said before a round, with who said it where, in the order in which it grew: a later
    prompt begins with all that an earlier one held. Put together once for each state."""
    name = f"history before {before_round}"
    return table.state.derived(name, lambda _: _history(table, before_round))


def _history(table: FiveRoundTable, before_round: int) -> Texts:
    state = table.state
    made = state.said.grown.of("remarks of the chair", state.said.of(REMARK), _remark)
    remarks: dict[int, list[tuple[Sequence[Untrusted], int, int]]] = {}
    for round_, begin, end in state.said.runs(REMARK):
        remarks.setdefault(round_, []).append((made, begin, end))
    said = remarks.get(0, [])
    for round_, stage in planned(state):
        if round_ >= before_round:
            break
        speeches = state.spoken_in(stage, round_)
        shown = table.shown
        room = None if shown is None else shown // max(1, len(speeches))
        spoken = [
            Untrusted(
                "speech",
                speech.text if room is None else clip(speech.text, room),
                f"{table.name(speech.participant)}, {round_name(round_, stage)}, "
                f"turn {speech.turn_id}",
            )
            for speech in speeches
        ]
        said += [(spoken, 0, len(spoken)), *remarks.get(round_, ())]
    later = sorted(round_ for round_ in remarks if round_ >= max(before_round, 1))
    said += [part for round_ in later for part in remarks[round_]]
    return Texts(tuple(said))


def _remark(_: Untrusted | None, __: int, speech: SpeechGiven) -> Untrusted:
    return Untrusted("remark", speech.text, "the chair")


def _listed(
    table: FiveRoundTable, kind: str, lines: Sequence[str], source: str
) -> tuple[Untrusted, ...]:
    """A list in one fence, cut like the history where that is cut; nothing for an empty one."""
    if not lines:
        return ()
    shown = table.shown
    if shown is not None:
        # What is left must still name each number.
        room = max(12, shown // len(lines))
        lines = [clip(line, room) for line in lines]
    return (Untrusted(kind, "\n".join(lines), source),)


def _policy(table: Table) -> TurnPolicy:
    seconds = number(table, "timeout", TIMEOUT)
    return TurnPolicy(
        timeout=seconds,
        chosen=seconds != TIMEOUT,
        retries=RETRIES,
        interval=INTERVAL,
        repairs=REPAIRS,
    )
