"""Watched in operation: spans of discussions, turns and calls, and figures of a process."""
