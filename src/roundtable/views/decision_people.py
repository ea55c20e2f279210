"""The people of a decision: where each expert came from and stands, and who holds what against it.

Sides are taken from votes, reasons from what was declared, and words from speeches, word for word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.declaration import OWN
from ..core.headline import not_asked
from ..core.naming import line, name_of
from ..core.record import record_of
from ..core.state import State
from ..core.text import capitalised, clip_words, same_words, sentences
from .citing import best_sentence, called, cite, in_words, plain
from .decision_parts import (
    Chip,
    Cite,
    Disagreement,
    DissentPair,
    ExpertCause,
    ExpertCondition,
    ExpertLine,
    Side,
    Strongest,
    listed,
)
from .decision_votes import OWN_POSITION, focus, labels
from .delivery import Delivery, kept_for_the_record
from .delivery_parts import ConditionTold, Decided, Dissenter, Seat
from .report_parts import unmarked

IN_A_LINE = 160
LONGEST_POSITION = 240
QUOTES = 2
"""Quotations for each side."""
OUT = "out"
"""The camp of a seat that has no vote."""
THE_SAME = "The same."
THE_MAJORITY = "The majority"
THE_WRITTEN_ANSWER = "The written answer"
COULD_LIVE_WITH_IT = "Could live with the answer."
REJECTS = "Has no preference, but rejects the answer."
"""The page says these in its reader's language."""


# The experts


def experts(state: State, delivery: Delivery) -> tuple[ExpertLine, ...]:
    """Everybody who was seated, the absent too."""
    decided = focus(delivery.decisions)
    seats = {seat.participant: seat for seat in decided.seats} if decided else {}
    record = record_of(state)
    kept = dict(kept_for_the_record(state))
    unasked = not_asked(state)
    found = []
    for seated in state.voters:
        seat = seats.get(seated.id) or Seat(
            seated.id,
            name_of(state, seated.id),
            "unasked" if seated.id in unasked else "absent" if seated.id in record.absent else "",
            "",
            "",
            position=line(record.position(seated.id)),
            confidence=record.confidence(seated.id),
            turn_id=_last_turn(state, seated.id),
        )
        opening, final = _path(state, decided, seat)
        found.append(
            ExpertLine(
                participant=seat.participant,
                name=seat.name,
                role=line(seated.role) if line(seated.role) != seat.name else "",
                chip=_chip(decided, seat),
                opening=opening,
                final=final,
                cause=_cause(state, seat),
                conditions=tuple(
                    ExpertCondition(
                        in_words(state, each.text),
                        in_words(state, each.told) if each.told else "to find out",
                    )
                    for each in delivery.conditions
                    if each.owner == seated.id
                ),
                confidence=seat.confidence,
                record=in_words(state, kept.get(seated.id, "")),
                turn_id=seat.turn_id or _last_turn(state, seated.id),
            )
        )
    return tuple(found)


def _last_turn(state: State, participant: str) -> str:
    said = [s.turn_id for s in state.said.in_rounds if s.participant == participant]
    return said[-1] if said else ""


def _chip(decided: Decided | None, seat: Seat) -> Chip:
    match seat.status:
        case "absent":
            return "Absent"
        case "unasked":
            return "Not asked"
        case "demonstration":
            return "Not counted"
        case "abstains":
            return "Abstained"
        case "any":
            return "Disagrees" if seat.dissents else "No preference"
        case "undeclared" | "":
            return "No vote"
        case "voted" | "own":
            pass
    if seat.gave_in:
        return "Gave in"
    if decided is not None and decided.delivered is not None and not seat.holds:
        return "Disagrees"
    if seat.voted:
        return ""
    if seat.moved:
        return "Moved"
    return "Kept" if seat.first_choice else ""


def _path(state: State, decided: Decided | None, seat: Seat) -> tuple[str, str]:
    """What it held at first and in the end, in its own words where it has some."""
    record = record_of(state)
    first, last = (
        unmarked(in_words(state, record.position(seat.participant, first=f))) for f in (True, False)
    )
    short = labels(decided) if decided else {}

    def held_as(choice: str, held: str, position: str) -> str:
        label = short.get(choice, "")
        if not position:
            return clip_words(held, IN_A_LINE)
        if label in ("Yes", "No") and not position.casefold().startswith(label.casefold()):
            position = f"{label}: {position}"
        return clip_words(position, IN_A_LINE)

    opening = held_as(seat.first_choice, seat.opening, first)
    if not seat.choice and not last:
        return opening, ""
    # What it says is what it voted for, also where it counts for something else.
    held = seat.voted or seat.final
    if seat.outvoted:
        before = clip_words(last, IN_A_LINE).rstrip(" .。")
        return opening, f"{clip_words(held, IN_A_LINE).rstrip(' .。')} (before this vote: {before})"
    final = held_as(seat.cast or seat.choice, held, last)
    # A vote that moved while the position stayed as it was worded shows in the options alone.
    if opening and same_words(opening, final):
        if not seat.moved:
            return opening, THE_SAME
        return clip_words(seat.opening, IN_A_LINE), clip_words(seat.final, IN_A_LINE)
    return opening, final


