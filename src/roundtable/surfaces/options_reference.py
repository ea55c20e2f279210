"""docs/reference/options.md, made from the declarations: `make reference` writes it."""

from __future__ import annotations

import click

from ..procedures import CUSTOM, OPTIONS
from ..procedures.options import SHARED, Option, ProcedureOptions, described, find
from ..procedures.vocabulary import ABOUT

_HEAD = """\
# Options of the procedures

This page is generated from the program (`make reference`); do not edit it.

An option has one name in HTTP, MCP, the OpenAI-compatible endpoint and Python, and a flag on the \
command line and in a chat; every surface understands both, and older names. Lists may be given as \
`a,b,c`. If you name no procedure, an option that only one procedure has selects it.

Material, language and limits belong to the request, not to the procedure, and are the same \
everywhere: `--context`, `--language`, `--max-cost`, `--max-calls`, `--max-tokens`, `--max-time`.
"""
_TITLES = {CUSTOM: "Your own procedures"}
_SURFACES = {
    "cli": "command line",
    "chat": "chat",
    "http": "HTTP",
    "page": "page",
    "tools": "MCP",
    "openai": "OpenAI endpoint",
    "python": "Python",
}


def reference() -> str:
    """The whole page."""
    sections = (_section(name, model) for name, model in OPTIONS.items())
    return "\n".join([_HEAD, _shared(), *sections])


def _shared() -> str:
    """The options of all procedures: what each means, and its values in each."""
    named = [_TITLES.get(name, name).lower() for name in OPTIONS]
    lines = [
        "## Options of every procedure",
        "",
        f"| option | means | {' | '.join(named)} |",
        "|---|---|" + "---|" * len(named),
    ]
    for word in SHARED:
        cells = [_in(model, word) for model in OPTIONS.values()]
        lines.append(f"| `{word}`, `--{word}` | {ABOUT[word]} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "`quick` overrides `rounds`.", ""])


def _in(model: type[ProcedureOptions], word: str) -> str:
    """What a word may be in one procedure."""
    known = find(model, word)
    if known is None:
        return "no"
    return (f"{known.limits} ({known.usual})" if known.usual else known.limits) or "yes"


def _section(name: str, model: type[ProcedureOptions]) -> str:
    known = described(model)
    lines = [f"## {_TITLES.get(name, name)}", "", "| option | flag | value | default | does |"]
    lines += ["|---|---|---|---|---|", *(_row(each) for each in known)]
    more = [f"- No `{word}`: {why}" for word, why in model.cannot.items()]
    older = [f"`{word}` for `{each.name}`" for each in known for word in each.aliases]
    more += [f"- Older names: {', '.join(older)}."] if older else []
    more += [line for each in known if (line := _closed(each))]
    return "\n".join([*lines, *([""] if more else []), *more, ""])


def _row(option: Option) -> str:
    flag = "" if "cli" in option.closed else f"`{option.flag}`"
    value = {"flag": "on/off", "choice": ", ".join(f"`{each}`" for each in option.choices)}.get(
        option.kind, option.limits or f"`{option.metavar}`"
    )
    usual = "off" if option.kind == "flag" else option.usual
    cells = (f"`{option.name}`", flag, value, usual, option.help)
    escaped = [each.replace("|", r"\|") for each in cells]
    return f"| {' | '.join(escaped)} |"


def _closed(option: Option) -> str:
    """The surfaces that do not offer it, by reason."""
    reasons: dict[str, list[str]] = {}
    for surface, reason in option.closed.items():
        reasons.setdefault(reason, []).append(_SURFACES[surface])
    told = "; ".join(f"{', '.join(where)} ({reason})" for reason, where in reasons.items())
    return f"- `{option.name}` is not offered on: {told}." if told else ""


if __name__ == "__main__":
    click.echo(reference(), nl=False)
