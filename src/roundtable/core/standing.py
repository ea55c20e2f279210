"""The standing: how a table agrees, computed once from the record for every surface.

Shares are of all who were seated. Silence, abstention and absence are not agreement; agreement
reached only by giving in is hollow; agreement under demands that nobody granted is conditional.
What a writer claims changes nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .convergence import Score, convergence_score
from .declaration import ANY, OWN, SILENT, Adopted, Decision
from .pattern import pattern
from .prevailing import Before, Count, before_talk, leading
from .record import LEGACY, ConditionOnTable, Point, Record, SeatVote, record_of
from .state import State
from .voter_groups import weights_of

End = Literal["consensus", "majority", "hollow", "conditional", "impasse", "drift"]
"""How a decision ended:

- consensus: all who were seated hold it, and whoever moved named an argument
- majority: more than half of all who were seated hold it
- hollow: it would be one of these, but only because somebody gave in without an argument
- conditional: it would be one of these, but only under demands that are not granted
- impasse: nothing prevails, and at most half of those who voted moved in the last round
- drift: nothing prevails, and most of them still move
"""


@dataclass(frozen=True, slots=True)
class SeatStanding:
    """One seat on one decision."""

    participant: str
    opening: str
    """An option, `own`, or `silent`."""
    final: str
    """What it counts for: an option, `own`, `any`, or empty if it has no vote."""
    cast: str
    """What it voted for last."""
    fell_back: bool
    """Whether it counts for what it said it holds otherwise: a demand of its own was refused, and
    it cannot have known that when it voted last. Then it has neither held `final` nor moved."""
    independent: bool
    moved: bool
    argument: Adopted | None
    """What moved it, if it named an argument of the one it names."""
    gave_in: bool
    unexplained: bool
    """Whether its vote as cast is a change for which it names no argument."""
    open_demands: tuple[str, ...]
    """Ids of its demands that its own side has neither all granted nor refused."""
    refused_demands: tuple[str, ...]
    """Ids of its demands that its own side refused."""
    acceptable: tuple[str, ...]
    rejects: tuple[str, ...]
    turn_id: str
    round: int
    steady: bool
    firm: bool
    """Whether it counts for `final` whatever becomes of its demands."""
    last: str = ""
    """What it chose last, where it has no vote: its last words declare nothing, or it was not
    heard any more. It is not counted, and yet no agreement."""
    between: tuple[str, ...] = ()
    """What it voted for in between, where it ends with what it held at first."""
    misstated: bool = False
    """Whether it says that it held `cast` before, against what it declared itself."""
    doubted: bool = False
    """Whether it says that it held `cast` before, and the clerk or its words say otherwise."""


@dataclass(frozen=True, slots=True)
class DecisionStanding:
    """How one decision stands."""

    decision: Decision
    end: End | None
    """None where there was nothing to count."""
    reason: str
    """Why, in plain words with the figures."""
    delivered: str | None
    """The option that is the table's answer; None where none prevails."""
    seats: tuple[SeatStanding, ...]
    counts: Mapping[str, int]
    """Final votes by option, own positions and `any` apart."""
    before: Before
    """How it stood before anybody heard the others."""
    seated: int
    absent: tuple[str, ...]
    abstained: tuple[str, ...]
    undeclared: tuple[str, ...]
    own: tuple[str, ...]
    """Seats whose own position was not put to the vote."""
    tied: tuple[str, ...] = ()

    @property
    def leading(self) -> tuple[str, ...]:
        """What is delivered, or, where nothing is, what most hold."""
        return leading(self.counts, self.delivered)

    @property
    def holders(self) -> tuple[str, ...]:
        """Who votes for what is delivered."""
        return tuple(s.participant for s in self.seats if s.final and s.final == self.delivered)

    @property
    def independent(self) -> tuple[str, ...]:
        """Who held what is delivered before hearing the others."""
        return tuple(
            s.participant
            for s in self.seats
            if s.independent and s.opening == self.delivered and s.final == self.delivered
        )

    @property
    def gave_in(self) -> tuple[str, ...]:
        """Who came over without naming an argument: to what is delivered, if something is. Whoever
        left that has not given in to it."""
        return tuple(
            s.participant for s in self.seats if s.gave_in and self.delivered in (None, s.final)
        )

    @property
    def conditional(self) -> tuple[str, ...]:
        holders = self.holders
        return tuple(s.participant for s in self.seats if s.participant in holders and not s.firm)

    @property
    def accepting(self) -> tuple[str, ...]:
        """Who voted otherwise and could live with what is delivered."""
        return tuple(
            s.participant
            for s in self.seats
            if self.delivered and s.final != self.delivered and self.accepts(s)
        )

    @property
    def dissenting(self) -> tuple[str, ...]:
        """Who voted, does not hold what is delivered, and could not live with it; where nothing is
        delivered, nobody dissents from it."""
        if self.delivered is None:
            return ()
        return tuple(
            s.participant
            for s in self.seats
            if s.final and s.final != self.delivered and not self.accepts(s)
        )

    @property
    def rejecting(self) -> tuple[str, ...]:
        """Who has no preference but this one: not what is delivered."""
        return tuple(s.participant for s in self.seats if _opposes(s, self.delivered))

    @property
    def indifferent(self) -> tuple[str, ...]:
        """Who has no preference, and nothing against what is delivered."""
        rejecting = self.rejecting
        return tuple(
            s.participant for s in self.seats if s.final == ANY and s.participant not in rejecting
        )

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Who has no vote, and declared last something else than what is delivered: it is on no
        side, and yet nobody can say that all agree."""
        if self.delivered is None:
            return ()
        return tuple(s.participant for s in self.seats if s.last not in ("", ANY, self.delivered))

    def accepts(self, seat: SeatStanding) -> bool:
        if self.delivered is None or self.delivered in seat.rejects:
            return False
        return seat.final == ANY or self.delivered in seat.acceptable

    def seat(self, participant: str) -> SeatStanding | None:
        return next((s for s in self.seats if s.participant == participant), None)

    def refused_by(self, condition: ConditionOnTable) -> tuple[str, ...]:
        """Who voted like the owner of a demand and refuses it: that parts the two."""
        owner = self.seat(condition.owner)
        return tuple(
            s.participant
            for s in self.seats
            if owner is not None
            and s.cast == owner.cast
            and s.participant in condition.answers
            and condition.answers[s.participant].stance == "disagree"
        )

    def text_of(self, option: str) -> str:
        return self.decision.text_of(option)

    @property
    def answer(self) -> str:
        """What is delivered, in the words in which it was put to the vote."""
        return self.text_of(self.delivered) if self.delivered else ""


def _opposes(seat: SeatStanding, option: str | None) -> bool:
    return seat.final == ANY and option is not None and option in seat.rejects


@dataclass(frozen=True, slots=True)
class Standing:
    """How the whole table stands."""

    record: Record
    decisions: tuple[DecisionStanding, ...]
    convergence: float | None
    """`convergence` of its points."""
    agreed: tuple[Point, ...] = ()
    held: tuple[Point, ...] = ()
    disputed: tuple[Point, ...] = ()
    rejected: tuple[Point, ...] = ()
    demands: tuple[ConditionOnTable, ...] = ()
    """Of those who hold what is delivered: not granted yet."""
    unmet: tuple[ConditionOnTable, ...] = ()
    """Of those who voted for what is delivered although their own side refused it."""
    lost: tuple[ConditionOnTable, ...] = ()
    """Demands whose owners count for what is delivered because their own side refused them."""
    granted: tuple[ConditionOnTable, ...] = ()
    """Demands of those who hold what is delivered that all others who hold it granted: the answer
    holds on them."""
    facts: tuple[ConditionOnTable, ...] = ()
    """What has to be found out, whatever was decided."""

    @property
    def question(self) -> DecisionStanding | None:
        """How the question itself stands; None if nothing was put to the vote."""
        return self.decisions[0] if self.decisions else None

    @property
    def end(self) -> End | None:
        return self.question.end if self.question else None

    @property
    def unanimous(self) -> bool:
        """Whether all who were seated hold the same, firmly: for ending early."""
        return self.end == "consensus"


def convergence(points: Iterable[Point]) -> Score:
    """How far points have come: the agreed among all on the table, which those that were withdrawn
    or rejected by all are no longer. The one such figure of every surface."""
    listed = [point.status for point in points]
    unsettled = listed.count("open") + listed.count("held")
    return convergence_score(listed.count("agreed"), listed.count("disputed"), unsettled)


def standing_of(state: State) -> Standing:
    """How the table stands now. Computed once for each state."""
    return state.derived(
        "standing", lambda s: standing(record_of(s), speeches_of(s), weights_of(s))
    )


def speeches_of(state: State) -> dict[str, str]:
    """All words of each seat, by which a named argument is traced to whoever it names."""
    said: dict[str, list[str]] = {}
    for speech in state.said.of_seats:
        words = said.setdefault(speech.participant, [])
        words.append(speech.text)
        if speech.declaration is not None:
            d = speech.declaration
            words += [d.position, *d.new_points, *(c.text for c in d.conditions)]
    return {participant: "\n".join(words) for participant, words in said.items()}


def standing(
    record: Record,
    speeches: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Standing:
    """What follows from a record. `speeches` are everybody's words, to trace arguments in;
    `weights` what each seat counts where several are copies of one voter."""
    decisions = tuple(
        _decision(record, each, speeches or {}, weights or {}) for each in record.decisions
    )
    by_status = {
        status: tuple(point for point in record.points if point.status == status)
        for status in ("agreed", "held", "disputed", "rejected")
    }
    question = decisions[0] if decisions else None
    seats = question.seats if question else ()
    holders = set(question.holders) if question else set()
    # Whoever fell back has neither put conditions on this answer nor been asked about any.
    voted = {s.participant for s in seats if s.participant in holders and not s.fell_back}
    asked = voted if record.as_cast else holders
    refused = {d: seat.fell_back for seat in seats for d in seat.refused_demands}
    open_ids = {d for seat in seats for d in seat.open_demands}
    return Standing(
        record=record,
        decisions=decisions,
        convergence=convergence(record.points).value,
        agreed=by_status["agreed"],
        held=by_status["held"],
        disputed=by_status["disputed"],
        rejected=by_status["rejected"],
        demands=tuple(c for c in record.conditions if c.id in open_ids and c.owner in holders),
        granted=tuple(
            c
            for c in record.conditions
            if c.demand
            and c.owner in asked
            and (len(asked) > 1 or not record.as_cast)
            and all(_grants(c, ally) for ally in asked if ally != c.owner)
        ),
        unmet=tuple(
            c for c in record.conditions if refused.get(c.id) is False and c.owner in voted
        ),
        lost=tuple(c for c in record.conditions if refused.get(c.id) and c.owner in holders),
        facts=tuple(c for c in record.conditions if not c.demand),
    )


def _decision(
    record: Record,
    decision: Decision,
    speeches: Mapping[str, str],
    weights: Mapping[str, float],
) -> DecisionStanding:
    votes = record.votes(decision)
    seats = tuple(_seat(record, decision, vote, votes, speeches) for vote in votes)
    counts = {option: sum(s.final == option for s in seats) for option in decision.option_ids}
    first = {
        vote.participant: vote.opening if vote.independent and vote.opening != SILENT else ""
        for vote in votes
    }
    last = {seat.participant: seat.final for seat in seats}
    moving = _still_moving(record, decision, seats)
    end, reason, delivered, tied = _end(record, seats, counts, weights, moving=moving)
    return DecisionStanding(
        decision=decision,
        end=end,
        reason=reason,
        delivered=delivered,
        seats=seats,
        counts=counts,
        before=before_talk(first, last, decision.option_ids, weights),
        seated=len(record.seats),
        absent=record.absent,
        abstained=tuple(record.abstained),
        undeclared=record.undeclared,
        own=tuple(s.participant for s in seats if s.final == OWN),
        tied=tied,
    )


def _seat(
    record: Record,
    decision: Decision,
    vote: SeatVote,
    votes: Sequence[SeatVote],
    speeches: Mapping[str, str],
) -> SeatStanding:
    cast = vote.vote
    # Who is on the same side decides on a demand: those against it do not want it anyway.
    allies = [v.participant for v in votes if v.choice == vote.choice]
    open_demands: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    if decision is record.question and vote.choice not in ("", OWN, ANY):
        open_demands, refused = _demands(record, vote.participant, allies)
    unheard = _unheard(record, vote, allies, refused)
    final = _otherwise(record, decision, unheard) if unheard else vote.choice
    fell_back = bool(unheard) and (final != vote.choice or not record.as_cast)
    # What it counts for then is nothing that it came to, nor what it held from the start.
    on_its_own = not fell_back or not record.as_cast
    abstains = vote.participant in record.abstained
    changed = vote.moved and vote.choice != ANY
    argument = _argument(record, decision, vote, speeches) if changed else None
    unexplained = (
        changed
        and argument is None
        and not holds_its_own(decision, vote)
        and not _was_refused(record, vote)
    )
    return SeatStanding(
        participant=vote.participant,
        opening=vote.opening,
        final=final,
        cast=vote.choice,
        fell_back=fell_back,
        independent=vote.independent and on_its_own,
        moved=changed and on_its_own,
        argument=argument if on_its_own else None,
        gave_in=unexplained and on_its_own,
        unexplained=unexplained,
        open_demands=open_demands if on_its_own else (),
        refused_demands=unheard if fell_back else refused,
        acceptable=cast.acceptable if cast else (),
        rejects=cast.rejects if cast else (),
        turn_id=vote.turn_id,
        round=vote.round,
        steady=vote.steady,
        firm=not open_demands and not (refused and record.as_cast),
        last="" if final or abstains else record.last_choice(decision, vote.participant),
        between=vote.between,
        misstated=vote.misstated and changed,
        doubted=vote.doubted and vote.opening == vote.choice,
    )


def _unheard(
    record: Record, vote: SeatVote, allies: Sequence[str], refused: Sequence[str]
) -> tuple[str, ...]:
    """Those refused demands of a seat of which it cannot have known, when it voted last, that
    anybody on its side refuses them."""
    if not record.as_cast:
        return tuple(refused)
    return tuple(
        each.id
        for each in record.conditions
        if each.id in refused
        and not any(
            record.could_know(vote.turn_id, said.since)
            for ally in allies
            if (said := each.answers.get(ally)) is not None and said.stance == "disagree"
        )
    )


def _was_refused(record: Record, vote: SeatVote) -> bool:
    """Whether a seat votes for what it always said it holds without a demand that was refused
    before: that is no giving in."""
    return record.as_cast and any(
        each.owner == vote.participant
        and each.demand
        and each.condition.otherwise == vote.choice
        and any(
            said.stance == "disagree" and record.could_know(vote.turn_id, said.since)
            for said in each.answers.values()
        )
        for each in record.conditions
    )


def holds_its_own(decision: Decision, vote: SeatVote) -> bool:
    """Whether nobody can have given in: it holds a position of its own, or it is a ballot of an
    earlier version, which had no place for an argument."""
    option = decision.option(vote.choice)
    put_up = option is not None and option.origin == "own" and vote.participant in option.holders
    return vote.choice == OWN or put_up or decision.id == LEGACY


def _otherwise(record: Record, decision: Decision, refused: Sequence[str]) -> str:
    """What a seat holds once a demand of its own was refused by its own side: what it said it holds
    otherwise, if that is an option; else a position of its own."""
    held = (record.condition(each) for each in refused)
    named = [each.condition.otherwise for each in held if each is not None]
    return next((option for option in named if option in decision.option_ids), OWN)


def _demands(
    record: Record, participant: str, allies: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Whose demand is not granted by all on its side holds its position only conditionally; once
    one of them refuses it, the two hold different things."""
    others = [ally for ally in allies if ally != participant]
    open_: list[str] = []
    refused: list[str] = []
    for each in record.conditions:
        if each.owner != participant or not each.demand or not others:
            continue
        said = [each.answers[ally].stance if ally in each.answers else "" for ally in others]
        if "disagree" in said:
            refused.append(each.id)
        elif any(word != "agree" for word in said):
            open_.append(each.id)
    return tuple(open_), tuple(refused)


