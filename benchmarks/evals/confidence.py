"""Calibration: whether of answers given with a probability of .7 seven in ten are right.

Cases are recorded debates, and panels of recorded answers without talk, whose facts are read from
what was recorded: who held the delivered answer in round 1, who came to it later. The delivered
answer is what the program's own rule names; ties have none. Questions are split by their text:
four fifths to fit on, in which each fifth is judged by a fit on the others (cross-validated), and
one fifth that nothing was fitted or chosen on. One set (agora) was never looked at in fitting: its
answers are read from prose, so it is told and judges nothing.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roundtable.core.confidence import (
    COEFFICIENTS,
    AgreementFacts,
    QuestionType,
    assess,
    features,
)
from roundtable.core.tally import Vote
from roundtable.core.values import SpeakerRef
from roundtable.core.voters import decide, effective_voters, merge_twins

from .answers import SEED, SETS, models_of, questions_of
from .data import Data
from .debates import debater, plain, rounds_of_agents, rounds_of_turns, stated_rounds
from .scorecard import Score

Floats = npt.NDArray[np.float64]
FOLDS = 5
RIDGE = 1.0
PANEL_SIZES = (2, 3, 3, 5, 7)
GOAL = 0.06
TOLERANCE = 0.02
"""An ECE of some hundred cases moves about so much by chance alone."""
_FAMILIES = (
    "llama", "vicuna", "mistral", "mixtral", "qwen", "yi", "claude", "gemini", "gemma", "gpt",
    "davinci", "o1", "deepseek", "phi", "reka", "command",
)  # fmt: skip
_ONE_FAMILY = {"vicuna": "llama", "mixtral": "mistral", "davinci": "gpt", "o1": "gpt"}


@dataclass(frozen=True)
class Case:
    """One recorded end: how it came about, and whether it was right."""

    source: str
    question: str
    facts: AgreementFacts
    right: bool
    weight: float = 1.0


def run(data: Data) -> list[Score]:
    found = [case for case in cases(data) if case.facts.seated > 1]
    if not found:
        return []
    # Another half is new as a whole.
    fresh = [c for c in found if data.split != "dev" or untouched(c)]
    known = [c for c in found if data.split == "dev" and not untouched(c)]
    scores: list[Score] = []
    if len({fold(c) for c in known}) == FOLDS:
        scores += _calibration("cross-validated by question", known, cross_validated(known), False)
        scores.append(_constants(known))
    if fresh:
        scores += _calibration("questions never fitted on", fresh, ours(fresh), True)
    for source in sorted({c.source for c in found}):
        scores += _one_set(source, found)
    prose = [c for c in prose_cases(data) if c.facts.seated > 1]
    if prose:
        p, y, w = ours(prose), truth(prose), weights(prose)
        scores.append(
            Score(
                "agora_debates",
                "ECE, answers read from prose",
                len(prose),
                ece(p, y, w),
                untouched=True,
                note=_brier_told(p, y, w) + "; open models of 2023, much of it garbled",
            )
        )
    return scores


# --- cases ---------------------------------------------------------------------------------------


def cases(data: Data) -> list[Case]:
    """Every recorded end whose facts are known."""
    return [*_small_models(data), *_ford(data), *_panels(data)]


def prose_cases(data: Data) -> list[Case]:
    found = []
    for row in data.rows("debates", "agora_debates") or ():
        rounds, gold, numbers = stated_rounds(row)
        seats = {name: SpeakerRef(model=name) for name in (rounds[0] if rounds else {})}
        case = _case("agora", row["question"], rounds, seats, gold, "open" if numbers else "choice")
        found += [case] if case else []
    return found


def _small_models(data: Data) -> Iterable[Case]:
    for row in data.rows("debates", "slm_debates") or ():
        seats = {a["agent"]: SpeakerRef(model=row["model"]) for a in row["agents"]}
        kind: QuestionType = "open" if row["dataset"] == "gsm" else "choice"
        source = f"slm_debates, {row['dataset']}"
        gold = plain(row["gold"])
        case = _case(source, row["question"], rounds_of_agents(row), seats, gold, kind)
        if case:
            yield case


def _ford(data: Data) -> Iterable[Case]:
    for row in data.rows("debates", "ford_debates") or ():
        rounds = rounds_of_turns(row, lambda turn: plain(turn["answer"]))
        names = {debater(row, turn["model"]) for turn in row["turns"]}
        seats = {name: SpeakerRef(model=name, family=family(name)) for name in names}
        kind: QuestionType = "yes_no" if row["dataset"] == "strategyqa" else "choice"
        case = _case("ford_debates", row["question"], rounds, seats, plain(row["gold"]), kind)
        if case:
            yield case


def _panels(data: Data) -> Iterable[Case]:
    """Panels of models that never heard each other: all agreement is independent."""
    for each in SETS:
        rows = None if each.suffix else data.rows("answers", each.file)
        if not rows:
            continue
        models = models_of(rows)
        kind: QuestionType = "choice" if each.file == "mmlu_pro" else "open"
        sizes = [size for size in PANEL_SIZES if size <= len(models)]
        for question in questions_of(each, rows):
            key = str(question.row["id"])
            chance = random.Random(key)
            for size in sizes:
                panel = chance.sample(models, size)
                seats = {m: SpeakerRef(model=m, family=family(m)) for m in panel}
                answered = {m: question.answers.get(m) for m in panel}
                case = _case(each.file, key, [answered], seats, question.gold, kind, 1 / len(sizes))
                if case:
                    yield case


def _case(
    source: str,
    question: str,
    rounds: Sequence[Mapping[str, str | None]],
    seats: Mapping[str, SpeakerRef],
    gold: str | None,
    kind: QuestionType,
    weight: float = 1.0,
) -> Case | None:
    first: dict[str, str | None] = {}
    last: dict[str, str | None] = {}
    for each in rounds:
        for seat, answer in each.items():
            first.setdefault(seat, answer)
            last[seat] = answer
    groups = merge_twins(seats)
    named = decide([Vote.of(s, a) for s, a in last.items() if a is not None], None, groups)
    if named.tied or named.winner is None:
        return None
    holding = [seat for seat, answer in last.items() if answer == named.winner]
    independent = sum(first[seat] == named.winner for seat in holding)
    voting = [seat for seat, answer in last.items() if answer is not None]
    facts = AgreementFacts(
        seated=len(seats),
        holding=len(holding),
        independent=independent,
        # Everybody had read the others' reasons; which of them moved it, nobody recorded.
        moved=len(holding) - independent,
        abstaining=sum(answer is None for answer in last.values()),
        effective=effective_voters(groups, voting).number,
        question=kind,
    )
    return Case(source, question, facts, named.winner == gold, weight)


def family(model: str) -> str:
    name = model.casefold().replace("chagpt", "gpt")
    found = next((each for each in _FAMILIES if each in name), "")
    return _ONE_FAMILY.get(found, found)


# --- the split -----------------------------------------------------------------------------------


def _part(question: str, salt: str) -> int:
    return int.from_bytes(hashlib.sha256((salt + question).encode()).digest()[:8], "big") % FOLDS


def untouched(case: Case) -> bool:
    return _part(case.question, "never fitted") == 0


def fold(case: Case) -> int:
    return _part(case.question, "fold")


# --- the fit -------------------------------------------------------------------------------------


def matrix(cases_: Sequence[Case]) -> Floats:
    return np.array([features(case.facts) for case in cases_])


def truth(cases_: Sequence[Case]) -> Floats:
    return np.array([float(case.right) for case in cases_])


def weights(cases_: Sequence[Case]) -> Floats:
    return np.array([case.weight for case in cases_])


def fit(cases_: Sequence[Case]) -> Floats:
    """Logistic regression with a small ridge, in Newton's steps. What must not lower confidence is
    kept from doing so: a coefficient below zero is set to none and the others are fitted again."""
    x, y, w = matrix(cases_), truth(cases_), weights(cases_)
    free = list(range(x.shape[1]))
    while True:
        b = np.zeros(x.shape[1])
        for _ in range(40):
            p = 1 / (1 + np.exp(-x @ b))
            slope = x.T @ (w * (y - p)) - RIDGE * np.r_[0, b[1:]]
            bend = (x * (w * p * (1 - p))[:, None]).T @ x + RIDGE * np.diag(
                np.r_[1e-6, np.ones(len(b) - 1)]
            )
            b[free] += np.linalg.solve(bend[np.ix_(free, free)], slope[free])
        below = [i for i in (1, 2, 3) if b[i] < 0]
        if not below:
            return b
        free = [i for i in free if i not in below]


def cross_validated(cases_: Sequence[Case]) -> Floats:
    folds = np.array([fold(case) for case in cases_])
    x = matrix(cases_)
    p = np.zeros(len(cases_))
    for each in range(FOLDS):
        fitted = fit([case for case, f in zip(cases_, folds, strict=True) if f != each])
        p[folds == each] = 1 / (1 + np.exp(-x[folds == each] @ fitted))
    return p


def ours(cases_: Sequence[Case]) -> Floats:
    """What the program says of them."""
    return np.array([assess(case.facts).probability or 0.0 for case in cases_])


# --- figures -------------------------------------------------------------------------------------


def ece(p: Floats, y: Floats, w: Floats, bins: int = 10) -> float:
    """The mean distance of probability and share in ten bins of equal width."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    return float(sum(abs((w * (p - y))[place == b].sum()) for b in range(bins)) / w.sum())


