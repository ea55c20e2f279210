"""The command line. Importing this imports nothing heavy: each command brings what it needs."""

from __future__ import annotations

import gc
import os
import sys

OBJECTS = 200_000
"""How many have to be new before those that nobody holds any more are looked for. Loading makes
many that stay: a tenth of the time until the first call went into looking at them in vain."""


def main() -> None:
    """The entry point of the `roundtable` command."""
    from ...shelter import shelter

    gc.set_threshold(OBJECTS)
    shelter(os.environ, sys.path)
    from .app import run

    sys.exit(run(sys.argv[1:]))
