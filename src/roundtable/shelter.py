"""Shelter from the folder in which Roundtable is asked: it may be somebody else's.

Nothing of it is ever executed, so the variables that lead programs to code lead nowhere inside it,
and neither does the path from which this process imports. Every command begins here, before
anything else is imported: pathlib alone would cost as much as all of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, MutableMapping

WORKSPACE = "ROUNDTABLE_WORKSPACE"
"""The folder that a discussion is held in, for processes that begin elsewhere."""
HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
"""The folder from which this program was imported: whoever runs it has chosen to."""
_LISTS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NODE_PATH")
"""Variables that list folders with code."""
_PLACES = ("PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP")
"""Variables that name one place with code."""


def shelter(env: MutableMapping[str, str], path: list[str]) -> None:
    """Make the process itself safe: its environment, and the path from which it imports."""
    safe = safe_environment(env)
    for name in (*_LISTS, *_PLACES):
        if name in env and env[name] != safe.get(name):
            if name in safe:
                env[name] = safe[name]
            else:
                del env[name]
    here = {os.path.realpath(each) for each in (current_folder(), workspace(env))}
    path[:] = [each for each in path if is_full(each) and os.path.realpath(each) not in here]


def safe_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without ways into the workspace."""
    strange = strange_folders(env)
    safe = dict(env)
    for name in filter(safe.__contains__, _LISTS):
        safe[name] = os.pathsep.join(outside(safe[name], strange, ours=name == "PYTHONPATH"))
        if not safe[name]:  # an empty list would mean the current folder
            del safe[name]
    for name in filter(safe.__contains__, _PLACES):
        if not is_full(safe[name]) or lies_in(safe[name], strange):
            del safe[name]
    if "PATH" in env:
        safe.setdefault("PATH", os.defpath)
    return safe


def workspace(env: Mapping[str, str]) -> str:
    """The folder in which this process was asked to work: the one that it was told, or else the
    current one."""
    return os.path.join(current_folder(), env.get(WORKSPACE, ""))


def current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody has removed it
        return neutral_folder()


def neutral_folder() -> str:
    """Where children begin: no program and no library lies there for anybody to find."""
    return os.path.splitdrive(sys.executable or "")[0] + os.sep


def strange_folders(env: Mapping[str, str]) -> list[str]:
    """The folders that may be somebody else's: the workspace, and the current one. A folder that
    holds the user's own home is no project: there everything would lie in it."""
    roots = {os.path.realpath(each) for each in (current_folder(), workspace(env))}
    home = os.path.expanduser("~")
    if home.startswith("~"):  # nobody knows where it is
        return list(roots)
    return [root for root in roots if not lies_in(home, [root])]


def outside(folders: str, strange: Iterable[str], *, ours: bool = False) -> list[str]:
    """Of a list of folders, those that are named in full and lie outside strange ones."""
    return [
        each
        for each in folders.split(os.pathsep)
        if is_full(each)
        and (not lies_in(each, strange) or (ours and os.path.realpath(each) == HERE))
    ]


def lies_in(path: str, folders: Iterable[str]) -> bool:
    """Whether a path leads into one of the folders, over links too."""
    real = _comparable(os.path.realpath(path))
    return any(real.startswith(_comparable(folder)) for folder in folders)


def is_full(path: str) -> bool:
    """Whether a path needs no folder to begin in, nor, on Windows, a drive."""
    return os.path.isabs(path) and (os.name != "nt" or bool(os.path.splitdrive(path)[0]))


def _comparable(folder: str) -> str:
    """With a separator at its end, so that no folder is taken for another whose name begins as
    its own does."""
    return os.path.normcase(folder).rstrip(os.sep) + os.sep
