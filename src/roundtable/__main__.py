"""`python -m roundtable`: the same as the `roundtable` command."""

from roundtable_council import main

main()