def _cause(state: State, seat: Seat) -> ExpertCause | None:
    if seat.status == "absent":
        tries = [
            len(state.turns[f.turn_id].attempts)
            for f in state.failures
            if f.participant == seat.participant and f.turn_id in state.turns
        ]
        often = f", tried {_times(tries[-1])}" if tries and tries[-1] > 1 else ""
        return ExpertCause(f"Did not answer{often}.", None)
    if seat.voted:
        told = f"{capitalised(seat.fell_back).rstrip('.')}."
        return ExpertCause(in_words(state, told), None)
    if seat.moved_by:
        return ExpertCause(seat.argument, _argument(state, seat))
    if seat.gave_in:
        return ExpertCause("Came over without naming an argument.", _before(state, seat))
    if seat.unexplained:
        return ExpertCause("Changed its vote without naming an argument.", _before(state, seat))
    if seat.status == "abstains" and seat.reason:
        return ExpertCause(seat.reason, None)
    if seat.status == "any":
        return ExpertCause(REJECTS if seat.dissents else "Has no preference.", None)
    if seat.missed:
        last = f" Last declared: {seat.last.rstrip(' .。')}." if seat.last else ""
        return ExpertCause(f"{capitalised(seat.missed).rstrip('.')}.{last}", None)
    if seat.accepts:
        return ExpertCause(COULD_LIVE_WITH_IT, None)
    return None


def _times(count: int) -> str:
    return {2: "twice", 3: "three times"}.get(count, f"{count} times")


def _argument(state: State, seat: Seat) -> Cite | None:
    """The speech in which what moved a seat was said: by whom it names, before it moved."""
    record = record_of(state)
    by = [
        cause.participant
        for each in record.of(seat.participant)
        for cause in each.declaration.moved_by
        if line(cause.what) == seat.argument
    ]
    spoken = [
        s.turn_id
        for s in state.said.in_rounds
        if by and s.participant == by[-1] and 0 < s.round <= max(1, seat.round - 1)
    ]
    best = max(spoken, key=lambda turn: _shared(state, turn, seat.argument), default="")
    return cite(state, best, seat.argument, strict=True) if best else None


def _shared(state: State, turn: str, about: str) -> int:
    found = best_sentence(state, turn, about)
    wanted = set(about.casefold().split())
    return len(wanted & set(found.casefold().split()))


def _before(state: State, seat: Seat) -> Cite | None:
    """The last argument of a seat that gave in, from before it did."""
    spoken = [
        s.turn_id
        for s in state.said.in_rounds
        if s.participant == seat.participant and 0 < s.round < seat.round
    ]
    return cite(state, spoken[-1], seat.opening) if spoken else None


# Who disagrees


def disagreement(state: State, delivery: Delivery) -> Disagreement:
    """Position against position, on the question first; what was declared against it if nobody
    holds another one."""
    question = delivery.question
    if question is None:
        return _without_a_vote(state, delivery)
    pairs = tuple(_pairs(state, delivery, question))
    yielding = [seat for seat in question.seats if seat.gave_in]
    gave_in = f"{listed([seat.name for seat in yielding])} gave in without naming an argument."
    out = [_not_counted(seat) for seat in question.seats if seat.uncounted]
    if question.unknown:
        out.append(f"What {listed(question.unknown)} would choose is not known.")
    nobody = "Nobody who is counted" if out else "Nobody"
    if question.end is None:
        return Disagreement("Nothing was counted that somebody could disagree with.", (), None)
    if _holding_otherwise(question):
        lead = " ".join([_lead(question), *([gave_in] if yielding else []), *out])
        return Disagreement(lead, pairs, None)
    further = [d for d in delivery.decisions[1:] if d.dissenting or _holding_otherwise(d)]
    beside = tuple(pair for each in further for pair in _pairs(state, delivery, each))
    if beside:
        lead = " ".join([f"{nobody} on the question itself.", *out, *map(_differing, further)])
        return Disagreement(lead, (*pairs, *beside), None)
    if yielding:
        lead = " ".join([f"{nobody} disagrees in the end; {gave_in}", *out])
        return Disagreement(lead, pairs, _given_up(state, yielding[-1]))
    strongest = None if pairs else _strongest(state, delivery)
    return Disagreement(" ".join([f"{nobody} disagrees.", *out]), pairs, strongest)


