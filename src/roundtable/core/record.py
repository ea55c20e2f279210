"""The decision record: one object for every procedure, folded from what seats declared.

Who holds what on which decision, in which round, under which conditions; who is absent and who
abstains; the points with everybody's stances. It adds nothing: what stands in no declaration is not
in it. What follows from it (agreement, dissent, the end) is `standing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .conditions import ConditionOnTable, Conditions, conditions_stand
from .declaration import (
    ANY,
    OWN,
    UNDECLARED,
    Decision,
    Declaration,
    DeclaredVote,
    Option,
)
from .events import BallotCast, SpeechGiven
from .points import Point, Points, PointStatus
from .seat_vote import SeatVote, Votes
from .shared import Trail
from .state import State, lost_to_limit
from .statement import PointStance, Statement, demonstrates

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
class Record:
    """Everything that was declared at one table."""

    seats: tuple[str, ...]
    """Everybody who was seated, in their order: agreement is counted of all of them."""
    decisions: tuple[Decision, ...]
    shared: tuple[str, ...]
    statements: Sequence[Statement]
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
    as_cast: bool = True
    """Whether a vote counts as it was cast if its seat could know that a demand of its own was
    refused, and what a seat says it held before is checked. In 0.1 neither was so, and what was
    counted then stays as it was."""
    places: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """By turn, which of the statements was made in it."""
    tracks: Votes = field(default_factory=lambda: Votes(()), compare=False, repr=False)
    counts: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """By seat, how many of the statements are its own: with `tracks`, how it voted. Records of one
    discussion at several times share them; a record without has its own."""

    def __post_init__(self) -> None:
        if self.statements and not self.counts:
            votes = Votes(self.statements, checked=self.as_cast)
            object.__setattr__(self, "tracks", votes)
            counts = Counter(each.participant for each in self.statements)
            object.__setattr__(self, "counts", counts)

    @property
    def question(self) -> Decision | None:
        """The decision on the question that was asked, once there is one."""
        return self.decisions[0] if self.decisions else None

    @property
    def rounds(self) -> tuple[int, ...]:
        return tuple(sorted({each.round for each in self.statements}))

    def of(self, participant: str) -> Sequence[Statement]:
        """What a seat declared, in order."""
        return self.tracks.said(participant, self.counts.get(participant, 0))

    def until(self, round_: int) -> Record:
        """The same with what was declared before a round alone."""
        said = tuple(each for each in self.statements if each.round < round_)
        counts = Counter(each.participant for each in said)
        votes = Votes(said, checked=self.as_cast)
        return replace(self, statements=said, tracks=votes, counts=counts)

    def last(self, participant: str) -> Statement | None:
        return next(reversed(self.of(participant)), None)

    def position(self, participant: str, *, first: bool = False) -> str:
        """Its last position in a sentence, or the first one; empty if it declared none."""
        said = self.of(participant) if first else reversed(self.of(participant))
        return next((e.declaration.position for e in said if e.declaration.position), "")

    def holds(self, decision: Decision, participant: str) -> str:
        """What it holds in words: its last position, or the option that it voted for since."""
        vote = self.vote(decision, participant)
        option = decision.option(vote.choice) if vote.outvoted else None
        return option.text if option else self.position(participant)

    def confidence(self, participant: str) -> int | None:
        said = reversed(self.of(participant))
        return next((sure for e in said if (sure := e.declaration.confidence) is not None), None)

    def vote(self, decision: Decision, participant: str) -> SeatVote:
        vote = self._stands(decision, participant)
        return replace(vote, vote=None) if participant in self.lapsed else vote

    def last_choice(self, decision: Decision, participant: str) -> str:
        """What a seat chose last, whether that still counts or not; OWN where it never voted and
        declared a position; empty where it declared neither."""
        chosen = self._stands(decision, participant).choice
        return chosen or (OWN if self.position(participant) else "")

    def _stands(self, decision: Decision, participant: str) -> SeatVote:
        return self.tracks.vote(decision, participant, self.counts.get(participant, 0))

    def votes(self, decision: Decision) -> tuple[SeatVote, ...]:
        """Everybody's vote, in the order of the seats."""
        return tuple(self.vote(decision, seat) for seat in self.seats)

    def so_far(self, decision: Decision) -> dict[str, str]:
        """By seat, the option of its newest word on a decision, while it goes on: its vote, or what
        its position became. Who declares nothing afterwards has not left it, though it is not
        counted; of positions of their own each is another one (`own/ann`)."""
        found: dict[str, str] = {}
        for seat in self.seats:
            choice = self._stands(decision, seat).choice
            placed = [option.id for option in decision.options if seat in option.holders]
            held = f"{OWN}/{seat}" if choice == OWN else choice or next(iter(placed), "")
            if held and held != ANY and seat not in self.abstained:
                found[seat] = held
        return found

    def could_know(self, turn_id: str, of: str) -> bool:
        """Whether whoever declared something in one turn can have known what was declared in the
        other: it came later, and not side by side with it."""
        later, earlier = self.places.get(turn_id, -1), self.places.get(of, -1)
        if earlier < 0 or later <= earlier:
            return False
        said, heard = self.statements[later], self.statements[earlier]
        return said.in_turn or said.place != heard.place

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
    voters = {each.id for each in state.voters}
    spoken = [s.round for s in state.said.of_seats if s.participant in voters]
    if state.points or state.ballots or spoken != sorted(spoken):
        earlier = {each: record_after(state, each) for each in ordered[:-1]}
    else:
        fold = _Fold(state, _heard(state))
        earlier = {each: fold.record(each + 1) for each in ordered[:-1]}
    return {**earlier, **dict.fromkeys(ordered[-1:], whole)}


