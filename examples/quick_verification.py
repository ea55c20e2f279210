"""Does everything work here? A meeting without any model: speeches, points, news, a conclusion.

Run it: python examples/quick_verification.py    (or with the page: roundtable demo)
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from roundtable.bootstrap import start
from roundtable.settings import read_settings
from roundtable.surfaces.demo import run_demo
from roundtable.views.delivered import delivered


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with start(read_settings({"ROUNDTABLE_HOME": home}, Path(home))) as app:
            demo = await run_demo(app, web=False)
    verdict = delivered(demo.state)
    print(
        f"{demo.state.status}, {demo.state.usage.calls} calls: {verdict.written if verdict else ''}"
    )


if __name__ == "__main__":
    asyncio.run(main())
