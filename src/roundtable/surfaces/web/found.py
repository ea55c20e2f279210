"""The server of this installation: found by every process, started when there is none, stopped.

`web.json` in ROUNDTABLE_HOME says where it is. The file is only a hint: who is meant must be alive,
answer, and prove that it holds this installation's key.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...core.errors import RoundtableError
from ...core.extras import needs
from ...ledger.leases import owner_is_dead
from ...private import private_folder, put_private
from ...programs import WORKSPACE, python_child
from ...settings import Settings
from ..tokens.capability import OWNER, Capability, Role
from . import STATE_FILE as STATE_FILE
from .links import Links, load_links
from .lock import take_lock

PORT = 8199
LOG_FILE = "web.log"
LOCK_FILE = "web.lock"
_ANSWERS_WITHIN = 3.0
_STARTS_WITHIN = 60.0
_STOPS_WITHIN = 20.0


@dataclass(frozen=True, slots=True)
class Found:
    """A running server."""

    url: str
    port: int
    pid: int
    host: str = "127.0.0.1"
    """Where a process of this machine reaches it."""
    new: bool = field(default=False, compare=False)
    """Whether it was started for whoever asked for it."""


class ServerError(RoundtableError):
    """The page's server could not be started or stopped."""


def running(home: Path) -> Found | None:
    """The server of this installation, if it is there and answers."""
    known = _known(home)
    if known is None:
        return None
    found, owner = known
    if found.pid == os.getpid():  # it could not answer while it asks
        return found
    if owner_is_dead(owner) or not _answers(found, load_links(home)):
        return None
    return found


async def ensure_server(settings: Settings, *, port: int = PORT) -> Found:
    """The running server, or a new one that outlives this process."""
    if found := await asyncio.to_thread(running, settings.home):
        return found
    require_web()
    # The process in between lets go of the server, so that it becomes nobody's child.
    serve = ("serve", "--detached", "--no-browser", "--port", str(port))
    starter = await python_child("roundtable", serve, _environment(settings)).start(
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await asyncio.wait_for(starter.communicate(), _STARTS_WITHIN + 5)
    finally:
        if starter.returncode is None:
            starter.kill()
            await starter.wait()
    found = await asyncio.to_thread(running, settings.home)
    if found is None:
        raise ServerError(
            f"The page's server did not start: {said.decode('utf-8', 'replace').strip()}",
            f"Its log: {settings.home / LOG_FILE}. Try it by hand: roundtable serve",
        )
    return replace(found, new=True)


def start_detached(settings: Settings, arguments: tuple[str, ...]) -> Found:
    """Start a server that outlives this process, and wait until it answers. This process should
    end soon after: while it lives, the server is its child."""
    import subprocess

    private_folder(settings.home)
    log = settings.home / LOG_FILE
    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
        apart = {"creationflags": flags}
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        serve = ("serve", "--background", *arguments)
        server = python_child("roundtable", serve, _environment(settings)).popen(
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            **apart,
        )
    finally:
        os.close(descriptor)
    deadline = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < deadline:
        ended = server.poll() is not None
        if found := running(settings.home):
            if found.pid != server.pid:  # another was first; ours must not come up after it
                server.terminate()
                server.wait()
            return found
        if ended and not being_served(settings.home):
            said = log.read_text("utf-8", "replace").strip()
            raise ServerError(f"The page's server ended at once. {said[-2000:]}")
        time.sleep(0.05)
    server.terminate()
    server.wait()
    raise ServerError("The page's server does not answer.", f"Its log: {log}")


def being_served(home: Path) -> bool:
    """Whether a process serves this installation, or is about to."""
    lock = take_lock(home / LOCK_FILE)
    if lock is not None:
        lock.close()
    return lock is None


def stop_server(home: Path) -> bool:
    """Stop the server of this installation; False if there is none. The discussions that it
    drives are interrupted and can be resumed."""
    known = _known(home)
    if known is None:
        return False
    found, owner = known
    if owner_is_dead(owner) or not (_certain(owner) or _answers(found, load_links(home))):
        forget(home, found.pid)
        return False
    with suppress(ProcessLookupError):
        os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOPS_WITHIN
    while not _gone(found, owner):
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.kill(found.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            break
        time.sleep(0.05)
    forget(home, found.pid)
    return True


def page_url(
    found: Found,
    links: Links,
    discussion_id: str,
    role: Role = "viewer",
    seat: str = "",
    *,
    by: Capability = OWNER,
) -> str:
    """Where a browser sees a discussion; the link is no more than whoever gives it out holds."""
    return f"{found.url}/r/{links.token(discussion_id, role, seat=seat, by=by)}"


def owner_url(found: Found, links: Links) -> str:
    """Where the owner's browser sees all of them."""
    return f"{found.url}/?key={quote(links.owner_key)}"


def announce(home: Path, found: Found, owner: str) -> None:
    """Let others find this server. They see the old file or the new one, never half of it."""
    path = home / STATE_FILE
    fields = {"url": found.url, "port": found.port, "pid": found.pid, "host": found.host}
    put_private(path, json.dumps({**fields, "owner": owner}))


def forget(home: Path, pid: int) -> None:
    """Take the file away, if it still speaks of this process."""
    known = _known(home)
    if known is not None and known[0].pid == pid:
        (home / STATE_FILE).unlink(missing_ok=True)


def require_web() -> None:
    """UsageError that says how to get it, where the page's libraries are not installed."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise needs("The page", "web")


def _known(home: Path) -> tuple[Found, str] | None:
    try:
        fields = json.loads((home / STATE_FILE).read_text("utf-8"))
        found = Found(
            str(fields["url"]), int(fields["port"]), int(fields["pid"]), str(fields["host"])
        )
        return found, str(fields["owner"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _answers(found: Found, links: Links) -> bool:
    """Whether our own server listens there: another one may have taken its port since."""
    challenge = secrets.token_hex(16)
    with closing(HTTPConnection(found.host, found.port, timeout=_ANSWERS_WITHIN)) as connection:
        try:
            connection.request("GET", f"/api/health?challenge={challenge}")
            answer = json.loads(connection.getresponse().read(4096))
            return secrets.compare_digest(str(answer["proof"]), links.proof(challenge))
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            return False


def _gone(found: Found, owner: str) -> bool:
    if _certain(owner):
        return owner_is_dead(owner)
    try:
        with closing(HTTPConnection(found.host, found.port, timeout=1)) as connection:
            connection.connect()
    except OSError:
        return True
    return False


def _certain(owner: str) -> bool:
    """Whether this name tells the process from all others that ever had its number."""
    return "@" in owner


def _environment(settings: Settings) -> Mapping[str, str]:
    """The same installation and the same workspace, wherever the process is started."""
    env = {**os.environ, "ROUNDTABLE_HOME": str(settings.home.absolute())}
    if settings.choices.db:
        env["ROUNDTABLE_DB"] = settings.db
    if settings.choices.db_listen:
        env["ROUNDTABLE_DB_LISTEN"] = settings.choices.db_listen
    return env | {WORKSPACE: str(settings.workspace.absolute())}
