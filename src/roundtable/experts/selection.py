"""Who should sit at the table: relevant to the topic, and not all of one mind.

Relevance joins what the topic means (embeddings of it in English) with what it names (tags, in four
languages), of the expert and, for more, of its whole field: a single expert meets a topic by
accident, a field hardly does. Whoever is below a floor is a stranger and is not chosen, even where
seats stay empty. Maximal marginal relevance then weighs relevance against likeness, and one rule
holds whatever the numbers say: three experts never all come from one domain. Deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.errors import BadTopic, UnknownName, UsageError
from ..ports import Embedder
from .expert import Expert
from .fields import Fields
from .gloss import in_english
from .mmr import LAMBDA, Pick, mmr
from .tags import TagIndex, Word
from .words import content_words, languages_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS_SHARE = 0.5
"""How much of the relevance the tags may bring, beside what the topic means."""
HALF_NAMED = 10.0
"""The summed rarity of named tags at which they bring half of that: about two rare ones."""
CLOSE = 0.5
"""The cosine at which the embedder's texts are as near as a question and its expert ever come."""
CORE_SHARE = 0.6
"""How much of a topic's vector comes from its telling words alone."""
FIELD_SHARE = 0.8
"""How much of the relevance comes from the field; the rest is the expert's own."""
FIELD_WORDS = 0.6
"""How much of a field's relevance its everyday words bring at most, beside its experts'."""
SURE_WORDS = 2.0
"""The summed weight of the best field's words at which they are half believed: less than one."""
BEST_OF_FIELD = 3
"""So many of a field's most relevant experts speak for it."""
FIELD_FLOOR = 0.5
"""A field must be half as relevant as the most relevant one."""
FLOOR = 0.3
"""The own relevance, absolute, that an expert needs whose field the topic does not name."""
SAME_FIELD = 0.6
"""Two experts of one domain are at least this alike."""
SEATS = 3

MOST_RELEVANT = "most relevant"
RELEVANT_AND_DIFFERENT = "relevant and different"
ASKED_FOR = "asked for"


@dataclass(frozen=True, slots=True)
class Choice:
    """An expert at the table, and why it sits there."""

    expert: Expert
    relevance: float
    """To the topic, in proportion to the most relevant expert of all, domain weights included."""
    likeness: float = 0.0
    """To the most similar expert chosen before it."""
    named: tuple[str, ...] = ()
    """Its tags that the topic names, the rarest first."""
    reason: str = MOST_RELEVANT

    @property
    def why(self) -> str:
        """The choice in a line."""
        if self.reason == ASKED_FOR:
            return self.reason
        field = self.expert.domain.replace("-", " ")
        known = list(dict.fromkeys(tag for tag in self.named if tag != self.expert.name))[:3]
        if not known:
            return f"comes from {field}, a field of the question"
        told = known[0] if len(known) == 1 else f"{', '.join(known[:-1])} and {known[-1]}"
        return f"knows {told}"


