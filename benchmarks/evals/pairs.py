"""Pairs of texts with human or recorded labels: is the extractor right where it answers?

It may answer "unknown" as often as it likes, and pays for that in coverage. Baselines: always the
commonest label, and one threshold on the cosine of static embeddings, set on the training half
where there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot
from operator import mul

from roundtable.core.extraction.matching import Matcher
from roundtable.core.extraction.options import chosen_option, listed_options
from roundtable.core.extraction.stance import reply_stance, stance_toward
from roundtable.models.embedder import WordLlamaEmbedder

from .data import Data, Row
from .scorecard import Score

GOAL = 0.8
"""Precision where it answers."""
Answer = Callable[[Row], str | None]


@dataclass(frozen=True)
class Task:
    """A set of pairs, how its labels are read, and how we answer."""

    name: str
    metric: str
    answer: Answer
    published: str
    label: Callable[[Row], str] = lambda row: str(row["label"])


class _Readers:
    """The extractor's functions as answers to rows, with one matcher for each topic."""

    def __init__(self) -> None:
        self.embedder = WordLlamaEmbedder()
        self._matchers: dict[str, Matcher] = {}

    def matcher(self, topic: str) -> Matcher:
        return self._matchers.setdefault(topic, Matcher(topic, self.embedder.embed))

    def same_point(self, row: Row) -> str | None:
        return self._relation(str(row["claim"]), row)

    def key_point(self, row: Row) -> str | None:
        return self._relation(str(row["topic"]), row)

    def _relation(self, topic: str, row: Row) -> str | None:
        relation = self.matcher(topic).relation(row["text_a"], row["text_b"])
        return {"same": "same", "opposite": "other", "different": "other"}.get(relation)

    @staticmethod
    def same_answer(row: Row) -> str | None:
        question, options = listed_options(row["question"])
        one = chosen_option(question, options, row["text_a"]).option
        two = chosen_option(question, options, row["text_b"]).option
        if one is None or two is None:
            return None
        return "agree" if one == two else "disagree"

    @staticmethod
    def stance(row: Row) -> str | None:
        return stance_toward(row["text_a"], row["text_b"]).position

    @staticmethod
    def reply(row: Row) -> str | None:
        return reply_stance(row["text_a"], row["text_b"]).position


def tasks(readers: _Readers) -> list[Task]:
    def same(value: str) -> Callable[[Row], str]:
        return lambda row: "same" if row["label"] == value else "other"

    chance = "all simple baselines .50–.57; BERT .71–.80 published"
    return [
        Task(
            "perspectrum_point_relation",
            "same point or not",
            readers.same_point,
            "AUC .84 (same vs rest)",
            same("same_point"),
        ),
        Task(
            "argkp_match",
            "key point matches",
            readers.key_point,
            "acc. .62–.69 (simple baselines)",
            same("match"),
        ),
        Task(
            "argkp_official",
            "key point matches",
            readers.key_point,
            "see mAP below",
            same("match"),
        ),
        Task("ford_llm_independent", "same answer", readers.same_answer, "acc. .54–.62"),
        Task("ford_llm_reply", "same answer", readers.same_answer, "acc. .52–.58"),
        Task("perspectrum_stance", "stance", readers.stance, chance),
        Task("ibm_claim_stance", "stance", readers.stance, chance),
        Task("subreddit_agreement", "reply's stance", readers.reply, "acc. .33–.58 (3 classes)"),
        Task("iam_stance_zh", "stance, Chinese", readers.stance, "acc. .33–.52 (3 classes)"),
    ]


def run(data: Data) -> list[Score]:
    readers = _Readers()
    scores: list[Score] = []
    for task in tasks(readers):
        rows = data.rows("pairs", task.name)
        if not rows:
            continue
        scores.append(_score(task, rows, data, readers))
        if task.name == "argkp_official":
            scores.append(_mean_average_precision(rows, readers))
    return scores


