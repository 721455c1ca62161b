"""The long-term memory in a vector store of LangChain's: here FAISS from langchain-community (extra `community`).

python examples/vector_store.py
"""

import asyncio

from langchain_community.vectorstores import FAISS
from langchain_core.language_models import BaseChatModel
from langgraph.store.memory import InMemoryStore

from recurrentgpt import Context, build_story_graph
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel


async def main(model: BaseChatModel) -> FAISS:
    """Write six passages, and show what the last one recalled from the vector store."""
    vectors = FAISS.from_texts(["What the host keeps here beside our passages."], HashEmbeddings())
    graph = build_story_graph(store=InMemoryStore())
    context = Context(model=model, vector_store=vectors, selector="simulator", steps=6, top_k=2)
    recalled = []
    async for update in graph.astream({"premise": "A lamp."}, context=context, stream_mode="updates"):
        recalled = update.get("retrieve", {}).get("recalled", recalled)
    for entry in recalled:
        print(f"Passage {entry['step']}: {entry['piece'][:60]} ...")
    print(f"The vector store holds {vectors.index.ntotal} texts.")
    return vectors


if __name__ == "__main__":
    asyncio.run(main(ScriptedChatModel()))
