"""Voters: whose votes are independent, how many that comes to, and the rule that names the winner.

Two things are kept apart. A **seat** is an expert with arguments of its own; its vote is shown as
cast (2 : 1), whatever speaks from it. A **voter** is what errs independently: the seats that one
model speaks for are one voter, and so are models that turn out to be copies. Several experts on
one model are the normal case for whoever has one key; they bring arguments, not evidence of each
other's. So for naming the winner a voter counts as one and its seats share that, and the effective
number of voters stands beside the count and enters the confidence (`confidence.py`). Where all
seats are one voter there is nothing to share: one seat, one vote.

Nobody is taken for somebody else's copy on suspicion alone: seats of one family are merged only if
they also answered alike, strangers only if they answered nearly everything alike (`twins.py`).
People, and whoever speaks from outside, are voters of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from .tally import (
    Vote,
    best_of,
    calibrated,
    counted_votes,
    final_votes,
    first_choices,
    standing_options,
)
from .text import all_of
from .track_record import NO_RECORD, Answers, Choice, TrackRecord, learn
from .twins import Comparison, compare
from .values import OUTSIDE, SpeakerRef

TWINS = 0.9
"""Strangers are one voter from this wary likeness on. On recorded answers it found 90 to 100 in 100
copies of the weakest model and, over random tables of seven different models, merged none."""
FAMILY_TWINS = 0.5
"""Models of one family are one voter from this plain likeness on: the same weights at two servers
reached .2 to .7, two different models of one family hardly ever .5."""
SUSPECTED = 0.5
"""Strangers who are this much alike by the plain reading may be a clique: each counts for less the
more it is like another, and nothing learned from agreement is used, because a clique is what such
learning falls for."""
BOTH_RIGHT = 0.85
"""Two who agree more often than this may be copies that vary a little, or two good models on easy
questions: nobody can tell, so each counts in full, and nothing learned is used."""
SAME_MODEL = 0.85
"""Likeness of two seats of one model, in excess of that of two models: measured .86 between
personas on the strongest model of the recorded debates; weak models vary more, by noise."""
SAME_FAMILY = 0.1
"""The same between two models of one family: measured .02 to .09."""
_SUFFIXES = re.compile(
    r"(?::(?:free|beta|nitro|floor|online|latest|extended|thinking)"
    r"|-latest|[-@](?:20\d{2}-?\d{2}-?\d{2}|20\d{2}-?\d{2}|\d{4}))$"
)
"""What routers and vendors append to the name of a model: a service, a date. The model, or another
edition of it, is the same voter."""

Cause = Literal["alone", "same model", "same answers"]


@dataclass(frozen=True, slots=True)
class Group:
    """One voter: the seats that count as one, and why."""

    seats: tuple[str, ...]
    models: tuple[str, ...] = ()
    """Bare names; none for people and whoever speaks from outside."""
    cause: Cause = "alone"
    family: str = ""

    @property
    def key(self) -> str:
        """The name of the voter in a record: its first model, or its seat."""
        return self.models[0] if self.models else self.seats[0]


@dataclass(frozen=True, slots=True)
class Groups:
    """The voters of a table, and who of them is suspected of being another's copy."""

    groups: tuple[Group, ...] = ()
    suspects: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Keys of two voters who answer suspiciously alike, and how much. They stay two voters."""
    unclear: frozenset[tuple[str, str]] = frozenset()
    """Those who are as much alike, but may just both be right."""

    def of(self, seat: str) -> Group:
        """The voter behind a seat; one that nobody seated is its own."""
        return next((group for group in self.groups if seat in group.seats), Group((seat,)))

    def by_seat(self, seats: Iterable[str]) -> dict[str, Group]:
        known = {seat: group for group in self.groups for seat in group.seats}
        return {seat: known.get(seat, Group((seat,))) for seat in seats}


@dataclass(frozen=True, slots=True)
class Effective:
    """How many independent voters a table comes to, with the sentence that says why."""

    number: float
    reason: str


@dataclass(frozen=True, slots=True)
class Decision(Choice):
    """The winner by the one rule. `scores` are voters for each option (learned weights included if
    `weighted`); `cast` are seats, as people see the vote."""

    cast: Mapping[str, float] = field(default_factory=dict)
    voters: Mapping[str, float] = field(default_factory=dict)
    """Voters for each option, every one counted as 1."""

    @property
    def winner(self) -> str | None:
        """The one to go on with. In a tie, which stays one, the most seats and then the first by
        its characters: the voters are even, so more chairs are better than chance."""
        return min(self.winners, key=lambda o: (-self.cast.get(o, 0.0), o), default=None)


def bare_model(model: str) -> str:
    """A model's name without what servers and routers put around it: the model is the same."""
    vendor, _, name = model.strip().casefold().rpartition("/")
    while (cut := _SUFFIXES.sub("", name)) != name and cut:
        name = cut
    name = name.partition("@")[0].replace(".", "-")
    # "large" without its maker could be anybody's.
    return name if any(char.isdigit() for char in name) or not vendor else f"{vendor}/{name}"


