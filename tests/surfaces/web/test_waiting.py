"""A full house: whoever watches a discussion that waits to begin is told so."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from roundtable.engine import loop_gate as gate_module
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Voice

from .house import PATIENCE, frames, house

pytestmark = pytest.mark.anyio


async def test_a_discussion_that_waits_to_begin_says_so_until_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "TOLD_AFTER", 0.0)
    monkeypatch.setattr(gate_module, "LONGEST_REFUSAL", PATIENCE)
    async with house(tmp_path / "home", scripts={"voice": Voice()}) as home:
        gate = home.service._tools.loop_gate
        full = True

        async def full_house() -> None:
            while full:
                await gate.step()
                await asyncio.sleep(0)

        crowd = [asyncio.create_task(full_house()) for _ in range(3)]
        options = {"all": "scripted/voice", "quick": True}
        request = OpenRequest(topic="Tea or coffee?", procedure="council", options=options)
        state = await home.service.open(request)
        told: list[bool] = []
        async with (
            asyncio.timeout(PATIENCE),
            aclosing(frames(home.client, f"{home.at(state)}/feed")) as coming,
        ):
            home.web.running.drive(state.discussion_id)
            async for frame in coming:
                if frame.event == "away":
                    assert not frame.data["away"]
                    told.append(frame.data["waiting"])
                    full = False
        assert told == [True, False]
        assert (await home.service.read(state.discussion_id)).status == "concluded"
        await asyncio.gather(*crowd)
