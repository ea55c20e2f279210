"""AutoGen: a group chat in which everybody hears everything, one after the other, as it is made."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import SelectorGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient

from benchmarks.peer_programs.measuring import EXPERTS, TOPIC, arguments, measure

ORDER = ("host", *EXPERTS, "host", *EXPERTS, "host")
INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "structured_output": True,
    "family": "unknown",
}


async def main() -> None:
    url, discussions, at_once = arguments()
    client = OpenAIChatCompletionClient(
        model="gpt-5-mini",
        base_url=url,
        api_key="sk-test",
        model_info=INFO,
        include_name_in_message=False,
    )

    def next_speaker(messages: Sequence[Any]) -> str:
        return ORDER[len(messages) - 1]

    async def discuss(_: int) -> int:
        seats = [
            AssistantAgent(
                name, client, system_message=f"You are {name}.", model_client_stream=True
            )
            for name in ("host", *EXPERTS)
        ]
        team = SelectorGroupChat(
            seats,
            model_client=client,
            selector_func=next_speaker,
            allow_repeated_speaker=True,
            termination_condition=MaxMessageTermination(len(ORDER) + 1),
        )
        done = await team.run(task=TOPIC)
        said = [m for m in done.messages if isinstance(m, TextMessage) and m.source != "user"]
        return len(said)

    await measure(discuss, discussions, at_once, "autogen-agentchat", "autogen-ext")
    await client.close()


if __name__ == "__main__":
    asyncio.run(main())
