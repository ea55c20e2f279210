"""Keys of search services: read when they are needed, never kept, never shown."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import SearchError


def read_key(env: Mapping[str, str], variable: str, label: str) -> str:
    """The key. SearchError, without the key in it, if there is none or it cannot be one."""
    key = env.get(variable, "").strip()
    if not key:
        raise SearchError(f"{label} needs a key.", f"Set {variable}.")
    # In a header anything else fails deep down, with an error that shows the value.
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise SearchError(
            f"{variable} holds characters that no key has.", "Copy the key once more."
        )
    return key
