"""A graph on a server as if it were here: RemoteGraph, with `make studio` or any server of LangGraph's protocol.

python examples/remote.py http://127.0.0.1:2024
"""

import asyncio
import sys

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client


async def main(url: str) -> None:
    """Begin a story there, choose once, and show what both passages are."""
    async with get_client(url=url) as client:
        novel = RemoteGraph("novel", client=client)
        config = {"configurable": {"thread_id": (await client.threads.create())["thread_id"]}}
        await novel.ainvoke({"premise": "A lighthouse that must stay dark."}, config, context={"plans": 2})
        state = await novel.aget_state(config)
        question = state.tasks[0].interrupts[0]
        asked = question["value"] if isinstance(question, dict) else question.value
        print(f"{asked['title']}: {len(asked['candidate_plans'])} plans")
        result = await novel.ainvoke(Command(resume=2), config, context={"plans": 2})
        print(f"Passage {result['step']} was written from: {result['plan']}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Give the address of a server: python examples/remote.py http://127.0.0.1:2024")
    asyncio.run(main(sys.argv[1]))
