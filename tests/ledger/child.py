"""Another process with the same ledger: `python -m tests.ledger.child <what> <where> …`.

It says `ready`, waits for a line, does its work, and waits for the end of its input.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from roundtable.ledger import open_ledger
from roundtable.ledger.leases import this_owner

from .events import note


class Child:
    """The test's end of it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def hears(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        await self._process.stdin.drain()

    async def says(self) -> str:
        assert self._process.stdout is not None
        return (await self._process.stdout.readline()).decode().strip()

    async def ends(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert await self._process.wait() == 0

    async def is_killed(self) -> None:
        self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def child(*arguments: str) -> AsyncIterator[Child]:
    """Start one, ready to begin; it is gone afterwards, whatever happened."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
    )
    try:
        other = Child(process)
        assert await other.says() == "ready"
        yield other
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _main(what: str, where: str, discussion_id: str, *rest: str) -> None:
    ledger = await open_ledger(where)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    match what, rest:
        case "append", (name, number):
            for i in range(int(number)):
                key = f"{name}/{i}"
                await ledger.append(discussion_id, [note(key, key=key)])
            print("done", flush=True)
        case "drive", ():
            lease = await ledger.take_lease(discussion_id, this_owner(), ttl=3600)
            print(lease.owner, flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await ledger.close()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
