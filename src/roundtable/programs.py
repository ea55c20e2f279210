"""Programs that are started: which file that is, and how a child begins.

The folder in which Roundtable is asked may be somebody else's, and nothing of it is ever executed.
A program is looked for outside that folder only, a child begins outside of it, and the variables
that lead programs to code lead nowhere inside it. This is the one place that starts processes.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import subprocess

WORKSPACE = "ROUNDTABLE_WORKSPACE"
"""The folder that a discussion is held in, for processes that begin elsewhere."""
NEUTRAL = Path(Path(sys.executable or os.sep).anchor or os.sep)
"""Where children begin: no program and no library lies there for anybody to find."""
_LISTS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NODE_PATH")
"""Variables that list folders with code."""
_PLACES = ("PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP")
"""Variables that name one place with code."""


def workspace_of(env: Mapping[str, str]) -> Path:
    """The folder in which this process was asked to work: the one that it was told, or else the
    current one."""
    return _current() / env.get(WORKSPACE, "")


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """The full path of a program: by its name from PATH, or by its own full path, which somebody
    must have written into the settings. A relative path, and whatever PATH finds in the workspace,
    is nobody's choice and is not found."""
    if Path(name).is_absolute():
        return next(filter(_runs, _spellings(name, env)), None)
    if not name or any(sign and sign in name for sign in (os.sep, os.altsep)):
        return None
    strange = _strange(env)
    for folder in _outside(env.get("PATH", os.defpath), strange):
        for path in _spellings(str(Path(folder) / name), env):
            if _runs(path) and not _lies_in(path, strange):
                return path
    return None


def safe_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without ways into the workspace."""
    strange = _strange(env)
    safe = dict(env)
    for name in filter(safe.__contains__, _LISTS):
        safe[name] = os.pathsep.join(_outside(safe[name], strange, ours=name == "PYTHONPATH"))
        if not safe[name]:  # an empty list would mean the current folder
            del safe[name]
    for name in filter(safe.__contains__, _PLACES):
        if not Path(safe[name]).is_absolute() or _lies_in(safe[name], strange):
            del safe[name]
    if "PATH" in env:
        safe.setdefault("PATH", os.defpath)
    return safe


def shelter(env: MutableMapping[str, str], path: list[str]) -> None:
    """Make the process itself safe: its environment, and the path from which it imports."""
    safe = safe_environment(env)
    for name in (*_LISTS, *_PLACES):
        if name in env and env[name] != safe.get(name):
            if name in safe:
                env[name] = safe[name]
            else:
                del env[name]
    here = {os.path.realpath(each) for each in (_current(), workspace_of(env))}
    path[:] = [
        each for each in path if Path(each).is_absolute() and os.path.realpath(each) not in here
    ]


@dataclass(frozen=True, slots=True)
class Child:
    """A process to be started: what, where and with which environment."""

    arguments: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]

    def popen(self, **pipes: Any) -> subprocess.Popen[bytes]:
        """Start it."""
        import subprocess

        return subprocess.Popen(self.arguments, cwd=self.folder, env=self.env, **pipes)  # noqa: S603 - resolved

    def run(self, **pipes: Any) -> subprocess.CompletedProcess[Any]:
        """Start it and wait for its end."""
        import subprocess

        return subprocess.run(  # noqa: S603 - resolved
            self.arguments, cwd=self.folder, env=self.env, check=False, **pipes
        )

    async def start(self, **pipes: Any) -> asyncio.subprocess.Process:
        """Start it from a coroutine."""
        import asyncio

        return await asyncio.create_subprocess_exec(
            *self.arguments, cwd=self.folder, env=self.env, **pipes
        )

    async def hear(
        self, protocol: Callable[[], asyncio.SubprocessProtocol], **pipes: Any
    ) -> asyncio.SubprocessTransport:
        """Start it from a coroutine, and let the protocol hear it."""
        import asyncio

        loop = asyncio.get_running_loop()
        transport, _ = await loop.subprocess_exec(
            protocol, *self.arguments, cwd=self.folder, env=self.env, **pipes
        )
        return transport


def child(command: Sequence[str], env: Mapping[str, str], *, folder: Path = NEUTRAL) -> Child:
    """Somebody else's program. FileNotFoundError if there is none outside the workspace."""
    program = find_program(command[0], env)
    if program is None:
        raise FileNotFoundError(2, "no such program outside the current folder", command[0])
    safe = safe_environment(env)
    safe.pop(WORKSPACE, None)  # for our own children: others may go elsewhere and call us there
    return Child((program, *command[1:]), folder, safe)


def python_child(module: str, arguments: Sequence[str], env: Mapping[str, str]) -> Child:
    """A module of this very Python, with this very Roundtable to import."""
    safe = safe_environment(env) | {"PYTHONSAFEPATH": "1", WORKSPACE: str(workspace_of(env))}
    if _HERE not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        others = [each for each in safe.get("PYTHONPATH", "").split(os.pathsep) if each != _HERE]
        safe["PYTHONPATH"] = os.pathsep.join(filter(None, (_HERE, *others)))
    return Child((sys.executable, "-P", "-m", module, *arguments), NEUTRAL, safe)


_HERE = str(Path(__file__).resolve().parents[1])
"""The folder from which this program was imported: whoever runs it has chosen to."""


def _current() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # somebody has removed it
        return NEUTRAL


def _strange(env: Mapping[str, str]) -> list[Path]:
    """The folders that may be somebody else's: the workspace, and the current one. A folder that
    holds the user's own home is no project: there everything would lie in it."""
    roots = {Path(os.path.realpath(each)) for each in (_current(), workspace_of(env))}
    try:
        home = Path(os.path.realpath(Path.home()))
    except RuntimeError:  # nobody knows where it is
        return list(roots)
    return [root for root in roots if not home.is_relative_to(root)]


def _outside(folders: str, strange: Iterable[Path], *, ours: bool = False) -> list[str]:
    """Of a list of folders, those that are named in full and lie outside strange ones."""
    return [
        each
        for each in folders.split(os.pathsep)
        if Path(each).is_absolute()
        and (not _lies_in(each, strange) or (ours and os.path.realpath(each) == _HERE))
    ]


def _lies_in(path: str, folders: Iterable[Path]) -> bool:
    """Whether a path leads into one of the folders, over links too."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(folder) for folder in folders)


def _spellings(path: str, env: Mapping[str, str]) -> Iterable[str]:
    if os.name != "nt":
        return (path,)
    endings = [each for each in env.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";") if each]
    known = path.lower().endswith(tuple(each.lower() for each in endings))
    return (path,) if known else [path + ending for ending in endings]


def _runs(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)
