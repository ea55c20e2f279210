"""Calls as designed, by the provider's own count: every procedure through the real API speaker
against a server on this machine."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from roundtable.bootstrap import start
from roundtable.core.state import State
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import read_settings
from tests.foreseen import foreseen
from tests.servers import provider_server

from . import deliberation_table, meeting_table
from .custom_table import DELPHI
from .everywhere import DEBATE, HELD, MODEL, Held, reply

Counted = Mapping[str, int]
UNANIMOUS = "Should we drink tea?"
"""A question on which experts who were not told what to vote all vote the same."""


async def _held(home: Path, env: Mapping[str, str], held: Held) -> tuple[State, State]:
    """The discussion as it was opened, and as it ended."""
    (home / "procedures").mkdir()
    shutil.copy(DELPHI, home / "procedures")
    own = {
        **env,
        "ROUNDTABLE_HOME": str(home),
        "ROUNDTABLE_MODEL": MODEL,
        "ROUNDTABLE_LOCAL_SERVERS": "false",
    }
    async with start(read_settings(own, home), env=own) as app:
        opened = await app.service.open(OpenRequest(**held.request))
        return opened, await app.service.run(opened.discussion_id)


def served(home: Path, held: Held) -> tuple[State, State, Counted]:
    """Also the provider's requests by round and stage."""
    with provider_server(reply) as server:
        opened, state = asyncio.run(_held(home, server.env(), held))
    keys = [each.idempotency_key or "" for each in server.requests]
    assert len(set(keys)) == len(keys), "no attempt was made twice"
    return opened, state, Counter("/".join(key.split("/")[1:3]) for key in keys)


def changed(name: str, **options: Any) -> Held:
    held = HELD[name]
    return Held(held.procedure, held.topic, {**held.options, **options})


@pytest.mark.requirement("A-05", "A-27", "B-06", "D-22", "X-21", "X-35")
@pytest.mark.parametrize("name", HELD)
def test_the_provider_counts_the_calls_that_were_designed(name: str, tmp_path: Path) -> None:
    opened, state, counted = served(tmp_path, HELD[name])
    assert state.status == "concluded"
    assert counted.total() == HELD[name].calls == state.usage.calls  # type: ignore[attr-defined]
    estimate = foreseen(opened)
    assert estimate.calls == HELD[name].calls


COURSES: dict[str, tuple[Held, Counted]] = {
    "adaptive": (
        HELD["adaptive"],
        {"0/meta-panel": 4, "1/answer": 4, "2/critique": 4, "0/synthesis": 1},
    ),
    "adaptive, validated": (
        changed("adaptive", validate=True),
        {"0/meta-panel": 4, "1/answer": 4, "2/critique": 4, "0/synthesis": 1, "0/validation": 4},
    ),
    "adaptive, quick": (HELD["adaptive, quick"], {"1/answer": 3, "0/synthesis": 1}),
    "adaptive, the small panel": (
        Held("adaptive", DEBATE, {"panel": "budget"}),
        {"1/answer": 2, "2/critique": 2, "0/synthesis": 1},
    ),
    "council": (
        HELD["council"],
        {
            "0/briefing": 1,
            "1/answer": 3,
            "0/summary": 1,
            "2/cross-examination": 3,
            "0/synthesis": 1,
        },
    ),
    "council, quick": (
        HELD["council, quick"],
        {"0/briefing": 1, "1/answer": 3, "0/synthesis": 1},
    ),
    "five-round": (
        HELD["five-round"],
        {
            "1/proposal": 3,
            "2/cross-reference": 3,
            "0/clerk": 1,
            "3/critique": 3,
            "4/revision": 3,
            "0/arbitration": 1,
        },
    ),
    "meeting of four, four rounds, no summaries": (
        Held(
            "meeting",
            meeting_table.TOPIC,
            {"participants": meeting_table.seats(4), "max_rounds": 4, "summaries": False},
        ),
        {f"{n}/discussion": 4 for n in range(1, 5)} | {"0/opening": 1, "0/conclusion": 1},
    ),
    "deliberation, options given": (
        HELD["deliberation"],
        {"1/answer": 3, "2/critique": 3, "0/synthesis": 1},
    ),
    "deliberation, open question": (
        Held("deliberation", deliberation_table.OPEN_QUESTION, HELD["deliberation"].options),
        {"1/answer": 3, "0/clerk": 1, "2/critique": 3, "0/synthesis": 1},
    ),
    "deliberation, unanimous": (
        Held("deliberation", UNANIMOUS, {"experts": ["One", "Two", "Three"]}),
        {"1/answer": 3, "0/synthesis": 1},
    ),
    "deliberation, both orders": (
        changed("deliberation", dual_order=True),
        {"1/answer": 3, "2/critique": 3, "2/critique-in-reverse": 3, "0/synthesis": 1},
    ),
    "deliberation, quick": (
        changed("deliberation", quick=True),
        {"1/answer": 3, "0/synthesis": 1},
    ),
    "delphi": (HELD["delphi"], {f"{n}/estimate": 4 for n in (1, 2, 3)}),
}


@pytest.mark.requirement("A-05", "A-08", "A-27", "B-06", "D-22", "Z-07")
@pytest.mark.parametrize("name", COURSES)
def test_each_stage_makes_its_own_calls_and_no_other(name: str, tmp_path: Path) -> None:
    held, expected = COURSES[name]
    _, state, counted = served(tmp_path, held)
    assert state.status == "concluded"
    assert counted == expected