def _grants(condition: ConditionOnTable, seat: str) -> bool:
    said = condition.answers.get(seat)
    return said is not None and said.stance == "agree"


def _argument(
    record: Record, decision: Decision, vote: SeatVote, speeches: Mapping[str, str]
) -> Adopted | None:
    """The argument that a seat names for its change: one that the seat it names really made, more
    than that others want it too, and named since it came to what it holds now."""
    known = " ".join([decision.question, *(option.text for option in decision.options)])
    for each in reversed(record.of(vote.participant)):
        cast = each.declaration.vote(decision.id)
        if cast is not None and cast.choice not in (vote.choice, OWN):
            break
        for adopted in each.declaration.moved_by:
            if adopted.participant == vote.participant or _only_follows(adopted.what):
                continue
            words = speeches.get(adopted.participant, "")
            if not speeches or _shares_words(adopted.what, words, known):
                return adopted
    return None


_FOLLOWS = pattern(
    r"\b(?:most|majority|everybody|everyone|all of (?:you|them)|others?|consensus|outvoted|tired"
    r"|give in|gave in|move on|moving on|peace|harmony|mehrheit|alle|anderen?|müde|mayor[ií]a"
    r"|todos|cansad[oa]|demás|votes?|against one|outnumbered|yield|the team|group"
    r"|überstimmt|gebe nach|cedo)\b|大家|多数|其他人|都|少数服从",
    re.IGNORECASE,
)
_WORD = pattern(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W\d_]{3,}|\d+(?:[.,]\d+)*")
_COMMON_WORDS = """
    the and for that this with are was were have has had not but they their there then than
    want wants wanted would should could will can may its our your more most some such only
    also just very much many any all one two
    der die das und ist nicht ein eine mit für auf los las que con por una del para
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def _only_follows(what: str) -> bool:
    """Whether it names no more than that others hold it: "most want it" is no argument."""
    rest = [w for w in _content(_FOLLOWS.sub(" ", what)) if len(w) > 3 or w.isdigit()]
    return bool(_FOLLOWS.search(what)) and len(rest) < 3


def _shares_words(what: str, words: str, known: str) -> bool:
    """Whether an argument can be one of these words: a third of what it says beside the question
    and the options stands in them too. In another script that cannot be told."""
    said = set(_content(known))
    ours = [word for word in dict.fromkeys(_content(what)) if word not in said]
    theirs = set(_content(words))
    if not ours or _script(what) != _script(words):
        return False
    shared = sum(any(_alike(one, two) for two in theirs) for one in ours)
    return shared * 3 >= len(ours)


def _alike(one: str, two: str) -> bool:
    if one == two:
        return True
    shorter = min(len(one), len(two))
    return shorter >= 5 and one[:5] == two[:5]


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _COMMON]


def _script(text: str) -> str:
    return "cjk" if re.search(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]", text) else "latin"


def _still_moving(record: Record, decision: Decision, seats: Sequence[SeatStanding]) -> bool:
    """Whether most who voted changed their choice in the last round in which anybody voted. One
    change beside others that stand is no movement of the table."""
    last = max((seat.round for seat in seats if seat.final), default=0)
    before = record.until(last)
    changed = 0
    for seat in seats:
        held = before.vote(decision, seat.participant).choice or seat.opening
        changed += bool(seat.final) and seat.round == last and held not in (SILENT, ANY, seat.final)
    return changed * 2 > sum(bool(seat.final) for seat in seats)


def _end(
    record: Record,
    seats: Sequence[SeatStanding],
    counts: Mapping[str, int],
    weights: Mapping[str, float],
    *,
    moving: bool,
) -> tuple[End | None, str, str | None, tuple[str, ...]]:
    """The end and why; what is delivered, and what is tied for it."""
    seated = len(seats)
    voted = [seat for seat in seats if seat.final]
    if seated < 2:
        return None, "It takes two to agree.", None, ()
    if len(voted) < 2:
        return None, _nobody(record, seated, len(voted)), None, ()
    if all(seat.final == ANY for seat in voted):
        told = f"{len(voted)} of {seated} voted, and nobody has a preference."
        return None, told, None, ()
    count = Count({seat.participant: seat.final for seat in seats}, weights)
    stuck: End = "drift" if moving else "impasse"
    leader = count.answer(counts)
    tally = _told(counts, seats, record, leader)
    if leader is None:
        told = "positions still move and none prevails" if moving else "none prevails"
        most = max(counts.values(), default=0)
        tied = tuple(option for option, each in counts.items() if each and each == most)
        return stuck, f"{tally}: {told}.", None, tied if len(tied) > 1 else ()
    behind = [seat for seat in seats if seat.final == leader]
    united = len(behind) == seated
    firm = [seat.participant for seat in behind if seat.firm]
    if not count.prevails(leader, firm) or (united and len(firm) < seated):
        return "conditional", f"{tally}, but {_hangs_on(behind)}.", leader, ()
    gave_in = [seat for seat in behind if seat.gave_in]
    stood = [seat.participant for seat in behind if not seat.gave_in]
    if gave_in and (united or not count.prevails(leader, stood)):
        return "hollow", f"{tally}, but {_gave_in(len(gave_in))}.", leader, ()
    if united:
        return "consensus", f"{tally}.", leader, ()
    by_voters = "" if len(behind) * 2 > seated else ", by voters that are not copies of each other"
    return "majority", f"{tally}{by_voters}.", leader, ()


def _hangs_on(behind: Sequence[SeatStanding]) -> str:
    """What it hangs on that an answer prevails, of those who count for it and are not firm."""
    loose = [seat for seat in behind if not seat.firm]
    fell_back = sum(seat.fell_back for seat in loose)
    told = []
    if under := len(loose) - fell_back:
        told.append(f"{under} of them under conditions that not all have granted")
    if fell_back:
        told.append(f"{fell_back} of them only because a demand was refused")
    return " and ".join(told)


def _gave_in(count: int) -> str:
    who = "one of them" if count == 1 else f"{count} of them"
    return f"{who} came over without naming an argument"


def _nobody(record: Record, seated: int, voted: int) -> str:
    if len(record.undeclared) == seated > 1:
        return f"None of the {seated} experts declared a vote that can be counted."
    parts = []
    if record.absent:
        parts.append(f"{len(record.absent)} absent")
    if record.abstained:
        parts.append(f"{len(record.abstained)} abstaining")
    if record.undeclared:
        parts.append(f"{len(record.undeclared)} without a countable declaration")
    if record.demonstration:
        parts.append(f"{len(record.demonstration)} on a demonstration model")
    more = f" ({', '.join(parts)})" if parts else ""
    return f"{voted} of {seated} voted{more}: that is too few to count."


def _told(
    counts: Mapping[str, int], seats: Sequence[SeatStanding], record: Record, leader: str | None
) -> str:
    """The count in a few words, of what prevails if something does: "2 of 3, 1 absent"."""
    most = counts[leader] if leader else max(counts.values(), default=0)
    seated = len(seats)
    lead = f"All {seated}" if most == seated else f"{most} of {seated}"
    if leader is None and most and sum(count == most for count in counts.values()) > 1:
        split = sorted((count for count in counts.values() if count), reverse=True)
        lead = f"Split {' : '.join(map(str, split))}"
    parts = [lead]
    accounted = len({*record.abstained, *record.undeclared, *record.absent, *record.demonstration})
    for told, count in (
        (
            "with positions of their own",
            sum(s.final == OWN and not s.fell_back for s in seats),
        ),
        (
            "whose demand its own side refused",
            sum(s.fell_back and (s.firm or s.final != leader) for s in seats),
        ),
        ("rejecting it", sum(_opposes(s, leader) for s in seats)),
        ("without a preference", sum(s.final == ANY and not _opposes(s, leader) for s in seats)),
        ("without a vote on it", sum(not s.final for s in seats) - accounted),
        ("abstaining", len(record.abstained)),
        ("without a countable declaration", len(record.undeclared)),
        ("absent", len(record.absent)),
    ):
        if count:
            parts.append(f"{count} {told}")
    return ", ".join(parts)


__all__ = [
    "SILENT",
    "DecisionStanding",
    "End",
    "SeatStanding",
    "Standing",
    "convergence",
    "holds_its_own",
    "standing",
    "standing_of",
]
