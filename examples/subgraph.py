"""A host agent with a state of its own gives the writing to our graph; the human's turn comes up through the host.

python examples/subgraph.py
"""

import asyncio

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from typing_extensions import TypedDict

from recurrentgpt.graph.story import novel


class Desk(TypedDict, total=False):
    """What the host knows: nothing of ours."""

    order: str
    manuscript: str
    invoice: str


async def author(desk: Desk) -> Desk:
    """Write to order. The node runs again on every answer; the story goes on where it stood."""
    written = await novel.ainvoke({"premise": desk["order"]})
    return {"manuscript": written["passage"]}


async def bill(desk: Desk) -> Desk:
    """Do something of the host's own afterwards."""
    return {"invoice": f"{len(desk['manuscript'].split())} words"}


host = (
    StateGraph(Desk)
    .add_node("author", author)
    .add_node("bill", bill)
    .add_edge(START, "author")
    .add_edge("author", "bill")
    .compile(checkpointer=InMemorySaver(), store=InMemoryStore())
)


async def main() -> None:
    """Choose twice, then end the story; the host goes on with its own work."""
    config = {"configurable": {"thread_id": "order 17"}}
    result = await host.ainvoke({"order": "A lighthouse that must stay dark."}, config)
    for answer in (2, "Mira lets the boat go by.", {"action": "end"}):
        question = result["__interrupt__"][0].value
        print(f"Passage {question['step']} asks: {question['question']} Answer: {answer}")
        result = await host.ainvoke(Command(resume=answer), config)
    print(f"The invoice says {result['invoice']}.")


if __name__ == "__main__":
    asyncio.run(main())
