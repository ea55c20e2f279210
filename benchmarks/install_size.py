"""What an installation weighs: bytes and packages of the base and of each extra.

Nothing is installed for it: the packages that pip has put here are looked up from the requirements
of ours, by their records, with the bytecode that an installer adds. What is not installed here is
named and not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.measured import Measured, print_table

NAME = "roundtable-council"
BASE_MB = 150.0
HEAVIEST = 5


def run() -> list[Measured]:
    base = closure("")
    extras = sorted(metadata.metadata(NAME).get_all("Provides-Extra") or ())
    more = [_row(f"and [{e}]", closure(e) - base) for e in extras if e != "dev"]
    return [_row("base install", base, BASE_MB), *more]


def _row(name: str, packages: set[str], goal: float | None = None) -> Measured:
    sizes = {each: size(each) for each in packages if _found(each)}
    absent = sorted(packages - sizes.keys())
    heaviest = sorted(sizes, key=lambda each: -sizes[each])[:HEAVIEST]
    told = f"{len(sizes)} packages: " + ", ".join(
        f"{each} {sizes[each] / 1e6:.0f}" for each in heaviest
    )
    missing = f"; not here: {', '.join(absent)}" if absent else ""
    return Measured(name, sum(sizes.values()) / 1e6, "MB", goal, told + missing)


def closure(extra: str) -> set[str]:
    """The packages that an installation with this extra has, ours among them."""
    found: set[str] = set()
    waiting = [(NAME, frozenset({extra} if extra else ()))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        found.add(name)
        if (name, extras) in seen or not _found(name):
            continue
        seen.add((name, extras))
        waiting += [
            (canonicalize_name(each.name), frozenset(each.extras))
            for each in _needed(name, extras or frozenset({""}))
        ]
    return found


def _needed(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    for text in metadata.requires(name) or ():
        each = Requirement(text)
        if each.marker is None or any(
            each.marker.evaluate({"extra": extra}) for extra in {"", *extras}
        ):
            yield each


def _found(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def size(name: str) -> int:
    """Bytes of its files, with their bytecode."""
    files = [Path(str(file.locate())) for file in metadata.files(name) or ()]
    whole = {path for path in files if path.suffix != ".pyc"}
    compiled = {
        cached
        for path in whole
        if path.suffix == ".py"
        for cached in path.parent.glob(f"__pycache__/{path.stem}.*.pyc")
    }
    if name == NAME and not any(path.name == "bootstrap.py" for path in whole):  # for development
        source = Path(__file__).parents[1] / "src" / "roundtable"
        whole |= {path for path in source.rglob("*") if path.is_file()}
    return sum(path.stat().st_size for path in whole | compiled if path.is_file())


if __name__ == "__main__":
    print_table(run())
