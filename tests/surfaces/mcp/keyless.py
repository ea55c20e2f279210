"""The MCP server over HTTP without a key, for outside programs that cannot send one.

python -m tests.surfaces.mcp.keyless HOME     serves until it is ended; prints its address
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import uvicorn

from roundtable.surfaces.mcp.serve import PATH, http_app
from roundtable.surfaces.toolset.opening import open_toolset


async def main(home: Path) -> None:
    async with open_toolset(home=home, workspace=home, web=False) as toolset:
        config = uvicorn.Config(http_app(toolset, None), port=0, log_level="warning")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        print(f"http://localhost:{port}{PATH}", flush=True)
        await serving


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
