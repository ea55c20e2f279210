"""One side of `peers` each, to be run as a script: URL, how many discussions, how many at once."""
