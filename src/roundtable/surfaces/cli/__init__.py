"""The command line. Importing this imports nothing heavy: each command brings what it needs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The entry point of the `roundtable` command."""
    from ...programs import shelter

    shelter(os.environ, sys.path)
    from .app import run

    sys.exit(run(sys.argv[1:]))
