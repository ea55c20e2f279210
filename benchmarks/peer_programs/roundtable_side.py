"""Ours: a council, driven and stored as always."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peer_programs.measuring import TOPIC, arguments, measure
from benchmarks.provider import MODEL, settings
from roundtable.bootstrap import start
from roundtable.procedures.opening import OpenRequest


async def main() -> None:
    url, discussions, at_once = arguments()
    env = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": url}
    with TemporaryDirectory() as folder:
        async with start(settings(Path(folder), env, concurrency=64), env=env) as app:

            async def discuss(_: int) -> int:
                request = OpenRequest(
                    topic=TOPIC, procedure="council", options={"all": MODEL}, search=False
                )
                opened = await app.service.open(request)
                state = await app.service.run(opened.discussion_id)
                assert state.status == "concluded", state.closed
                return state.usage.calls

            await measure(discuss, discussions, at_once, "roundtable-council")


if __name__ == "__main__":
    asyncio.run(main())
