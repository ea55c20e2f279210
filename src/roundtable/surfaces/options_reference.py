"""docs/reference/options.md, made from the declarations: `make reference` writes it anew."""

from __future__ import annotations

import click

from ..procedures import CUSTOM, OPTIONS
from ..procedures.options import Option, ProcedureOptions, described

_HEAD = """\
# Options of the procedures

This page is made from the declarations of the options (`make reference`); do not edit it.

An option has one name in HTTP, MCP, the OpenAI-compatible endpoint and Python, and a flag on the \
command line and in a chat. Lists may be given as `a,b,c`, pairs as `name=model,name=model`. \
Without a named procedure, options that only one procedure knows choose it.
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
    return "\n".join([_HEAD, *(_section(name, model) for name, model in OPTIONS.items())])


def _section(name: str, model: type[ProcedureOptions]) -> str:
    known = described(model)
    lines = [f"## {_TITLES.get(name, name)}", "", "| option | flag | value | default | does |"]
    lines += ["|---|---|---|---|---|", *(_row(each) for each in known)]
    closed = [line for each in known if (line := _closed(each))]
    return "\n".join([*lines, *([""] if closed else []), *closed, ""])


def _row(option: Option) -> str:
    flag = "" if "cli" in option.closed else f"`{option.flag}`"
    value = {"flag": "", "choice": ", ".join(f"`{each}`" for each in option.choices)}.get(
        option.kind, option.limits or f"`{option.metavar}`"
    )
    cells = (f"`{option.name}`", flag, value, option.usual, option.help)
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