def record_before(state: State, round_: int) -> Record:
    """The record as it was before a round: what seats that speak side by side may know, whoever of
    them is asked again or after a restart."""
    return state.derived(f"record before {round_}", lambda s: _record(s, round_))


def record_after(state: State, round_: int) -> Record:
    """The record as it stood at the end of a round."""
    return record_before(state, round_ + 1)


def _record(state: State, before: int | None = None) -> Record:
    return _Fold(state, _heard(state, before), before).record(before)


def _heard(state: State, limit: int | None = None) -> _Heard:
    if limit is not None:
        return _Heard(state, limit)
    return state.derived("heard", _Heard)


class _Heard:
    """What the seats said and declared, looked through once for every record of it. `limit` leaves
    out all from a round on, in whichever order they came."""

    def __init__(self, state: State, limit: int | None = None) -> None:
        self.seats = tuple(each.id for each in state.voters)
        seats = frozenset(self.seats)
        spoken = [s for s in state.said.of_seats if s.participant in seats]
        self.small = {s.participant for s in spoken if demonstrates(state, s)}
        self.as_cast = conditions_stand(state)
        self.decisions, self.shared, self.clashes = _tabled(state)
        statements = _statements(state, spoken, self.small, limit)
        if not self.decisions and state.ballots:
            self.decisions, statements = _legacy(state, self.small)
        self.all = Trail(s for s in statements if limit is None or s.round < limit)
        # Whoever was asked last and declared nothing has taken back its voice, visibly; but not
        # if a limit took its words away.
        asked = [s for s in spoken if was_asked(s) and not lost_to_limit(s)]
        self.asked = [s for s in asked if limit is None or s.round < limit]
        self.places = {each.turn_id: place for place, each in enumerate(self.all)}
        self.tracks = Votes(self.all, checked=self.as_cast)
        self.speakers = {s.participant for s in spoken}


def was_asked(speech: SpeechGiven) -> bool:
    """Whether a speech was to declare what its seat holds."""
    counts = not speech.stage.endswith(IN_REVERSE) and speech.stage != RANKING
    return counts and (speech.declaration is not None or UNDECLARED in speech.flags)


