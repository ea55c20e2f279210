"""What a meeting costs whoever holds it through the tools: calls and characters.

Four outside agents and a coordinator, each with an MCP client of its own, hold three rounds of
speeches of 430 words with two new points each and a stance on all that is asked. For each agent:
calls and characters of all that it reads in a turn, at most; what a wait in vain adds to that; and
what the last speaker must read to have everything whole before it speaks in round 3. Beside that
the definitions of the tools, which every conversation carries.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mcp_types as types
from mcp import Client

from benchmarks.measured import Measured
from roundtable.surfaces.mcp.server import make_server
from roundtable.surfaces.toolset.opening import open_toolset

WORDS, ROUNDS = 430, 3
SEATS = ("architect", "security", "finance", "operations")
TOPIC = "Should we extract billing into a service of its own this year?"
MOST_CALLS, MOST_CHARACTERS, MOST_DEFINED = 2, 25_000, 15_000
"""For everything that was said since, whole; and for the definitions."""
MOST_CALLS_A_TURN, MOST_A_TURN, MOST_IDLE = 8, 8_000, 300
WAIT, TURN_SECONDS = 300, 120
"""How long a call waits at most, and how long a speaker is taken to think."""
QUIET = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_COMMAND_AGENTS": "false"}


@dataclass
class Agent:
    """An agent at its client, with what each of its turns took."""

    name: str
    client: Client
    turns: list[list[int]] = field(default_factory=list)
    """Characters of each answer, turn by turn."""
    idle: list[int] = field(default_factory=list)
    """Characters of each answer to a wait in vain."""

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(f"roundtable_{tool}", arguments)
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        assert not result.is_error, content.text
        self.turns[-1].append(len(content.text))
        return dict(result.structured_content or {})

    async def wait(self, id_: str) -> None:
        """Wait for a turn that does not come."""
        self.turns.append([])
        await self.call("read", discussion_id=id_, participant=self.name, wait=0.001)
        self.idle += self.turns.pop()

    @property
    def waits(self) -> int:
        """How often such a wait is in vain for each turn, where each other seat thinks so long."""
        return (len(SEATS) - 1) * TURN_SECONDS // WAIT


def run() -> list[Measured]:
    with TemporaryDirectory() as folder:
        agents, defined, before = asyncio.run(held(Path(folder)))
    rows = [
        Measured("tool definitions", defined, "characters", MOST_DEFINED),
        Measured(
            "before the last speech",
            sum(before),
            "characters",
            MOST_CHARACTERS,
            f"{len(before)} of at most {MOST_CALLS} calls",
        ),
    ]
    idle = max(each for agent in agents for each in agent.idle)
    rows.append(Measured("a wait in vain", idle, "characters", MOST_IDLE))
    for agent in agents:
        most, calls = most_in_a_turn(agent)
        whole = sum(sum(turn) for turn in agent.turns)
        told = f"{calls} calls at most in a turn; {whole:,} characters in {len(agent.turns)} turns"
        rows.append(Measured(f"a turn of {agent.name}", most, "characters", MOST_A_TURN, told))
    return rows


def most_in_a_turn(agent: Agent) -> tuple[int, int]:
    """Characters and calls of an agent's longest turn, with its waits in vain."""
    vain = agent.waits * max(agent.idle)
    return (
        max(sum(turn) for turn in agent.turns) + vain,
        max(len(turn) for turn in agent.turns) + agent.waits,
    )


async def held(home: Path) -> tuple[list[Agent], int, list[int]]:
    """The meeting: its agents, the characters of the tools' definitions, and those of each answer
    by which the last speaker has everything whole before its last speech."""
    async with AsyncExitStack() as stack:
        lead = Agent("coordinator", await stack.enter_async_context(_client(home, "")))
        seats = [
            Agent(name, await stack.enter_async_context(_client(home, name))) for name in SEATS
        ]
        listed = await lead.client.list_tools()
        defined = len(listed.model_dump_json(by_alias=True, exclude_none=True))
        id_ = await _opened(lead)
        before: list[int] = []
        for round_ in range(1, ROUNDS + 1):
            for seat in seats:
                for other in (lead, *seats):
                    if other is not seat:
                        await other.wait(id_)
                seat.turns.append([])
                asked = await seat.call("read", discussion_id=id_, wait=WAIT)
                if seat is seats[-1]:
                    before = [*seat.turns[-1], await _whole(seat, id_, round_)]
                await seat.call(
                    "speak",
                    discussion_id=id_,
                    participant=seat.name,
                    content=_speech(seat.name, round_),
                    declaration=_declared(seat.name, round_, asked["form"]),
                )
            lead.turns.append([])
            await lead.call("read", discussion_id=id_, participant="coordinator", wait=WAIT)
            if round_ < ROUNDS:
                summary = " ".join(["summed"] * 150)
                await lead.call(
                    "speak", discussion_id=id_, participant="coordinator", content=summary
                )
        ended = await lead.call("end", discussion_id=id_, conclusion="We wait a year.")
        assert ended["state"] == "concluded"
        return [lead, *seats], defined, before


async def _whole(seat: Agent, id_: str, round_: int) -> int:
    """Characters of the one answer that has whatever was folded; of the agent's own free will, so
    it is no part of a turn."""
    since = 0 if round_ == 1 else (round_ - 1) * (len(SEATS) + 1)
    seat.turns.append([])
    found = await seat.call("read", discussion_id=id_, since=since)
    assert not any(each.get("characters") for each in found["speeches"])
    assert "next_before" not in found
    return seat.turns.pop()[0]


async def _opened(lead: Agent) -> str:
    lead.turns.append([])
    opened = await lead.call(
        "init",
        topic=TOPIC,
        participants=[{"profile": name, "role": name.capitalize()} for name in SEATS],
        max_rounds=ROUNDS,
        rounds_wait=True,
        web=False,
    )
    id_ = str(opened["discussion_id"])
    welcome = " ".join(["opening"] * 100)
    await lead.call("speak", discussion_id=id_, participant="coordinator", content=welcome)
    return id_


def _speech(name: str, round_: int) -> str:
    words = [f"{name[:4]}{round_}{'.' if not n % 15 else ''}" for n in range(1, WORDS + 1)]
    return " ".join(words)


def _declared(name: str, round_: int, form: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "position": f"{name} would wait a year and measure what the change costs before it.",
        "confidence": 70,
        "stances": [
            {"id": each, "stance": "agree", "text": "true for two of the five teams we have"}
            for each in form.get("answer", ())
        ],
    }
    asked = {*form.get("fields", ()), *form.get("as_before", ())}
    if "votes" in asked:
        fields["votes"] = [{"on": "d1", "before": "o1", "choice": "o1"}]
    if "new_points" in asked:
        fields["new_points"] = [
            f"{name} claim {number} of round {round_}: what is moved must be paid for twice a year"
            for number in (1, 2)
        ]
    return {key: value for key, value in fields.items() if value}


@asynccontextmanager
async def _client(home: Path, profile: str) -> AsyncIterator[Client]:
    async with (
        open_toolset(home=home, workspace=home, env=QUIET, web=False, profile=profile) as toolset,
        Client(make_server(toolset)) as client,
    ):
        yield client
