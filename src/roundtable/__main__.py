"""`python -m roundtable`: the same as the `roundtable` command."""

from .surfaces.cli import main

main()
