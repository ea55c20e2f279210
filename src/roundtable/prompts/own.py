"""Templates that users write: a small part of the template language, checked before it is used.

What is guaranteed: a template reads the variables that it is given and nothing else of the program,
renders in time and size proportional to its own length and to what it is given, and does the same
every time. So there are variables and conditions on them, and nothing that could loop, calculate,
call, look inside a value or load another file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import nodes

MAX_BODY = 20_000
"""Characters of one template."""
MAX_USES = 3
"""Times that one variable may be put in: what it holds may be long."""
MAX_DEPTH = 8
"""Conditions within conditions."""

_ALLOWED = {"Template", "Output", "TemplateData", "Name", "If", "Not", "And", "Or", "Compare"}
_ALLOWED |= {"Operand", "Const"}
_CALCULATIONS = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "Concat", "Neg", "Pos")
_REFUSED = {
    "Getattr": "attributes",
    "Getitem": "items of values",
    "Slice": "items of values",
    "Call": "calls",
    "CallBlock": "calls",
    "Filter": "filters",
    "FilterBlock": "filters",
    "Test": "tests with `is`",
    "For": "loops",
    "Macro": "macros",
    "Assign": "assignments",
    "AssignBlock": "assignments",
    "Include": "other templates",
    "Import": "other templates",
    "FromImport": "other templates",
    "Extends": "other templates",
    "Block": "blocks",
    **dict.fromkeys(_CALCULATIONS, "calculations"),
}
ALLOWED = "{{ variable }}, {% if variable %} … {% else %} … {% endif %}, ==, !=, not, and, or"


class BadTemplate(ValueError):
    """A template does what a user's template may not; says which line, and what is allowed."""


def variables_of(body: str) -> frozenset[str]:
    """The variables that a user's template reads. BadTemplate if it is more than it may be."""
    from jinja2 import TemplateSyntaxError

    from . import environment

    if len(body) > MAX_BODY:
        raise BadTemplate(f"at most {MAX_BODY:,} characters; it has {len(body):,}")
    try:
        tree = environment().parse(body)
    except TemplateSyntaxError as error:
        raise BadTemplate(f"a template (line {error.lineno}: {error.message})") from None
    except (RecursionError, ValueError, MemoryError):
        raise BadTemplate("a template that is not nested so deep") from None
    uses: Counter[str] = Counter()
    _check(tree, 0, uses)
    often = next((name for name, count in uses.items() if count > MAX_USES), None)
    if often is not None:
        raise BadTemplate(
            f"“{often}” at most {MAX_USES} times; it stands there {uses[often]} times"
        )
    return frozenset(uses)


def _check(node: nodes.Node, depth: int, uses: Counter[str]) -> None:
    kind = type(node).__name__
    line = node.lineno
    if kind not in _ALLOWED:
        what = _REFUSED.get(kind, f"“{kind.lower()}”")
        raise BadTemplate(f"a template without {what} (line {line}); it may hold {ALLOWED}")
    if kind == "If":
        depth += 1
        if depth > MAX_DEPTH:
            raise BadTemplate(f"at most {MAX_DEPTH} conditions within each other (line {line})")
    if kind == "Name":
        uses[str(getattr(node, "name", ""))] += 1
    if kind == "Const" and not isinstance(getattr(node, "value", None), str):
        # Every value is text: `round == 1` would never hold, and nobody would know why.
        raise BadTemplate(f'text in quotes, such as round == "1" (line {line})')
    if kind == "Operand" and getattr(node, "op", "") not in ("eq", "ne"):
        raise BadTemplate(f"== and != as the only comparisons (line {line})")
    for child in node.iter_child_nodes():
        _check(child, depth, uses)
