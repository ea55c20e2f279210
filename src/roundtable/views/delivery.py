"""The delivery: what came of a discussion, one object from which every surface tells it.

The answer first, then who holds what and since when, why, who disagrees, what would change it and
what is to be done. All of it is counted from what seats declared (`core.standing`) or was checked
(`core.verdict_check`); nothing that the writer of a verdict claims of the table is repeated as a
figure. `delivery_md` writes it down for people, `delivery_json` for programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.assessment import assessment_of, effective_voters_of
from ..core.assumptions import assumptions_of
from ..core.confidence import Assessment
from ..core.declaration import ANY, OWN, SILENT
from ..core.doubts import doubtful_votes
from ..core.headline import (
    LONGEST_OPTION,
    absent_names,
    dropped_out,
    end_told,
    headline,
    last_declared,
    not_asked,
)
from ..core.naming import name_of, turn_name, with_names
from ..core.record import (
    LEGACY,
    ConditionOnTable,
    PointStance,
    PointStatus,
    Record,
    record_of,
)
from ..core.standing import DecisionStanding, SeatStanding, standing_of
from ..core.state import State
from ..core.text import capitalised, clip_words, first_sentences, without_headings, worded
from ..core.turns import DIFFERS, REFUSES, UNDECLARED
from ..core.values import AGAINST_THE_COUNT, ActionItem, Finding
from ..core.verdict_findings import findings_of, unkept
from .citing import best_sentence
from .deliverables import Works, works_of
from .delivery_parts import (
    ConditionStatus,
    ConditionTold,
    Decided,
    Dissenter,
    Option,
    PointTold,
    Seat,
    SeatStatus,
    Sureness,
)
from .report_parts import clean, line


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came out, for whoever reads it. Texts are clean, and call people by their names."""

    topic: str
    decisions: tuple[Decided, ...]
    brief: str
    """The answer in one or two sentences, as its writer put it."""
    written: str
    """The whole answer as it was written."""
    agreement: str
    confidence: Sureness
    meaningful: bool
    partial: bool
    extract: bool
    """Whether no model wrote the answer."""
    contradicts: bool
    """Whether the written answer says something else than was counted, or claims more agreement."""
    findings: tuple[Finding, ...]
    flags: tuple[str, ...]
    why: tuple[str, ...]
    dissent: tuple[Dissenter, ...]
    would_change: tuple[str, ...]
    assumptions: tuple[str, ...]
    """What the host assumed where nobody answered."""
    rests_on: tuple[str, ...]
    """Those of them without which the answer would be another, as its writer says."""
    next_steps: tuple[ActionItem, ...]
    points: tuple[PointTold, ...]
    conditions: tuple[ConditionTold, ...]
    shared: tuple[str, ...]
    """What all seem to hold, in the clerk's words."""
    changed: str
    """What talk changed, in words."""
    on_dissent: str
    for_the_record: tuple[str, ...]
    """What seats want to be kept whatever is decided, with their names."""
    gaps: str
    sources: tuple[str, ...]
    voters: str
    """How many independent voters the seats come to, where they are fewer than the seats."""
    absent: tuple[str, ...]
    """Names of those who were seated and never answered."""
    demonstration: bool
    works: Works
    """The texts, programs and plans that the table hands over."""
    headline: str
    """The first line: how it ended, with whoever is absent, and whether what was written says
    something else."""
    hollow: bool
    """Whether several spoke and nobody chose: what was written then answers in nobody's name."""

    @classmethod
    def of(cls, state: State) -> Delivery:
        """The delivery of a discussion, which may still be going on. Computed once for a state."""
        return state.derived("delivery", _delivery)

    @property
    def question(self) -> Decided | None:
        """The decision on the question that was asked; None if nothing was put to the vote."""
        return self.decisions[0] if self.decisions else None

    @property
    def answer(self) -> str:
        """What the table chose, in the words in which it was put to the vote; what was written
        where nothing was to be chosen; empty where it should have chosen and did not."""
        chosen = self.question.answer if self.question else ""
        if not chosen:
            return "" if self.hollow or self.split else self.brief
        return capitalised(chosen)

    @property
    def split(self) -> bool:
        """Whether it was counted, and nothing has won."""
        question = self.question
        return question is not None and question.delivered is None and question.end is not None

    @property
    def seats(self) -> tuple[Seat, ...]:
        return self.question.seats if self.question else ()

    @property
    def opening(self) -> tuple[str, ...]:
        """The answer in at most five lines."""
        lines = [self.headline]
        if self.brief and not self.hollow and _bare(self.brief) != _bare(self.answer):
            lines.append(self.brief)
        elif self.answer and self.answer.rstrip(".") not in self.headline:
            lines.append(self.answer)
        lines.append(f"Confidence: {self.sureness}")
        if against := [
            f"{each.name} (not counted)" if each.uncounted else each.name
            for each in self.dissent
            if not each.gave_in
        ]:
            lines.append(f"Dissent: {', '.join(against)}.")
        if self.findings:
            lines.append(f"⚠ {findings_told(self.findings)}")
        return tuple(lines)

    @property
    def sureness(self) -> str:
        if not self.meaningful:
            why = "demonstration model" if self.demonstration else self.nothing_counted.rstrip(".")
            return f"not meaningful ({why[:1].lower()}{why[1:]})"
        return self.confidence.told

    @property
    def nothing_counted(self) -> str:
        """Why nothing came of the count, with its figures; empty if something did."""
        if self.question is None:
            return "Nothing was put to the vote."
        return self.question.reason if self.question.end is None else ""

    @property
    def nobody_voted(self) -> str:
        """Why there is no verdict of the table: it was to choose, and nobody did so in a way that
        can be counted. Empty if somebody did, or if there was nothing to choose."""
        question = self.question
        if question is None or self.demonstration or any(seat.choice for seat in question.seats):
            return ""
        return self.nothing_counted

    def points_that_are(self, *statuses: PointStatus) -> tuple[PointTold, ...]:
        return tuple(point for point in self.points if point.status in statuses)