def _not_counted(seat: Seat) -> str:
    """Who last declared something else and has no vote: nobody knows that it agrees."""
    last = clip_words(seat.last, IN_A_LINE).rstrip(" .。")
    why = seat.missed or "it has no vote"
    return f"{seat.name} last declared “{last}” and is not counted: {why}."


def dissents(state: State, delivery: Delivery) -> bool:
    """Whether somebody disagrees, gave in without naming an argument, or last declared something
    else and is not counted: what a list can be filtered by, the same of which `disagreement`
    tells."""
    if delivery.question is None:
        return bool(_not_sharing(state, delivery))
    if any(seat.gave_in or seat.uncounted for seat in delivery.seats):
        return True
    return any(_holding_otherwise(decided) for decided in delivery.decisions)


def _given_up(state: State, seat: Seat) -> Strongest:
    """What a seat that gave in had said last against it."""
    said = _before(state, seat)
    words = said.words if said is not None and said.words else seat.opening
    return Strongest(f"{seat.name}, before giving in: {in_words(state, words)}", said)


def _differing(decided: Decided) -> str:
    names = _holding_otherwise(decided)
    if decided.delivered is None:
        return f"{listed(names)} did not settle “{decided.question}”"
    return f"{listed(names)} differ{'s' if len(names) == 1 else ''} on “{decided.question}”"


def _holding_otherwise(decided: Decided) -> list[str]:
    """Who holds something else, or holds nothing and could not live with the answer."""
    return [
        s.name
        for s in decided.seats
        if s.dissents or (s.status in ("voted", "own") and not s.holds)
    ]


def _for_one(decided: Decided) -> list[Seat]:
    """Who is for one answer, the delivered or another."""
    return [seat for seat in decided.seats if seat.status in ("voted", "own")]


def _lead(question: Decided) -> str:
    if question.delivered is None:
        none = "no position has more than half of all who were seated."
        held = {s.choice if s.status == "voted" else s.participant for s in _for_one(question)}
        return f"The table is split: {none}" if len(held) > 1 else f"Nothing prevails: {none}"
    against = [s.name for s in question.seats if s.dissents and s.status != "any"]
    rejecting = [s.name for s in question.seats if s.dissents and s.status == "any"]
    accepting = [s.name for s in question.seats if s.accepts and s.status != "any"]
    told = []
    if against:
        told.append(f"{listed(against)} would decide otherwise.")
    if rejecting:
        verb = "rejects" if len(rejecting) == 1 else "reject"
        told.append(f"{listed(rejecting)} {verb} it, whichever other answer there is.")
    if accepting:
        verb = "prefers" if len(accepting) == 1 else "prefer"
        told.append(f"{listed(accepting)} {verb} another answer and could live with this one.")
    return " ".join(told)


def _pairs(state: State, delivery: Delivery, decided: Decided) -> Iterator[DissentPair]:
    """Each position that does not prevail against the one that does; where none does, against the
    one with most votes."""
    camps: dict[str, list[Seat]] = {}
    for seat in decided.seats:
        if seat.status == "voted":
            camps.setdefault(seat.choice, []).append(seat)
        elif seat.status == "own" or seat.dissents:
            camps.setdefault(f"{OWN}/{seat.participant}", []).append(seat)
    ranked = sorted(camps, key=lambda c: (c != decided.delivered, -len(camps[c])))
    out = {f"{OUT}/{seat.participant}": [seat] for seat in decided.seats if seat.uncounted}
    if len(ranked) + len(out) < 2:
        return
    camps |= out
    lead, *others = (*ranked, *out)
    texts = {option.id: option.text for option in decided.options}

    def side(camp: str, title: str) -> Side:
        seats = camps[camp]
        position = texts.get(camp) or seats[0].last or seats[0].position or OWN_POSITION
        who = {seat.participant for seat in seats}
        reasons = [each.reason for each in delivery.dissent if each.participant in who]
        about = " ".join([texts.get(camp, ""), *(seat.words for seat in seats), *reasons])
        return Side(
            title,
            capitalised(clip_words(in_words(state, position), IN_A_LINE)),
            tuple(seat.participant for seat in seats),
            tuple(_quotes(state, seats, about)),
        )

    for camp in others:
        names = [f"{s.name} (not counted)" if camp in out else s.name for s in camps[camp]]
        prevails = decided.delivered is not None and len(camps[lead]) * 2 > decided.seated
        title = THE_MAJORITY if prevails else listed([s.name for s in camps[lead]])
        facts = _facts(delivery, [*camps[camp], *camps[lead]])
        yield DissentPair(
            side(camp, listed(names)), side(lead, title), facts[0].text if facts else ""
        )


