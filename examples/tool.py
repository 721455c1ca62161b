"""A tool "continue the story" for any agent that calls tools.

OPENAI_API_KEY=... python examples/tool.py gpt-4o-mini
"""

import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from recurrentgpt import Story


@tool
def start_story(premise: str) -> dict[str, Any]:
    """Begin a story from a premise; returns its id, its first passage, and plans for the next."""
    return _passage(Story.new(premise=premise))


@tool
def continue_story(story: str, plan: str) -> dict[str, Any]:
    """Write the next passage of a story from a plan: the number of a proposed one, or what shall happen in your own words."""
    opened = Story.open(story)
    opened.choose(plan)
    return _passage(opened)


def _passage(story: Story) -> dict[str, Any]:
    passage = story.step()
    return {"story": story.id, "step": passage.step, "passage": passage.text, "plans": story.plans}


def agent(model: BaseChatModel) -> Any:
    """Return an agent whose model may call both tools."""
    tools = [start_story, continue_story]
    calling = model.bind_tools(tools)

    def think(state: MessagesState) -> MessagesState:
        return {"messages": [calling.invoke(state["messages"])]}

    builder = StateGraph(MessagesState).add_node("think", think).add_node("tools", ToolNode(tools))
    return (
        builder.add_edge(START, "think")
        .add_conditional_edges("think", tools_condition)
        .add_edge("tools", "think")
        .compile()
    )


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    asked = "Tell me a story about a lighthouse, two passages long, then say how it might end."
    for message in agent(ChatOpenAI(model=sys.argv[1])).invoke({"messages": asked})["messages"]:
        message.pretty_print()
