"""Does the panel cover the domains that a topic needs?

Baselines: the one panel that serves most topics of all, and the experts whose vectors are nearest
to the topic as it was asked. The topics are part of the project: see tests/experts/topics*.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from tests.experts.topics import (
    EVERYDAY,
    FIT,
    FRESH,
    HELD_OUT,
    MORE,
    TUNED,
    Topic,
    read_seating,
    read_topics,
)

from roundtable.experts.library_files import read_library
from roundtable.experts.selection import Selector, meanings
from roundtable.models.embedder import WordLlamaEmbedder

from .data import Data
from .scorecard import Score

SETS = {
    TUNED: "60 topics",
    MORE: "40 further topics",
    HELD_OUT: "24 held out",
    EVERYDAY: "20 everyday",
}
FITTING = {EVERYDAY: "20 everyday", FIT: "40 short ones", FRESH: "20 never tuned on"}
SIZES = (3, 4, 5)
GOAL = 0.9
GOAL_OF_A_LANGUAGE = 0.8
GOAL_OF_SEATS, GOAL_OF_COVERAGE = 0.85, 0.95
Panel = Callable[[str, int], Sequence[str]]
"""The domains of the experts chosen for a topic."""


def run(data: Data) -> list[Score]:
    experts = list(read_library().values())
    embedder = WordLlamaEmbedder()
    selector = Selector(experts, embedder)
    nearest = _nearest([e.domain for e in experts], embedder, meanings(experts))

    def ours(text: str, count: int) -> list[str]:
        return [choice.expert.domain for choice in selector.choose(text, count)]

    scores: list[Score] = []
    for name, label in SETS.items():
        topics = read_topics(name)[: data.limit]
        scores += [
            Score(
                dataset=label,
                metric=f"domains covered by {size}",
                n=len(topics),
                ours=_share(topics, ours, size),
                majority=_constant(topics, size),
                embedding=_share(topics, nearest, size),
                at_least=GOAL if name == TUNED else None,
            )
            for size in SIZES
        ]
        if name == TUNED:
            scores += _by_language(topics, ours, nearest, label)
    with_fits = {label: read_topics(name) for name, label in FITTING.items()}
    with_fits["seating"] = read_seating(data.root)
    for label, topics in with_fits.items():
        if topics := topics[: data.limit]:
            scores += _seats_that_fit(topics, ours, nearest, label)
    return scores


def _seats_that_fit(
    topics: Sequence[Topic], ours: Panel, nearest: Panel, label: str
) -> list[Score]:
    """Of three seats: those that fit, methods of reasoning left out, and what they cover."""
    found = [
        Score(
            dataset=label,
            metric="seats of 3 that fit",
            n=sum(len(ours(topic.text, SIZES[0])) for topic in topics),
            ours=_fitting(topics, ours, SIZES[0]),
            embedding=_fitting(topics, nearest, SIZES[0]),
            at_least=GOAL_OF_SEATS if label == "seating" else None,
        )
    ]
    if label == "seating":
        found.append(
            Score(
                dataset=label,
                metric="domains covered by 3",
                n=len(topics),
                ours=_share(topics, ours, SIZES[0]),
                embedding=_share(topics, nearest, SIZES[0]),
                at_least=GOAL_OF_COVERAGE,
            )
        )
    return found


def _by_language(topics: Sequence[Topic], ours: Panel, nearest: Panel, label: str) -> list[Score]:
    scores = []
    for language, group in groupby(topics, key=lambda topic: topic.language):
        rows = list(group)
        scores += [
            Score(
                dataset=f"{label}: {language}",
                metric=f"domains covered by {size}",
                n=len(rows),
                ours=_share(rows, ours, size),
                embedding=_share(rows, nearest, size),
                at_least=GOAL_OF_A_LANGUAGE,
            )
            for size in SIZES
        ]
    return scores


def _share(topics: Sequence[Topic], panel: Panel, size: int) -> float:
    return sum(topic.covered_by(panel(topic.text, size)) for topic in topics) / len(topics)


def _fitting(topics: Sequence[Topic], panel: Panel, size: int) -> float:
    seats = [domain in topic.fits for topic in topics for domain in panel(topic.text, size)]
    return sum(seats) / len(seats)


def _constant(topics: Sequence[Topic], size: int) -> float:
    """The best panel that is the same for every topic, found step by step."""
    names = sorted({name for topic in topics for group in topic.covers for name in group})
    panel: list[str] = []
    for _ in range(size):
        panel.append(max(names, key=lambda name: sum(t.covered_by([*panel, name]) for t in topics)))
    return sum(topic.covered_by(panel) for topic in topics) / len(topics)


def _nearest(domains: list[str], embedder: WordLlamaEmbedder, texts: list[str]) -> Panel:
    import numpy as np

    library = np.asarray(embedder.embed(texts), dtype=np.float32)
    library /= np.linalg.norm(library, axis=1, keepdims=True)

    def panel(text: str, count: int) -> list[str]:
        cosines = library @ np.asarray(embedder.embed([text])[0], dtype=np.float32)
        return [domains[int(place)] for place in np.argsort(-cosines, kind="stable")[:count]]

    return panel