def findings_told(findings: Sequence[Finding]) -> str:
    """What the check of the verdict found, in one line."""
    told = [f.message.rstrip(".") + (f" (“{f.excerpt}”)" if f.excerpt else "") for f in findings]
    more = f"; and {len(told) - 2} more" if len(told) > 2 else ""
    return f"The check of this verdict found: {'; '.join(told[:2])}{more}."


LONGEST_DOUBT = 120
"""Of what somebody says who grants a part of a condition."""
_FLAGS: dict[str, str] = {
    "words_differ": DIFFERS,
    "refused": REFUSES,
    "before_differs": "[before and record differ]",
    "no_declaration": UNDECLARED,
}


def _bare(text: str) -> str:
    return line(text).rstrip(" .。!").casefold()


def _delivery(state: State) -> Delivery:
    standing = standing_of(state)
    verdict = state.verdict
    record = standing.record

    def shown(text: str) -> str:
        return with_names(state, clean(text)).strip()

    written = shown(verdict.answer) if verdict else ""
    brief = line(shown(verdict.brief)) if verdict else ""
    if (
        unkept(state, in_answer=True) and standing.question
    ):  # an earlier version left it as it was written
        brief = line(standing.question.answer or standing.question.reason)
    doubts = doubtful_votes(state)
    findings = tuple(
        f.model_copy(update={"message": shown(f.message), "excerpt": line(f.excerpt)})
        for f in (*findings_of(state), *doubts)
    )
    flags = [line(flag) for flag in (verdict.flags if verdict else ())]
    flags += [_FLAGS[each.code] for each in doubts]
    decisions = tuple(_decided(state, each) for each in standing.decisions)
    return Delivery(
        topic=line(state.start.topic),
        decisions=decisions,
        brief=brief or line(first_sentences(without_headings(written), 2, 400)),
        written=written,
        agreement=shown(verdict.agreement) if verdict else "",
        confidence=_sureness(state),
        meaningful=verdict.meaningful if verdict else standing.end is not None,
        partial=verdict is not None and verdict.partial,
        extract=verdict is not None and verdict.method == "extractive",
        contradicts=any(f.code in AGAINST_THE_COUNT for f in findings),
        findings=findings,
        flags=tuple(dict.fromkeys(flags)),
        why=tuple(shown(each) for each in (verdict.why if verdict else ())),
        dissent=tuple(_dissent(state)),
        would_change=tuple(shown(each) for each in (verdict.would_change if verdict else ())),
        assumptions=tuple(line(each) for each in assumptions_of(state).values()),
        rests_on=tuple(line(each) for each in (verdict.rests_on if verdict else ())),
        next_steps=verdict.next_steps if verdict else (),
        points=tuple(
            PointTold(
                point.id,
                line(point.text),
                name_of(state, point.author),
                point.status,
                _names(state, point.holders),
                _names(state, point.opponents),
                len({point.author, *point.spoke_since, *point.present} & set(record.seats)),
                tuple(
                    f"{name_of(state, who)}: {said.stance}"
                    for who, said in point.stances.items()
                    if said.stance in ("partly", "unsure")
                ),
                _names(state, point.unheard),
                _names(state, point.opposed_before),
                _names(state, point.absent),
            )
            for point in record.points
        ),
        conditions=_conditions(state),
        shared=tuple(line(each) for each in record.shared),
        changed=_changed(state, decisions),
        on_dissent=shown(verdict.on_dissent) if verdict else "",
        for_the_record=tuple(
            f"{name_of(state, who)}: {line(text)}" for who, text in kept_for_the_record(state)
        ),
        gaps=shown(verdict.gaps) if verdict else "",
        sources=tuple(line(each) for each in (verdict.sources if verdict else ())),
        voters=_voters(state),
        absent=absent_names(state),
        demonstration=bool(record.demonstration)
        or any(seat.speaker.demonstration for seat in state.participants),
        works=works_of(state),
        headline=headline(state),
        hollow=bool(decisions) and _is_hollow(state, decisions[0]),
    )


