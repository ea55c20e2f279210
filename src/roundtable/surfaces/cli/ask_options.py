"""The options of `roundtable ask`: the general ones are written with the command, those of the
procedures are made from their declarations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import click

from ...procedures import CUSTOM, OPTIONS
from ...procedures.options import Option, described

_MEANT = {CUSTOM: "your own procedures"}


@cache
def words() -> Mapping[str, list[Option]]:
    """What the procedures declare under each word of the command line."""
    found: dict[str, list[Option]] = {}
    for model in OPTIONS.values():
        for each in described(model):
            if "cli" not in each.closed and not each.general:
                found.setdefault(each.word, []).append(each)
    return found


def procedure_options() -> list[click.Parameter]:
    return [_made(declared) for declared in words().values()]


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The words of procedures that stand on the command line."""
    return {word: flags[word] for word in words() if flags.get(word) not in (None, False)}


def _made(declared: list[Option]) -> click.Option:
    """One flag for all procedures that know the word. Where they mean different kinds of value by
    it, the one that is meant checks it."""
    first = declared[0]
    names = [first.flag, first.word]
    if first.kind == "flag":
        return click.Option(names, is_flag=True, help=first.help)
    same = all(_nature(each) == _nature(first) for each in declared)
    kind = _click_type(first) if same else None
    metavar = None if isinstance(kind, click.Choice) else first.metavar
    return click.Option(names, type=kind, metavar=metavar, help=first.help)


def _nature(option: Option) -> tuple[object, ...]:
    return option.kind, option.choices, option.minimum, option.maximum, option.above


def _click_type(option: Option) -> click.ParamType[Any] | None:
    if option.kind == "choice":
        return click.Choice(option.choices)
    if option.kind != "number":
        return None
    low = option.minimum if option.above is None else option.above
    kind: Any = click.IntRange if option.whole else click.FloatRange
    made: click.ParamType[Any] = kind(low, option.maximum, min_open=option.above is not None)
    return made


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """For the help: the title of each section, and its flags with what they do."""
    found = []
    for name, model in OPTIONS.items():
        known = [each for each in described(model) if "cli" not in each.closed]
        rows = [(spelled(each), told(each)) for each in known if not each.advanced]
        more = [each.flag for each in known if each.advanced and not each.general]
        if more:
            rows.append(("", f"Also {', '.join(more)}: `roundtable procedures show {name}`."))
        found.append((f"Options of {_MEANT.get(name, name)}", rows))
    return found


def spelled(option: Option) -> str:
    """A flag with what stands behind it."""
    if option.kind == "flag":
        return option.flag
    value = "|".join(option.choices) if option.kind == "choice" else option.metavar
    return f"{option.flag} {value}"


def told(option: Option) -> str:
    """What it does, what it may be, and what it is otherwise."""
    facts = "; ".join(each for each in (option.limits, option.usual) if each)
    return f"{option.help} [{facts}]" if facts else option.help
