"""Programs that are run: what they are told, how much they may say, and that none stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from roundtable.program_runner import KEPT_COMPLAINTS, Ended, TooMuchOutput, run_program
from roundtable.programs import Child, child

pytestmark = [
    pytest.mark.requirement("Z-39"),
    pytest.mark.skipif(os.name == "nt", reason="processes are looked at in the way of POSIX"),
]
FAMILY = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {grandchild.pid}")
print("ready", flush=True)
time.sleep(600)
"""


def python(code: str, *arguments: str) -> Child:
    return child([sys.executable, "-c", code, *arguments], os.environ)


async def gone(pid: int) -> bool:
    """Whether a process has ended; whoever was just killed is given the time to."""
    for _ in range(1000):
        if not lives(pid):
            return True
        await asyncio.sleep(0.01)
    return False


def lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


async def test_a_program_reads_all_it_is_told_and_is_heard_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    told, heard = b"\x00secret\n" * 200_000, bytearray()
    seen: list[str] = []

    def hear(data: bytes) -> None:
        seen.extend(each.name for each in tmp_path.iterdir())
        heard.extend(data)

    echo = python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")
    ended = await run_program(echo, stdin=told, on_output=hear)

    assert ended == Ended(0, b"")
    assert heard == told
    assert seen == [], "what it is told is in no file with a name"


async def test_of_its_complaints_the_last_are_kept() -> None:
    ended = await run_program(
        python("import sys; sys.stderr.write('x' * 9999 + '\\nIt broke.\\n\\n'); sys.exit(3)")
    )
    assert (ended.code, ended.last_words) == (3, "It broke.")
    assert len(ended.complaints) == KEPT_COMPLAINTS


async def test_what_nobody_wants_to_hear_goes_nowhere() -> None:
    assert (await run_program(python("print('x' * 20_000_000)"))).code == 0


async def test_a_program_that_writes_without_end_is_ended_at_the_bound() -> None:
    heard = bytearray()
    flood = python("while True: print('x' * 1000)")
    with pytest.raises(TooMuchOutput):
        await run_program(flood, on_output=heard.extend, most_output=12_345)
    assert len(heard) == 12_345


async def test_what_goes_wrong_in_hearing_ends_it_too() -> None:
    def choke(_: bytes) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await run_program(python("while True: print('x')"), on_output=choke)


async def test_a_program_that_cannot_be_started_is_an_error_of_the_system(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(b"\x7fELF, or not")
    odd.chmod(0o755)
    with pytest.raises(OSError, match="format"):
        await run_program(Child((str(odd),), tmp_path, {}))


@linux
@pytest.mark.parametrize("how", ["deadline", "cancelled"])
async def test_its_whole_family_ends_with_the_call(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = tmp_path / "family"
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    late, now = 0, loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + late)
    running = asyncio.ensure_future(
        run_program(python(FAMILY, str(family)), on_output=lambda _: ready.set(), timeout=900)
    )
    await ready.wait()
    if how == "deadline":
        late = 1000
    else:
        running.cancel()
    with pytest.raises(TimeoutError if how == "deadline" else asyncio.CancelledError):
        await running
    for pid in family.read_text("utf-8").split():
        assert await gone(int(pid))


OURSELVES = """
import asyncio, os, sys
from roundtable.program_runner import run_program
from roundtable.programs import child
sleeper = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
asyncio.run(run_program(
    child([sys.executable, "-c", sleeper], os.environ),
    on_output=lambda data: os.write(1, data),
))
"""


@linux
def test_it_ends_with_us_however_sudden() -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    ourselves = subprocess.Popen([sys.executable, "-c", OURSELVES], stdout=subprocess.PIPE, env=env)
    with ourselves:
        assert ourselves.stdout is not None
        pid = int(ourselves.stdout.readline())
        os.kill(ourselves.pid, signal.SIGKILL)
        ourselves.wait()
    assert asyncio.run(gone(pid))
