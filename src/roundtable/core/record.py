"""The decision record: one object for every procedure, folded from what seats declared.

Who holds what on which decision, in which round, under which conditions; who is absent and who
abstains; the points with everybody's stances. It adds nothing: what stands in no declaration is not
in it. What follows from it (agreement, dissent, the end) is `standing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from .declaration import (
    ANY,
    OWN,
    SILENT,
    UNDECLARED,
    Condition,
    Decision,
    Declaration,
    DeclaredVote,
    Option,
    StanceWord,
)
from .events import BallotCast, SpeechGiven
from .state import State
from .text import worded
from .values import HOST_WIRE_NAME

PointStatus = Literal["agreed", "held", "disputed", "rejected", "withdrawn", "open"]
IN_REVERSE = "-in-reverse"
"""How a stage ends that repeats another as a check: what is declared in it is not counted."""
RANKING = "ranking"
"""The stage that ranks drafts: who says nothing there has not taken back what it holds."""
QUESTION = "d1"
"""The first decision: the question that was asked."""
LEGACY = "legacy"
"""The decision that ballots of earlier versions of the program were cast on."""


SPEECH_ORDER, IN_TURN = "speech_order", "fixed"
"""The option that says how a table speaks, and its value where it is one after another."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one seat declared in one turn."""

    participant: str
    round: int
    turn_id: str
    declaration: Declaration
    independent: bool = False
    corrects: bool = False
    """Whether it sets right what its seat declared before in the same round."""
    in_turn: bool = False
    """Whether its seat knew all that was said before it in its round, since they speak one after
    another, or since it came later by itself."""


@dataclass(frozen=True, slots=True)
class PointStance:
    """What a seat said last to a point or condition, as it is worded now."""

    stance: StanceWord
    text: str = ""
    turn_id: str = ""
    round: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """A claim on the shared list, in its newest wording."""

    id: str
    text: str
    author: str
    turn_id: str
    round: int
    version: int = 1
    stances: Mapping[str, PointStance] = field(default_factory=dict)
    """By seat; the author's own is there only if it amended or withdrew the point."""
    withdrawn: bool = False
    spoke_since: tuple[str, ...] = ()
    """The seats that declared something since it was worded: whether or not they were asked about
    it, none of them has agreed by silence."""
    present: tuple[str, ...] = ()
    """The seats that can still speak to it: all who were seated and are not lost. Empty for points
    of earlier versions of the program, which were settled among those who had spoken."""
    absent: tuple[str, ...] = ()
    """The seats that cannot: nothing waits for them, and they are named."""
    opposed_before: Mapping[str, PointStance] = field(default_factory=dict)
    """Who was against an earlier wording and has not spoken to this one: its author cannot settle
    that by changing the words."""

    @property
    def holders(self) -> tuple[str, ...]:
        """Who stands behind it: the author, unless it withdrew, and whoever agrees."""
        agreeing = [seat for seat, each in self.stances.items() if each.stance == "agree"]
        return tuple(dict.fromkeys([*([] if self.withdrawn else [self.author]), *agreeing]))

    @property
    def opponents(self) -> tuple[str, ...]:
        return tuple(seat for seat, each in self.stances.items() if each.stance == "disagree")

    def stance_of(self, seat: str) -> PointStance | None:
        """What a seat said to it last. Its author holds it, also in silence."""
        said = self.stances.get(seat)
        if said is None and seat == self.author and not self.withdrawn:
            return PointStance("agree", "", self.turn_id, self.round)
        return said

    @property
    def silent(self) -> tuple[str, ...]:
        """Who declared something since and said nothing to it."""
        return tuple(s for s in self.spoke_since if s not in self.stances and s != self.author)

    @property
    def unheard(self) -> tuple[str, ...]:
        """Who can still speak to it and has declared nothing since it was worded."""
        return tuple(s for s in self.present if s not in self.spoke_since and s not in self.holders)

    @property
    def status(self) -> PointStatus:
        """Silence is not agreement, and `partly` is neither for nor against. Nothing is settled
        before all who are present were heard, nor by changing the words that somebody opposed."""
        if self.withdrawn:
            return "withdrawn"
        others = {*self.spoke_since, *self.present} - {self.author}
        against = set(self.opponents)
        if others and self.author in against and against >= others:
            return "rejected"
        if against:
            return "disputed"
        agreeing = set(self.holders) - {self.author}
        if agreeing and agreeing >= others and not self.opposed_before:
            return "agreed"
        return "held" if agreeing else "open"


