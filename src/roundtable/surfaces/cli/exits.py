"""The exit codes of every command."""

from __future__ import annotations

DONE = 0
"""What was asked for was done: a verdict was delivered, a file written, a bundle found sound."""
FAILED = 1
"""It was tried and did not succeed: no verdict, a bundle that is wrong, a report that was not
taken."""
USAGE = 2
"""It cannot be done as it was asked for; nothing was begun, nothing was spent."""
BUDGET = 3
"""A limit ended the discussion early; what stands on stdout is the best that it allowed."""
UNVERIFIED = 4
"""`verify` alone: it can be called neither sound nor wrong here."""
INTERRUPTED = 130
"""Ctrl-C or a termination; what is finished is kept."""

MEANING = {
    DONE: "done: a verdict was delivered",
    FAILED: "it failed; stderr says why and what to do next",
    USAGE: "the command or the configuration is wrong; nothing was spent",
    BUDGET: "a budget ended the discussion, with a partial verdict",
    UNVERIFIED: "a bundle cannot be verified here",
    INTERRUPTED: "interrupted; stderr says how to continue",
}
"""In the words of the documentation."""
