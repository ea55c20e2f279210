"""Programs that tests need and pip does not bring: from Debian by apt-get, where we may install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable


class Missing(Exception):
    """Something is not here, and what to do about it."""


def install(package: str, name: str, otherwise: str = "") -> None:
    """Fetch a package; `name` is what people call what it brings, and `otherwise` what else they
    can do. Missing where that cannot be done from here."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise Missing(
            f"There is no {name}, and it cannot be installed from here: install Debian's "
            f"package {package}{otherwise}."
        )
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([apt, "update", "-qq"], env=env, check=True)
    subprocess.run(
        [apt, "install", "-y", "-qq", "--no-install-recommends", package], env=env, check=True
    )


def main(fetch: Callable[[], str]) -> int:
    """The exit code of a command that fetches what is missing and prints where it is."""
    try:
        print(fetch())
    except (Missing, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