def merge_twins(seats: Mapping[str, SpeakerRef], history: Iterable[Answers] = ()) -> Groups:
    """The voters behind these seats. `history` holds what models answered to past questions before
    any talk (`independent_answers`); without it only names and families tell.

    Neither the order of the seats nor that of the history decides anything.
    """
    by_model: dict[str, list[str]] = {}
    family: dict[str, str] = {}
    groups: list[Group] = []
    for seat in sorted(seats):
        model = bare_model(seats[seat].model)
        if model in ("", OUTSIDE):
            groups.append(Group((seat,)))
            continue
        by_model.setdefault(model, []).append(seat)
        family[model] = family.get(model) or seats[seat].family.casefold()
    comparison = compare(_by_bare_name(history), by_model)
    merged = _merge(comparison, family)
    alike = _alike(comparison, sorted(models[0] for models in merged))
    unclear = frozenset(pair for pair in alike if comparison.agreement(*pair) >= BOTH_RIGHT)
    for models in merged:
        held = tuple(sorted(seat for model in models for seat in by_model[model]))
        cause: Cause = (
            "same answers" if len(models) > 1 else "same model" if len(held) > 1 else "alone"
        )
        groups.append(Group(held, models, cause, family[models[0]]))
    return Groups(
        tuple(sorted(groups, key=lambda group: group.seats)),
        {pair: likeness for pair, likeness in alike.items() if pair not in unclear},
        unclear,
    )


def effective_voters(groups: Groups, voting: Collection[str] | None = None) -> Effective:
    """The effective number of independent voters among all seats, or among those that voted.

    (Σ w)² / Σ w·w·likeness over all pairs of seats, where the seats of a voter share its weight:
    as many as there are voters if nobody is like another, and hardly more than one if all are one.
    """
    seats = sorted({s for g in groups.groups for s in g.seats} if voting is None else set(voting))
    if not seats:
        return Effective(0.0, "Nobody voted.")
    present = Counter(group for group in groups.by_seat(seats).values())
    # A voter alike to itself: 1 for one seat, a little less for several that vary.
    total = sum((1 + (n - 1) * SAME_MODEL) / n for n in present.values())
    related = [g for g in present if g.models]
    families = Counter(group.family for group in related if group.family)
    total += sum(n * (n - 1) * SAME_FAMILY for n in families.values())
    keys = {group.key: group for group in related}
    for (a, b), likeness in groups.suspects.items():
        if a in keys and b in keys:
            counted = SAME_FAMILY if keys[a].family and keys[a].family == keys[b].family else 0.0
            total += 2 * max(0.0, likeness - counted)
    number = max(1.0, len(present) ** 2 / total)
    return Effective(number, _told(number, seats, present, families))


def learn_record(history: Iterable[Answers], groups: Groups) -> TrackRecord:
    """How far each voter is to be trusted, by key. Copies were merged before anything is learned:
    otherwise they witness for each other, and the worst model with three names looks best."""
    key_of = {model: group.key for group in groups.groups for model in group.models}
    past: list[dict[str, str]] = []
    for answers in _by_bare_name(history):
        given: dict[str, Counter[str]] = {}
        for model, answer in answers.items():
            if model in key_of:
                given.setdefault(key_of[model], Counter())[answer] += 1
        most = {key: _most(counted) for key, counted in given.items()}
        past.append({key: answer for key, answer in most.items() if answer is not None})
    return learn(past)


