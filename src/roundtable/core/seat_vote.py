"""Where a seat stands on a decision, followed from its first word on it to its last.

Each statement is looked at once: how it stood after any of them is kept, because reports tell it
round by round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .contradiction import named_in
from .declaration import ANY, OWN, SILENT, Decision, DeclaredVote
from .shared import Trail
from .statement import Statement
from .text import worded


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
    own: str = ""
    """What it means by `own` on this decision, in its words."""
    outvoted: bool = False
    """Whether its last position in words was declared with another vote than its last one: then the
    vote is what it holds, and the words are what it held before."""
    between: tuple[str, ...] = ()
    """What it voted for between what it held at first and its last vote, where that is else."""
    misstated: bool = False
    """Whether it says that it held its choice before, and the record says something else: what it
    declared or voted for itself. Then the record counts."""
    doubted: bool = False
    """Whether it says that it held its choice before, and only the clerk or only its words say
    something else: then nobody builds on either."""

    @property
    def choice(self) -> str:
        return self.vote.choice if self.vote else ""

    @property
    def moved(self) -> bool:
        """Whether it left what it held at first, as far as that is known."""
        return bool(self.choice) and self.opening not in (SILENT, ANY, self.choice)


class Votes:
    """The votes of all seats, after each of their statements. Where `before` is not `checked`, it
    is taken as it was given, as in 0.1."""

    def __init__(self, statements: Sequence[Statement], *, checked: bool = True) -> None:
        self._checked = checked
        self._said: dict[str, Trail[Statement]] = {}
        for each in statements:
            self._said.setdefault(each.participant, Trail()).append(each)
        self._tracks: dict[tuple[str, str], VoteTrack] = {}

    def said(self, participant: str, count: int) -> Sequence[Statement]:
        """The first so many statements of a seat."""
        held = self._said.get(participant)
        return () if held is None else held.first(count)

    def vote(self, decision: Decision, participant: str, count: int) -> SeatVote:
        """Where a seat stood on a decision after so many statements."""
        key = (decision.id, participant)
        track = self._tracks.get(key)
        if track is None or track.decision is not decision:
            track = self._tracks[key] = VoteTrack(decision, participant, checked=self._checked)
        return track.after(self._said.get(participant, ()), count)


class VoteTrack:
    """One seat on one decision. Its first declared word on it tells what it held before it; a vote
    in an independent round is that word itself."""

    def __init__(self, decision: Decision, participant: str, *, checked: bool = True) -> None:
        self.decision = decision
        self._checked = checked
        self._who = participant
        self._placed = [
            o.id for o in decision.options if o.origin == "clerk" and participant in o.holders
        ]
        self._opening, self._independent, self._earlier = SILENT, False, ""
        self._last: tuple[Statement, DeclaredVote] | None = None
        self._first, self._position, self._own, self._worded_for = "", "", "", ""
        self._spoke = self._heard_nobody = self._steady = self._confirmed = False
        self._misstated = self._doubted = False
        self._voted: list[str] = []
        self._stood = [self._now()]

    def after(self, said: Sequence[Statement], count: int) -> SeatVote:
        """How it stood after the first so many of these statements, always the same ones."""
        for each in said[len(self._stood) - 1 : count]:
            self._hear(each)
            self._stood.append(self._now())
        return self._stood[count]

    def _hear(self, each: Statement) -> None:
        previous = self._position
        self._position = each.declaration.position or self._position
        self._first = self._first or self._position
        if each.declaration.abstain is not None:
            self._last, self._spoke = None, True
            return
        vote = each.declaration.vote(self.decision.id)
        if vote is None:
            self._heard_nobody = self._heard_nobody or (each.independent and not self._spoke)
            if each.declaration.position:
                self._worded_for = self._earlier
            self._spoke = True
            return
        if vote.text or each.declaration.position or not self._own:
            self._own = vote.text or self._position
        self._first = self._first or self._own
        vote = self._resolved(vote)
        if not self._earlier:
            self._open(each, vote, previous)
        elif vote.before == vote.choice != self._earlier not in (OWN, ANY, SILENT):
            self._misstated = self._checked
        steady = self._spoke and vote.choice == self._earlier
        steady = steady and not self._misplaced(vote.choice)
        if self._last is not None and vote.choice == self._last[1].choice:
            self._confirmed = True
        self._steady = steady or (self._confirmed and vote.choice == self._earlier)
        self._last, self._earlier, self._spoke = (each, vote), vote.choice, True
        self._voted.append(vote.choice)
        if each.declaration.position:
            self._worded_for = vote.choice

    def _open(self, each: Statement, vote: DeclaredVote, previous: str) -> None:
        """What it held at first. Its first vote is that word itself, if nothing came before it;
        else it says with `before` where its statement belongs, which is checked."""
        if each.independent or not self._spoke:
            opening, self._independent = vote.choice, each.independent
        else:
            opening, self._independent = self._before(vote, previous), self._heard_nobody
            # Whoever worded its position anew since then says where that one belongs.
            unchanged = worded(previous) == worded(self._first)
            self._misstated = opening != vote.before == vote.choice and unchanged
        if self._spoke and self._contested(opening):
            self._doubted, self._independent = opening not in (OWN, SILENT), False
        if opening == OWN and self._put_up(vote.choice, self._first):
            opening = vote.choice
        self._opening = self._earlier = opening

    def _before(self, vote: DeclaredVote, previous: str) -> str:
        """Where its first statement belongs: as it says, unless an option has the very words of its
        position, or both the clerk and its position name another one."""
        for position in (self._first, previous) if self._checked else ():
            for option in self.decision.options:
                if self._put_up(option.id, position):
                    return option.id
        if not self._checked or not self._placed or vote.before in (OWN, *self._placed):
            return vote.before
        named = self._named()
        placed = [each for each in self._placed if each in named]
        return placed[0] if placed and vote.before not in named else vote.before

    def _resolved(self, vote: DeclaredVote) -> DeclaredVote:
        """A vote for one's own position is one for the option that this position became; or, where
        the vote itself says what it means by that, for the option that says so to the letter,
        whoever put it up, unless it rejects that. A position in equal words alone is none: three
        who say “it depends” may mean three things."""
        if vote.choice != OWN:
            return vote
        for option in self.decision.options:
            named = self._checked and vote.text and worded(vote.text) == worded(option.text)
            if self._put_up(option.id, self._own) or (named and option.id not in vote.rejects):
                return vote.model_copy(update={"choice": option.id})
        return vote

    def _put_up(self, option_id: str, position: str) -> bool:
        """Whether an option is what the seat put up itself, in the words of this position."""
        option = self.decision.option(option_id)
        own = option is not None and _own_option(self.decision, self._who, option_id)
        return own and option is not None and worded(option.text) == worded(position)

    def _contested(self, opening: str) -> bool:
        """Whether the clerk has its statement under another option, or, where the clerk has it
        nowhere, its own words do."""
        if self._checked and _own_option(self.decision, self._who, opening):
            return False
        if opening in self._placed:
            return False
        if self._placed or opening in (OWN, SILENT) or not self._checked:
            return bool(self._placed)
        named = self._named()
        return bool(named) and opening not in named

    def _named(self) -> frozenset[str]:
        """The options that its first position speaks for by name."""
        return named_in(self._first, {each.id: each.text for each in self.decision.options})

    def _misplaced(self, choice: str) -> bool:
        """Whether the clerk, who read its words, saw it elsewhere: one of the two is mistaken."""
        return bool(self._placed) and choice not in self._placed and not self._confirmed

    def _now(self) -> SeatVote:
        if self._last is None:
            return SeatVote(self._who, None, opening=self._opening, independent=self._independent)
        where, vote = self._last
        became = self._worded_for == OWN and _own_option(self.decision, self._who, vote.choice)
        return SeatVote(
            self._who,
            vote,
            where.turn_id,
            where.round,
            self._opening,
            self._independent,
            self._steady,
            self._own,
            outvoted=self._worded_for not in ("", SILENT, vote.choice) and not became,
            between=self._between(vote.choice),
            misstated=self._misstated,
            doubted=self._doubted,
        )

    def _between(self, choice: str) -> tuple[str, ...]:
        known = (self._opening, choice, OWN, ANY, SILENT)
        path = (each for each in self._voted if each not in known)
        return tuple(dict.fromkeys(path)) if self._opening == choice else ()


def _own_option(decision: Decision, participant: str, option_id: str) -> bool:
    option = decision.option(option_id)
    return option is not None and option.origin == "own" and participant in option.holders
