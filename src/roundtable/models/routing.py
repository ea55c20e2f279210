"""Routing: which model should speak for whom.

A role, or an expert's own needs, asks for abilities; models have them. From the strongest to the
weakest: a model named in the call, the user's `local_models.json`, the models that
`roundtable_config.yaml` declares, those of the user's settings in turn, those that were found, and
one model for all. Different seats get
different models, of different families first, as far as fitting ones go round.

Pure: it knows of a model only its id, its abilities, its family and its priority. Keys, addresses
and the environment are none of its business, and there is no way for them to get here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import cycle
from typing import Literal, Protocol

from .assignment import assign
from .entry import Tag

ROLE_TAGS: Mapping[str, tuple[Tag, ...]] = {
    "engineering": ("code", "technical", "engineering"),
    "architecture": ("code", "technical", "engineering"),
    "design": ("creative", "long-context", "design"),
    "creative": ("creative", "long-context", "design"),
    "qa": ("balanced", "fast", "general"),
    "testing": ("balanced", "fast", "general"),
    "product": ("chinese", "knowledge", "product"),
    "business": ("chinese", "knowledge", "product"),
    "host": ("logic", "summary", "decision", "max"),
}
"""What each role asks of its model."""

ROLE_OF_DOMAIN: Mapping[str, str] = {
    **dict.fromkeys(("operations", "security", "data", "hardware", "manufacturing"), "engineering"),
    **dict.fromkeys(("media",), "design"),
    **dict.fromkeys(("quality",), "qa"),
    **dict.fromkeys(("marketing", "sales", "finance", "management", "people"), "business"),
    "coordinator": "host",
}
"""Domains of experts that are a role under another name. The others have only their needs."""

_OTHERWISE: tuple[Tag, ...] = ("balanced", "general")
"""What to look for when nothing is asked."""

HOST = "host"
RouteTier = Literal[
    "call", "local_models.json", "roundtable_config.yaml", "settings", "found", "one model"
]


class Routable(Protocol):
    """All that the router may know of a model."""

    @property
    def id(self) -> str: ...

    @property
    def tags(self) -> Sequence[str]: ...

    @property
    def family(self) -> str: ...

    @property
    def priority(self) -> int:
        """Of models that fit equally well the highest wins."""
        ...


@dataclass(frozen=True, slots=True)
class RoutableModel:
    """A model that may be routed to."""

    id: str
    tags: tuple[str, ...] = ()
    family: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Vacancy:
    """A seat that needs a model."""

    seat: str
    """Whose it is: an expert's id, or `host`."""
    role: str = ""
    """A role of the table, or an expert's domain."""
    needs: tuple[str, ...] = ()
    model: str | None = None
    """The model that the caller names; nothing overrules it."""


@dataclass(frozen=True, slots=True)
class Route:
    """The model for one seat, and why."""

    seat: str
    model: str
    tier: RouteTier
    tags: tuple[str, ...] = ()
    """What was asked for and the model has."""


def wanted_tags(role: str, needs: Iterable[str] = ()) -> tuple[str, ...]:
    """The abilities that a role and an expert's needs ask for, the needs first."""
    key = role.strip().casefold()
    of_role = ROLE_TAGS.get(ROLE_OF_DOMAIN.get(key, key), ())
    return tuple(dict.fromkeys((*needs, *of_role))) or _OTHERWISE