def _is_hollow(state: State, question: Decided) -> bool:
    if question.delivered is not None or question.end is not None:
        return False
    spoke = [seat for seat in question.seats if seat.status not in ("absent", "demonstration")]
    chose = any(seat.status in ("voted", "own") for seat in spoke)
    return len(spoke) > 1 and not chose and not _held_by_all(state, question)


def _held_by_all(state: State, question: Decided) -> bool:
    """Whether a limit kept the vote from being held where all had answered the same alone: then
    that is the answer, though nothing could be counted."""
    on_the_table = record_of(state).question
    if state.exhausted is None or on_the_table is None:
        return False
    seated = {seat.participant for seat in question.seats}
    return any(seated <= set(option.holders) for option in on_the_table.options)


def kept_for_the_record(state: State) -> tuple[tuple[str, str], ...]:
    """By seat, what it wants to be kept whatever is decided: the last word of each."""
    said = {
        each.participant: each.declaration.for_the_record
        for each in standing_of(state).record.statements
        if each.declaration.for_the_record
    }
    return tuple(said.items())


def _names(state: State, seats: Iterable[str]) -> tuple[str, ...]:
    return tuple(name_of(state, seat) for seat in seats)


def _decided(state: State, standing: DecisionStanding) -> Decided:
    seats = tuple(_seat(state, standing, seat) for seat in standing.seats)
    leading = max(standing.counts.values(), default=0)
    return Decided(
        id=standing.decision.id,
        question=line(standing.decision.question),
        end=standing.end,
        told=end_told(state, standing),
        reason=standing.reason,
        answer=line(standing.answer),
        delivered=standing.delivered,
        options=tuple(
            Option(
                option.id,
                line(option.text),
                tuple(s.participant for s in standing.seats if s.final == option.id),
                tuple(s.name for s in seats if s.choice == option.id),
                option.id == standing.delivered,
                standing.before.counts.get(option.id, 0),
                _names(state, (s.participant for s in standing.seats if _bears(s, option.id))),
                _names(state, (s.participant for s in standing.seats if option.id in s.rejects)),
            )
            for option in standing.decision.options
        ),
        seats=seats,
        seated=standing.seated,
        holding=len(standing.holders) if standing.delivered else leading,
        before=standing.before,
    )


