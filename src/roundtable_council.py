"""The way in: the `roundtable` command begins here, outside the package of that name.

On the package index `roundtable` is somebody else's library. Installed beside this one it puts its
own package where ours should be, over it or before it on the path. So before anything is imported
from `roundtable`, its files are looked at, and nothing of a stranger's runs. This costs the reading
of one folder and of a few small files, and pathlib alone would cost as much again.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

DISTRIBUTION = "roundtable-council"
_OURS = os.path.join("roundtable", "surfaces", "cli", "__init__.py")
_MEND = f"Run: pip uninstall -y roundtable {DISTRIBUTION}; pip install {DISTRIBUTION}"


def main() -> None:
    """The entry point of the `roundtable` command. Whoever presses Ctrl-C while it is still being
    loaded reads no traceback either."""
    try:
        if said := trouble():
            print(f"Error: {said} {_MEND}", file=sys.stderr)
            sys.exit(2)
        from roundtable.surfaces.cli import main as command

        command()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)


def trouble() -> str:
    """Why the package `roundtable` that Python finds is not ours, or not whole; "" if it is."""
    try:
        spec = find_spec("roundtable")
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return "the package roundtable is missing."
    if spec.origin is None:
        where = next(iter(spec.submodule_search_locations or ()), "?")
        return f"another project's package roundtable is in the way ({where})."
    folder = os.path.dirname(spec.origin)
    beside = os.path.dirname(folder)
    if os.path.isfile(beside):
        return ""  # within an archive, where nobody installs anything
    if DISTRIBUTION not in _text(spec.origin) or not os.path.isfile(os.path.join(beside, _OURS)):
        return f"another project's package roundtable is in the way ({folder})."
    return _mixed(beside, folder)


def _mixed(beside: str, folder: str) -> str:
    """What the records of the installer say, where there are any beside the package."""
    try:
        records = [name for name in os.listdir(beside) if name.endswith(".dist-info")]
    except OSError:
        return ""
    versions = []
    for record in records:
        name, _, version = record.removesuffix(".dist-info").partition("-")
        if name.lower() == "roundtable":
            listed = _text(os.path.join(beside, record, "RECORD")).replace("\\", "/")
            # An earlier version of our own had this name too, and lists our files.
            if "roundtable/" in listed and _OURS.replace(os.sep, "/") not in listed:
                return f"another project's roundtable {version} lies in the same folder ({folder})."
        elif name.lower() == DISTRIBUTION.replace("-", "_"):
            versions.append(version)
    written = _text(os.path.join(folder, "version.py"))
    if versions and not any(f'"{version}"' in written for version in versions):
        return f"the package roundtable is not the one of {DISTRIBUTION} {versions[0]} ({folder})."
    return ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(4_000_000)
    except OSError:
        return ""