def _by_chance(p: Floats, w: Floats) -> float:
    """The ECE of probabilities that are exactly true, on so many cases: never zero."""
    draws = np.random.default_rng(SEED)
    drawn = [ece(p, (draws.random(len(p)) < p).astype(float), w) for _ in range(100)]
    return float(np.mean(drawn))


def brier(p: Floats, y: Floats, w: Floats) -> float:
    return float((w * (p - y) ** 2).sum() / w.sum())


def _constant(y: Floats, w: Floats) -> float:
    share = (w * y).sum() / w.sum()
    return brier(np.full_like(y, share), y, w)


def _brier_told(p: Floats, y: Floats, w: Floats) -> str:
    return (
        f"says {(w * p).sum() / w.sum():.3f}, right {(w * y).sum() / w.sum():.3f}; "
        f"Brier {brier(p, y, w):.3f}, constant {_constant(y, w):.3f}"
    )


def _calibration(title: str, cases_: Sequence[Case], p: Floats, new: bool) -> list[Score]:
    y, w = truth(cases_), weights(cases_)
    told = ", ".join(f"{s} {n}" for s, n in sorted(Counter(c.source for c in cases_).items()))
    questions = len({c.question for c in cases_})
    return [
        Score(
            "debates and panels",
            f"ECE, {title}",
            len(cases_),
            ece(p, y, w),
            at_most=GOAL,
            tolerance=TOLERANCE,
            untouched=new,
            note=f"{questions} questions, {_by_chance(p, w):.3f} by chance alone; {told}",
        ),
        Score(
            "debates and panels",
            f"Brier score, {title}",
            len(cases_),
            brier(p, y, w),
            majority=_constant(y, w),
            at_most=_constant(y, w),
            untouched=new,
            note="beside it: one probability for all",
        ),
    ]