def decide(
    votes: Iterable[Vote],
    options: Sequence[str] | None,
    groups: Groups,
    record: TrackRecord = NO_RECORD,
) -> Decision:
    """The one rule that names the winner: more than half of the voters; else most of them, by
    learned weight, among the options that more than one voter stands behind if there are such.

    `votes` are of seats, `record` is of voters (`learn_record`). A voter whose seats differ is
    split between what they chose; a seat that abstains leaves its share to the others. Learned
    weights part a divided table and never overrule a majority, and are not used where two voters
    are suspiciously alike. A tie is broken by what ballots say beyond their first choice, and then
    by calibrated confidence, both counted by voter; no order ever decides.
    """
    last = final_votes(votes)
    standing = standing_options(last, options)
    counted = [vote for vote in counted_votes(last, standing) if vote.first]
    nothing = dict.fromkeys(standing, 0.0)
    if not counted:
        return Decision((), nothing, False, "No vote names an option.", nothing, nothing)
    cast = first_choices(counted, standing, lambda _: 1.0)
    behind = groups.by_seat(vote.voter for vote in counted)
    present = Counter(behind.values())
    one_voter = len(present) == 1
    worth = {} if one_voter else vote_shares(present, groups.suspects)
    share = {seat: worth.get(group, 1.0) for seat, group in behind.items()}
    voters = first_choices(counted, standing, lambda vote: share[vote.voter])
    # Whoever is absent today was in the record all the same.
    suspected = bool(groups.suspects)
    weighted = record.learned and not one_voter and not suspected and not groups.unclear
    scores = voters
    if weighted:
        scores = first_choices(
            counted,
            standing,
            lambda vote: share[vote.voter] * record.weight(behind[vote.voter].key),
        )
    reason = _rule_told(counted, present, one_voter, suspected, weighted)

    def named(winners: tuple[str, ...], told: str) -> Decision:
        return Decision(winners, scores, weighted, f"{reason} {told}", cast, voters)

    total = sum(voters.values())
    majority = next((o for o, n in voters.items() if n * 2 > total + 1e-9), None)
    if majority is not None:
        return named((majority,), "More than half stand behind it.")
    several = {option: scores[option] for option, n in voters.items() if n > 1 + 1e-9}
    winners = best_of(several or scores)
    if len(winners) == 1:
        return named(winners, "Most stand behind it, not more than half.")
    for told, further in (
        ("what the ballots rank below", _borda(counted, standing, share)),
        (
            "declared confidence",
            first_choices(counted, standing, lambda v: share[v.voter] * calibrated(v.confidence)),
        ),
    ):
        winners = best_of({option: further[option] for option in winners})
        if len(winners) == 1:
            return named(winners, f"A tie, broken by {told}.")
    return named(winners, "A tie that nothing in the ballots breaks.")


# --- merging -------------------------------------------------------------------------------------


