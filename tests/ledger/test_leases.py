"""A lease's owner can be told dead from alive on its own machine, and only there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from roundtable.ledger.leases import owner_is_dead, this_owner


def test_this_process_is_alive() -> None:
    assert this_owner() == this_owner()
    assert this_owner().startswith(f"{socket.gethostname()}:{os.getpid()}:")
    assert not owner_is_dead(this_owner())


def _owner_of_an_ended_child(*, reaped: bool) -> str:
    code = "from roundtable.ledger.leases import this_owner; print(this_owner(), flush=True)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert child.stdout is not None
    with child.stdout:
        owner = child.stdout.read().strip()
    if reaped:
        child.wait()
    else:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert owner_is_dead(owner)
    child.wait()
    return owner


@pytest.mark.skipif(sys.platform == "win32", reason="Windows leaves it to the lease's time")
def test_a_process_that_ended_is_dead() -> None:
    assert owner_is_dead(_owner_of_an_ended_child(reaped=True))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_process_that_ended_is_dead_before_its_parent_takes_notice() -> None:
    _owner_of_an_ended_child(reaped=False)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_process_that_got_an_old_pid_is_not_its_old_owner() -> None:
    host, pid, start = this_owner().rsplit(":", 2)
    ticks, _, namespace = start.partition("@")
    assert owner_is_dead(f"{host}:{pid}:{int(ticks) - 1}@{namespace}")


@pytest.mark.parametrize(
    "owner",
    [
        "",
        "somebody",
        "a:b:c",
        "elsewhere.example:1:1@1",
        f"{socket.gethostname()}:999999999:1@another-namespace",
        f"{socket.gethostname()}:-1:1@1",
    ],
)
def test_an_owner_of_which_nothing_is_known_is_not_dead(owner: str) -> None:
    assert not owner_is_dead(owner)