def _constants(known: Sequence[Case]) -> Score:
    fitted = fit(known)
    return Score(
        "debates and panels",
        "constants differ from a new fit by",
        len(known),
        float(np.abs(fitted - np.array(COEFFICIENTS)).max()),
        at_most=0.02,
        note="python -m benchmarks.evals.fit_confidence prints them",
    )


def _one_set(source: str, found: Sequence[Case]) -> list[Score]:
    """How it does on one set alone, fitted on all others: how far it carries to new questions."""
    inside = [c for c in found if c.source == source]
    outside = [c for c in found if c.source != source]
    if len(inside) < 20 or len(outside) < 100:
        return []
    y, w = truth(inside), weights(inside)
    p = 1 / (1 + np.exp(-matrix(inside) @ fit(outside)))
    scores = [
        Score(
            source,
            "ECE, fitted on all other sets",
            len(inside),
            ece(p, y, w),
            note=_brier_told(p, y, w) + f"; as shipped: ECE {ece(ours(inside), y, w):.3f}",
        )
    ]
    stood = _right(inside, lambda f: f.independent == f.holding == f.seated)
    talk = _right(inside, lambda f: f.holding == f.seated > f.independent)
    if stood and talk:
        scores.append(
            Score(
                source,
                "unanimous from the start: right",
                stood[1],
                stood[0],
                note=f"unanimous only after talk {talk[0]:.3f} of {talk[1]}",
            )
        )
    return scores


def _right(
    cases_: Sequence[Case], want: Callable[[AgreementFacts], bool]
) -> tuple[float, int] | None:
    chosen = [c.right for c in cases_ if want(c.facts)]
    return (sum(chosen) / len(chosen), len(chosen)) if chosen else None
