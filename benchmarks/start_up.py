"""How long it takes until the command line answers, in CPU time of the whole process.

What `--help`, `list`, `show` and `ask` up to its first call take, as multiples of `python -c pass`
with the same interpreter, measured in turn, because milliseconds are of one machine; and which
heavy modules any of them loads. Whoever speaks in `ask` is scripted: what a provider needs comes
with its first call.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measured import Measured
from roundtable.speakers.scripted import ScriptedSpeaker
from roundtable.surfaces.python import Roundtable

RUNS = 15
ROUNDTABLE = "import sys; from roundtable_council import main; main()"
LOADED = """
import atexit, sys
@atexit.register
def told():
    print(*(m for m in {heavy} if m in sys.modules), file=open({file!r}, "w"))
"""
NOT_FOR_ASK = (
    "xllamacpp", "wordllama", "numpy", "tokenizers", "rich.console", "asyncpg", "pypdf", "lxml",
    "fastapi", "genai_prices.data", "markdown_it",
)  # fmt: skip
HEAVY = (*NOT_FOR_ASK, "jinja2", "httpx2")
NOT_FOR = {"--help": (*HEAVY, "pydantic", "asyncio", "sqlite3"), "ask": NOT_FOR_ASK}
GOALS = {"--help": 6, "list": 65, "show": 70, "ask": 95}
ASK = (
    "ask", "Tea or coffee?", "--procedure=council", "--quick", "--no-search",
    "--all=scripted/echo", "--model=scripted/echo",
)  # fmt: skip


def run() -> list[Measured]:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        discussion_id = asyncio.run(_discussion(home))
        env = environment(home)
        commands = {
            "--help": ["--help"],
            "list": ["list"],
            "show": ["show", discussion_id],
            "ask": [*ASK],
        }
        heavy = {
            name: _loaded(home, NOT_FOR.get(name, HEAVY), args, env)
            for name, args in commands.items()
        }
        seconds: dict[str, list[float]] = {name: [] for name in ("nothing", *commands)}
        for _ in range(RUNS):
            seconds["nothing"].append(cpu_of(["-c", "pass"], env))
            for name, args in commands.items():
                seconds[name].append(cpu_of(["-c", ROUNDTABLE, *args], env))
    ms = {name: 1000 * statistics.median(each) for name, each in seconds.items()}
    return [
        *(
            Measured(
                f"roundtable {name} ÷ python -c pass",
                statistics.median(
                    a / b for a, b in zip(seconds[name], seconds["nothing"], strict=True)
                ),
                "x",
                goal,
                f"{ms[name]:.0f} ms against {ms['nothing']:.0f} ms",
            )
            for name, goal in GOALS.items()
        ),
        *(
            Measured(f"heavy modules loaded by {name}", len(found), "", 0, " ".join(found))
            for name, found in heavy.items()
        ),
    ]


async def _discussion(home: Path) -> str:
    speakers = {"x": ScriptedSpeaker(lambda _: "Tea, because it keeps.")}
    async with Roundtable(home=home, model="scripted/x", speakers=speakers, env={}) as table:
        state = await table.open("Tea or coffee?", all="scripted/x", quick=True)
        await table.run(state.discussion_id)
        return state.discussion_id


def environment(home: Path) -> dict[str, str]:
    """Of a user with this home, with byte code kept from the first run on, as an installed program
    has it."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {
        **env,
        "ROUNDTABLE_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(str(Path(each).resolve()) for each in sys.path),
        "PYTHONPYCACHEPREFIX": str(home / "bytecode"),
    }


def _loaded(
    home: Path, heavy: Sequence[str], args: Sequence[str], env: Mapping[str, str]
) -> list[str]:
    file = home / "loaded"
    code = LOADED.format(heavy=tuple(heavy), file=str(file)) + ROUNDTABLE
    cpu_of(["-c", code, *args], env)
    return file.read_text("ascii").split()


def cpu_of(arguments: Sequence[str], env: Mapping[str, str]) -> float:
    """The CPU seconds that a Python process with these arguments took."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=dict(env),
        cwd=env["ROUNDTABLE_HOME"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return usage.ru_utime + usage.ru_stime
