"""The council: Scholar, Engineer and Muse, led by a Captain."""
