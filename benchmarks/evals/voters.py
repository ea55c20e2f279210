"""Votes that copies of a model try to capture: panels with clones and cliques, and honest ones.

A clone panel is four models drawn at random and the weakest of them under two more names: the
names tell nothing, so copies must be recognised by how they answered. A clique panel has two
copies that vary (one to four answers in ten are another weak model's), which cannot be recognised
for sure. In a family panel they are named as one family. Voters, records and suspicions come from
the other half of the questions, without gold. The figure of a goal is the gain over plain
plurality, question by question; a tie earns the share of it that is right.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from roundtable.core.tally import Vote
from roundtable.core.track_record import choose, learn
from roundtable.core.values import SpeakerRef
from roundtable.core.voters import Groups, decide, effective_voters, learn_record, merge_twins

from .answers import SETS, AnswerSet, Question, credit, interval, mean, models_of, questions_of
from .data import Data
from .scorecard import Score

PANELS = 25
SEED = 1960
VARY = (0.1, 0.2, 0.3, 0.4)
"""The share of its answers in which a copy that varies is not its original, one for each panel."""
Kind = Literal["clones", "clique", "family", "seven"]
Answered = list[dict[str, str]]
"""For each question, what each seat answered."""
_PUBLISHED: Mapping[tuple[Kind, str], str] = {
    ("clones", "zeroeval_math_l5"): "other panels: plurality .420, before .351, merged .694",
    ("clones", "mmlu_pro"): "other panels: plurality .408, before .378, merged .541",
    ("clones", "zeroeval_crux"): "other panels: plurality .473, before .442, merged .646",
    ("seven", "zeroeval_math_l5"): "other panels: before .715, Dawid–Skene .736",
    ("seven", "mmlu_pro"): "other panels: before .560, Dawid–Skene .568",
    ("seven", "zeroeval_crux"): "other panels: before .666, Dawid–Skene .672",
    ("seven", "zeroeval_gsm"): "other panels: before .964, Dawid–Skene .962",
}
_LEAST_GAIN: Mapping[tuple[Kind, str], float] = {
    ("clones", "mmlu_pro"): 0.10,
    ("clones", "zeroeval_math_l5"): 0.15,
    ("clones", "zeroeval_crux"): 0.10,
    ("clones", "zeroeval_gsm"): 0.05,
}
"""Beside 0, which is the goal of all panels with copies."""
TOLERANCE = 0.01
"""How far below a goal a row may fall before it fails: about what the draw of panels moves it."""


@dataclass(frozen=True)
class Panel:
    seats: Mapping[str, SpeakerRef]
    answered: Answered
    copies: frozenset[str] = frozenset()
    """The seats that are really one model."""


@dataclass(frozen=True)
class Credits:
    """For each question and way to count, what the panel's answer is worth."""

    ours: list[float]
    plurality: list[float]
    before: list[float]
    dawid_skene: list[float]
    found: float
    """The share of pairs of copies that became one voter."""
    wrongly: int
    """Pairs of different models that did."""
    effective: float


def run(data: Data) -> list[Score]:
    scores = []
    for each in SETS:
        rows = None if each.suffix else data.rows("answers", each.file)
        if not rows:
            continue
        questions, models = questions_of(each, rows), models_of(rows)
        if len(models) >= 7 and len(questions) >= 60:
            kinds: tuple[Kind, ...] = ("clones", "clique", "family", "seven")
            scores += [_measured(each, kind, questions, models) for kind in kinds]
    return scores


def _measured(
    each: AnswerSet, kind: Kind, questions: Sequence[Question], models: Sequence[str]
) -> Score:
    chance = random.Random(f"{SEED}{kind}")
    gold = [q.gold for q in questions]
    right = {m: mean([float(q.answers.get(m) == q.gold) for q in questions]) for m in models}
    drawn = [
        panel_credits(draw(kind, questions, models, right, chance), gold) for _ in range(PANELS)
    ]
    ours, plain, before, dawid = (
        [mean(column) for column in zip(*rows, strict=True)]
        for rows in (
            [d.ours for d in drawn],
            [d.plurality for d in drawn],
            [d.before for d in drawn],
            [d.dawid_skene for d in drawn],
        )
    )
    gain = [a - b for a, b in zip(ours, plain, strict=True)]
    goal = _LEAST_GAIN.get((kind, each.file), 0.0)
    copies = "" if kind == "seven" else f"copies merged {mean([d.found for d in drawn]):.2f}, "
    return Score(
        each.name,
        f"{_TITLE[kind]}: gain over plurality",
        len(questions),
        mean(gain),
        majority=mean(plain),
        published=_PUBLISHED.get((kind, each.file), ""),
        at_least=goal,
        tolerance=TOLERANCE,
        note=f"ours {mean(ours):.3f} {interval(gain)}, before {mean(before):.3f}, one-coin "
        f"Dawid–Skene on the same voters {mean(dawid):.3f}; {copies}others wrongly "
        f"{sum(d.wrongly for d in drawn)}, effective {mean([d.effective for d in drawn]):.1f}",
    )


