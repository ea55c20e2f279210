"""A real PgBouncer for tests, in transaction mode, before the tests' PostgreSQL.

::

    python -m tests.pgbouncer        installs it if it is missing, and says where it is

It comes from Debian by apt-get, where we may install. Where it is not installed its tests skip,
with a word about it; with CI set they fail.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .debian import Missing, install, main
from .postgres import free_port, unprivileged_user, wait_until_it_answers

_CONFIG = """
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
logfile = {folder}/log
pool_mode = transaction
default_pool_size = 5
max_client_conn = 500
server_check_delay = 0
"""
_ENDS_WITHIN = 30.0


def program() -> str:
    """The path of PgBouncer, which Debian keeps where only root looks. Missing if there is none."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        raise Missing("There is no PgBouncer: run `python -m tests.pgbouncer`.")
    return found


@contextlib.contextmanager
def pgbouncer(server_port: int) -> Iterator[int]:
    """Start one before the server at that port; the port at which it answers."""
    command = [program()]
    user = unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix="roundtable-pgbouncer-"))
    try:
        port = free_port()
        config = folder / "pgbouncer.ini"
        config.write_text(_CONFIG.format(server=server_port, port=port, folder=folder))
        (folder / "users").write_text('"roundtable" ""\n')
        if user is not None:
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, user)
        process = subprocess.Popen(
            [*command, "-q", str(config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=user,
            cwd=folder,
        )
        try:
            wait_until_it_answers(process, port, folder / "log")
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + _ENDS_WITHIN
            while process.poll() is None:
                if time.monotonic() > deadline:
                    process.kill()
                time.sleep(0.02)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fetched() -> str:
    """Fetch it where it is missing."""
    try:
        return f"PgBouncer: {program()}"
    except Missing:
        install("pgbouncer", "PgBouncer")
    return f"PgBouncer: {program()}"


if __name__ == "__main__":
    sys.exit(main(fetched))
