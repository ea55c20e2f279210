"""Leases: who drives a discussion, and whether that process is still there.

An owner is `host:pid:start`, where start identifies the process among all that ever had this pid:
its start time and, because containers share host names, the namespace in which the pid counts.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from ..core.errors import LeaseLost
from ..ports import Lease

_PLATFORM: str = sys.platform


def this_owner() -> str:
    """The name of this process."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{_start(pid) or ''}"


def owner_is_dead(owner: str) -> bool:
    """True only when `owner` certainly was a process of this machine that is gone now."""
    try:
        host, pid_text, start = owner.rsplit(":", 2)
        pid = int(pid_text)
    except ValueError:
        return False
    if host != socket.gethostname() or pid <= 0:
        return False
    match _PLATFORM:
        case "linux":
            return _is_dead_on_linux(pid, start)
        case "win32":
            # os.kill(pid, 0) would end that process on Windows: leave it to the lease's time.
            return False
        case _:
            return not _exists(pid)


def _is_dead_on_linux(pid: int, start: str) -> bool:
    _, _, namespace = start.partition("@")
    if not namespace or namespace != _namespace():
        return False
    now = _start(pid)
    if now is None:  # gone, or hidden from us: /proc may be mounted with hidepid
        return not _exists(pid)
    return now != start


def _start(pid: int) -> str | None:
    """What tells this process from others with its pid; None if it cannot be read."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is the program's name and may contain blanks and brackets.
    fields = stat.rpartition(")")[2].split()
    if fields[0] in ("Z", "X"):  # ended; its parent has not taken notice yet
        return ""
    return f"{fields[19]}@{_namespace()}"


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def lost(lease: Lease) -> LeaseLost:
    return LeaseLost(
        f"This process no longer drives {lease.discussion_id}.",
        f"Watch it with `roundtable show {lease.discussion_id} --follow`.",
    )


def holder(owner: str | None, *, unexpired: bool) -> str | None:
    """Who drives now, given the last lease's owner and whether its time still runs."""
    if owner is None or not unexpired or owner_is_dead(owner):
        return None
    return owner