_TITLE: Mapping[Kind, str] = {
    "clones": "four and two clones of the weakest",
    "clique": "four and two that vary, unnamed",
    "family": "four and two that vary, one family",
    "seven": "seven different models",
}


def draw(
    kind: Kind,
    questions: Sequence[Question],
    models: Sequence[str],
    right: Mapping[str, float],
    chance: random.Random,
) -> Panel:
    """A panel whose seats say nothing of who is whose copy, but for the family."""
    members = chance.sample(models, 7 if kind == "seven" else 4)
    given: dict[str, list[str | None]] = {m: [q.answers.get(m) for q in questions] for m in members}
    weakest = min(members, key=lambda m: (right[m], m))
    others = sorted(
        (m for m in models if m != weakest), key=lambda m: abs(right[m] - right[weakest])
    )
    names = [] if kind == "seven" else [f"{weakest} again", f"{weakest} once more"]
    vary = 0.0 if kind == "clones" else chance.choice(VARY)
    for name in names:
        given[name] = [
            q.answers.get(chance.choice(others[:6]) if chance.random() < vary else weakest)
            for q in questions
        ]
    copies = frozenset({weakest, *names} if names else ())
    # Random numbers as names, so that nothing hangs on how they sort.
    alias = {name: f"model {chance.randrange(10**9)}" for name in given}
    return Panel(
        {
            alias[name]: SpeakerRef(
                model=alias[name], family="kin" if kind == "family" and name in copies else ""
            )
            for name in given
        },
        [
            {alias[name]: a for name, answers in given.items() if (a := answers[n]) is not None}
            for n in range(len(questions))
        ],
        frozenset(alias[name] for name in copies),
    )


def panel_credits(panel: Panel, gold: Sequence[str]) -> Credits:
    halves = [panel.answered[other::2] for other in (1, 0)]
    groups = [merge_twins(panel.seats, half) for half in halves]
    records = [learn_record(half, each) for half, each in zip(halves, groups, strict=True)]
    before = [learn(half) for half in halves]
    coins = [_one_coin(half, each) for half, each in zip(halves, groups, strict=True)]
    found = Credits([], [], [], [], 0.0, 0, 0.0)
    for n, (answered, right) in enumerate(zip(panel.answered, gold, strict=True)):
        votes = [Vote.of(seat, answer) for seat, answer in answered.items()]
        half = n % 2
        found.ours.append(credit(decide(votes, None, groups[half], records[half]).winners, right))
        found.before.append(credit(choose(votes, before[half]).winners, right))
        counted = Counter(answered.values())
        most = max(counted.values(), default=0)
        found.plurality.append(credit([a for a, c in counted.items() if c == most], right))
        found.dawid_skene.append(credit(_by_coins(answered, groups[half], coins[half]), right))
    together = [
        {a, b} <= panel.copies
        for each in groups
        for group in each.groups
        for i, a in enumerate(group.seats)
        for b in group.seats[i + 1 :]
    ]
    pairs = 2 * math.comb(len(panel.copies), 2)
    return Credits(
        found.ours,
        found.plurality,
        found.before,
        found.dawid_skene,
        sum(together) / pairs if pairs else 0.0,
        len(together) - sum(together),
        mean([effective_voters(each).number for each in groups]),
    )


# --- the usual estimate, for comparison ----------------------------------------------------------


def _one_coin(history: Answered, groups: Groups, wrong: int = 2) -> dict[str, float]:
    """EM on how often each voter is right, wrong answers taken as spread over `wrong` others:
    log odds as weights. Written for comparison; the program does not use it."""
    past = [
        {
            group.key: answers[seat]
            for group in groups.groups
            for seat in group.seats[:1]
            if seat in answers
        }
        for answers in history
    ]
    keys = {group.key for group in groups.groups}
    right = dict.fromkeys(keys, 0.6)
    for _ in range(20):
        weight = {key: math.log(p * wrong / (1 - p)) for key, p in right.items()}
        hits: Counter[str] = Counter()
        asked: Counter[str] = Counter()
        for answers in past:
            behind: dict[str, float] = {}
            for key, answer in answers.items():
                behind[answer] = behind.get(answer, 0.0) + weight[key]
            top = max(behind.values(), default=0.0)
            odds = {answer: math.exp(value - top) for answer, value in behind.items()}
            for key, answer in answers.items():
                hits[key] += odds[answer] / sum(odds.values())  # type: ignore[assignment]
                asked[key] += 1
        average = sum(hits.values()) / max(1, asked.total())
        right = {
            key: min(0.95, max(0.05, (hits[key] + 4 * average) / (asked[key] + 4))) for key in keys
        }
    return {key: max(0.01, math.log(p * wrong / (1 - p))) for key, p in right.items()}


def _by_coins(
    answered: Mapping[str, str], groups: Groups, weight: Mapping[str, float]
) -> list[str]:
    scores: dict[str, float] = {}
    for group in groups.groups:
        present = [answered[seat] for seat in group.seats if seat in answered]
        for answer in present:
            scores[answer] = scores.get(answer, 0.0) + weight[group.key] / len(present)
    best = max(scores.values(), default=0.0)
    return [answer for answer, score in scores.items() if score > best - 1e-9]
