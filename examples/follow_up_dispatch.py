"""After the verdict: action items become tasks of a board, one for each owner.

Run it: python examples/follow_up_dispatch.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from roundtable.bootstrap import start
from roundtable.core.values import NewsPlan
from roundtable.engine.tasks import Owner, TaskReporter
from roundtable.ports import BoardTask
from roundtable.settings import read_settings
from roundtable.surfaces.demo import run_demo


class Wall:
    """A board of your own is two methods. `mark` is the same each time a thing is written."""

    name = "wall"

    async def comment(self, task: str, body: str, *, mark: str) -> BoardTask:
        print(f"comment on {task}: {body.splitlines()[0]}")
        return BoardTask(mark)

    async def create(self, title: str, body: str, *, owner: str, mark: str) -> BoardTask:
        print(f"task for {owner or 'nobody'}: {title}")
        print("\n".join(line for line in body.splitlines() if line.startswith("- ")))
        return BoardTask(mark)


async def tell(channel: str, text: str) -> None:
    print(f"[{channel}] {text.splitlines()[0]}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with start(read_settings({"ROUNDTABLE_HOME": home}, Path(home))) as app:
            demo = await run_demo(app, web=False, news=NewsPlan(enabled=False))
            owners = {"Backend": Owner("bob", "slack:#backend")}
            reporter = TaskReporter(app.service, Wall(), owners=owners, dispatch=tell)
            await reporter.link(demo.state.discussion_id, "7", by="the chair")
            await reporter.report(demo.state.discussion_id, document="docs/conclusion.md")


if __name__ == "__main__":
    asyncio.run(main())
