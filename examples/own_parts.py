"""Everything may be the host's own: saver, store, embeddings, and any chat model of LangChain.

python examples/own_parts.py
"""

import asyncio
from typing import Any

from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt import Context, build_story_graph
from recurrentgpt.testing import ScriptedChatModel


async def main(model: BaseChatModel, embeddings: Embeddings) -> None:
    """Write two passages with the host's parts; the context is ours, a dictionary, or nothing."""
    graph = build_story_graph(
        checkpointer=InMemorySaver(),
        store=InMemoryStore(),
        # What runs need not repeat: a context that is not given, or not ours, means these.
        defaults={"model": model, "embeddings": embeddings},
    )
    contexts: list[Any] = [Context(plans=2, model=model, embeddings=embeddings), {"plans": 2}, None]
    for number, context in enumerate(contexts):
        config = {"configurable": {"thread_id": str(number)}}
        await graph.ainvoke({"genre": "western"}, config, context=context)
        result = await graph.ainvoke(Command(resume=1), config, context=context)
        kind = type(context).__name__
        print(f"{kind}: passage {result['step']}, {len(result['candidate_plans'])} plans")


if __name__ == "__main__":
    asyncio.run(main(ScriptedChatModel(), DeterministicFakeEmbedding(size=64)))
