"""The catalogue of notes: every code that a procedure stores stands in it, and none that is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import roundtable.procedures
from roundtable.procedures.messages import CODES, demonstration

HOME = Path(str(roundtable.procedures.__file__)).parent


def codes_in(module: str, tree: ast.AST) -> Iterator[str]:
    """The codes of the notes that a module makes, without what follows a slash."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NoteAdded":
            (code,) = [word.value for word in node.keywords if word.arg == "code"]
            yield from (each.partition("/")[0] for each in _values(module, code))


def _values(module: str, code: ast.expr) -> Iterator[str]:
    match code:
        case ast.Constant(value=str() as value):
            yield value
        case ast.IfExp():
            yield from _values(module, code.body)
            yield from _values(module, code.orelse)
        case ast.JoinedStr(values=[first, *_]):
            yield from _values(module, first)
        case ast.FormattedValue():
            yield from _values(module, code.value)
        case ast.Name():
            named = getattr(import_module(module), code.id, None)
            if isinstance(named, str):
                yield named
            else:  # a parameter: whoever calls gives it in words
                assert code.id == "code", f"{module}: {code.id}"
        case ast.Call():  # one of several, chosen by a table
            words = [node for node in ast.walk(code) if isinstance(node, ast.Constant)]
            yield from (str(word.value) for word in words)
        case _:
            raise AssertionError(f"{module}: a code that cannot be told: {ast.unparse(code)}")


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        parts = path.relative_to(HOME).with_suffix("").parts
        name = ".".join(("roundtable.procedures", *parts)).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


@pytest.mark.requirement("X-44")
def test_every_code_that_a_procedure_stores_is_in_the_catalogue_and_no_other() -> None:
    used = {code for name, tree in modules().items() for code in codes_in(name, tree)}
    assert used <= set(CODES), "add it to procedures/messages.py"
    # The engine and the surfaces say some of them beside the procedures.
    text = "\n".join(path.read_text("utf-8") for path in HOME.parent.rglob("*.py"))
    spoken = {code for code in CODES if text.count(f'"{code}') > 1 or code in used}
    assert set(CODES) == spoken, "nobody says this any more"


def test_a_meaning_is_one_plain_line() -> None:
    for code, meaning in CODES.items():
        assert meaning
        assert "\n" not in meaning
        assert not meaning.endswith("."), code


def test_the_demonstration_model_is_announced_in_one_wording() -> None:
    note = demonstration("it casts no ballots")
    assert note.text.endswith("it cannot reason: it casts no ballots.")
    assert "roundtable models" in note.remedy


def test_the_documentation_lists_every_code_with_its_meaning() -> None:
    text = (Path(__file__).parents[2] / "docs" / "notes.md").read_text("utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning} |" in text