def _score(task: Task, rows: Sequence[Row], data: Data, readers: _Readers) -> Score:
    labels = [task.label(row) for row in rows]
    answers = [task.answer(row) for row in rows]
    given = [(mine, label) for mine, label in zip(answers, labels, strict=True) if mine is not None]
    right = sum(mine == label for mine, label in given)
    covered = len(given) / len(rows)
    everywhere, surest = _cosine_baseline(task, rows, labels, covered, data, readers)
    split = Counter(mine for mine, _ in given)
    good = Counter(mine for mine, label in given if mine == label)
    return Score(
        dataset=task.name,
        metric=f"{task.metric}: precision",
        n=len(rows),
        ours=right / len(given) if given else None,
        coverage=covered,
        majority=max(Counter(labels).values()) / len(labels),
        embedding=everywhere,
        embedding_covered=surest,
        published=task.published,
        at_least=GOAL if given else None,
        note=", ".join(f"{name} {good[name]}/{count}" for name, count in sorted(split.items())),
    )


def _cosine_baseline(
    task: Task, rows: Sequence[Row], labels: Sequence[str], share: float, data: Data, r: _Readers
) -> tuple[float, float | None]:
    """Accuracy of one threshold on the cosine, on all rows and on the surest of them."""
    train = data.rows("pairs", task.name, "train") if data.split != "train" else None
    train = (train or [])[:2000]
    known = train or rows
    limit, low, high = _best_threshold(
        _cosines(known, r), [task.label(row) for row in known] if train else labels
    )
    cosines = _cosines(rows, r)
    hits = [
        (abs(value - limit), (high if value > limit else low) == label)
        for value, label in zip(cosines, labels, strict=True)
    ]
    surest = sorted(hits, key=lambda hit: -hit[0])[: round(share * len(hits))]
    return (
        sum(hit for _, hit in hits) / len(hits),
        sum(hit for _, hit in surest) / len(surest) if surest else None,
    )


def _best_threshold(cosines: Sequence[float], labels: Sequence[str]) -> tuple[float, str, str]:
    """The threshold, and the labels below and above it, that are right most often."""
    ordered = sorted(zip(cosines, labels, strict=True))
    above = Counter(label for _, label in ordered)
    below: Counter[str] = Counter()
    best = (-1, 0.0, "", "")
    for value, label in ordered:
        below[label] += 1
        above[label] -= 1
        low, high = below.most_common(1)[0], above.most_common(1)[0]
        if low[1] + high[1] > best[0]:
            best = (low[1] + high[1], value, low[0], high[0])
    return best[1:]


def _cosines(rows: Sequence[Row], readers: _Readers) -> list[float]:
    ones = readers.embedder.embed([row["text_a"] for row in rows])
    twos = readers.embedder.embed([row["text_b"] for row in rows])
    return [
        sum(map(mul, one, two)) / ((hypot(*one) * hypot(*two)) or 1.0)
        for one, two in zip(ones, twos, strict=True)
    ]


def _mean_average_precision(rows: Sequence[Row], readers: _Readers) -> Score:
    """The shared task's measure: each argument's best key point, the surer half of them, ranked."""
    groups: dict[tuple[str, str], dict[str, list[tuple[float, bool]]]] = {}
    for row in rows:
        close = readers.matcher(row["topic"]).closeness(row["text_a"], row["text_b"])
        group = groups.setdefault((row["topic"], row["stance"]), {})
        group.setdefault(row["text_a"], []).append((close, row["label"] == "match"))
    precisions = []
    for group in groups.values():
        best = sorted((max(pairs) for pairs in group.values()), reverse=True)
        kept = [match for _, match in best[: max(1, len(best) // 2)]]
        hits = [place for place, match in enumerate(kept, 1) if match]
        precisions.append(
            sum(n / place for n, place in enumerate(hits, 1)) / len(hits) if hits else 0.0
        )
    return Score(
        dataset="argkp_official",
        metric="mAP, strict",
        n=len(groups),
        ours=sum(precisions) / len(precisions),
        published="Jaccard .48, static .64, MiniLM .71; best .79–.87 (other topics)",
    )
