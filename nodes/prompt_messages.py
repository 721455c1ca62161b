"""The growing conversation of one timestep, built in one place.

Every prompt of a timestep begins with the one before it, byte for byte, so that a server's prefix cache (llama.cpp's KV
cache, the prompt caches of providers) makes the later calls nearly free. In the `small` tier each call is short and
stands alone, and shares its beginning with its neighbour instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from recurrentgpt.memory.keyword_index import excerpt
from recurrentgpt.models.decoding import Decoding
from recurrentgpt.nodes.routes import last_step
from recurrentgpt.nodes.runtime import StoryRuntime
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import count_words, last_sentences, sentences
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.state import KEPT_PLAN, State

FULL_REPLY_TOKENS = 4000
"""Token limit of a capable model's structured replies: generous, since many of them think first."""

LONGEST = 4
"""Times the most words wanted that a capable model's passage may have: it is kept as long as it is, and prompts stay bounded."""

ENDING_SENTENCES = 3
MOST_PIECE_WORDS = {"full": 120, "small": 30}
"""Of a recalled passage, by tier, the most words that bear on the plan: no prompt grows with the story."""

NO_PLAN = "None: the author wrote this passage by hand."


def memory_lines(memory: str) -> list[str]:
    """Return the sentences of a short-term memory."""
    return [line.strip() for line in memory.splitlines() if line.strip()]


def voice(context: Context) -> Mapping[str, Any]:
    """Return what every template may name of how the story is told.

    `examples` tells whether a template's own examples fit: they are in English, and in their mode's person and tense.
    """
    return {
        "language": context.language,
        "person": context.person,
        "tense": context.time,
        "pace": context.pace,
        "style": context.style,
        "note": context.note,
        "examples": context.own_voice,
    }


def people(state: State) -> list[str]:
    """Return the names of the main characters."""
    return [character.split(":")[0].strip() for character in state["brief"]["characters"] if character.strip(" :")]


def subjects(state: State, runtime: StoryRuntime) -> list[str]:
    """Return whom plans and notes are about: the main characters, and in fiction the reader first of all."""
    return ["You", *people(state)] if runtime.context.mode == "fiction" else people(state)


def sampled(decoding: Decoding) -> Mapping[str, Any]:
    """Return the keyword arguments that make a small model's call sample as `decoding` says."""
    return {
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "sampling": decoding.sampling,
    }


def finale(state: State, runtime: StoryRuntime, step: int) -> str:
    """Return how near passage `step` is to the end that the run was asked for: "", "near" or "last"."""
    last = last_step(state, runtime.context)
    if not (runtime.context.ending and last) or step < last - 2:
        return ""
    return "last" if step >= last else "near"


def invited(state: State, runtime: StoryRuntime, step: int) -> bool:
    """Return whether passage `step` should bring in a new character, as the original does now and then."""
    return runtime.chance(state, step, "new character").random() < runtime.context.new_character


def variables(state: State, runtime: StoryRuntime, step: int) -> Mapping[str, Any]:
    """Return what every template of passage `step` may name."""
    context = runtime.context
    return {
        **voice(context),
        "brief": state["brief"],
        "min_words": context.min_words,
        "max_words": context.max_words,
        "step": step,
        "last_step": last_step(state, context) if context.ending else 0,
        "finale": finale(state, runtime, step),
        "invite": invited(state, runtime, step),
    }


def write_turns(
    state: State, runtime: StoryRuntime, prompts: Prompts, *, step: int, memory: str, previous: str
) -> list[BaseMessage]:
    """Return the turns that ask for passage `step`, the beginning of the timestep's conversation."""
    shared = variables(state, runtime, step)
    most = MOST_PIECE_WORDS[prompts.tier]
    recalled = [
        {**entry, "piece": excerpt(entry["piece"], state["plan"], most, runtime.context.language)}
        for entry in state.get("recalled", [])
    ]
    asked = prompts.turns(
        "write",
        **shared,
        memory=memory_lines(memory),
        recalled=recalled,
        previous=_last_words(previous, LONGEST * runtime.context.max_words + 100),
        ending=last_sentences(previous, ENDING_SENTENCES),
        # The plan of a passage that was edited since tells of people and events that may be gone.
        plan=NO_PLAN if state.get("plan_author") == KEPT_PLAN else state["plan"],
    )
    return [SystemMessage(prompts.fill("system", **shared)), *asked]


def written_turns(state: State, runtime: StoryRuntime, prompts: Prompts) -> list[BaseMessage]:
    """Return the conversation up to and with the passage that was just written."""
    asked = write_turns(
        state,
        runtime,
        prompts,
        step=state["step"],
        memory=state.get("previous_memory", ""),
        previous=state.get("previous_passage", ""),
    )
    return [*asked, AIMessage(state["passage"])]


def planned_turns(state: State, runtime: StoryRuntime, prompts: Prompts) -> list[BaseMessage]:
    """Return the conversation up to and with the plans that were proposed after the passage."""
    reply = json.dumps({"plans": state["candidate_plans"]}, ensure_ascii=False)
    return [*written_turns(state, runtime, prompts), plans_request(state, runtime, prompts), AIMessage(reply)]


def plans_request(state: State, runtime: StoryRuntime, prompts: Prompts) -> HumanMessage:
    """Return the turn that asks for plans for the passage after this one."""
    shared = variables(state, runtime, state["step"] + 1)
    # The conversation holds the memory that the passage was written from; it is told again only when it was edited since.
    memory = state["short_term_memory"] if state.get("status") == "replanning" else ""
    return HumanMessage(
        prompts.fill("propose_plans", plans=runtime.context.plans, memory=memory_lines(memory), **shared)
    )


def _last_words(text: str, most: int) -> str:
    """Return the last sentences of a passage, `most` words at the most: somebody may have made it very long by hand."""
    kept: list[str] = []
    count = 0
    for sentence in reversed(sentences(text) if count_words(text) > most else [text]):
        count += count_words(sentence)
        if kept and count > most:
            break
        kept.append(sentence)
    return " ".join(reversed(kept))
