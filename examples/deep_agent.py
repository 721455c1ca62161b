"""A deep agent (deepagents) that gives the writing of stories to ours.

OPENAI_API_KEY=... python examples/deep_agent.py gpt-4o-mini
"""

import sys
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel

from recurrentgpt.agents import as_subagent


def main(model: BaseChatModel, asked: str, **settings: Any) -> None:
    """Let it work, and show what each of its tasks brought."""
    agent: Any = create_deep_agent(model, subagents=[as_subagent(**settings)])  # type: ignore[list-item]
    for message in agent.invoke({"messages": [("user", asked)]})["messages"]:
        if message.type == "tool":
            print(message.text, end="\n\n")


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    main(ChatOpenAI(model=sys.argv[1]), "Have a story about a lighthouse written, two passages long.")
