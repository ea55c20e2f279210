"""Names in place of ids, in what people read. The ids stay in data and in links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

from .state import State
from .visible import shown

SLUG = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
TURN = re.compile(r"(?<![\w/.-])\d+/[\w-]+/[\w.-]*[\w-]")


def line(text: str) -> str:
    """Words as they may be shown, on one line: no secrets, nothing hidden."""
    return _word(text) if len(text) <= _WORD_LENGTH else " ".join(shown(text).split())


_WORD_LENGTH = 48
"""Of names, stages and models, which stand beside every speech."""


@lru_cache(maxsize=2048)
def _word(text: str) -> str:
    return " ".join(shown(text).split())


def names_of(state: State) -> dict[str, str]:
    """Everybody by id; whoever shares a name with another is told apart by the id."""
    return state.derived("names", _names)


def _names(state: State) -> dict[str, str]:
    seated = (*state.ever_seated.values(), state.start.host)
    names = {p.id: called(p.name) for p in seated}
    shared = Counter(names[p.id] for p in seated)
    return {
        who: name if shared[name] == 1 else line(f"{name} ({who})") for who, name in names.items()
    }


def name_of(state: State, participant: str) -> str:
    return names_of(state).get(participant) or line(state.name_of(participant))


def turn_name(state: State, turn: str) -> str:
    """A turn as people call it: `Ann, round 2`. The host's turns belong to no round."""
    number, _, rest = turn.partition("/")
    who = rest.rpartition("/")[2]
    return f"{name_of(state, who)}, round {number}" if number != "0" else name_of(state, who)


class ByTurn(Mapping[str, str]):
    """Something of every turn that was taken, made when somebody asks for it: a text cites a few
    turns of a long discussion."""

    def __init__(
        self,
        turns: Mapping[str, object],
        make: Callable[[str], str],
        beside: Mapping[str, str] | None = None,
    ) -> None:
        """`beside` is what else there is under names that no turn has."""
        self._turns, self._make, self._beside = turns, make, beside or {}

    def __getitem__(self, name: str) -> str:
        return self._make(name) if name in self._turns else self._beside[name]

    def __contains__(self, name: object) -> bool:
        return name in self._turns or name in self._beside

    def __iter__(self) -> Iterator[str]:
        return chain(self._turns, self._beside)

    def __len__(self) -> int:
        return len(self._turns) + len(self._beside)


def turn_names(state: State) -> Mapping[str, str]:
    """Every turn that was taken, with its name."""
    return ByTurn(state.turns, lambda turn: turn_name(state, turn))


def with_names(state: State, text: str) -> str:
    """A text in which the turns that it cites are called by their names; right behind the name of
    whoever spoke there, by the round alone."""
    known = turn_names(state)

    def told(match: re.Match[str]) -> str:
        name = known.get(match[0], match[0])
        who, comma, place = name.rpartition(", ")
        before = text[max(0, match.start() - len(who) - _BETWEEN) : match.start()]
        return place if comma and before.rstrip(" *_([").endswith(who) else name

    return TURN.sub(told, text)


_BETWEEN = 8
"""Characters that may stand between a name and the turn behind it: “**Ann** (2/critique/ann)”."""


def called(name: str) -> str:
    """A name as it is shown; where only a slug is known, in words: `Product Manager`."""
    if SLUG.fullmatch(name):
        return " ".join(word.capitalize() for word in name.split("-"))
    return line(name)