class _Fold:
    """The record of what was said before one round after another, each of which adds to the one
    before it. It takes speeches in the order of their rounds."""

    def __init__(self, state: State, heard: _Heard, limit: int | None = None) -> None:
        self._heard = heard
        self._points = Points(state, heard.all, limit)
        self._conditions = Conditions(heard.all, stand=heard.as_cast)
        self._counts: Counter[str] = Counter()
        self._added = self._voices = 0
        self._last: dict[str, Declaration] = {}
        self._declared: set[str] = set()
        self._newest: dict[str, SpeechGiven] = {}

    def record(self, before: int | None) -> Record:
        """The record of what came before this round; not before one that was asked for already."""
        self._add(before)
        said = self._heard
        lapsed = {seat for seat, speech in self._newest.items() if speech.declaration is None}
        declared, small = self._declared, said.small
        heard = said.speakers | declared
        return Record(
            seats=said.seats,
            decisions=said.decisions,
            shared=said.shared,
            statements=said.all.first(self._added),
            absent=tuple(seat for seat in said.seats if seat not in heard),
            undeclared=tuple(
                s
                for s in said.seats
                if s in heard and s not in small and (s not in declared or s in lapsed)
            ),
            lapsed=tuple(s for s in said.seats if s in lapsed and s in declared),
            abstained={seat: d.abstain for seat, d in self._last.items() if d.abstain is not None},
            points=self._points.listed(before),
            conditions=self._conditions.standing,
            clashes=said.clashes,
            demonstration=tuple(seat for seat in said.seats if seat in small),
            as_cast=said.as_cast,
            places=said.places,
            tracks=said.tracks,
            counts=dict(self._counts),
        )

    def _add(self, before: int | None) -> None:
        said = self._heard
        for place in range(self._added, len(said.all)):
            each = said.all[place]
            if before is not None and each.round >= before:
                break
            self._points.add(each)
            self._conditions.add(each)
            self._declared.add(each.participant)
            self._counts[each.participant] += 1
            if _takes_part(each):
                self._last[each.participant] = each.declaration
            self._added += 1
        for place in range(self._voices, len(said.asked)):
            speech = said.asked[place]
            if before is not None and speech.round >= before:
                break
            self._newest[speech.participant] = speech
            self._voices += 1


def _statements(
    state: State, spoken: Sequence[SpeechGiven], small: set[str], limit: int | None
) -> tuple[Statement, ...]:
    one_by_one = state.start.options.get(SPEECH_ORDER) == IN_TURN
    stages = _stages(spoken) if conditions_stand(state) else {}
    return _corrected(
        [
            Statement(
                s.participant,
                s.round,
                s.turn_id,
                s.declaration,
                s.independent,
                s.corrects,
                one_by_one or s.corrects,
                stages.get(s.turn_id, ""),
            )
            for s in spoken
            if s.declaration is not None
            and s.participant not in small
            and not s.stage.endswith(IN_REVERSE)
            and (limit is None or s.round < limit)
        ]
    )


def _stages(speeches: Iterable[SpeechGiven]) -> dict[str, str]:
    """By turn, the stage in which something was said; a correction belongs to what it corrects."""
    found: dict[str, str] = {}
    last: dict[tuple[str, int], str] = {}
    for each in speeches:
        seat = (each.participant, each.round)
        found[each.turn_id] = last.get(seat, each.stage) if each.corrects else each.stage
        last[seat] = found[each.turn_id]
    return found


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


__all__ = [
    "IN_REVERSE",
    "IN_TURN",
    "LEGACY",
    "QUESTION",
    "RANKING",
    "SPEECH_ORDER",
    "ConditionOnTable",
    "Point",
    "PointStance",
    "PointStatus",
    "Record",
    "SeatVote",
    "Statement",
    "record_after",
    "record_before",
    "record_of",
    "records_by_round",
    "was_asked",
]
