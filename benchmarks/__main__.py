"""`python -m benchmarks` runs them all, `python -m benchmarks NAME …` those that are named."""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.measured import Measured, print_table

NAMES = (
    "path",
    "overhead",
    "streaming",
    "full_house",
    "ledger",
    "postgres",
    "drafts",
    "fleet_limits",
    "estimates",
    "estimates_held_out",
    "prefix",
    "prompts",
    "start_up",
    "first_call",
    "install_size",
    "selection",
    "web_feed",
    "news",
    "page_paint",
    "page_stream",
    "mcp",
    "bombs",
    "stalled",
    "meeting_tools",
    "growth",
    "fleet",
    "peers",
)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}: {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    rows: list[Measured] = []
    for name in names or NAMES:
        print(f"{name} …", file=sys.stderr)
        rows += import_module(f"benchmarks.{name}").run()
    print_table(rows)
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