class Selector:
    """Chooses from one library. What can be prepared is prepared once; a choice then takes a
    millisecond or two."""

    def __init__(
        self,
        experts: Sequence[Expert],
        embedder: Embedder,
        vectors: Sequence[Sequence[float]] | NDArray[np.float32] | None = None,
    ) -> None:
        """`vectors`, if they were kept from before, are the embedder's for `meanings(experts)`."""
        self.experts = tuple(experts)
        self._embedder = embedder
        made = embedder.embed(meanings(experts)) if vectors is None else vectors
        self._vectors = _unit(made, len(self.experts))
        self._tags = TagIndex(self.experts)
        self._domains = _Domains(self.experts, self._vectors)
        self._fields = Fields(self._domains.names)
        self._places = {
            name: place
            for place, expert in reversed(list(enumerate(self.experts)))
            for name in (expert.name.casefold(), expert.id)
        }

    def choose(
        self,
        topic: str,
        count: int = SEATS,
        *,
        lam: float = LAMBDA,
        weights: Mapping[str, float] | None = None,
        include: Sequence[str] = (),
        agents: Sequence[str] = (),
        english: str | None = None,
    ) -> list[Choice]:
        """Up to `count` experts for a topic, the most relevant first; fewer where nobody else
        reaches the floor.

        `weights` raise or lower whole domains (1 changes nothing, 0 keeps a domain away as long as
        others are left). `include` names experts, by id or name, who sit in any case and first;
        `agents` names all of them: exactly these sit, whatever the rules say. `english` is a
        translation of the topic, if somebody made one. UnknownName for a name or a domain that is
        not in the library.
        """
        _check(topic, count, lam)
        first = list(dict.fromkeys(self._place(name) for name in agents or include))
        heard = self._hear(topic, english, self._domains.weights(weights or {}))
        picks = mmr(
            heard.relevance,
            self._similarity,
            len(first) if agents else max(count, len(first)),
            lam=lam,
            first=first,
            among=heard.near,
            barred=lambda chosen: self._barred(chosen, heard),
        )
        order = [pick.place for pick in picks]
        return [
            self._explained(heard, pick, self._reason(pick.place, order[:at], first))
            for at, pick in enumerate(picks)
        ]

    def search(self, query: str, limit: int = 10) -> list[Choice]:
        """The experts nearest to a query, without regard to difference."""
        _check(query, limit, LAMBDA)
        import numpy as np

        heard = self._hear(query, None, None)
        order = np.argsort(-heard.relevance, kind="stable")[:limit]
        picks = [Pick(int(place), 0.0) for place in order]
        return [self._explained(heard, pick, "near in meaning or in words") for pick in picks]

    def _hear(self, topic: str, english: str | None, weights: NDArray[np.float32] | None) -> _Heard:
        import numpy as np

        said = english or in_english(topic)
        words = self._tags.words_in(topic, said)
        named = self._tags.scores(words)
        vector = self._vector(said)
        meant = np.maximum(_products(self._vectors, vector)[:, 0], 0.0) / CLOSE
        told = named / (named + HALF_NAMED)
        own: NDArray[np.float32] = (1 - WORDS_SHARE) * meant.astype(np.float32)
        own = (own + WORDS_SHARE * told).astype(np.float32)
        spoken = self._fields.scores(english or topic)
        fields = self._domains.relevance(own, vector, spoken)
        field = self._domains.spread(fields)
        near = field >= FIELD_FLOOR * fields.max(initial=0.0)
        near &= (self._domains.spread(spoken) > 0) | (own >= FLOOR)
        relevance = (1.0 - FIELD_SHARE) * _share(own) + FIELD_SHARE * field
        if weights is not None:
            relevance *= weights
            near |= weights > 1.0  # whoever raises a domain wants it at the table
        unwanted = None if weights is None else weights == 0.0
        return _Heard(
            words, languages_of(topic), _share(relevance).astype(np.float32), near, unwanted
        )

    def _vector(self, said: str) -> NDArray[np.float32]:
        """What a topic means: the whole of it, and, for more, its words without the small ones,
        which in a short question outnumber the others and mean nothing."""
        bare = " ".join(content_words(said, "en")) or said
        if bare == said:
            return _unit(self._embedder.embed([said]), 1)
        both = _unit(self._embedder.embed([said, bare]), 2)
        return _unit((1 - CORE_SHARE) * both[:1] + CORE_SHARE * both[1:], 1)

    def _similarity(self, places: NDArray[np.intp], others: Sequence[int]) -> NDArray[np.float32]:
        import numpy as np

        likeness = _products(self._vectors[places], self._vectors[list(others)])
        same: NDArray[np.float32] = SAME_FIELD * self._domains.shared(places, others)
        either: NDArray[np.float32] = np.maximum(likeness, same).astype(np.float32)
        return either

    def _barred(self, chosen: Sequence[int], heard: _Heard) -> NDArray[np.bool_] | None:
        """Domains of weight 0; and the only domain so far, once two are chosen."""
        only = self._domains.only(chosen) if len(chosen) >= SEATS - 1 else None
        if only is None or heard.unwanted is None:
            return heard.unwanted if only is None else only
        return only | heard.unwanted

    def _reason(self, place: int, before: Sequence[int], first: Sequence[int]) -> str:
        if place in first:
            return ASKED_FOR
        domains = {self.experts[each].domain for each in before}
        if len(before) >= SEATS - 1 and len(domains) == 1:
            return f"another domain, since not all may come from {domains.pop()}"
        return RELEVANT_AND_DIFFERENT if before else MOST_RELEVANT

    def _explained(self, heard: _Heard, pick: Pick, reason: str) -> Choice:
        expert = self.experts[pick.place]
        return Choice(
            expert,
            round(float(heard.relevance[pick.place]), 4),
            round(pick.similarity, 4),
            self._tags.named(heard.words, pick.place, heard.languages),
            reason,
        )

    def _place(self, name: str) -> int:
        place = self._places.get(name.strip().casefold())
        if place is None:
            raise UnknownName("expert", name, (expert.id for expert in self.experts))
        return place