def _merge(comparison: Comparison, family: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Merge the likest two until no two are like enough, with one witness from each voter."""
    merged: dict[str, tuple[str, ...]] = {model: (model,) for model in comparison.models}
    while twins := _likest(comparison, family, merged):
        a, b = twins
        merged[a] = tuple(sorted((*merged[a], *merged.pop(b))))
    return list(merged.values())


def _likest(
    comparison: Comparison, family: Mapping[str, str], models: Collection[str]
) -> tuple[str, str] | None:
    """The two that are most surely one voter; None if no two are."""
    if not comparison.asked:
        return None
    found: list[tuple[float, str, str]] = []
    for a, b in combinations(sorted(models), 2):
        wary = comparison.wary(a, b, models)
        if wary is not None and wary >= TWINS:
            found.append((wary, a, b))
        elif family[a] and family[a] == family[b]:
            plain = comparison.plain(a, b, models)
            if plain is not None and plain >= FAMILY_TWINS:
                found.append((plain, a, b))
    return max(found)[1:] if found else None


def _alike(comparison: Comparison, models: Sequence[str]) -> dict[tuple[str, str], float]:
    """Who may be a copy that varies, the likest first. Of two who may be, only one goes on as a
    witness: together they would make innocent pairs look alike."""
    witnesses = list(models)
    alike: dict[tuple[str, str], float] = {}
    while comparison.asked:
        found = [
            (plain, a, b)
            for a, b in combinations(models, 2)
            if (a, b) not in alike
            and (plain := comparison.plain(a, b, witnesses)) is not None
            and plain >= SUSPECTED
        ]
        if not found:
            break
        likeness, a, b = max(found)
        alike[a, b] = likeness
        if a in witnesses and b in witnesses:
            witnesses.remove(b)
    return alike


def _by_bare_name(history: Iterable[Answers]) -> list[dict[str, str]]:
    """By bare names; a model that gave two answers under two names has none."""
    past = []
    for answers in history:
        given: dict[str, set[str]] = {}
        for model, answer in answers.items():
            given.setdefault(bare_model(model), set()).add(answer)
        past.append({model: a.pop() for model, a in given.items() if len(a) == 1})
    return past


def _most(counted: Counter[str]) -> str | None:
    """The answer that most gave; None if two are level."""
    (answer, count), *rest = counted.most_common(2)
    return None if rest and rest[0][1] == count else answer


# --- counting ------------------------------------------------------------------------------------


def vote_shares(
    present: Counter[Group], suspects: Mapping[tuple[str, str], float]
) -> dict[Group, float]:
    """What each seat of a voter counts: one voter's vote, less what it shares with those it is
    suspected to be a copy of, divided among the seats that voted."""
    keys = {group.key for group in present}
    alike = Counter[str]()
    for (a, b), likeness in suspects.items():
        if a in keys and b in keys:
            alike.update({a: likeness, b: likeness})
    return {group: 1 / (1 + alike[group.key]) / n for group, n in present.items()}


def _borda(
    votes: Sequence[Vote], options: Sequence[str], share: Mapping[str, float]
) -> dict[str, float]:
    """Half a point for each option below, half a point off for each above, by share of a voter."""
    scores = dict.fromkeys(options, 0.0)
    for vote in votes:
        named = {option for group in vote.ranking for option in group} | vote.excluded
        rest = tuple(option for option in options if option not in named)
        ranked = [*vote.ranking, rest]
        total = sum(len(group) for group in ranked)
        above = 0
        for group in ranked:
            below = total - above - len(group)
            for option in group:
                scores[option] += share[vote.voter] * (below - above) / 2
            above += len(group)
    return scores


# --- words ---------------------------------------------------------------------------------------


def _told(
    number: float, seats: Sequence[str], present: Counter[Group], families: Counter[str]
) -> str:
    if len(seats) == 1:
        return "One voter: nobody else was there to agree or differ."
    if len(present) == 1:
        return (
            f"{all_of(len(seats))} seats are one model: it counts as about {number:.1f} "
            "independent voters."
        )
    copies = [f"{n} seats" for g, n in present.items() if n > 1]
    kin = any(n > 1 for n in families.values())
    why = (
        f"{', '.join(copies)} share one voter each" if len(copies) > 1
        else f"{copies[0]} share one voter" if copies
        else "models of one family count a little less" if kin
        else "no two are alike" if number > len(present) - 0.05
        else "some answer suspiciously alike"
    )  # fmt: skip
    return f"{len(seats)} seats count as about {number:.1f} independent voters: {why}."


def _rule_told(
    votes: Sequence[Vote], present: Counter[Group], one: bool, suspected: bool, weighted: bool
) -> str:
    if one and len(votes) > 1:
        return "All seats are one model, so each seat has one vote."
    if len(present) < len(votes):
        counted = f"{len(votes)} seats are {len(present)} voters: seats of one model share a vote."
    else:
        counted = "Every seat is a voter of its own."
    if suspected:
        return f"{counted} Some answer suspiciously alike and count for less."
    return f"{counted} What was learned from past questions weighs in." if weighted else counted
