"""Any board behind a program: it is called with a list of arguments, never through a shell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.errors import BoardError
from ..core.text import clip, redact
from ..ports import BoardTask
from ..program_runner import TooMuchOutput, run_program
from ..programs import WORKSPACE, child, find_program

PATIENCE = 30.0
MOST_OUTPUT = 1_000_000
"""Bytes: two lines are read."""
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", WORKSPACE)
"""Of the environment: no key of a model provider is the program's business."""


def check_program(board: str, program: str, env: Mapping[str, str]) -> None:
    """BoardError if there is no such program."""
    if find_program(program, env) is None:
        raise BoardError(
            f"The board {board} cannot be written to: the program {program!r} is not there.",
            "Give its full path, or a name on PATH outside the current folder.",
        )


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
        words = (argument.replace("\0", "") for argument in arguments)
        out = bytearray()
        try:
            ended = await run_program(
                child([*self._command, *words], self._env),
                stdin=body.encode(),
                on_output=out.extend,
                most_output=MOST_OUTPUT,
                timeout=PATIENCE,
            )
        except TimeoutError:
            raise BoardError(
                f"{program} did not end within {PATIENCE:g} s.", "Check it by hand."
            ) from None
        except TooMuchOutput:
            raise BoardError(
                f"{program} wrote more than can be read.", "Check it by hand."
            ) from None
        except OSError as error:
            raise BoardError(
                f"{program} cannot be started: {error.strerror}.", "Check the board's command."
            ) from None
        if ended.code != 0:
            said = clip(redact(ended.last_words), 200).rstrip(". ")
            raise BoardError(
                f"{program} ended with code {ended.code}: {said or 'it said nothing'}.",
                "Check it by hand.",
            )
        lines = out.decode("utf-8", "replace").split("\n")
        return BoardTask(lines[0].strip() or mark, lines[1].strip() if len(lines) > 1 else "")