def _bears(seat: SeatStanding, option: str) -> bool:
    """Whether a seat that chose otherwise could live with an option."""
    if seat.final in ("", option) or option in seat.rejects:
        return False
    return seat.final == ANY or option in seat.acceptable


def _further_arguments(state: State, seat: SeatStanding) -> tuple[str, ...]:
    """What else a seat says moved it, beside the argument that its change is traced to."""
    said = [
        f"{name_of(state, cause.participant)}: {line(cause.what)}"
        for each in standing_of(state).record.of(seat.participant)
        for cause in each.declaration.moved_by
        if cause.participant != seat.participant and cause != seat.argument
    ]
    return tuple(dict.fromkeys(said)) if seat.argument else ()


def _seat(state: State, standing: DecisionStanding, seat: SeatStanding) -> Seat:
    record = standing_of(state).record
    who = seat.participant
    open_ids = (*seat.open_demands, *seat.refused_demands)
    demands = [each for each in record.conditions if each.id in open_ids]
    refused = [each for each in demands if each.id in seat.refused_demands]
    cause = seat.argument
    return Seat(
        participant=who,
        name=name_of(state, who),
        status=_status(standing, record.demonstration, seat, not_asked(state)),
        opening=_at_first(standing, seat, record),
        final=_held(standing, seat.final, record.position(who)),
        choice=seat.final,
        cast=seat.cast,
        voted=_held(standing, seat.cast, record.position(who)) if seat.fell_back else "",
        first_choice="" if seat.opening == SILENT else seat.opening,
        position=line(record.position(who)),
        outvoted=record.vote(standing.decision, who).outvoted,
        holds=who in standing.holders,
        accepts=who in standing.accepting,
        dissents=who in standing.dissenting,
        independent=seat.independent,
        moved=seat.moved,
        moved_by=name_of(state, cause.participant) if cause else "",
        argument=line(cause.what) if cause else "",
        gave_in=who in standing.gave_in,
        unexplained=seat.gave_in,
        demands=tuple(line(each.text) for each in demands),
        refused=tuple(line(each.text) for each in refused),
        refused_by=tuple(
            " and ".join(_names(state, standing.refused_by(each))) for each in refused
        ),
        missed=dropped_out(state, who),
        last=clip_words(last_declared(state, standing, seat), LONGEST_OPTION),
        uncounted=who in standing.uncounted,
        between=tuple(line(standing.text_of(each)).rstrip(".") for each in seat.between),
        confidence=record.confidence(who),
        reason=line(record.abstained.get(who, "")),
        turn_id=seat.turn_id,
        round=seat.round,
        further=_further_arguments(state, seat),
    )


def _status(
    standing: DecisionStanding,
    demonstration: Sequence[str],
    seat: SeatStanding,
    unasked: frozenset[str],
) -> SeatStatus:
    who = seat.participant
    if who in demonstration:
        return "demonstration"
    if who in unasked:
        return "unasked"
    if who in standing.absent:
        return "absent"
    if seat.final == OWN:
        return "own"
    if seat.final == ANY:
        return "any"
    if seat.final:
        return "voted"
    if who in standing.abstained:
        return "abstains"
    return "undeclared" if who in standing.undeclared else ""


def _at_first(standing: DecisionStanding, seat: SeatStanding, record: Record) -> str:
    """What a seat held at first. Its first position is the answer to the question, also where no
    vote of its own ever said to which option that belongs."""
    position = record.position(seat.participant, first=True)
    if seat.opening in ("", SILENT) and standing.decision == record.question:
        return clip_words(line(position), LONGEST_OPTION)
    return _held(standing, seat.opening, position)


def _held(standing: DecisionStanding, choice: str, position: str) -> str:
    match choice:
        case "" | "silent":
            return ""
        case "own":
            return f"a position of its own: {line(position)}" if position else "none of them"
        case "any":
            return "no preference"
        case _:
            return clip_words(line(standing.text_of(choice)), LONGEST_OPTION)


