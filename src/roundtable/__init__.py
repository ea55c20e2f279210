"""Roundtable: several AI experts around one table, and a verdict that can be checked.

::

    from roundtable import Roundtable

    async with Roundtable() as table:
        verdict = await table.ask("Should a team of five use microservices?")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .surfaces.engine import RoundTableEngine as RoundTableEngine
    from .surfaces.python import DiscussionFailed as DiscussionFailed
    from .surfaces.python import Roundtable as Roundtable

__all__ = ["DiscussionFailed", "RoundTableEngine", "Roundtable", "__version__"]


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for: `roundtable --help` needs none of it."""
    if name in ("DiscussionFailed", "Roundtable"):
        from .surfaces import python

        return getattr(python, name)
    if name == "RoundTableEngine":
        from .surfaces.engine import RoundTableEngine

        return RoundTableEngine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
