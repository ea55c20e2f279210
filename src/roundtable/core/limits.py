"""Limits of several origins joined into one budget: the lowest counts, and each keeps the name of
where it comes from, for whoever is stopped by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import UsageError
from .text import counted, listed
from .values import Budget

NAMES: Mapping[str, str] = {
    "max_calls": "calls",
    "max_tokens": "tokens",
    "max_cost_usd": "cost",
    "max_seconds": "time",
}
WORDS: Mapping[str, str] = {
    "max_cost_usd": "max_cost",
    "max_calls": "max_calls",
    "max_tokens": "max_tokens",
    "max_seconds": "max_time",
}
"""What they are called wherever somebody gives them. What is stored keeps the names it had."""
OLDER: Mapping[str, str] = {field: word for field, word in WORDS.items() if field != word}
"""What some of them were called, and are called in what is stored: taken wherever a limit is."""
FIELDS: Mapping[str, str] = {word: field for field, word in WORDS.items()}
"""By what they are called, what they are called in what is stored."""
FLAGS: Mapping[str, str] = {name: f"--{word.replace('_', '-')}" for name, word in WORDS.items()}


def renamed(given: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """What is given with the names for limits that are `known`, in place of those that are not.
    UsageError if both are given and differ."""
    names = set(known)
    found = dict(given)
    for older, word in OLDER.items():
        for other, own in ((older, word), (word, older)):
            if other not in found or other in names or own not in names:
                continue
            value = found.pop(other)
            if value is None:
                continue
            if found.get(own) not in (None, value):
                raise UsageError(
                    f"{word} and {older} are the same limit, and differ.", f"Give {word} alone."
                )
            found[own] = value
    return found


@dataclass(frozen=True, slots=True)
class Limits:
    """A budget, and where each of its limits comes from, in words."""

    budget: Budget
    origins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, budget: Budget, origin: str | Mapping[str, str]) -> Limits:
        """All limits from one origin, or each from its own."""
        found = {
            name: origin if isinstance(origin, str) else origin.get(name, "")
            for name, value in budget
            if value is not None
        }
        return cls(budget, {name: told for name, told in found.items() if told})


NO_LIMITS = Limits(Budget())


def joined(wanted: Limits, caps: Sequence[Limits]) -> tuple[Limits, tuple[str, ...]]:
    """What counts: what is wanted, as far as no cap is lower. And which of it a cap lowered."""
    values: dict[str, float | int] = {}
    origins: dict[str, str] = {}
    lowered: list[str] = []
    for name in Budget.model_fields:
        first = getattr(wanted.budget, name)
        lowest, origin = first, wanted.origins.get(name, "")
        for cap in caps:
            value = getattr(cap.budget, name)
            if value is not None and (lowest is None or value < lowest):
                lowest, origin = value, cap.origins.get(name, "")
        if lowest is None:
            continue
        values[name] = lowest
        if origin:
            origins[name] = origin
        if first is not None and lowest < first:
            lowered.append(name)
    return Limits(Budget.model_validate(values), origins), tuple(lowered)


def is_raised(name: str, before: Budget, now: Budget) -> bool:
    """Whether there was such a limit, and the one of now is higher."""
    old, new = getattr(before, name), getattr(now, name)
    return old is not None and new is not None and new > old


def is_cap(origin: str) -> bool:
    """Whether a limit of this origin holds whatever is asked for: it is raised only where it
    stands."""
    return origin.startswith(("ROUNDTABLE_", "[caps]", "the project's", "what the token"))


def told(name: str, value: float) -> str:
    """A limit in words."""
    match name:
        case "max_cost_usd":
            return f"${value:g}"
        case "max_seconds":
            return f"{value:g} seconds"
        case _:
            return counted(round(value), NAMES[name].removesuffix("s"))


def all_told(budget: Budget) -> str:
    """All limits in words."""
    return listed([told(name, value) for name, value in budget if value is not None]) or "none"
