"""Programs that are started: which file that is, and how a child begins.

The folder in which Roundtable is asked may be somebody else's, and nothing of it is ever executed
(`shelter`). A program is looked for outside that folder only, and a child begins outside of it.
This is the one place that starts processes.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .shelter import HERE, is_full, lies_in, neutral_folder, outside, strange_folders, workspace
from .shelter import WORKSPACE as WORKSPACE
from .shelter import safe_environment as safe_environment

if TYPE_CHECKING:
    import asyncio
    import subprocess

NEUTRAL = Path(neutral_folder())
"""Where children begin: no program and no library lies there for anybody to find."""


def workspace_of(env: Mapping[str, str]) -> Path:
    """The folder in which this process was asked to work: the one that it was told, or else the
    current one."""
    return Path(workspace(env))


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """The full path of a program: by its name from PATH, or by its own full path, which somebody
    must have written into the settings. A relative path, and whatever PATH finds in the workspace,
    is nobody's choice and is not found."""
    if is_full(name):
        return next(filter(_runs, _spellings(name, env)), None)
    if not name or any(sign and sign in name for sign in (os.sep, os.altsep)):
        return None
    strange = strange_folders(env)
    for folder in outside(env.get("PATH", os.defpath), strange):
        for path in _spellings(str(Path(folder) / name), env):
            if _runs(path) and not lies_in(path, strange):
                return path
    return None


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
    if HERE not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        others = [each for each in safe.get("PYTHONPATH", "").split(os.pathsep) if each != HERE]
        safe["PYTHONPATH"] = os.pathsep.join(filter(None, (HERE, *others)))
    return Child((sys.executable, "-P", "-m", module, *arguments), NEUTRAL, safe)


def _spellings(path: str, env: Mapping[str, str]) -> Iterable[str]:
    if os.name != "nt":
        return (path,)
    endings = [each for each in env.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";") if each]
    known = path.lower().endswith(tuple(each.lower() for each in endings))
    return (path,) if known else [path + ending for ending in endings]


def _runs(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)
