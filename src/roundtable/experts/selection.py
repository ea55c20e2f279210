"""Who should sit at the table: relevant to the topic, and not all of one mind.

Maximal marginal relevance: each next expert has the best
`λ × relevance − (1 − λ) × similarity to the most similar one already chosen`. Relevance joins what
the topic means (embeddings) with what it names (tags, in four languages). Deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.errors import UnknownName, UsageError
from ..ports import Embedder
from .expert import Expert
from .words import WordIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAMBDA = 0.7
WORDS_SHARE = 0.5
"""How much of an expert's relevance its tags may bring, beside what the topic means."""
ENOUGH_WORDS = 8.0
"""The summed rarity of matched tags at which words alone make an expert fully relevant."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An expert at the table, and why it sits there."""

    expert: Expert
    relevance: float
    similarity: float
    """To the most similar expert chosen before it."""
    matched: tuple[str, ...] = ()
    """The tags that the topic names, the weightiest first."""
    reason: str = "relevance and difference"


class Selector:
    """Chooses from one library. Vectors are made once; a choice is then a matter of milliseconds."""

    def __init__(
        self,
        experts: Sequence[Expert],
        embedder: Embedder,
        vectors: NDArray[np.float32] | None = None,
    ) -> None:
        """`vectors`, if they were kept from before, are rows of `library_vectors(experts, …)`."""
        self._experts = list(experts)
        self._places = {expert.id: place for place, expert in enumerate(self._experts)}
        self._embedder = embedder
        self._vectors = library_vectors(experts, embedder) if vectors is None else vectors
        self._words = WordIndex(self._experts)

    def choose(
        self,
        topic: str,
        count: int = 3,
        *,
        lam: float = LAMBDA,
        weights: Mapping[str, float] | None = None,
        include: Sequence[str] = (),
    ) -> list[Choice]:
        """`count` experts for a topic. `weights` raise or lower whole domains; `include` names
        experts, by id or name, who sit in any case. Of three or more, never all of one domain."""
        if not 0.0 <= lam <= 1.0:
            raise UsageError(f"λ is {lam}; it must lie between 0 and 1.", "The usual value is 0.7.")
        relevance, matched = self._relevance(topic, weights or {})
        forced = [self._place(name) for name in dict.fromkeys(include)]
        picked = _mmr(relevance, self._vectors, max(count, len(forced)), lam, forced)
        choices = [
            Choice(
                self._experts[place],
                round(float(relevance[place]), 4),
                round(similarity, 4),
                tuple(sorted(matched.get(place, {}), key=matched.get(place, {}).__getitem__)[::-1]),
                "asked for" if place in forced else "relevance and difference",
            )
            for place, similarity in picked
        ]
        return self._of_several_domains(choices, relevance, matched, len(forced))

    def search(self, query: str, limit: int = 10) -> list[Choice]:
        """The experts nearest to a query, without regard to difference."""
        return self.choose_by_relevance(query, limit)

    def choose_by_relevance(self, query: str, limit: int) -> list[Choice]:
        import numpy as np

        relevance, matched = self._relevance(query, {})
        order = np.argsort(-relevance, kind="stable")[:limit]
        return [
            Choice(
                self._experts[int(place)],
                round(float(relevance[place]), 4),
                0.0,
                tuple(matched.get(int(place), {})),
                "relevance",
            )
            for place in order
        ]

    def _relevance(
        self, topic: str, weights: Mapping[str, float]
    ) -> tuple[NDArray[np.float32], dict[int, dict[str, float]]]:
        import numpy as np

        meaning = np.clip(self._vectors @ _unit(self._embedder.embed([topic]))[0], 0.0, 1.0)
        spread = float(meaning.max()) or 1.0
        relevance = (1.0 - WORDS_SHARE) * meaning / spread
        matched = self._words.matches(topic)
        for place, tags in matched.items():
            relevance[place] += WORDS_SHARE * min(1.0, sum(tags.values()) / ENOUGH_WORDS)
        if weights:
            relevance *= np.array(
                [weights.get(expert.domain, 1.0) for expert in self._experts], dtype=np.float32
            )
        return relevance.astype(np.float32), matched

    def _of_several_domains(
        self,
        choices: list[Choice],
        relevance: NDArray[np.float32],
        matched: dict[int, dict[str, float]],
        forced: int,
    ) -> list[Choice]:
        """The rule that holds whatever λ is: of three or more the last gives way to the most
        relevant expert of another domain. Experts that were asked for stay."""
        domains = {choice.expert.domain for choice in choices}
        if len(choices) < 3 or len(domains) > 1 or forced >= len(choices):
            return choices
        others = [p for p, e in enumerate(self._experts) if e.domain not in domains]
        if not others:
            return choices
        best = max(others, key=lambda place: float(relevance[place]))
        return [
            *choices[:-1],
            Choice(
                self._experts[best],
                round(float(relevance[best]), 4),
                0.0,
                tuple(matched.get(best, {})),
                "another domain: not all may come from one",
            ),
        ]

    def _place(self, name: str) -> int:
        wanted = name.strip().casefold()
        for expert_id, place in self._places.items():
            if wanted in (expert_id, self._experts[place].name.casefold()):
                return place
        raise UnknownName("expert", name, self._places)


def library_vectors(experts: Sequence[Expert], embedder: Embedder) -> NDArray[np.float32]:
    """One unit vector for each expert."""
    return _unit(embedder.embed([expert.meaning for expert in experts]))


def _mmr(
    relevance: NDArray[np.float32],
    vectors: NDArray[np.float32],
    count: int,
    lam: float,
    forced: Sequence[int],
) -> list[tuple[int, float]]:
    """Places and their similarity to those before, forced ones first."""
    import numpy as np

    nearest = np.zeros(len(relevance), dtype=np.float32)
    free = np.ones(len(relevance), dtype=bool)
    picked: list[tuple[int, float]] = []
    waiting = list(forced)
    while len(picked) < min(count, len(relevance)):
        if waiting:
            place = waiting.pop(0)
        else:
            score = np.where(free, lam * relevance - (1.0 - lam) * nearest, -np.inf)
            place = int(np.argmax(score))
        picked.append((place, float(nearest[place])))
        free[place] = False
        nearest = np.maximum(nearest, vectors @ vectors[place])
    return picked


def mmr(
    relevance: Sequence[float],
    similarity: Sequence[Sequence[float]],
    count: int,
    lam: float = LAMBDA,
) -> list[int]:
    """The rule itself on plain numbers: the places chosen, in order."""
    chosen: list[int] = []
    while len(chosen) < min(count, len(relevance)):
        free = [place for place in range(len(relevance)) if place not in chosen]
        chosen.append(
            max(
                free,
                key=lambda place: (
                    lam * relevance[place]
                    - (1 - lam) * max((similarity[place][other] for other in chosen), default=0.0)
                ),
            )
        )
    return chosen


def _unit(rows: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float32)
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(length == 0, 1, length)
