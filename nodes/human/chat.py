"""The exchange with a chat: its last message is a premise or an answer, and each passage is told with its plans."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from recurrentgpt.nodes.human.message_stream import message_id
from recurrentgpt.nodes.human.phrases import LEFT
from recurrentgpt.prose.sentences import numbered
from recurrentgpt.schema.messages import unanswered
from recurrentgpt.schema.state import State


def told_passage(state: State, *, chosen: bool, asks: bool) -> list[BaseMessage]:
    """Return the passage that was just committed as messages: the plan that a human chose elsewhere, and the passage.

    `chosen` tells whether its plan was chosen for it just now, and `asks` whether new plans are offered.
    """
    said: list[BaseMessage] = []
    choice = state.get("choice")
    if chosen and choice is not None and choice["by"] == "human" and not unanswered(state.get("messages")):
        said.append(HumanMessage(state["plan"], id=f"{message_id(state)}.plan"))
    plans = numbered(state["candidate_plans"]) if asks else ""
    return [*said, AIMessage(f"{state['passage']}\n\n{plans}".strip(), id=message_id(state))]


def asked_words(step: int, *, played: bool) -> str:
    """Return the question at the human's turn; a story that is `played` asks first who plays, and then what they do."""
    if not played:
        return "What happens next? Choose a plan by its number, or write your own."
    return f"{'What do you do? Choose' if step else 'Who are you? Choose somebody'} by number, or say it in a sentence."


def told_standing(state: State, *, played: bool) -> AIMessage:
    """Return the message that tells where a story stands: its passage, or at an opening who is asked for, and the plans."""
    told = state.get("passage") or asked_words(0, played=played)
    return AIMessage(f"{told}\n\n{numbered(state['candidate_plans'])}".strip(), id=f"{state['head']}.standing")


def told_end(state: State) -> list[BaseMessage]:
    """Return that the story is kept as messages, with the `end` that a human gave elsewhere."""
    said = [] if unanswered(state.get("messages")) else [HumanMessage("end", id=f"{state['head']}.end")]
    return [*said, AIMessage(LEFT, id=f"{state['head']}.kept")]


def asked_again(head: str, problem: str, plans: list[str]) -> AIMessage:
    """Return the message that says why an answer cannot be used, with the plans."""
    return AIMessage(f"{problem}\n\n{numbered(plans)}".strip(), id=f"{head}.again")