def _sureness(state: State) -> Sureness:
    """What is computed. Earlier versions of the program had the writer say how sure it was: that
    is shown as what it is."""
    question = standing_of(state).question
    claimed = state.verdict.confidence if state.verdict else None
    if claimed and (question is None or question.decision.id == LEGACY):
        return Sureness(claimed, "As its writer states it.")
    found: Assessment = assessment_of(state)
    return Sureness(
        found.word, found.reason, found.probability, found.low, found.high, found.meaning
    )


def _dissent(state: State) -> Iterable[Dissenter]:
    for each in state.verdict.dissent if state.verdict else ():
        position = with_names(state, line(each.position))
        reason = with_names(state, line(each.reason))
        turn = each.turn_id if each.turn_id and each.turn_id in state.turns else ""
        yield Dissenter(
            each.participant,
            name_of(state, each.participant),
            position,
            "" if reason in position else reason,
            _quotation(state, each.participant, turn, f"{position} {reason}"),
            turn,
            turn_name(state, turn) if turn else "",
            each.gave_in,
        )
    # Also of discussions that ended before this was kept with the verdict.
    question = standing_of(state).question
    if question is not None and state.verdict is not None:
        yield from (_uncounted(state, question, s) for s in question.seats if _is_out(question, s))


def _is_out(question: DecisionStanding, seat: SeatStanding) -> bool:
    return seat.participant in question.uncounted


def _uncounted(state: State, question: DecisionStanding, seat: SeatStanding) -> Dissenter:
    """A seat without a vote whose last declaration is for something else than the answer."""
    who = seat.participant
    last = line(last_declared(state, question, seat))
    declared = [s.turn_id for s in state.said.in_rounds if s.participant == who and s.declaration]
    turn = declared[-1] if declared else ""
    said = line(standing_of(state).record.position(who))
    return Dissenter(
        who,
        name_of(state, who),
        f"last declared: {last.rstrip(' .。')}.",
        "" if worded(said) == worded(last) else said,
        _quotation(state, who, turn, f"{last} {said}"),
        turn,
        turn_name(state, turn) if turn else "",
        False,
        dropped_out(state, who) or "it has no vote",
    )


def _quotation(state: State, participant: str, turn: str, about: str) -> str:
    """The sentence of a speech that has most in common with a position, unless it is the position
    itself."""
    speech = state.speech(turn) if turn else None
    if speech is None or speech.participant != participant:
        return ""
    best = best_sentence(state, turn, about)
    return "" if best.rstrip(".") in about else best


def _conditions(state: State) -> tuple[ConditionTold, ...]:
    same = _said_before(standing_of(state).record.conditions)
    return tuple(
        _condition(state, each, same.get(each.id, ""))
        for each in standing_of(state).record.conditions
    )


def _said_before(conditions: Sequence[ConditionOnTable]) -> dict[str, str]:
    """By id, the earlier condition that says the same: in equal words, or because the owner of one
    granted the other in the words of its own."""
    first: dict[tuple[str, str], str] = {}
    own = {(c.owner, worded(c.text)): c.id for c in conditions}
    found: dict[str, str] = {}
    for each in conditions:
        earlier = first.setdefault((each.condition.kind, worded(each.text)), each.id)
        if earlier != each.id:
            found[each.id] = earlier
        for who, said in each.answers.items():
            twin = own.get((who, worded(said.text))) if said.stance == "agree" else None
            if twin is not None and twin != each.id:
                one, two = sorted((each.id, twin), key=lambda name: int(name[1:]))
                found.setdefault(two, found.get(one, one))
    return found


def _condition(state: State, held: ConditionOnTable, same_as: str) -> ConditionTold:
    question = standing_of(state).question
    owner = question.seat(held.owner) if question else None
    delivered = question.delivered if question else None
    said = {
        word: tuple(seat for seat, each in held.answers.items() if each.stance == word)
        for word in ("agree", "disagree")
    }
    return ConditionTold(
        held.id,
        line(held.text),
        held.condition.kind,
        held.owner,
        name_of(state, held.owner),
        _condition_status(held, owner, said["agree"], said["disagree"]),
        line(held.condition.otherwise),
        _names(state, said["agree"]),
        _names(state, said["disagree"]),
        tuple(_doubt(state, who, each) for who, each in held.answers.items() if _doubts(each)),
        _names(state, (who for who, e in held.earlier.items() if e.said.stance == "agree")),
        delivered is None
        or (owner is not None and owner.final == delivered and not owner.fell_back),
        same_as,
        tuple(
            f"{name_of(state, seat)}: {line(each.text)}"
            for seat, each in held.answers.items()
            if each.stance == "disagree" and each.text
        ),
    )


