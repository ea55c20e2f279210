"""What the browser tests need and pip does not bring: a Chromium, and axe-core.

::

    python -m tests.browser.tools        installs what is missing, and says where it is

Chromium comes from Debian by apt-get, where we may install: the one that never had a window, if
there is a package of it, which takes a third less of the machine. axe-core comes from npm, into a
cache outside of the repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

from ..debian import Missing, install, main

AXE = "4.14.0"
LIGHT = "chromium-headless-shell"
NAMES = (LIGHT, "chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str:
    """The path of a Chromium: ROUNDTABLE_CHROMIUM, or what is on the PATH. Missing if none is."""
    named = os.environ.get("ROUNDTABLE_CHROMIUM")
    if named:
        if Path(named).is_file():
            return named
        raise Missing(f"ROUNDTABLE_CHROMIUM names {named}, which does not exist.")
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise Missing(
            "There is no Chromium: run `python -m tests.browser.tools`, or name one in "
            "ROUNDTABLE_CHROMIUM."
        )
    return found


def axe() -> Path:
    """axe-core as one script. Missing if it was not installed."""
    script = _cache() / f"axe-{AXE}.min.js"
    if not script.is_file():
        raise Missing("axe-core is not installed: run `python -m tests.browser.tools`.")
    return script


def fetched() -> str:
    """Fetch what is missing."""
    if "ROUNDTABLE_CHROMIUM" not in os.environ and not shutil.which(LIGHT):
        # Elsewhere, and in older Debians, there is no such package: any Chromium will do.
        with suppress(Missing, subprocess.CalledProcessError):
            install(LIGHT, "Chromium")
    try:
        chromium()
    except Missing:
        install("chromium", "Chromium", ", or name a binary in ROUNDTABLE_CHROMIUM")
    try:
        axe()
    except Missing:
        _install_axe()
    return f"Chromium: {chromium()}\naxe-core: {axe()}"


def _install_axe() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("axe-core comes from npm, which is not installed: install Node 20 or newer.")
    with TemporaryDirectory() as folder:
        subprocess.run(
            [npm, "pack", "--silent", f"axe-core@{AXE}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (package,) = Path(folder).glob("axe-core-*.tgz")
        with tarfile.open(package) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            script = member.read()
    _cache().mkdir(parents=True, exist_ok=True)
    # Others may be at the same: the file is there whole or not at all.
    part = _cache() / f".axe-{os.getpid()}"
    part.write_bytes(script)
    part.replace(_cache() / f"axe-{AXE}.min.js")


def _cache() -> Path:
    return Path(platformdirs.user_cache_dir("roundtable-tests"))


if __name__ == "__main__":
    sys.exit(main(fetched))
