"""Who should sit at the table: relevant to the topic, and not all of one mind.

Relevance joins what the topic means (embeddings of it in English, where there is an embedder) with
what it names (tags, in four languages), of the expert and, for more, of its whole field: a single
expert meets a topic by accident, a field hardly does. Whoever is below a floor is a stranger and is
not chosen, even where seats stay empty. Maximal marginal relevance then weighs relevance against
likeness, and one rule holds whatever the numbers say: three experts never all come from one domain.
Deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from ..core.errors import BadTopic, UnknownName, UsageError
from ..ports import Embedder
from .chosen import ASKED_FOR
from .expert import Expert
from .fields import Fields
from .gloss import in_english
from .meaning import Meaning
from .mmr import LAMBDA, Pick, mmr
from .tags import TagIndex, Word
from .words import CHINESE, content_words, languages_of

WORDS_SHARE = 0.5
"""How much of the relevance the tags may bring, beside what the topic means."""
HALF_NAMED = 10.0
"""The summed rarity of named tags at which they bring half of that: about two rare ones."""
CLOSE = 0.5
"""The cosine at which the embedder's texts are as near as a question and its expert ever come."""
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
MATERIAL = 3000
"""Characters of the material that are heard beside the topic: its beginning says what it is."""
MATERIAL_SHARE = 0.2
"""How much of the relevance the material brings beside a topic that says what it is about."""
POINTING_WORDS = 3
"""Content words that a topic has at most which hardly says it, but points to the material."""
POINTING_CHINESE = 10
"""Characters of such a topic in Chinese, which has no spaces between words."""
POINTING_SHARE = 0.5
"""What the material brings beside such a one, if its words speak for a field: “Is it legal?”"""
GENERIC_SHARE = 0.75
"""The same where they speak for none: “May this be merged?”"""
SEATS = 3

MOST_RELEVANT = "most relevant"
RELEVANT_AND_DIFFERENT = "relevant and different"


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
            return f"from the field of {field}, which the question touches"
        told = known[0] if len(known) == 1 else f"{', '.join(known[:-1])} and {known[-1]}"
        return f"knows about {told}"


class Selector:
    """Chooses from one library. What can be prepared is prepared once; a choice then takes some
    milliseconds."""

    def __init__(
        self,
        experts: Sequence[Expert],
        embedder: Embedder | None,
        vectors: Sequence[Sequence[float]] | None = None,
    ) -> None:
        """Without an embedder it goes by words alone. `vectors`, if they were kept from before, are
        the embedder's for `meanings(experts)`."""
        self.experts = tuple(experts)
        self._tags = TagIndex(self.experts)
        self._domains = _Domains(self.experts)
        self._meaning = (
            Meaning(meanings(experts), self._domains.places, embedder, vectors)
            if embedder and experts
            else None
        )
        self._fields = Fields(self._domains.names)
        self._places = {
            name: place
            for place, expert in reversed(list(enumerate(self.experts)))
            for name in (expert.name.casefold(), expert.id)
        }

    @property
    def by_meaning(self) -> bool:
        """Whether it sees what a topic means, and not its words alone."""
        return self._meaning is not None

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
        material: str = "",
    ) -> list[Choice]:
        """Up to `count` experts for a topic, the most relevant first; fewer where nobody else
        reaches the floor.

        `weights` raise or lower whole domains (1 changes nothing, 0 keeps a domain away as long as
        others are left). `include` names experts, by id or name, who sit in any case and first;
        `agents` names all of them: exactly these sit, whatever the rules say. `english` is a
        translation of the topic, if somebody made one; `material` is what it is asked about, which
        counts for less unless the topic is hardly more than a pointer to it. UnknownName for a name
        or a domain that is not in the library.
        """
        _check(topic, count, lam)
        first = list(dict.fromkeys(self._place(name) for name in agents or include))
        weighted = self._domains.weights(weights or {})
        heard = self._hear(topic, english, weighted, material)
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

    def search(self, query: str, limit: int = 10, *, material: str = "") -> list[Choice]:
        """The experts nearest to a query and its `material`, without regard to difference."""
        _check(query, limit, LAMBDA)
        heard = self._hear(query, None, None, material)
        order = sorted(range(len(self.experts)), key=lambda place: -heard.relevance[place])
        picks = [Pick(place, 0.0) for place in order[:limit]]
        return [self._explained(heard, pick, "near in meaning or in words") for pick in picks]

    def _hear(
        self,
        topic: str,
        english: str | None,
        weights: Sequence[float] | None,
        material: str = "",
    ) -> _Heard:
        weighed = self._weighed(topic, english)
        if material.strip():
            share = _material_share(topic, weighed.spoken)
            weighed = weighed.beside(self._weighed(material[:MATERIAL], None), share)
        own, fields, spoken = weighed.own, weighed.fields, weighed.spoken
        least = FIELD_FLOOR * max(fields, default=0.0)
        of = self._domains.of
        near = [
            fields[at] >= least and (spoken[at] > 0 or each >= FLOOR)
            for at, each in zip(of, own, strict=True)
        ]
        relevance = [
            (1.0 - FIELD_SHARE) * each + FIELD_SHARE * fields[at]
            for at, each in zip(of, _share(own), strict=True)
        ]
        unwanted = None
        if weights is not None:
            relevance = [each * weights[at] for at, each in zip(of, relevance, strict=True)]
            # Whoever raises a domain wants it at the table.
            near = [each or weights[at] > 1.0 for at, each in zip(of, near, strict=True)]
            unwanted = [weights[at] == 0.0 for at in of]
        return _Heard(weighed.words, languages_of(topic), _share(relevance), near, unwanted)

    def _weighed(self, text: str, english: str | None) -> _Weighed:
        said = english or in_english(text)
        words = self._tags.words_in(text, said)
        own = [each / (each + HALF_NAMED) for each in self._tags.scores(words)]
        meant: Sequence[float] | None = None
        if self._meaning is not None:
            near_to, meant = self._meaning.near(said)
            own = [
                (1 - WORDS_SHARE) * cosine / CLOSE + WORDS_SHARE * told
                for cosine, told in zip(near_to, own, strict=True)
            ]
        spoken = self._fields.scores(english or text)
        return _Weighed(words, own, self._domains.relevance(own, meant, spoken), spoken)

    def _similarity(self, places: Sequence[int], others: Sequence[int]) -> list[list[float]]:
        same = self._domains.shared(places, others)
        if self._meaning is None:
            return same
        likeness = self._meaning.likeness(places, others)
        return [
            [max(pair) for pair in zip(*rows, strict=True)]
            for rows in zip(likeness, same, strict=True)
        ]

    def _barred(self, chosen: Sequence[int], heard: _Heard) -> list[bool] | None:
        """Domains of weight 0; and the only domain so far, once two are chosen."""
        only = self._domains.only(chosen) if len(chosen) >= SEATS - 1 else None
        if only is None or heard.unwanted is None:
            return heard.unwanted if only is None else only
        return [either or other for either, other in zip(only, heard.unwanted, strict=True)]

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
            round(heard.relevance[pick.place], 4),
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
class _Weighed:
    """What one text says for each expert and each field."""

    words: Mapping[Word, float]
    own: list[float]
    fields: list[float]
    spoken: list[float]
    """The words that speak for each field."""

    def beside(self, other: _Weighed, share: float) -> _Weighed:
        """Both, of which the other has this share."""

        def mixed(mine: Sequence[float], theirs: Sequence[float]) -> list[float]:
            return [(1 - share) * m + share * t for m, t in zip(mine, theirs, strict=True)]

        return _Weighed(
            {**other.words, **self.words},
            mixed(self.own, other.own),
            mixed(_share(self.fields), _share(other.fields)),
            mixed(self.spoken, other.spoken),
        )


