"""Any board behind a program: it is called with a list of arguments, never through a shell."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..core.errors import BoardError
from ..core.text import clip, redact
from ..ports import BoardTask
from ..programs import WORKSPACE, child

PATIENCE = 30.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", WORKSPACE)
"""Of the environment: no key of a model provider is the program's business."""


class CommandBoard:
    """`PROGRAM … comment TASK MARK` and `PROGRAM … task OWNER MARK TITLE`; the body comes on
    standard input. Its first line of output is the task's id, a second one its address."""

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        self.name = name
        self._command = list(command)
        self._env = {key: env[key] for key in _PASSED_ON if key in env}

    async def comment(self, task: str, body: str, *, mark: str) -> BoardTask:
        return await self._run(["comment", task, mark], body, mark)

    async def create(self, title: str, body: str, *, owner: str, mark: str) -> BoardTask:
        return await self._run(["task", owner, mark, title], body, mark)

    async def _run(self, arguments: Sequence[str], body: str, mark: str) -> BoardTask:
        program = self._command[0]
        try:
            words = (argument.replace("\0", "") for argument in arguments)
            process = await child([*self._command, *words], self._env).start(
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise BoardError(
                f"{program} cannot be started: {error.strerror}.", "Check the board's command."
            ) from None
        try:
            async with asyncio.timeout(PATIENCE):
                out, err = await process.communicate(body.encode())
        except TimeoutError:
            raise BoardError(
                f"{program} did not end within {PATIENCE:g} s.", "Check it by hand."
            ) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode != 0:
            said = redact(clip(err.decode("utf-8", "replace").strip().rpartition("\n")[2], 200))
            raise BoardError(
                f"{program} ended with code {process.returncode}: {said or 'it said nothing'}",
                "Check it by hand.",
            )
        lines = out.decode("utf-8", "replace").split("\n")
        return BoardTask(lines[0].strip() or mark, lines[1].strip() if len(lines) > 1 else "")