@dataclass(frozen=True, slots=True)
class ConditionOnTable:
    """A condition of a seat's position, with the others' answers to it."""

    id: str
    owner: str
    condition: Condition
    turn_id: str
    round: int
    answers: Mapping[str, PointStance] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.condition.text

    @property
    def demand(self) -> bool:
        return self.condition.kind == "demand"


@dataclass(frozen=True, slots=True)
class SeatVote:
    """Where one seat stands on one decision, from its first word on it to its last."""

    participant: str
    vote: DeclaredVote | None
    """Its last vote; None if it cast none."""
    turn_id: str = ""
    round: int = 0
    opening: str = SILENT
    """What it held in its first statement: an option, `own`, or `silent` if that is not known."""
    independent: bool = False
    """Whether it held that before it heard the others."""
    steady: bool = False
    """Whether two of its declarations say the same: an inverted vote would have to be so twice."""

    @property
    def choice(self) -> str:
        return self.vote.choice if self.vote else ""

    @property
    def moved(self) -> bool:
        """Whether it left what it held at first, as far as that is known."""
        return bool(self.choice) and self.opening not in (SILENT, ANY, self.choice)


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that was declared at one table."""

    seats: tuple[str, ...]
    """Everybody who was seated, in their order: agreement is counted of all of them."""
    decisions: tuple[Decision, ...]
    shared: tuple[str, ...]
    statements: tuple[Statement, ...]
    absent: tuple[str, ...]
    """Who was seated and never answered."""
    undeclared: tuple[str, ...]
    """Who spoke and declared nothing that can be counted."""
    abstained: Mapping[str, str]
    """Who takes no position in its last declaration, and why."""
    points: tuple[Point, ...]
    conditions: tuple[ConditionOnTable, ...]
    """Those that their owners have not withdrawn, in their newest wording."""
    clashes: tuple[tuple[str, str], ...] = ()
    demonstration: tuple[str, ...] = ()
    """Seats whose speaker is too small to reason: nothing of them is counted."""
    lapsed: tuple[str, ...] = ()
    """Of the undeclared, those who had declared before: what they voted for no longer counts."""

    @property
    def question(self) -> Decision | None:
        """The decision on the question that was asked, once there is one."""
        return self.decisions[0] if self.decisions else None

    @property
    def rounds(self) -> tuple[int, ...]:
        return tuple(sorted({each.round for each in self.statements}))

    def of(self, participant: str) -> tuple[Statement, ...]:
        """What a seat declared, in order."""
        return tuple(each for each in self.statements if each.participant == participant)

    def last(self, participant: str) -> Statement | None:
        return next((each for each in reversed(self.of(participant))), None)

    def position(self, participant: str, *, first: bool = False) -> str:
        """Its last position in a sentence, or the first one; empty if it declared none."""
        stated = [e.declaration.position for e in self.of(participant) if e.declaration.position]
        return "" if not stated else stated[0] if first else stated[-1]

    def confidence(self, participant: str) -> int | None:
        sure = [e.declaration.confidence for e in self.of(participant)]
        return next((each for each in reversed(sure) if each is not None), None)

    def vote(self, decision: Decision, participant: str) -> SeatVote:
        vote = _seat_vote(decision, participant, self.of(participant))
        return replace(vote, vote=None) if participant in self.lapsed else vote

    def votes(self, decision: Decision) -> tuple[SeatVote, ...]:
        """Everybody's vote, in the order of the seats."""
        return tuple(self.vote(decision, seat) for seat in self.seats)

    def point(self, point_id: str) -> Point | None:
        return next((point for point in self.points if point.id == point_id), None)

    def condition(self, condition_id: str) -> ConditionOnTable | None:
        return next((each for each in self.conditions if each.id == condition_id), None)


def record_of(state: State) -> Record:
    """The record that this state tells. Computed once for each state."""
    return state.derived("record", _record)


def records_by_round(state: State) -> dict[int, Record]:
    """The record as it stood after each round in which something was declared."""
    return state.derived("records by round", _by_round)