@dataclass(frozen=True, slots=True)
class _Heard:
    """A topic, as far as it concerns a library."""

    words: Mapping[Word, float]
    languages: tuple[str, ...]
    relevance: NDArray[np.float32]
    """Of each expert, in proportion to the most relevant one, so that λ means the same for every
    topic."""
    near: NDArray[np.bool_]
    """Who reaches the floor."""
    unwanted: NDArray[np.bool_] | None


class _Domains:
    """The domains of a library's experts, as numbers: ten thousand texts are slow to compare."""

    def __init__(self, experts: Sequence[Expert], vectors: NDArray[np.float32]) -> None:
        import numpy as np

        self.names = list(dict.fromkeys(expert.domain for expert in experts))
        numbers = {name: number for number, name in enumerate(self.names)}
        self._of = np.array([numbers[expert.domain] for expert in experts], dtype=np.int32)
        self._places = [np.flatnonzero(self._of == number) for number in range(len(self.names))]
        middles = [vectors[places].mean(axis=0) for places in self._places]
        self._middles = _unit(np.array(middles, np.float32), len(self.names))

    def spread(self, each: NDArray[np.float32]) -> NDArray[np.float32]:
        """What is said of domains, for each expert."""
        spread: NDArray[np.float32] = each[self._of]
        return spread

    def shared(self, places: NDArray[np.intp], others: Sequence[int]) -> NDArray[np.float32]:
        """1 where two are of one domain."""
        import numpy as np

        same: NDArray[np.float32] = (
            self._of[places][:, None] == self._of[list(others)][None, :]
        ).astype(np.float32)
        return same

    def relevance(
        self,
        own: NDArray[np.float32],
        topic: NDArray[np.float32],
        spoken: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """How relevant each domain is: its best experts, what it means as a whole, and the words
        that speak for it, believed the more the more there are."""
        import numpy as np

        best = np.array(
            [np.sort(own[places])[-BEST_OF_FIELD:].mean() for places in self._places], np.float32
        )
        meant = np.maximum(_products(self._middles, topic)[:, 0], 0.0)
        most = float(spoken.max(initial=0.0))
        words = FIELD_WORDS / (1 - FIELD_WORDS) * most / (most + SURE_WORDS)
        told = words * _share(spoken) + (_share(best) + _share(meant)) / 2
        return (told / (words + 1)).astype(np.float32)

    def only(self, places: Sequence[int]) -> NDArray[np.bool_] | None:
        """Everybody of the one domain that these places share; None if they share none."""
        found = {int(self._of[place]) for place in places}
        return self._of == found.pop() if len(found) == 1 else None

    def weights(self, weights: Mapping[str, float]) -> NDArray[np.float32] | None:
        """Each expert's weight, or None where all are neutral."""
        import numpy as np

        for name, weight in weights.items():
            if name not in self.names:
                raise UnknownName("domain", name, self.names)
            if not 0.0 <= weight < float("inf"):
                raise UsageError(
                    f"The weight of {name} is {weight}; it must be 0 or more.", "1 is neutral."
                )
        if not weights:
            return None
        each = np.array([weights.get(name, 1.0) for name in self.names], dtype=np.float32)
        return self.spread(each)


def meanings(experts: Sequence[Expert]) -> list[str]:
    """The texts whose vectors stand for experts."""
    return [expert.meaning for expert in experts]


def _check(topic: str, count: int, lam: float) -> None:
    if not topic.strip():
        raise BadTopic("The topic is empty.", "Say what the experts are wanted for.")
    if count < 1:
        raise UsageError(f"{count} experts cannot be chosen.", "Ask for one or more.")
    if not 0.0 <= lam <= 1.0:
        raise UsageError(f"λ is {lam}; it must lie between 0 and 1.", f"The usual one is {LAMBDA}.")


def _share(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """In proportion to the largest of them."""
    shares: NDArray[np.float32] = numbers / (float(numbers.max(initial=0.0)) or 1.0)
    return shares


def _products(rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Everybody with everybody. Not by `@`, which sets threads to work that wait for each other
    longer than these few numbers take."""
    import numpy as np

    products: NDArray[np.float32] = np.einsum("ij,kj->ik", rows, others)
    return products


def _unit(rows: Sequence[Sequence[float]] | NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Vectors of length one; a vector of nothing stays nothing."""
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float32).reshape(count, -1)
    length = np.linalg.norm(matrix, axis=1, keepdims=True).astype(np.float32)
    length[length == 0] = 1
    unit: NDArray[np.float32] = matrix / length
    return unit