def _doubts(said: PointStance) -> bool:
    return said.stance in ("partly", "unsure")


def _doubt(state: State, who: str, said: PointStance) -> str:
    """Who neither grants nor refuses a condition; of who grants a part of it, which part."""
    part = clip_words(line(said.text).rstrip("."), LONGEST_DOUBT) if said.stance == "partly" else ""
    return f"{name_of(state, who)} {said.stance}{f': {part}' if part else ''}"


def _condition_status(
    held: ConditionOnTable,
    owner: SeatStanding | None,
    agreed: Sequence[str],
    disagreed: Sequence[str],
) -> ConditionStatus:
    """Whose side it is on decides, as in the count; whoever has no side, all who answered."""
    if not held.demand:
        return ""
    if owner is not None and held.id in owner.refused_demands:
        return "refused"
    if owner is not None and held.id in owner.open_demands:
        return "open"
    if disagreed:
        return "open" if agreed else "refused"
    return "granted" if agreed else "open"


def _changed(state: State, decisions: Sequence[Decided]) -> str:
    """What talk changed, as the verdict has it; otherwise who changed its mind on the question."""
    told = with_names(state, clean(state.verdict.changed_minds)).strip() if state.verdict else ""
    seats = decisions[0].seats if decisions else ()
    if told or not seats:
        return told
    moved = [f"{seat.name}: {seat.told}" for seat in seats if seat.moved]
    moved += [
        f"{seat.name}, on “{each.question}”: {seat.told}"
        for each in decisions[1:]
        for seat in each.seats
        if seat.moved
    ]
    if moved:
        return moved[0] if len(moved) == 1 else "\n".join(["", *(f"- {each}" for each in moved)])
    if refused := [f"{seat.name}: {seat.told}" for seat in seats if seat.voted]:
        return f"No vote changed, but a demand was refused: {'; '.join(refused)}."
    known = any(seat.independent and seat.turn_id and seat.round > 1 for seat in seats)
    gone = [
        f"{seat.name} {seat.told}"
        for seat in seats
        if not seat.choice and (seat.opening or seat.position)
    ]
    positions = "; ".join(_positions_moved(state))
    if gone and known:
        also = f" Positions changed: {positions}." if positions else ""
        return f"Nobody who voted changed its mind, but {'; '.join(gone)}.{also}"
    if positions:
        return f"No vote changed. Positions did: {positions}."
    if not known:
        return ""
    # Whoever first declared after hearing others has nothing that could have stayed the same.
    late = [seat.name for seat in seats if seat.choice and not seat.independent]
    if late:
        others = clip_words(f"{', '.join(late[:-1])} and {late[-1]}" if late[1:] else late[0], 120)
        return f"No vote changed; but {others} first voted after hearing others."
    return "Nothing: everybody holds what it held before it heard the others."


def _positions_moved(state: State) -> Iterable[str]:
    """Who worded its position anew and says by whose argument, whatever it votes for."""
    record = standing_of(state).record
    for seat in record.seats:
        causes = [
            cause
            for each in record.of(seat)
            for cause in each.declaration.moved_by
            if cause.participant != seat
        ]
        first, last = record.position(seat, first=True), record.position(seat)
        if causes and _bare(first) != _bare(last):
            by = name_of(state, causes[-1].participant)
            yield f"{name_of(state, seat)} (by {by}: {line(causes[-1].what).rstrip(' .。')})"


def _voters(state: State) -> str:
    question = standing_of(state).question
    if question is None:
        return ""
    voting = sum(bool(seat.final) for seat in question.seats)
    found = effective_voters_of(state)
    return found.reason if voting > 1 and found.number < voting - 0.05 else ""
