"""Imported by the process from which the others are forked: it holds a council and serves a page
itself, after which everything that is imported, compiled or cached on first use is there for all of
them."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from pathlib import Path

import pytest

from tests.crash.acts import Place, ask
from tests.experts.once import read_experts_once
from tests.rehearsal import dutiful
from tests.servers import provider_server
from tests.surfaces.web.house import house


async def _serve(home: Path) -> None:
    async with house(home) as opened:
        opened.app.selector()
        await opened.council()
        await opened.client.get("/")


read_experts_once(pytest.MonkeyPatch())
with tempfile.TemporaryDirectory() as _folder, provider_server(dutiful) as _server:
    _home = Path(_folder)
    ask(Place(_home, str(_home / "ledger.db"), _server.env()))
    asyncio.run(_serve(_home / "served"))
gc.freeze()
