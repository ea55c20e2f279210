"""The pure core: what a discussion is and what should happen next.

Nothing here reads a clock, a file, the network, the environment or a random source, and nothing
is async. Whatever the core needs to know arrives as an argument.
"""
