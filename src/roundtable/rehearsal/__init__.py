"""Rehearsals: a discussion played through in memory, to know what it will take.

A procedure is a pure function, so it can be led on without anybody being called: whoever would
speak is imagined, with a speech of the usual length and a declaration that can be counted. The
prompts are those that would be sent. So what a discussion will cost, what is left to do and what
has to be kept back for its end are one computation, and no procedure tells any of it itself.
"""
