"""What a worker understands: a job is of the kind of the program that opened its discussion or
drove it last, and is taken by workers that are at least as new."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..version import __version__

_DRIVE = "drive "
_NEWER = "+"


def kind(version: str = __version__) -> str:
    """Of a discussion into which a program of this version has written."""
    return f"{_DRIVE}{version}"


def beyond(version: str = __version__) -> str:
    """Of a discussion that a worker of this version could not read."""
    return f"{_DRIVE}{version}{_NEWER}"


def understands(version: str, kind: str) -> bool:
    """Whether a worker of this version takes such jobs."""
    if not kind.startswith(_DRIVE):
        return False
    needed = kind.removeprefix(_DRIVE)
    if needed.endswith(_NEWER):
        return _numbers(needed) < _numbers(version)
    return _numbers(needed) <= _numbers(version)


def understood(version: str, kinds: Iterable[str]) -> list[str]:
    """Those among them that it takes, and its own."""
    return sorted({kind(version), *(each for each in kinds if understands(version, each))})


def needed(kind: str) -> str:
    """What a worker must be to take it, in words."""
    version = kind.removeprefix(_DRIVE)
    if version.endswith(_NEWER):
        return f"a worker newer than {version.removesuffix(_NEWER)}"
    return f"a worker of version {version} or newer"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version)[:3])
