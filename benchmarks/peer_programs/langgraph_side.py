"""LangGraph: a graph of nodes, those of one round side by side, each a streamed call."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

from benchmarks.peer_programs.measuring import EXPERTS, TOPIC, arguments, measure


class Said(TypedDict):
    said: Annotated[list[str], operator.add]


def graph(model: Any) -> Any:
    def speaker(name: str, task: str) -> Any:
        async def speak(state: Said) -> Said:
            heard = "\n\n".join([TOPIC, *state["said"], task])
            prompt = [SystemMessage(f"You are {name}."), HumanMessage(heard)]
            words = [piece.content async for piece in model.astream(prompt)]
            return {"said": [f"{name}: {''.join(words)}"]}

        return speak

    table = StateGraph(Said)
    before = [START]
    for stage, names in (
        ("brief", ("host",)),
        ("answer", EXPERTS),
        ("sum up", ("host",)),
        ("examine", EXPERTS),
        ("conclude", ("host",)),
    ):
        here = [f"{stage} {name}" for name in names]
        for node, name in zip(here, names, strict=True):
            table.add_node(node, speaker(name, f"Now {stage}."))
            for each in before if len(names) > 1 else ():
                table.add_edge(each, node)
        if len(names) == 1:
            table.add_edge(before if before != [START] else START, here[0])
        before = here
    table.add_edge(before[0], END)
    return table.compile()


async def main() -> None:
    url, discussions, at_once = arguments()
    model = ChatOpenAI(model="gpt-5-mini", base_url=url, api_key="sk-test", stream_usage=True)
    table = graph(model)

    async def discuss(_: int) -> int:
        return len((await table.ainvoke({"said": []}))["said"])

    await measure(discuss, discussions, at_once, "langgraph", "langchain-openai")


if __name__ == "__main__":
    asyncio.run(main())
