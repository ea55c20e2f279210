"""The hostile suite: README.md says which attack is tried where."""

from .server import Asked, Behave, Hostile, Line, bomb, chunk, hostile

__all__ = ["Asked", "Behave", "Hostile", "Line", "bomb", "chunk", "hostile"]
