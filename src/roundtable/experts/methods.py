"""Methods of reasoning: for tables, and for single seats, that no expert of the library fits."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib import resources

from ..ports import ChosenExpert
from .chosen import ASKED_FOR, named_expert

WHY = "a way to reason, since nobody else in the library fits the question"


def _read() -> tuple[ChosenExpert, ...]:
    text = resources.files(__package__).joinpath("methods.toml").read_text("utf-8")
    return tuple(ChosenExpert(**row, reason=WHY) for row in tomllib.loads(text)["expert"])


METHODS = _read()
"""Different ways to reason."""


def find_method(named: str) -> ChosenExpert | None:
    """The method of this id or name, for whoever asks for it."""
    wanted = named.strip().casefold()
    found = (each for each in METHODS if wanted in (each.id, each.name.casefold()))
    return next((replace(each, reason=ASKED_FOR) for each in found), None)


def method_or_named(named: str) -> ChosenExpert:
    """Who sits for a name where there is no library: a method, or an expert of that name."""
    return find_method(named) or named_expert(named)