def _by_round(state: State) -> dict[int, Record]:
    whole = record_of(state)
    rounds = {each.round for each in whole.statements} | {s.round for s in state.stances}
    rounds |= {point.round for point in state.points.values()}
    ordered = sorted(rounds)
    return {each: record_after(state, each) if each != ordered[-1] else whole for each in ordered}


def record_before(state: State, round_: int) -> Record:
    """The record as it was before a round: what seats that speak side by side may know, whoever of
    them is asked again or after a restart."""
    return state.derived(f"record before {round_}", lambda s: _record(s, round_))


def record_after(state: State, round_: int) -> Record:
    """The record as it stood at the end of a round."""
    return record_before(state, round_ + 1)


def _record(state: State, before: int | None = None) -> Record:
    seats = tuple(each.id for each in state.voters)
    spoken = [s for s in state.speeches if s.participant in seats]
    small = {s.participant for s in spoken if _demonstrates(state, s)}
    one_by_one = state.start.options.get(SPEECH_ORDER) == IN_TURN
    statements = _corrected(
        [
            Statement(
                s.participant,
                s.round,
                s.turn_id,
                s.declaration,
                s.independent,
                s.corrects,
                one_by_one or s.corrects,
            )
            for s in spoken
            if s.declaration is not None
            and s.participant not in small
            and not s.stage.endswith(IN_REVERSE)
            and (before is None or s.round < before)
        ]
    )
    decisions, shared, clashes = _tabled(state)
    if not decisions and state.ballots:
        decisions, statements = _legacy(state, small)
        statements = tuple(s for s in statements if before is None or s.round < before)
    declared = {each.participant for each in statements}
    heard = {s.participant for s in spoken} | declared
    last = {each.participant: each.declaration for each in statements if _takes_part(each)}
    # Whoever was asked last and declared nothing has taken back its voice, visibly.
    newest = {
        s.participant: s
        for s in spoken
        if (s.declaration is not None or UNDECLARED in s.flags)
        and not s.stage.endswith(IN_REVERSE)
        and s.stage != RANKING
        and (before is None or s.round < before)
    }
    lapsed = {seat for seat, speech in newest.items() if speech.declaration is None}
    return Record(
        seats=seats,
        decisions=decisions,
        shared=shared,
        statements=statements,
        absent=tuple(seat for seat in seats if seat not in heard),
        undeclared=tuple(
            s for s in seats if s in heard and s not in small and (s not in declared or s in lapsed)
        ),
        lapsed=tuple(s for s in seats if s in lapsed and s in declared),
        abstained={seat: d.abstain for seat, d in last.items() if d.abstain is not None},
        points=tuple(_points(state, statements, before)),
        conditions=tuple(_conditions(statements, stand=_conditions_stand(state))),
        clashes=clashes,
        demonstration=tuple(seat for seat in seats if seat in small),
    )


SET_RIGHT = ("votes", "position", "conditions", "confidence", "adopted", "abstain")
"""What a correction replaces in what it corrects. Points and stances stay where they were given:
others may have answered them, and their ids are theirs."""


def _corrected(statements: list[Statement]) -> tuple[Statement, ...]:
    """What was declared, as its seats set it right: a slip that was mended at once is no change of
    mind. What was added after others had spoken is not independent of them."""
    for place, mended in enumerate(statements):
        if not mended.corrects:
            continue
        for earlier, each in enumerate(statements[:place]):
            if (each.participant, each.round) == (mended.participant, mended.round):
                right = {key: getattr(mended.declaration, key) for key in SET_RIGHT}
                statements[earlier] = replace(
                    each,
                    declaration=each.declaration.model_copy(update=right),
                    independent=each.independent and mended.independent,
                )
    return tuple(statements)


def _takes_part(statement: Statement) -> bool:
    """Whether it says anything of what its seat holds: a ranking of drafts does not."""
    d = statement.declaration
    return bool(d.position or d.stances or d.abstain is not None) or any(
        vote.on.startswith("d") or vote.on == LEGACY for vote in d.votes
    )


def _demonstrates(state: State, speech: SpeechGiven) -> bool:
    seated = state.participant(speech.participant)
    return seated is not None and any(
        ref.demonstration for ref in seated.speakers if ref.model == speech.model
    )


