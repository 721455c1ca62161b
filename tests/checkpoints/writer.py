"""Write steps to the user's persistence, in a process of its own: `python writer.py THREAD COUNT`.

Prints the number of each step once its checkpoint and its log entry are saved.
"""

import asyncio
import sys

from langgraph.checkpoint.base import empty_checkpoint

from recurrentgpt.checkpoints import open_persistence


async def main(thread: str, count: int) -> None:
    async with open_persistence() as persistence:
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        for step in range(count):
            checkpoint = empty_checkpoint() | {
                "channel_values": {"text": ["x" * 6000]},
                "channel_versions": {"text": str(step).zfill(32)},
            }
            config = await persistence.saver.aput(config, checkpoint, {"step": step}, checkpoint["channel_versions"])
            await persistence.saver.aput_writes(config, [("text", "x"), ("step", step)], "task")
            await persistence.store.aput(("log", thread), str(step), {"step": step})
            print(step, flush=True)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
