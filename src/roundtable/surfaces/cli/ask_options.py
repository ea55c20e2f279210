"""The options of `roundtable ask` that the procedures declare: the words of all of them first, then
those of one alone. Older words are understood, and not shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import click

from ...procedures import CUSTOM, OPTIONS
from ...procedures.options import SHARED, Option, ProcedureOptions, described
from ...procedures.vocabulary import ABOUT
from . import completing

_MEANT = {CUSTOM: "your own procedures"}
_MANY = {"models": completing.models, "experts": completing.experts}
_ONE = {"host": completing.models, "roster": completing.rosters}


@cache
def words() -> Mapping[str, list[Option]]:
    """What the procedures declare under each word of the command line."""
    found: dict[str, list[Option]] = {word: [] for word in SHARED}
    for each in _declared():
        found.setdefault(each.word, []).append(each)
    return found


@cache
def older_words() -> Mapping[str, list[Option]]:
    """The same for words that are still understood."""
    found: dict[str, list[Option]] = {}
    for each in _declared():
        for word in each.aliases:
            if word not in words():
                found.setdefault(word, []).append(each)
    return found


def _declared() -> list[Option]:
    models = OPTIONS.values()
    known = (each for model in models for each in described(model))
    return [each for each in known if "cli" not in each.closed and not each.general]


def procedure_options() -> list[click.Parameter]:
    shown = [_made(word, declared) for word, declared in words().items()]
    # `--model` is what the default model was called before there was `--host`.
    hidden = [_made(w, d, hidden=True) for w, d in older_words().items() if w != "model"]
    return [*shown, *hidden]


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The words of procedures that stand on the command line."""
    known = [*words(), *(word for word in older_words() if word != "model")]
    # A nought is something that was said: it equals False, and is not.
    return {w: flags[w] for w in known if flags.get(w) is not None and flags[w] is not False}


def _made(word: str, declared: list[Option], *, hidden: bool = False) -> click.Option:
    """One flag for all procedures that know the word. Where they mean different kinds of value by
    it, or set different limits, the one that is meant checks it."""
    first = declared[0]
    names = [f"--{word.replace('_', '-')}", word]
    about = ABOUT[first.name] if first.shared else first.help
    if first.kind == "flag":
        return click.Option(names, is_flag=True, help=about, hidden=hidden)
    same = all(_nature(each) == _nature(first) for each in declared)
    kind = _click_type(first) if same else click.INT if first.whole else None
    metavar = None if isinstance(kind, click.Choice) else first.metavar
    return click.Option(
        names, type=kind or _offers(first), metavar=metavar, help=about, hidden=hidden
    )


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


def _offers(option: Option) -> click.ParamType[Any] | None:
    """What a shell may offer for it."""
    if option.name in _MANY:
        return completing.Offered(
            "list", _MANY[option.name], many=True, seats=option.name == "models"
        )
    if option.name in _ONE or option.part == "role":
        return completing.Offered("name", _ONE.get(option.name, completing.models))
    if option.suggests:
        return completing.Offered("name", partial(_suggested, option.suggests))
    return None


def _suggested(values: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(each, "") for each in values]


# --- the help -------------------------------------------------------------------------------------


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """For the help: the title of each procedure's section, and its own flags with what they do."""
    found = []
    for name, model in OPTIONS.items():
        known = [each for each in described(model) if "cli" not in each.closed and not each.shared]
        own = [each for each in known if not (each.advanced or each.general)]
        rows = [(spelled(each), told(each)) for each in own]
        more = [each.flag for each in known if each.advanced and not each.general]
        if more:
            rows.append(("", f"Also {', '.join(more)}: `roundtable help {name}`."))
        rows.append(("", here(model)))
        found.append((f"Options of {_MEANT.get(name, name)}", rows))
    return found


def here(model: type[ProcedureOptions]) -> str:
    """What the words of all procedures may be in this one, and which of them it does not take."""
    bounded = [each for each in described(model) if each.shared and each.limits]
    facts = [f"{each.flag} {each.limits}" for each in bounded]
    facts += [f"no --{word}" for word in SHARED if word in model.cannot]
    return f"Here: {', '.join(facts)}."


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
