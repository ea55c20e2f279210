"""Print the scorecard: `python -m benchmarks.evals [NAME …]`. Exits with 1 if a goal is missed."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

from .data import DEFAULT, Data
from .scorecard import Score, table

EVALS = ("debates", "answers", "voters", "confidence", "judges", "selection")
"""Modules of this package with a `run(data) -> list[Score]`. A new eval is a new name here."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evals", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(EVALS)}")
    parser.add_argument("--data", type=Path, default=DEFAULT, help="the folder of the data sets")
    parser.add_argument("--split", default="dev", help="which half to measure")
    parser.add_argument("--limit", type=int, help="only the first rows of each set")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(EVALS):
        parser.error(
            f"no eval is called {', '.join(sorted(unknown))}; there are {', '.join(EVALS)}"
        )
    if not options.data.is_dir():
        print(f"No data at {options.data}: nothing is measured. Name its folder with --data.")
        return 0
    data = Data(options.data, options.split, options.limit)
    missed = False
    for name in options.names or EVALS:
        run = _eval(name)
        if run is None:
            print(f"{name}: not part of this checkout, skipped.\n")
            continue
        started = time.perf_counter()
        scores = run(data)
        print(f"{name} ({options.split}, {time.perf_counter() - started:.1f} s)")
        print(table(scores) if scores else f"no data for it in {options.data}", end="\n\n")
        missed = missed or not all(score.ok for score in scores)
    return int(missed)


def _eval(name: str) -> Callable[[Data], list[Score]] | None:
    module = f"{__package__}.{name}"
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None
    return cast("Callable[[Data], list[Score]]", found.run)


if __name__ == "__main__":
    sys.exit(main())
