"""A roster: a ready panel, named by what it is good for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources

from pydantic import Field

from ..core.errors import UnknownName
from ..core.values import Value
from .expert import Expert


class Roster(Value):
    """Experts who sit together for one kind of question."""

    id: str
    name: str
    purpose: str = Field(alias="for")
    experts: tuple[str, ...] = Field(min_length=3)
    """Ids, in the order in which they sit."""

    def seated(self, library: Mapping[str, Expert]) -> list[Expert]:
        """The experts themselves. UnknownName if the library lacks one."""
        missing = next((each for each in self.experts if each not in library), None)
        if missing is not None:
            raise UnknownName("expert", missing, library)
        return [library[each] for each in self.experts]


def read_rosters() -> dict[str, Roster]:
    """The ready rosters by id, in the order of the file."""
    text = resources.files(__package__).joinpath("rosters.toml").read_text("utf-8")
    return {
        key: Roster.model_validate({"id": key, **row}) for key, row in tomllib.loads(text).items()
    }


def roster(name: str) -> Roster:
    """One roster by its id or its name. UnknownName if there is none."""
    rosters = read_rosters()
    wanted = name.strip().casefold()
    for each in rosters.values():
        if wanted in (each.id, each.name.casefold()):
            return each
    raise UnknownName("roster", name, rosters)
