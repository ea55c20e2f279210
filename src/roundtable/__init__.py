"""Roundtable: several AI experts around one table, and a verdict that can be checked.

::

    from roundtable import Roundtable

    async with Roundtable() as table:
        verdict = await table.ask("Should a team of five use microservices?")

It is installed as `roundtable-council`, by which its own command knows this file.
"""

import sys

if (
    sys.argv[:1] == ["-m"]
    and not sys.flags.safe_path
    and any(word.removeprefix("-m").split(".")[0] == "roundtable" for word in sys.orig_argv[1:])
):
    # `python -m roundtable` has put the current folder first, before Python's own library. Nothing
    # of that folder is imported, so it must go before anything else is.
    del sys.path[0]

from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036 - for whoever runs the sources without pip
    sys.exit("Roundtable needs Python 3.11 or newer; this is {}.{}.".format(*sys.version_info[:2]))

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .core.values import Budget as Budget
    from .surfaces.engine import RoundTableEngine as RoundTableEngine
    from .surfaces.python import DiscussionFailed as DiscussionFailed
    from .surfaces.python import Roundtable as Roundtable
    from .surfaces.toolset.opening import open_toolset as open_toolset

__all__ = [
    "Budget",
    "DiscussionFailed",
    "RoundTableEngine",
    "Roundtable",
    "__version__",
    "open_toolset",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for: `roundtable --help` needs none of it."""
    if name in ("DiscussionFailed", "Roundtable"):
        from .surfaces import python

        return getattr(python, name)
    if name == "Budget":
        from .core.values import Budget

        return Budget
    if name == "RoundTableEngine":
        from .surfaces.engine import RoundTableEngine

        return RoundTableEngine
    if name == "open_toolset":
        from .surfaces.toolset.opening import open_toolset

        return open_toolset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
