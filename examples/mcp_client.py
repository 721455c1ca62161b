"""A client of the Model Context Protocol: it starts `recurrentgpt mcp`, begins a story, and chooses once.

python examples/mcp_client.py
"""

import asyncio
import os
import sys
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def main() -> None:
    """Begin a story, choose its second plan, and read both passages as resources."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "recurrentgpt", "mcp"], env=dict(os.environ))
    async with Client(server) as client:
        first: Any = (await client.call_tool("start_story", {"premise": "A lighthouse."})).structured_content
        print(*first["plans"], sep="\n")
        await client.call_tool("choose_plan", {"story": first["story"], "number": 2})
        for step in (1, 2):
            read: Any = await client.read_resource(f"story://{first['story']}/passages/{step}")
            print(f"{step}. {read.contents[0].text[:60]} ...")


if __name__ == "__main__":
    asyncio.run(main())
