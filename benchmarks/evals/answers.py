"""Recorded answers of several models: single models, plain majority, each rule, and our default.

Answers are compared as the recorded grading did. Track records are learned on the other half of
the questions, from agreement alone: never with gold, never on the question that is voted on. A
vote that ends in a tie gets the share of the tied answers that is right, so that no rule lives on
luck. A model without an answer casts no ballot, and is wrong when it stands alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from roundtable.core.tally import RULES, Rule, Vote, tally
from roundtable.core.track_record import TrackRecord, choose, learn
from roundtable.models.embedder import WordLlamaEmbedder

from .data import Data, Row
from .scorecard import Score

PANELS = 200
"""So many random panels of each size: with a tenth of them the draw, not the rule, decides a close
row."""
PANELS_OF_CURVES = 30
"""Early stops are told, not judged, and each panel is counted again for each point of the curve."""
SIZES = (3, 5, 7)
SEED = 2026
RESAMPLES = 1000
Answers = dict[str, str]
Credits = list[float]
"""For each question, how much of the answer is right: 0, 1, or a share in a tie."""


def graded(answer: object) -> str | None:
    """An answer as the recorded grading compares it: case, spaces, commas and marks of a formula
    do not count; quotation marks do."""
    text = str(answer).strip() if answer is not None else ""
    if boxed := re.fullmatch(r"\\boxed\s*\{(.*)\}", text, re.DOTALL):
        text = boxed[1]
    return re.sub(r"[\s,$]|\\[()\[\]]", "", text).casefold() or None


def without_quotes(answer: object) -> str | None:
    """The same without quotation marks: models differ in whether they write them around a text."""
    text = graded(answer)
    return None if text is None else re.sub(r"['\"`]", "", text)


@dataclass(frozen=True)
class Question:
    gold: str
    answers: Answers
    row: Row


@dataclass(frozen=True)
class AnswerSet:
    file: str
    published: str
    plain: Callable[[object], str | None] = graded
    suffix: str = ""

    @property
    def name(self) -> str:
        return self.file + self.suffix


SETS = (
    AnswerSet("mmlu_pro", "mean .395, best .701, plurality .581, top five .664"),
    AnswerSet("zeroeval_gsm", "mean .876, best .966, plurality .970"),
    AnswerSet("zeroeval_math_l5", "mean .384, best .888, plurality .710, top five .838"),
    AnswerSet("zeroeval_crux", "mean .495, best .854, plurality .616, top five .829"),
    AnswerSet("zeroeval_crux", "", without_quotes, ", quotes ignored"),
)


def run(data: Data) -> list[Score]:
    scores: list[Score] = []
    for each in SETS:
        if rows := data.rows("answers", each.file):
            scores += _measured(each, rows)
    return scores


def _measured(each: AnswerSet, rows: Sequence[Row]) -> list[Score]:
    questions = questions_of(each, rows)
    models = models_of(rows)
    alone = {m: [float(q.answers.get(m) == q.gold) for q in questions] for m in models}
    ranked = sorted(models, key=lambda m: (-mean(alone[m]), m))
    best = ranked[0]
    chance = random.Random(SEED)
    panels = {
        size: [chance.sample(models, size) for _ in range(PANELS)]
        for size in SIZES
        if size <= len(models)
    }
    n = len(questions)
    scores = [
        *_as_graded(each, rows),
        Score(
            each.name,
            "single model: mean",
            n,
            mean([mean(alone[m]) for m in models]),
            published=each.published,
            note=f"{len(models)} models, best {best} {mean(alone[best]):.3f} "
            + interval(alone[best]),
        ),
        _voted(each, f"default, all {len(models)}", questions, [models], alone),
        _voted(each, "default, top five", questions, [ranked[:5]], alone),
        _each_rule(each, questions, models),
        *_with_texts(each, questions, models, alone),
    ]
    for size, drawn in panels.items():
        metric = f"default, random {size}"
        scores.append(_voted(each, metric, questions, drawn, alone, f"{PANELS} panels"))
    few = {size: drawn[:PANELS_OF_CURVES] for size, drawn in panels.items()}
    return scores + _early_stops(each, questions, few)


def questions_of(each: AnswerSet, rows: Sequence[Row]) -> list[Question]:
    found = []
    for row in rows:
        given = {m: each.plain(a) for m, a in row["all_model_answers"].items()}
        answers = {m: text for m, text in given.items() if text is not None}
        found.append(Question(each.plain(row["gold"]) or "", answers, row))
    return found


def models_of(rows: Sequence[Row]) -> list[str]:
    """The models that were asked nearly everything."""
    asked = Counter(model for row in rows for model in row["all_model_answers"])
    return sorted(model for model, count in asked.items() if count >= 0.95 * len(rows))


def _as_graded(each: AnswerSet, rows: Sequence[Row]) -> list[Score]:
    if each.plain is not graded:
        return []
    flags = [
        (graded(reply["answer"]) == graded(row["gold"])) == reply["correct"]
        for row in rows
        for reply in row["responses"]
        if reply.get("correct") is not None
    ]
    share = mean([float(same) for same in flags]) if flags else None
    goal = 0.99 if flags else None
    return [Score(each.name, "exact match = recorded grading", len(flags), share, at_least=goal)]


# --- voting --------------------------------------------------------------------------------------


def _voted(
    each: AnswerSet,
    metric: str,
    questions: Sequence[Question],
    panels: Sequence[Sequence[str]],
    alone: Mapping[str, Credits],
    told: str = "",
) -> Score:
    """Our default beside plain majority, over all panels; the goal is not to be below it."""
    ours = _mean_credits([default_credits(questions, panel) for panel in panels])
    plain = _mean_credits([majority_credits(questions, panel) for panel in panels])
    best = mean([max(mean(alone[m]) for m in panel) for panel in panels])
    gain = [a - b for a, b in zip(ours, plain, strict=True)]
    return Score(
        each.name,
        metric,
        len(questions),
        mean(ours),
        majority=mean(plain),
        at_least=mean(plain) - 1e-9,
        note=f"{interval(ours)}, gain {mean(gain):+.3f} {interval(gain)}, best single {best:.3f}"
        + (f", {told}" if told else ""),
    )


def default_credits(questions: Sequence[Question], panel: Sequence[str]) -> Credits:
    """The default rule with a record from the other half of the questions."""
    records = _records(questions, panel)
    return [_default(q, panel, records[n % 2]) for n, q in enumerate(questions)]


def _records(questions: Sequence[Question], panel: Sequence[str]) -> tuple[TrackRecord, ...]:
    """For even and for odd questions, what the others teach."""
    return tuple(learn([q.answers for q in questions[other::2]], panel) for other in (1, 0))


def _default(question: Question, panel: Sequence[str], record: TrackRecord) -> float:
    return credit(choose(_votes(question, panel), record).winners, question.gold)


def majority_credits(questions: Sequence[Question], panel: Sequence[str]) -> Credits:
    """Plain counting, written anew: the baseline shares no code with what is measured."""
    found = []
    for question in questions:
        counted = Counter(question.answers[m] for m in panel if m in question.answers)
        most = max(counted.values(), default=0)
        found.append(credit([a for a, count in counted.items() if count == most], question.gold))
    return found


def _votes(question: Question, panel: Sequence[str]) -> list[Vote]:
    return [Vote.of(m, question.answers[m]) for m in panel if m in question.answers]


def credit(winners: Sequence[str], gold: str) -> float:
    return 1 / len(winners) if gold in winners else 0.0


def _each_rule(each: AnswerSet, questions: Sequence[Question], models: Sequence[str]) -> Score:
    reached: dict[Rule, Credits] = {rule: [] for rule in RULES}
    for question in questions:
        outcomes = tally(_votes(question, models)).outcomes
        for rule in RULES:
            reached[rule].append(credit(outcomes[rule].winners, question.gold))
    figures = {rule: mean(earned) for rule, earned in reached.items()}
    same = len({round(figure, 9) for figure in figures.values()}) == 1
    return Score(
        each.name,
        "each of the seven rules, all models",
        len(questions),
        min(figures.values()),
        majority=mean(majority_credits(questions, models)),
        note="all alike: one answer without a ranking or a confidence leaves nothing to differ on"
        if same
        else ", ".join(f"{rule} {figure:.3f}" for rule, figure in figures.items()),
    )


def _with_texts(
    each: AnswerSet,
    questions: Sequence[Question],
    models: Sequence[str],
    alone: Mapping[str, Credits],
) -> list[Score]:
    """The models whose full text was kept: beside us the answer of the text that is most like all
    the others, which is what choosing by embedding comes to."""
    spoke = Counter(r["model"] for q in questions for r in q.row["responses"])
    panel = sorted(m for m in models if spoke[m] >= 0.95 * len(questions))
    if len(panel) < 3:
        return []
    score = _voted(each, f"default, {len(panel)} with full text", questions, [panel], alone)
    embedder = WordLlamaEmbedder()
    nearest = [_most_alike(q, panel, embedder) == q.gold for q in questions]
    values = {name: getattr(score, name) for name in ("metric", "n", "ours", "majority")}
    return [
        Score(
            each.name,
            **values,
            embedding=mean([float(right) for right in nearest]),
            at_least=score.at_least,
            note=score.note,
        )
    ]


def _most_alike(
    question: Question, panel: Sequence[str], embedder: WordLlamaEmbedder
) -> str | None:
    replies = [r for r in question.row["responses"] if r["model"] in panel]
    if not replies:
        return None
    vectors = np.asarray(embedder.embed([r["text"][:2000] for r in replies]))
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    closest = int(np.argmax(units @ units.sum(axis=0)))
    return question.answers.get(replies[closest]["model"])


# --- calls ---------------------------------------------------------------------------------------


def _early_stops(
    each: AnswerSet, questions: Sequence[Question], panels: Mapping[int, Sequence[Sequence[str]]]
) -> list[Score]:
    """Ask a few; if they are unanimous stop, else ask the rest. The curve beside it is what panels
    of fixed size reach at so many calls each."""
    size = max(panels, default=0)
    if size < 3:
        return []

    def reach(count: int) -> float:
        cut = [default_credits(questions, panel[:count]) for panel in panels[size]]
        return mean(_mean_credits(cut))

    whole = [default_credits(questions, panel) for panel in panels[size]]
    full = mean(_mean_credits(whole))
    curve = ", ".join(f"{count}: {reach(count):.3f}" for count in (1, 3, 5) if count < size)
    scores = []
    for first in (2, 3):
        asked = [
            _asked(questions, panel, first, otherwise)
            for panel, otherwise in zip(panels[size], whole, strict=True)
        ]
        calls = mean([mean([float(c) for _, c in each_panel]) for each_panel in asked])
        reached = _mean_credits([[right for right, _ in each_panel] for each_panel in asked])
        scores.append(
            Score(
                each.name,
                f"calls saved: {first}, then {size} if split",
                len(questions),
                1 - calls / size,
                note=f"{calls:.2f} calls reach {mean(reached):.3f} {interval(reached)}, all {size} "
                f"{full:.3f}; panels of {curve}",
            )
        )
    return scores


def _asked(
    questions: Sequence[Question], panel: Sequence[str], first: int, otherwise: Credits
) -> list[tuple[float, int]]:
    """For each question what the answer is worth, and how many were asked for it."""
    found = []
    for question, by_all in zip(questions, otherwise, strict=True):
        opening = [question.answers.get(m) for m in panel[:first]]
        if None not in opening and len(set(opening)) == 1:
            found.append((float(opening[0] == question.gold), first))
        else:
            found.append((by_all, len(panel)))
    return found


# --- figures -------------------------------------------------------------------------------------


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _mean_credits(panels: Sequence[Credits]) -> Credits:
    return [mean(each) for each in zip(*panels, strict=True)]


def interval(values: Sequence[float]) -> str:
    """95 of 100 resamples of the questions fall in here."""
    drawn = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(np.asarray(values)[drawn].mean(axis=1), (0.025, 0.975))
    return f"[{low:.3f}, {high:.3f}]"
