"""Programs from npm that check ours: nobody here wrote them.

::

    python -m tests.npm_tools        installs what is missing, and says where it is

They go into a cache outside of the repository. Where they are not installed their tests skip,
with a word about it; with CI set they fail.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import platformdirs
import pytest

PACKAGES = {
    "@modelcontextprotocol/conformance": "0.1.16",
    "@modelcontextprotocol/inspector": "2.12.0",
}
NODE = "22.23.3"
"""What the newest of them needs; taken from npm where the machine's own is older."""


class Missing(Exception):
    """Something is not here, and what to do about it."""


def node() -> str:
    """A Node that is new enough. Missing if there is none."""
    own = shutil.which("node")
    if own is not None:
        told = subprocess.run([own, "--version"], capture_output=True, text=True, check=False)
        if told.stdout.startswith("v") and int(told.stdout[1:].split(".")[0]) >= 22:
            return own
    kept = _folder() / "node_modules" / _node_package() / "bin" / "node"
    if not kept.is_file():
        raise Missing("There is no Node 22: run `python -m tests.npm_tools`.")
    return str(kept)


def program(package: str, script: str) -> list[str]:
    """The command that runs a script of a package. Missing if it is not installed."""
    path = _folder() / "node_modules" / package / script
    if not path.is_file():
        raise Missing(f"{package} is not installed: run `python -m tests.npm_tools`.")
    return [node(), str(path)]


def required(package: str, script: str) -> list[str]:
    """The command, or the end of the test: skipped here, failed where everything must be run."""
    try:
        return program(package, script)
    except Missing as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))


def install() -> Path:
    """Fetch all of them, once; whoever comes at the same time finds them whole or not at all."""
    folder = _folder()
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("npm is not installed: install Node 20 or newer.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=".npm-", dir=folder.parent))
    try:
        wanted = {**PACKAGES, _node_package(): NODE}
        subprocess.run(
            [npm, "install", "--prefix", str(fresh), "--no-audit", "--no-fund", "--ignore-scripts"]
            + [f"{name}@{version}" for name, version in wanted.items()],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _node_package() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    return f"node-{platform.system().lower()}-{machine}"


def _folder() -> Path:
    version = "-".join([*PACKAGES.values(), NODE])
    return Path(platformdirs.user_cache_dir("roundtable-tests")) / f"npm-{version}"


def main() -> int:
    try:
        print(f"Installed: {install()}\nNode: {node()}")
    except (Missing, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