def _quotes(state: State, seats: Sequence[Seat], about: str) -> Iterator[Cite]:
    """A sentence of each seat, or two of a seat that stands alone: from its last speech first.
    Nobody is quoted for what it voted for only after it had spoken."""
    found = 0
    for seat in [each for each in seats if not each.outvoted][:QUOTES]:
        spoken = [s.turn_id for s in state.said.in_rounds if s.participant == seat.participant]
        used: list[str] = []
        for turn in reversed(spoken[-1:] if seat.moved else spoken[-2:]):
            each = cite(state, turn, about)
            if each is None or not each.words or any(same_words(each.words, u) for u in used):
                continue
            used.append(each.words)
            found += 1
            yield each
            if found >= QUOTES or len(seats) > 1:
                break


def _facts(delivery: Delivery, seats: Sequence[Seat]) -> list[ConditionTold]:
    order = [seat.participant for seat in seats]
    held = [c for c in delivery.conditions if c.kind == "fact" and c.owner in order]
    return sorted(held, key=lambda each: order.index(each.owner))


def _strongest(state: State, delivery: Delivery) -> Strongest | None:
    """A demand that is not granted, a fact without which somebody would be against it, what
    somebody wants to be kept, a fact without which somebody would think again: in this order, and
    only what was declared."""
    record = record_of(state)
    demands = [c for c in delivery.conditions if c.kind == "demand" and not c.granted]
    facts = [c for c in delivery.conditions if c.kind == "fact"]
    against = [c for c in facts if c.otherwise not in ("", "open")]
    kept = None
    for who, text in kept_for_the_record(state)[:1]:
        turns = [s.turn_id for s in record.of(who) if s.declaration.for_the_record == text]
        said = f"{name_of(state, who)}, for the record: {in_words(state, text)}"
        quoted = _without_ids(state, text)
        kept = Strongest(said, cite(state, turns[-1], words=quoted) if turns else None)
    for each in (*demands, *against):
        return _condition_against(state, each)
    if kept is not None:
        return kept
    return _condition_against(state, facts[0]) if facts else None


def _condition_against(state: State, condition: ConditionTold) -> Strongest:
    if condition.kind == "demand":
        told = "demands, and not all have granted it"
    elif condition.otherwise in ("", "open"):
        told = "would think again unless this holds"
    else:
        told = "would be against it unless this holds"
    held = record_of(state).condition(condition.id)
    quoted = _without_ids(state, condition.text)
    return Strongest(
        f"{condition.name} {told}: {in_words(state, condition.text)}",
        cite(state, held.turn_id, words=quoted) if held else None,
    )


def _without_ids(state: State, text: str) -> str:
    """The first sentence that can be quoted as it is; all of it if there is none."""
    said = sentences(line(text))
    return next((each for each in said if in_words(state, each) == each), line(text))


def _without_a_vote(state: State, delivery: Delivery) -> Disagreement:
    """What the verdict keeps as dissent, where nothing was put to the vote."""
    against = _not_sharing(state, delivery)
    if not against:
        lead = "Nothing was put to the vote, so nobody is counted against it."
        return Disagreement(lead, (), _strongest(state, delivery))
    pairs = []
    for each in against:
        quoted = [cite(state, each.turn_id, f"{each.position} {each.reason}")]
        pairs.append(
            DissentPair(
                Side(
                    each.name,
                    capitalised(clip_words(plain(called(state, each.position)), LONGEST_POSITION)),
                    (each.participant,),
                    tuple(q for q in quoted if q is not None and q.words),
                ),
                Side(THE_WRITTEN_ANSWER, clip_words(plain(delivery.brief), IN_A_LINE), (), ()),
                "",
            )
        )
    names = list(dict.fromkeys(each.name for each in against))
    return Disagreement(f"Not shared by {listed(names)}.", tuple(pairs), None)


def _not_sharing(state: State, delivery: Delivery) -> list[Dissenter]:
    voters = {each.id for each in state.voters}
    return [d for d in delivery.dissent if not d.gave_in and d.participant in voters]
