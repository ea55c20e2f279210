"""One document, read or not. Without anything heavy: the worker begins with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class Unreadable(Exception):
    """Why a document cannot be read: a clause that goes on from its name. What to do about it, if
    that is known, stands behind a semicolon; or it is the extra that is missing."""

    @property
    def says_what_to_do(self) -> bool:
        return ";" in str(self) or "needs the extra" in str(self)


class OtherEncoding(Unreadable):
    """Text as far as one can tell, but in another encoding."""


class NoDocument(Unreadable):
    """Nothing that anybody wrote to be read: a picture, an archive, bytes."""


class Blank(Unreadable):
    """Nothing stands there."""


class NoRoom(Unreadable):
    """There is no more room for it beside the others."""


@dataclass(frozen=True, slots=True)
class Read:
    """The text of one document, and what should be said of it."""

    text: str
    lines: tuple[str, ...] = ()


def listed(names: Iterable[str | int]) -> str:
    """Numbers or names in a row, in short: 1, 2, 3 and 40 more."""
    found = [str(each) for each in names]
    if len(found) > 6:
        return f"{', '.join(found[:5])} and {len(found) - 5} more"
    return ", ".join(found)