@dataclass(frozen=True, slots=True)
class _Heard:
    """A topic, as far as it concerns a library."""

    words: Mapping[Word, float]
    languages: tuple[str, ...]
    relevance: list[float]
    """Of each expert, in proportion to the most relevant one, so that λ means the same for every
    topic."""
    near: list[bool]
    """Who reaches the floor."""
    unwanted: list[bool] | None


class _Domains:
    """The domains of a library's experts, as numbers: ten thousand texts are slow to compare."""

    def __init__(self, experts: Sequence[Expert]) -> None:
        self.names = list(dict.fromkeys(expert.domain for expert in experts))
        numbers = {name: number for number, name in enumerate(self.names)}
        self.of = [numbers[expert.domain] for expert in experts]
        self.places: list[list[int]] = [[] for _ in self.names]
        for place, number in enumerate(self.of):
            self.places[number].append(place)

    def shared(self, places: Sequence[int], others: Sequence[int]) -> list[list[float]]:
        """How alike those of one domain are at least."""
        theirs = [self.of[other] for other in others]
        return [
            [SAME_FIELD if self.of[place] == each else 0.0 for each in theirs] for place in places
        ]

    def relevance(
        self, own: Sequence[float], meant: Sequence[float] | None, spoken: Sequence[float]
    ) -> list[float]:
        """How relevant each domain is: its best experts, what it means as a whole, and the words
        that speak for it, believed the more the more there are."""
        best = _share(
            [_mean(nlargest(BEST_OF_FIELD, map(own.__getitem__, p))) for p in self.places]
        )
        if meant is not None:
            best = [(one + two) / 2 for one, two in zip(best, _share(meant), strict=True)]
        most = max(spoken, default=0.0)
        words = FIELD_WORDS / (1 - FIELD_WORDS) * most / (most + SURE_WORDS)
        return [
            (words * said + each) / (words + 1)
            for said, each in zip(_share(spoken), best, strict=True)
        ]

    def only(self, places: Sequence[int]) -> list[bool] | None:
        """Everybody of the one domain that these places share; None if they share none."""
        found = {self.of[place] for place in places}
        return [number in found for number in self.of] if len(found) == 1 else None

    def weights(self, weights: Mapping[str, float]) -> list[float] | None:
        """Each domain's weight, or None where all are neutral."""
        for name, weight in weights.items():
            if name not in self.names:
                raise UnknownName("domain", name, self.names)
            if not 0.0 <= weight < float("inf"):
                raise UsageError(
                    f"The weight of {name} is {weight}; it must be 0 or more.", "1 is neutral."
                )
        return [weights.get(name, 1.0) for name in self.names] if weights else None


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


def _material_share(topic: str, spoken: Sequence[float]) -> float:
    said = {word for language in languages_of(topic) for word in content_words(topic, language)}
    if len(said) > POINTING_WORDS or len("".join(CHINESE.findall(topic))) > POINTING_CHINESE:
        return MATERIAL_SHARE
    return POINTING_SHARE if any(spoken) else GENERIC_SHARE


def _share(numbers: Sequence[float]) -> list[float]:
    """In proportion to the largest of them."""
    most = max(numbers, default=0.0) or 1.0
    return [each / most for each in numbers]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
