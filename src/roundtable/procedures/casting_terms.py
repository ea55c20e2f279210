"""Whom the host may seat: the nearest of the library in full, and everybody else of it by id.

Words find the nearest only in the languages that the library knows, so nobody is shut out by them.
What a discussion is opened with holds the nearest whole, because they were chosen for it, and of
the others the ids: whoever is seated is recorded whole when it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import JsonValue

from ..core.state import State
from ..core.values import Options
from ..experts.chosen import chosen_expert
from ..experts.library_files import read_library
from ..ports import ChosenExpert

CASTING = "casting"
"""The stage, the block in its answer, and the option under which a discussion holds its terms."""
SHORTLIST = 10
"""The nearest, who are listed with a sentence each."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Whom the host may seat by id."""

    nearest: tuple[ChosenExpert, ...] = ()
    others: tuple[ChosenExpert, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.nearest)

    def find(self, called: str) -> ChosenExpert | None:
        """The expert of this id or name, however it is capitalised and joined."""
        wanted = _folded(called)
        everybody = (*self.nearest, *self.others)
        by_id = (each for each in everybody if _folded(each.id) == wanted)
        by_name = (each for each in everybody if _folded(each.name) == wanted)
        return next(by_id, None) or next(by_name, None)

    def others_by_field(self) -> str:
        """A line for each field, with the ids of its experts."""
        fields: dict[str, list[str]] = {}
        for each in self.others:
            fields.setdefault(each.domain, []).append(each.id)
        return "\n".join(f"{field}: {', '.join(ids)}" for field, ids in sorted(fields.items()))


NOBODY = Offered()


def casting_terms(
    shortlist: Sequence[ChosenExpert], library: Sequence[ChosenExpert] = (), *, ask: bool
) -> Options:
    """What a discussion is opened with so that its host casts the table and says what is missing;
    with `ask` somebody is there to answer. `library` is everybody who is not on the shortlist."""
    shipped = _shipped() if library else {}
    fields: dict[str, JsonValue] = {}
    rows: list[JsonValue] = []
    for each in library:
        if shipped.get(each.id) == each:
            ids = fields.setdefault(each.domain, [])
            assert isinstance(ids, list)
            ids.append(each.id)
        else:  # the user's own: nobody else could say later who that was
            rows.append(_row(each))
    return {
        CASTING: {
            "ask": ask,
            "shortlist": [_row(each) for each in shortlist],
            "library": fields,
            "own": rows,
        }
    }


def clarifying_terms(*, ask: bool, within: str = "") -> Options:
    """What a discussion is opened with so that its host only says what is missing, where the seats
    are settled otherwise: in a call of its own, or `within` another stage of the host."""
    return {CASTING: {"ask": ask, "within": within}}


def clarified_in(state: State) -> str:
    """The stage in whose words the host says what is missing."""
    within = (terms(state) or {}).get("within")
    return within if isinstance(within, str) and within else CASTING


def terms(state: State) -> Mapping[str, Any] | None:
    """What the discussion was opened with for its casting; None where it is not cast."""
    found = state.start.options.get(CASTING)
    return found if isinstance(found, dict) else None


def offered(state: State) -> Offered:
    """Whom the host of this discussion may seat."""
    given = terms(state) or {}
    nearest = _read(given.get("shortlist"))
    fields = given.get("library")
    named = fields.values() if isinstance(fields, dict) else ()
    ids = [str(each) for listed in named if isinstance(listed, list) for each in listed]
    shipped = _shipped() if ids else {}
    known = [shipped[each] for each in ids if each in shipped]
    return Offered(nearest, (*known, *_read(given.get("own"))))


@cache
def _shipped() -> Mapping[str, ChosenExpert]:
    """Who comes with the program, by id: asked for at every step of a discussion that is cast."""
    return {each.id: chosen_expert(each) for each in read_library().values()}


def _row(each: ChosenExpert) -> dict[str, JsonValue]:
    return {
        "id": each.id,
        "name": each.name,
        "domain": each.domain,
        "perspective": each.perspective,
        "guidance": each.guidance,
    }


def _read(listed: object) -> tuple[ChosenExpert, ...]:
    rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return tuple(
        ChosenExpert(
            id=str(row.get("id", "")),
            name=str(row.get("name", "")),
            domain=str(row.get("domain", "")),
            perspective=str(row.get("perspective", "")),
            guidance=str(row.get("guidance", "")),
        )
        for row in rows
    )


def _folded(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())