def route(
    vacancies: Sequence[Vacancy],
    *,
    local: Mapping[str, str],
    declared: Sequence[Routable],
    found: Sequence[Routable],
    one_model: str,
    own: Sequence[str] = (),
) -> list[Route]:
    """A model for each seat, in the order of the vacancies.

    `local` is the user's map from role, domain or seat to model; `declared` and `found` are in
    order of preference. `own` are models that the user chose for all seats but the host's, which
    get them in turn. Where nobody has a fitting model, nor one for most things was found,
    `one_model` speaks.
    """
    routes: dict[int, Route] = {}
    for number, vacancy in enumerate(vacancies):
        if vacancy.model is not None:
            routes[number] = Route(vacancy.seat, vacancy.model, "call")
        elif model := _mapped(vacancy, local):
            routes[number] = Route(vacancy.seat, model, "local_models.json")
    tiers: tuple[tuple[RouteTier, Sequence[Routable]], ...] = (
        ("roundtable_config.yaml", declared),
        ("found", found),
    )
    families = {each.id: each.family for each in (*found, *declared)}
    for tier, models in tiers:
        if tier == "found" and own:
            in_turn = cycle(_untaken_first(own, [r.model for r in routes.values()]))
            for n, vacancy in enumerate(vacancies):
                if n not in routes and vacancy.seat != HOST:
                    routes[n] = Route(vacancy.seat, next(in_turn), "settings")
        open_ = {n: each for n, each in enumerate(vacancies) if n not in routes}
        fitting = {n: _fitting(vacancy, models) for n, vacancy in open_.items()}
        if tier == "found":
            # Where nobody has what a seat asks for, whoever is good at most things may sit there:
            # several such models are worth more than one for all.
            general = Vacancy("")
            fitting = {n: each or _fitting(general, models) for n, each in fitting.items()}
        fitting = {n: choices for n, choices in fitting.items() if choices}
        taken = [done.model for done in routes.values()]
        for n, best in _spread(list(fitting), fitting, taken, families).items():
            routes[n] = Route(vacancies[n].seat, best.id, tier, _shared(vacancies[n], best))
    for n, vacancy in enumerate(vacancies):
        routes.setdefault(n, Route(vacancy.seat, one_model, "one model"))
    return [routes[n] for n in range(len(vacancies))]


def _untaken_first(own: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The models in turn, beginning with those that nobody has yet."""
    left = Counter(taken)
    rest: list[str] = []
    last: list[str] = []
    for model in own:
        (last if left[model] > 0 else rest).append(model)
        left[model] -= 1
    return [*rest, *last]


def _mapped(vacancy: Vacancy, local: Mapping[str, str]) -> str | None:
    """What the user's map says: of the seat, of its domain, of its role, in this order."""
    role = vacancy.role.strip().casefold()
    same = ROLE_OF_DOMAIN.get(role, role)
    twins = [other for other, tags in ROLE_TAGS.items() if tags == ROLE_TAGS.get(same)]
    return next((local[key] for key in (vacancy.seat, role, same, *twins) if key in local), None)


def _shared(vacancy: Vacancy, model: Routable) -> tuple[str, ...]:
    has = set(model.tags)
    return tuple(tag for tag in wanted_tags(vacancy.role, vacancy.needs) if tag in has)


def _fitting(vacancy: Vacancy, models: Sequence[Routable]) -> list[Routable]:
    """The models with at least half of what the best match has, the best first, then by priority:
    being different is worth something, but not any price."""
    shared = {model.id: len(_shared(vacancy, model)) for model in models}
    least = max(1, max(shared.values(), default=0) / 2)
    fitting = [model for model in models if shared[model.id] >= least]
    return sorted(fitting, key=lambda model: (-shared[model.id], -model.priority))


def _spread(
    order: Sequence[int],
    fitting: Mapping[int, Sequence[Routable]],
    taken: Sequence[str],
    families: Mapping[str, str],
) -> dict[int, Routable]:
    """As many models in use as can be, of as many families, and within that the best matches."""
    given = _matched(order, fitting, _family, {families.get(each) or each for each in taken})
    rest = [n for n in order if n not in given]
    given |= _matched(rest, fitting, _id, {*taken, *(model.id for model in given.values())})
    by_model = _matched(order, fitting, _id, set(taken))
    if len(by_model) > len(given):  # families first can leave a model without a seat
        given = by_model
    counts = Counter([*taken, *(model.id for model in given.values())])
    for n in order:
        if n not in given:
            given[n] = min(fitting[n], key=lambda model: counts[model.id])
            counts[given[n].id] += 1
    return given


def _family(model: Routable) -> str:
    return model.family or model.id


def _id(model: Routable) -> str:
    return model.id


def _matched(
    order: Sequence[int],
    fitting: Mapping[int, Sequence[Routable]],
    kind: Callable[[Routable], str],
    used: Set[str],
) -> dict[int, Routable]:
    """To as many seats as possible a model of a kind of its own, and the best match over all."""
    best: dict[tuple[int, str], tuple[float, Routable]] = {}
    for n in order:
        for rank, model in enumerate(fitting[n]):
            best.setdefault((n, kind(model)), (-float(rank), model))
    kinds = [name for name in dict.fromkeys(name for _, name in best) if name not in used]
    values = [[best[n, name][0] if (n, name) in best else None for name in kinds] for n in order]
    return {
        n: best[n, kinds[column]][1]
        for n, column in zip(order, assign(values), strict=True)
        if column is not None
    }