def _tabled(
    state: State,
) -> tuple[tuple[Decision, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    if not state.tabled:
        return (), (), ()
    newest = state.tabled[-1]
    shared = next((each.shared for each in reversed(state.tabled) if each.shared), ())
    clashes = next((each.clashes for each in reversed(state.tabled) if each.clashes), ())
    return newest.decisions, shared, clashes


def _legacy(state: State, small: set[str]) -> tuple[tuple[Decision, ...], tuple[Statement, ...]]:
    """Ballots of earlier versions as votes on one decision. They were read from prose then: that
    is how those discussions ended, and nothing new is decided by it."""
    texts: dict[str, str] = {}
    for ballot in state.ballots:
        for option in (o for group in ballot.ranking[:1] for o in group):
            texts.setdefault(option, ballot.position or option)
    counted = [b for b in state.ballots if b.meaningful and b.participant not in small]
    options = tuple(Option(id=each, text=text) for each, text in texts.items())
    decision = Decision(id=LEGACY, question=state.start.topic, options=options)
    statements = tuple(
        Statement(b.participant, b.round, b.turn_id, _old_ballot(b), b.round == 1) for b in counted
    )
    return ((decision,) if options else ()), statements


def _old_ballot(ballot: BallotCast) -> Declaration:
    ranking = [group[0] for group in ballot.ranking if group]
    vote = DeclaredVote(on=LEGACY, choice=ranking[0], acceptable=()) if ranking else None
    sure = round(ballot.certainty * 100) if ballot.certainty is not None else None
    return Declaration(votes=(vote,) if vote else (), position=ballot.position, confidence=sure)


def _seat_vote(decision: Decision, participant: str, said: Iterable[Statement]) -> SeatVote:
    """A seat's first declared word on a decision tells what it held before it; a vote in an
    independent round is that word itself."""
    opening, independent, earlier = SILENT, False, ""
    last: tuple[Statement, DeclaredVote] | None = None
    first, position, spoke, heard_nobody, steady = "", "", False, False, False
    placed = [o.id for o in decision.options if o.origin == "clerk" and participant in o.holders]

    def misplaced(choice: str) -> bool:
        """Whether the clerk, who read its words, saw it elsewhere: one of the two is mistaken."""
        return bool(placed) and choice not in placed and not confirmed

    confirmed = False
    for each in said:
        position = each.declaration.position or position
        first = first or position
        if each.declaration.abstain is not None:
            last, spoke = None, True
            continue
        vote = each.declaration.vote(decision.id)
        if vote is None:
            heard_nobody = heard_nobody or (each.independent and not spoke)
            spoke = True
            continue
        vote = _resolved(decision, participant, vote, position)
        if not earlier:
            first_word = each.independent or not spoke
            opening = vote.choice if first_word else vote.before
            independent = each.independent if first_word else heard_nobody
            if placed and opening not in placed and not first_word:
                independent = False  # its word against the clerk's: nothing is built on either
            if opening == OWN and _is_own_option(decision, participant, vote.choice, first):
                opening = vote.choice
            earlier = opening
        steady = spoke and vote.choice in (vote.before, earlier) and not misplaced(vote.choice)
        confirmed = confirmed or (last is not None and vote.choice == last[1].choice)
        steady = steady or (confirmed and vote.choice == earlier)
        last, earlier, spoke = (each, vote), vote.choice, True
    if last is None:
        return SeatVote(participant, None, opening=opening, independent=independent)
    where, vote = last
    return SeatVote(participant, vote, where.turn_id, where.round, opening, independent, steady)


def _resolved(
    decision: Decision, participant: str, vote: DeclaredVote, position: str
) -> DeclaredVote:
    """A vote for its own position is one for the option that this position became."""
    if vote.choice != OWN:
        return vote
    for option in decision.options:
        if _is_own_option(decision, participant, option.id, position):
            return vote.model_copy(update={"choice": option.id})
    return vote


def _is_own_option(decision: Decision, participant: str, option_id: str, position: str) -> bool:
    """Whether an option is what a seat put up itself, in the words of this position."""
    option = decision.option(option_id)
    own = option is not None and _own_option(decision, participant, option_id)
    return own and option is not None and worded(option.text) == worded(position)


def _own_option(decision: Decision, participant: str, option_id: str) -> bool:
    option = decision.option(option_id)
    return option is not None and option.origin == "own" and participant in option.holders


def _points(state: State, statements: tuple[Statement, ...], before: int | None) -> Iterator[Point]:
    """The list of points, from the first that was raised on."""
    found, merged = _raised(state, before)
    wordings: dict[str, str] = {}
    amended = {
        (stance.id, each.round, each.participant)
        for each in statements
        for stance in each.declaration.stances
        if stance.stance == "amend"
    }
    for each in statements:
        listed = set(found)
        for said_to in each.declaration.stances:
            name = merged.get(said_to.id, said_to.id)
            if name not in listed:
                continue
            author = found[name].author
            # Said beside its author, who changed it: nobody knows to which wording. Opposition
            # is not lost by that; it stands as what it was.
            beside = (said_to.id, each.round, author) in amended and not each.in_turn
            if each.participant != author and beside:
                if said_to.stance == "disagree":
                    found[name] = _opposed(found[name], each, said_to.text)
                continue
            found[name] = _with_stance(found[name], each, said_to.stance, said_to.text)
            if said_to.stance == "amend" and each.participant == author:
                wordings = {words: at for words, at in wordings.items() if at != name}
                wordings[worded(found[name].text)] = name
        for name in listed:
            point = found[name]
            changed = (name, each.round, point.author) in amended and not each.in_turn
            known = each.participant in point.spoke_since or point.turn_id == each.turn_id
            # Who speaks side by side with its author has not heard it.
            unseen = each.round == point.round and not each.in_turn
            if not known and not changed and not unseen:
                found[name] = replace(point, spoke_since=(*point.spoke_since, each.participant))
        for text in each.declaration.new_points:
            same = wordings.get(worded(text))
            if same is not None and found[same].author != each.participant:
                said = PointStance("agree", "", each.turn_id, each.round)
                found[same] = _answered(found[same], each.participant, said)
            elif same is None:
                name = f"p{len(found) + 1}"
                wordings[worded(text)] = name
                found[name] = Point(name, text, each.participant, each.turn_id, each.round)
    here, gone = _attending(state, before)
    for point in found.values():
        if point.id in merged:
            continue
        early = point.id in state.points
        yield point if early else replace(point, present=here, absent=gone)


def _attending(state: State, before: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The seats that can speak, and those that cannot: they failed since they last spoke, left, are
    too small to be counted, or never spoke before it was over."""

    def counts(round_: int) -> bool:
        return round_ > 0 and (before is None or round_ < before)

    last: dict[str, int] = {}
    small: set[str] = set()
    for speech in state.speeches:
        if counts(speech.round):
            last[speech.participant] = max(last.get(speech.participant, 0), speech.round)
            if _demonstrates(state, speech):
                small.add(speech.participant)
    failed = {
        each.participant
        for each in state.failures
        if counts(each.round) and each.round > last.get(each.participant, 0)
    }
    seated = {each.id for each in state.participants}
    over = state.closed is not None
    seats = [each.id for each in state.voters]
    here = tuple(
        seat
        for seat in seats
        if seat in seated
        and seat not in failed
        and seat not in small
        and (seat in last or not over)
    )
    return here, tuple(seat for seat in seats if seat not in here)


_TURNED: Mapping[str, StanceWord] = {"agree": "disagree", "disagree": "agree"}


def _raised(state: State, before: int | None) -> tuple[dict[str, Point], dict[str, str]]:
    """Points of earlier versions of the program, which had events of their own, and what was
    merged into what. Stances that rules read from prose were never declared: they are left out."""
    found: dict[str, Point] = {}
    merges = {name: merge for merge in state.merges for name in merge.merged}
    stances = [
        s
        for s in state.stances
        if s.source != "extracted" and s.meaningful and (before is None or s.round < before)
    ]
    for raised in state.points.values():
        if before is not None and raised.round >= before:
            continue
        speech = state.speech(raised.turn_id)
        author = speech.participant if speech else HOST_WIRE_NAME
        since = tuple(dict.fromkeys(s.participant for s in stances if s.round >= raised.round))
        found[raised.point_id] = Point(
            raised.point_id, raised.text, author, raised.turn_id, raised.round, spoke_since=since
        )
    for stance in stances:
        merge = merges.get(stance.point_id)
        point = found.get(merge.into if merge else stance.point_id)
        if point is None:
            continue
        held: StanceWord = stance.position
        if merge is not None and merge.denies:
            held = _TURNED.get(held, held)
        if (
            stance.participant == point.author
            and held == "agree"
            and point.author not in point.stances
        ):
            continue
        said = PointStance(held, stance.quote, stance.turn_id, stance.round)
        found[point.id] = _answered(point, stance.participant, said)
    return found, {name: merge.into for name, merge in merges.items()}


def _with_stance(point: Point, each: Statement, stance: StanceWord, text: str) -> Point:
    said = PointStance(stance, text, each.turn_id, each.round)
    if stance == "amend":
        if each.participant != point.author:
            return point
        # A new version: what was said to the old wording was not said to this one.
        opposed = {who: at for who, at in point.stances.items() if at.stance == "disagree"}
        opposed.pop(point.author, None)
        return Point(
            point.id,
            text,
            point.author,
            each.turn_id,
            each.round,
            point.version + 1,
            opposed_before={**point.opposed_before, **opposed},
        )
    if stance == "withdraw":
        if each.participant != point.author:
            return point
        return replace(_answered(point, each.participant, said), withdrawn=True)
    return _answered(point, each.participant, said)


def _answered(point: Point, seat: str, said: PointStance) -> Point:
    since = point.spoke_since if seat in point.spoke_since else (*point.spoke_since, seat)
    before = {who: at for who, at in point.opposed_before.items() if who != seat}
    stances = {**point.stances, seat: said}
    return replace(point, stances=stances, spoke_since=since, opposed_before=before)


def _opposed(point: Point, each: Statement, text: str) -> Point:
    said = PointStance("disagree", text, each.turn_id, each.round)
    return replace(point, opposed_before={**point.opposed_before, each.participant: said})


_LISTED_ANEW = ("0.1", "0.1.0")
"""Versions of the program that told seats to list their conditions in every declaration, so that
what one left out it gave up."""


def _conditions_stand(state: State) -> bool:
    """Whether seats were told that their conditions stand until they withdraw them."""
    return state.start.program_version not in _LISTED_ANEW


def _conditions(
    statements: tuple[Statement, ...], *, stand: bool = True
) -> Iterator[ConditionOnTable]:
    """Conditions in the order in which they were made. They stand until their owner withdraws
    them; without `stand`, until its next declaration of a position, unless that lists them again.
    One that is worded as before keeps its id and its answers; one that its owner amends stands in
    its new wording, answered by nobody yet."""
    found: dict[str, ConditionOnTable] = {}
    current: dict[str, tuple[str, ...]] = {}
    amended = {
        (stance.id, each.round, each.participant)
        for each in statements
        for stance in each.declaration.stances
        if stance.stance == "amend"
    }
    for each in statements:
        reworded: set[str] = set()
        kept: list[str] = []
        withdrawn: set[str] = set()
        for stance in each.declaration.stances:
            held = found.get(stance.id)
            if held is None:
                continue
            if each.participant != held.owner:
                # Said beside its owner, who changed it: nobody knows to which wording.
                if each.in_turn or (held.id, each.round, held.owner) not in amended:
                    said = PointStance(stance.stance, stance.text, each.turn_id, each.round)
                    found[held.id] = replace(held, answers={**held.answers, each.participant: said})
            elif stance.stance == "withdraw":
                withdrawn.add(held.id)
            elif stance.stance == "amend":
                reworded.add(worded(held.text))
                worded_anew = held.condition.model_copy(update={"text": stance.text})
                found[held.id] = ConditionOnTable(
                    held.id, held.owner, worded_anew, each.turn_id, each.round
                )
                kept.append(held.id)
            elif stance.stance == "agree":
                kept.append(held.id)
        for condition in each.declaration.conditions:
            if worded(condition.text) in reworded:
                continue  # the old wording beside the new one
            same = (
                name
                for name, held in found.items()
                if held.owner == each.participant and worded(held.text) == worded(condition.text)
            )
            name = next(same, f"c{len(found) + 1}")
            if name not in found:
                found[name] = ConditionOnTable(
                    name, each.participant, condition, each.turn_id, each.round
                )
            if name not in withdrawn:
                kept.append(name)
        # A short call for votes alone never dropped any.
        alone = not (each.declaration.position or each.declaration.conditions)
        before = current.get(each.participant, ()) if stand or alone else ()
        names = tuple(dict.fromkeys((*before, *kept)))
        current[each.participant] = tuple(name for name in names if name not in withdrawn)
    standing = {name for names in current.values() for name in names}
    yield from (each for each in found.values() if each.id in standing)
