"""The growing conversation of one timestep, built in one place.

Every prompt of a timestep begins with the one before it, byte for byte, so that a server's prefix cache (llama.cpp's KV
cache, the prompt caches of providers) makes the later calls nearly free. In the `small` tier each call is short and
stands alone, and shares its beginning with its neighbour instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.models.decoding import Decoding
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.prompt_runtime import PromptRuntime
from recurrentgpt.nodes.prompt_values import memory_lines, memory_was_edited, variables, write_values
from recurrentgpt.prompts import Prompts
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.state import State

KEPT_CONVERSATIONS = 64
"""Conversations, of different stories, whose beginning is kept filled."""


def prose_sampling(
    model: ResolvedModel,
    context: Context,
    decoding: Decoding,
    *,
    warmer: float = 0.0,
    form: Mapping[str, str] | None = None,
) -> Mapping[str, Any]:
    """Return the keyword arguments that make a call for prose sample as its story says, and a small model's as `decoding` does.

    `warmer` is added to a small model's usual temperature, and `form` to its fields.
    """
    temperature, chosen = context.temperature, model.sampling_fields(context.sampling)
    if model.tier != "small":
        return {"temperature": temperature, "chosen": chosen}
    usual = decoding.temperature + warmer if temperature is None else temperature
    return {"temperature": usual, "sampling": {**decoding.sampling, **(form or {})}, "chosen": chosen}


async def write_turns(state: State, runtime: PromptRuntime, model: ResolvedModel) -> list[BaseMessage]:
    """Return the turns that ask for the passage after the state's, the beginning of the timestep's conversation."""
    prompts = runtime.prompts(model)
    shared, given = await write_values(state, runtime, model)

    def fill() -> list[BaseMessage]:
        return [SystemMessage(prompts.fill("system", **shared)), *prompts.turns("write", **given)]

    return _filled(runtime.log, state["story"], prompts, given, fill)


def _filled(
    log: LogReader, story: str, prompts: Prompts, given: Mapping[str, Any], fill: Callable[[], list[BaseMessage]]
) -> list[BaseMessage]:
    """Return the turns filled with what is `given`; those of a story's last conversation where that was given the same.

    All calls of a timestep begin with the same turns, which are filled for the first of them.
    """
    filled: BoundedCache[tuple[str, ...], tuple[Any, list[BaseMessage]]] = log.cache("filled turns", KEPT_CONVERSATIONS)
    key, wanted = (*log.root, story, prompts.tier), (type(prompts), prompts.mode, prompts.directory, given)
    known = filled.get(key)
    if known is None or known[0] != wanted:
        known = (wanted, fill())
        filled.put(key, known)
    return list(known[1])


async def written_turns(state: State, runtime: PromptRuntime, model: ResolvedModel) -> list[BaseMessage]:
    """Return the conversation up to and with the passage that was just written."""
    before = cast(
        "State",
        {
            **state,
            "step": state["step"] - 1,
            "short_term_memory": state.get("previous_memory", ""),
            "passage": state.get("previous_passage", ""),
            "turns": state.get("previous_turns", []),
            "clues": state.get("previous_clues", []),
            "unreached": state.get("previous_unreached", ""),
            # Behind a story's end another plan may wait.
            **({"plan": state["written_plan"]} if state.get("memory_is_behind") else {}),
        },
    )
    return [*await write_turns(before, runtime, model), AIMessage(state["passage"])]


async def small_turns(
    state: State, runtime: PromptRuntime, model: ResolvedModel, shared: Mapping[str, Any]
) -> list[BaseMessage]:
    """Return what a small model's call about the passage begins with.

    That is the instruction alone, for the call tells the passage itself; a model that wears an adapter goes on from the
    conversation that wrote it, as it was taught.
    """
    if model.adapter:
        return await written_turns(state, runtime, model)
    return [SystemMessage(runtime.prompts(model).fill("system", **shared))]


def plans_request(state: State, runtime: PromptRuntime, prompts: Prompts) -> HumanMessage:
    """Return the turn that asks for plans for the passage after this one."""
    shared = variables(state, runtime, state["step"] + 1)
    # The conversation holds the memory that the passage was written from, and the passage: it is told again only when it was
    # edited since.
    told_again = state.get("status") == "replanning" or memory_was_edited(state)
    memory = memory_lines(state["short_term_memory"]) if told_again else []
    return HumanMessage(prompts.fill("propose_plans", memory=memory, plans=runtime.context.plans, **shared))
