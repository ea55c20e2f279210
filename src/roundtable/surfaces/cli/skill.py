"""`roundtable skill`: install, check and publish the instructions for host agents."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...core.errors import NotAllowed, RoundtableError, UsageError
from ...core.extras import install
from ...programs import child, find_program
from ...version import __version__
from .. import skill
from .exits import FAILED
from .here import settings_here
from .terminal import confirmed, echo, echo_error, for_screen

HUB = "clawhub"
_HUB_SECONDS = 60.0


def install_command(flags: Mapping[str, Any]) -> int:
    """Put the skill in place, and say what is left to do."""
    for folder in _targets(flags["agents"], flags["to"]):
        placed = skill.install(folder)
        echo(f"{placed.folder}")
        echo(f"  written: {', '.join(placed.written) or 'nothing, it is up to date'}")
        if placed.kept:
            echo(f"  kept as they are: {', '.join(placed.kept)}")
        if wrong := skill.problems(placed.folder):
            raise RoundtableError(wrong[0], "Install Roundtable again.")
    echo("\nLeft to do:")
    for number, step in enumerate(_left_to_do(), 1):
        echo(f"  {number}. {step}")
    return 0


def _targets(agents: Sequence[str], to: str | None) -> list[Path]:
    if to is not None:
        if agents:
            raise UsageError("--for and --to exclude each other.", "Give one of them.")
        return [Path(to).expanduser()]
    if "all" in agents:
        chosen: Sequence[skill.HostAgent] = skill.HOST_AGENTS
    elif agents:
        chosen = [each for each in skill.HOST_AGENTS if each in agents]
    else:
        chosen = skill.agents_here(os.environ)
        if not chosen:
            raise UsageError(
                "No host agent was found in your home folder.",
                f"Name one with --for ({', '.join(skill.HOST_AGENTS)}, all), or a folder with "
                "--to.",
            )
    return [skill.skills_folder(each, os.environ) for each in chosen]


def _left_to_do() -> list[str]:
    """The self-check: what a person still has to do by hand."""
    settings = settings_here()
    steps = []
    if find_program("roundtable", os.environ) is None:
        folder = Path(sys.executable).parent
        steps.append(f"Put the roundtable command on the PATH of your agent ({folder}).")
    config = settings.council_config
    if config.is_file():
        steps.append(f"Nothing for the configuration: {config} was left as it is.")
    else:
        steps.append(f"If you like, set defaults: roundtable setup (it writes {config}).")
    if find_spec("mcp") is None:
        steps.append(f"For the tools: {install('mcp')}.")
    steps.append("For the tools, name the server to your agent: see references/mcp.md.")
    steps.append("See what can speak and what is missing: roundtable doctor.")
    steps.append("Start a new session of your agent, so that it reads the skill.")
    return steps


def check_command(flags: Mapping[str, Any]) -> int:
    """Validate a skill's folder; the shipped one by default."""
    folder = Path(flags["folder"]).expanduser() if flags["folder"] else skill.shipped_skill()
    found = skill.problems(folder)
    for each in found:
        echo_error(each)
    if found:
        return FAILED
    echo(f"{folder}: valid.")
    return 0


def publish_command(flags: Mapping[str, Any]) -> int:
    """Show everything first; send only after a yes."""
    folder = skill.shipped_skill()
    files = skill.contents(folder)
    hub = find_program(HUB, os.environ)
    account = _account(hub) if hub else None
    echo(f"Hub: {hub or f'{HUB} is not installed'}")
    echo(f"Account: {account or 'not logged in'}")
    echo(f"Skill: {skill.NAME} {__version__}, from {folder}")
    for name, data in files.items():
        echo(f"  {name}  {len(data):,} bytes  sha256 {skill.fingerprint(data)}…")
    wrong = skill.problems(folder)
    echo(f"Scan for home folders, ids and credentials: {'; '.join(wrong) or 'nothing found'}")
    if wrong:
        raise NotAllowed("The skill is not fit to be published.", "Mend what the scan found.")
    if hub is None:
        raise UsageError(f"{HUB} is not installed.", f"Install it: npm install -g {HUB}")
    if account is None:
        raise UsageError(f"{HUB} knows no account.", f"Log in first: {HUB} login")
    if not _agreed(account, yes=flags["yes"]):
        echo_error("Nothing was sent.")
        return 0
    return _send(hub, files)


def _account(hub: str) -> str | None:
    try:
        done = child([hub, "whoami"], os.environ).run(
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_HUB_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = for_screen(done.stdout).strip().splitlines()
    return words[-1] if done.returncode == 0 and words else None


def _agreed(account: str, *, yes: bool) -> bool:
    if yes:
        return True
    otherwise = "Run it in a terminal, or add --yes if that is what you want."
    return asyncio.run(confirmed(f"Publish these files as {account}?", otherwise, person=True))


def _send(hub: str, files: Mapping[str, bytes]) -> int:
    """Send a copy under the skill's own name: exactly the files that were shown."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="roundtable-skill-") as scratch:
        folder = Path(scratch) / skill.NAME
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        arguments = ("--slug", skill.NAME, "--name", "Roundtable", "--version", __version__)
        publish = child([hub, "publish", str(folder), *arguments], os.environ)
        done = publish.run(stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RoundtableError(
            f"{HUB} ended with code {done.returncode}.", "Read what it said, and try again."
        )
    return 0
