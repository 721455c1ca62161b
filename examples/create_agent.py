"""An agent of LangChain's that writes stories, and asks a person what happens next.

OPENAI_API_KEY=... python examples/create_agent.py gpt-4o-mini
"""

import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from recurrentgpt.agents import as_tools


def main(model: BaseChatModel, asked: str, **settings: Any) -> str:
    """Let the agent work, take plan 2 whenever it asks, and return what it says at the end."""
    agent = create_agent(model, as_tools(ask=True, **settings), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    result = agent.invoke({"messages": asked}, config)
    while "__interrupt__" in result:
        question = result["__interrupt__"][0].value
        print(question["question"], *question["candidate_plans"], sep="\n")
        result = agent.invoke(Command(resume=2), config)
    return str(result["messages"][-1].text)


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    print(main(ChatOpenAI(model=sys.argv[1]), "Tell me a story of two passages about a lighthouse."))
