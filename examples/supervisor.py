"""A supervisor (langgraph-supervisor) with a storyteller among its agents: every turn of the chat is a passage.

OPENAI_API_KEY=... python examples/supervisor.py gpt-4o-mini
"""

import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor

from recurrentgpt.agents import as_agent


def main(model: BaseChatModel, turns: list[str], **settings: Any) -> None:
    """Say each turn, and show what the storyteller wrote."""
    prompt = "Give everything about stories to the storyteller, and say nothing yourself."
    host = create_supervisor([as_agent(**settings)], model=model, prompt=prompt).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    for turn in turns:
        result = host.invoke({"messages": turn}, config)
        told = [message.text for message in result["messages"] if message.name == "storyteller"]
        print(next(text for text in reversed(told) if "passage" in text), end="\n\n")


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    main(ChatOpenAI(model=sys.argv[1]), ["A lighthouse that must stay dark.", "2", "The keeper leaves in the night."])
