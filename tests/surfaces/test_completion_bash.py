"""Tab in a bash: what stands on the line afterwards, as somebody at the keyboard sees it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .desk import Desk, environment

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
SHOWN = "line is "


class Shell:
    """An interactive bash in a terminal, with the completion as it is installed."""

    def __init__(self, keyboard: int, workspace: Path) -> None:
        self._keyboard = keyboard
        self._line = workspace / "line.txt"

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    def wait_for(self, words: str) -> str:
        seen, deadline = "", time.monotonic() + 60
        while words not in seen:
            left = deadline - time.monotonic()
            assert left > 0, seen
            if select.select([self._keyboard], [], [], left)[0]:
                seen += os.read(self._keyboard, 65536).decode(errors="replace")
        return seen

    def after_tab(self, line: str) -> str:
        """The line, once Tab was pressed behind it. Ctrl-X Ctrl-L says it, and clears it."""
        self._line.unlink(missing_ok=True)
        self.type(f"{line}\t\x18\x0c")
        self.wait_for(SHOWN + "\r\n")
        return self._line.read_text("utf-8")


@contextmanager
def bash(desk: Desk, workspace: Path, *lines: str) -> Iterator[Shell]:
    bin_ = workspace / "bin"
    bin_.mkdir()
    program = bin_ / "roundtable"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m roundtable "$@"\n')
    program.chmod(0o755)
    told = f'printf %s "$READLINE_LINE" >line.txt; READLINE_LINE=; echo "{SHOWN}"'
    commands = (
        'eval "$(_ROUNDTABLE_COMPLETE=bash_source roundtable)"',
        f"bind -x '\"\\C-x\\C-l\": {told}'",
        *lines,
        "PS1='ready> '",
    )
    rc = workspace / "rc"
    rc.write_text("\n".join(commands), "utf-8")
    env = environment(
        {"PATH": f"{bin_}:{os.environ['PATH']}", "TERM": "dumb", "ROUNDTABLE_HOME": str(desk.home)}
    )
    child, keyboard = pty.fork()
    if child == 0:  # pragma: no cover - it becomes another program
        os.chdir(workspace)
        os.execvpe("bash", ["bash", "--noprofile", "--rcfile", str(rc), "-i"], env)
    try:
        shell = Shell(keyboard, workspace)
        shell.wait_for("ready> ")
        yield shell
    finally:
        os.close(keyboard)  # it hangs up
        os.waitpid(child, 0)


def test_words_with_colons_and_equals_signs_are_completed_as_one(
    desk: Desk, tmp_path: Path
) -> None:
    desk.home.mkdir()
    (desk.home / "config.toml").write_text(
        '[boards.desk]\nkind = "webhook"\nurl = "http://x"\n[channels]\nteam = "file:x"\n'
    )
    lines = {
        "roundtable sho": "roundtable show ",
        "roundtable show exa": "roundtable show example:",
        "roundtable show example:ra": "roundtable show example:rails-monolith ",
        'roundtable show "example:ra': 'roundtable show "example:rails-monolith" ',
        "roundtable compare last example:ra": "roundtable compare last example:rails-monolith ",
        "roundtable A:B or C --task de": "roundtable A:B or C --task desk:",
        "roundtable ask --notify te": "roundtable ask --notify team ",
        "roundtable ask --notify=te": "roundtable ask --notify=team ",
        "roundtable ask --models muse=fabl": "roundtable ask --models muse=fable ",
        "roundtable ask --models=muse=fabl": "roundtable ask --models=muse=fable ",
        "roundtable ask --models opus,muse=fabl": ("roundtable ask --models opus,muse=fable "),
        "roundtable ask --context rc": "roundtable ask --context rc ",
        "roundtable show zorp:": "roundtable show zorp:",
    }
    workspace = tmp_path / "shell"
    workspace.mkdir()
    with bash(desk, workspace) as shell:
        assert {line: shell.after_tab(line) for line in lines} == lines


def test_a_bash_that_does_not_divide_words_there_replaces_the_whole_word(
    desk: Desk, tmp_path: Path
) -> None:
    workspace = tmp_path / "shell"
    workspace.mkdir()
    with bash(desk, workspace, "COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/}") as shell:
        shown = shell.after_tab("roundtable show example:ra")
        named = shell.after_tab("roundtable ask --models=muse=fabl")
    assert shown == "roundtable show example:rails-monolith "
    assert named == "roundtable ask --models=muse=fable "
