"""One question with lettered options, in a form that a terminal and a chat's buttons can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.errors import UsageError
from ...core.key_shapes import may_be_key

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_YES = ("y", "yes")
_NO = ("n", "no")


@dataclass(frozen=True, slots=True)
class Option:
    """One choice; `letter` is what a person types or a chat shows as a button."""

    letter: str
    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Without options the answer is free text; with `free` it may be either."""

    key: str
    text: str
    options: tuple[Option, ...] = ()
    free: bool = False
    default: Any = None
    """What is taken where nothing is written; None: something has to be."""

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"{o.letter}) {o.text}" for o in self.options)])

    @property
    def shown_default(self) -> str:
        """The default as one would write it: its letter, or the text itself; empty if none."""
        if self.default is None:
            return ""
        letters = (each.letter for each in self.options if each.value == self.default)
        return next(letters, str(self.default) if self.free or not self.options else "")

    def value_of(self, text: str) -> Any:
        """What an answer means. UsageError says how to answer."""
        given = text.strip()
        # Where yes is no answer of its own, it says yes to what is shown.
        agreed = given.casefold() in _YES and all(o.value is not True for o in self.options)
        if self.shown_default and (agreed or not given):
            return self.default
        letter = given[:1].upper() if len(given.rstrip(").")) == 1 else ""
        words = given.casefold()
        for option in self.options:
            plain = option.text.split(":")[0].casefold()
            if letter == option.letter or words in (plain, str(option.value).casefold()):
                return option.value
        for option in self.options:
            said = _YES if option.value is True else _NO if option.value is False else ()
            if words in said:
                return option.value
        if self.options and not self.free:
            *others, last = (option.letter for option in self.options)
            letters = f"{', '.join(others)} or {last}"
            told = "That" if may_be_key(given) else repr(given)
            raise UsageError(f"{told} is not one of the options.", f"Please answer {letters}.")
        if not given:
            raise UsageError("The answer is empty.", "Write a name.")
        return given


def options(*choices: tuple[str, Any]) -> tuple[Option, ...]:
    """Options with letters, from what is shown and what it means."""
    return tuple(Option(LETTERS[n], *choice) for n, choice in enumerate(choices))
