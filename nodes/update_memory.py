"""update_memory: rewrite the short-term memory, with what was dropped and added and why (paper, section 2.2).

A capable model rewrites it whole. A small one parrots when asked to, so there the model only says what the passage adds
(the input gate) and a rule says what is forgotten (the forget gate); the reasons given are the true ones in both.
"""

from __future__ import annotations

import asyncio

import numpy as np
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from recurrentgpt.memory.forgetting import admit, forget
from recurrentgpt.memory.pieces import Matrix, unit
from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FACTS
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.codex_changes import CodexChange, from_facts, from_reply
from recurrentgpt.nodes.continuity import codex_before
from recurrentgpt.nodes.prompt_messages import (
    FULL_REPLY_TOKENS,
    memory_lines,
    sampled,
    subjects,
    variables,
    written_turns,
)
from recurrentgpt.nodes.reply_schemas import facts_reply
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.prose.sentences import count_words, limit_words, sentences
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS, Added, Dropped, Rationale, State

FORGET_DOWN_TO = 14
"""Sentences that a full memory is cut back to. Between two cuts it only grows at its end, and prompts keep their prefix."""

LONGEST_READER = 60
"""Words of the sentence that says who the reader is."""


class DroppedReply(BaseModel):
    """A sentence to drop."""

    sentence: str
    why: str


class AddedReply(BaseModel):
    """A sentence to add."""

    sentence: str
    why: str


class MemoryReply(BaseModel):
    """A capable model's new memory."""

    dropped: list[DroppedReply]
    added: list[AddedReply]
    short_term_memory: list[str] = Field(min_length=1)
    summary: str = Field(min_length=1)
    codex: list[CodexChange] = []


@node
async def update_memory(state: State, runtime: StoryRuntime) -> Update:
    """Return the new short-term memory, the rationale, and the passage's summary for the long-term memory."""
    model = await runtime.model("memory")
    if model.tier == "small":
        return await _gated(state, runtime, model)
    return await _rewritten(state, runtime, model)


async def _rewritten(state: State, runtime: StoryRuntime, model: ResolvedModel) -> Update:
    prompts = runtime.prompts(model)
    old = memory_lines(state["previous_memory"])
    request = prompts.fill("update_memory", memory=old, **variables(state, runtime, state["step"]))
    turns = [*written_turns(state, runtime, prompts), HumanMessage(f"{request}\n{prompts.fill('codex')}")]
    seed = runtime.seed(state, "update_memory")
    reply = await ask(
        model,
        turns,
        MemoryReply,
        max_tokens=FULL_REPLY_TOKENS,
        seed=seed,
        meter=runtime.meter,
        check=_check_size,
        # A model that cannot be shorter must not stop the story: the rest is cut by the rule below.
        insist=False,
    )
    new = [line for sentence in reply.short_term_memory if (line := " ".join(sentence.split()))]
    kept, over = await _within_ceilings(new, state, runtime)
    reasons = {" ".join(item.sentence.split()): item.why for item in reply.dropped}
    # The reasons are the model's; what was dropped and added is what really differs.
    dropped = [Dropped(sentence=line, why=reasons.get(line, "")) for line in old if line not in new]
    added_why = {" ".join(item.sentence.split()): item.why for item in reply.added}
    added = [Added(sentence=line, why=added_why.get(line, "")) for line in kept if line not in old]
    return {
        "short_term_memory": "\n".join(kept),
        "rationale": Rationale(dropped=dropped + over, added=added),
        "summary": " ".join(reply.summary.split()),
        "codex": from_reply(reply.codex, state["passage"], await codex_before(state, runtime)),
    }


def _check_size(reply: MemoryReply) -> str | None:
    words = count_words("\n".join(reply.short_term_memory))
    if len(reply.short_term_memory) > MEMORY_SENTENCES or words > MEMORY_WORDS:
        return (
            f"short_term_memory has {len(reply.short_term_memory)} sentences and {words} words; "
            f"at most {MEMORY_SENTENCES} sentences and {MEMORY_WORDS} words are allowed."
        )
    return None


async def _gated(state: State, runtime: StoryRuntime, model: ResolvedModel) -> Update:
    prompts = runtime.prompts(model)
    shared = variables(state, runtime, state["step"])
    turns = [
        SystemMessage(prompts.fill("system", **shared)),
        *prompts.turns("facts", passage=state["passage"], **shared),
    ]
    reply = await ask(
        model,
        turns,
        facts_reply(runtime.context.language, people=subjects(state, runtime)),
        **sampled(FACTS),
        seed=runtime.seed(state, "update_memory"),
        meter=runtime.meter,
    )
    summary = " ".join(reply.summary.split())
    old = memory_lines(state["previous_memory"])
    facts = [summary, *(" ".join(fact.split()) for fact in reply.facts)]
    new = await asyncio.to_thread(
        admit, facts, old, lambda fact, held: _similarity(runtime, [fact], list(held))[0].tolist()
    )
    kept, dropped = await _within_ceilings([*old, *new], state, runtime, protect=len(new), down_to=FORGET_DOWN_TO)
    added = [Added(sentence=line, why="the passage tells it, and the memory did not hold it") for line in new]
    return {
        "short_term_memory": "\n".join(kept),
        "rationale": Rationale(dropped=dropped, added=added),
        "summary": summary,
        "codex": from_facts(
            summary, reply.facts, state["passage"], await codex_before(state, runtime), runtime.context.language
        ),
    }


async def _within_ceilings(
    lines: list[str], state: State, runtime: StoryRuntime, *, protect: int = 0, down_to: int | None = None
) -> tuple[list[str], list[Dropped]]:
    """Return the sentences that stay within the ceilings, and those that do not with the reason."""
    about = [state["brief"]["premise"], state["plan"]]
    reader = _reader(lines, state, runtime)
    lines = [line for line in lines if line != reader]

    def relevance(sentences: list[str]) -> list[float]:
        return [float(best) for best in _similarity(runtime, sentences, about).max(axis=1)]

    kept, dropped = await asyncio.to_thread(
        lambda: forget(
            lines,
            relevance,
            most_sentences=MEMORY_SENTENCES - bool(reader),
            most_words=MEMORY_WORDS - count_words(reader),
            protect=protect,
            down_to=down_to,
        )
    )
    return [*([reader] if reader else []), *kept], [
        Dropped(sentence=item["sentence"], why=item["why"]) for item in dropped
    ]


def _reader(lines: list[str], state: State, runtime: StoryRuntime) -> str:
    """Return the sentence that says who the reader is, which a story to play never forgets; "" in a novel."""
    if runtime.context.mode != "fiction":
        return ""
    told = [*memory_lines(state["previous_memory"]), *lines, *sentences(state["plan"])]
    return limit_words(next((line for line in told if line.startswith("You are ")), ""), LONGEST_READER)


def _similarity(runtime: StoryRuntime, first: list[str], second: list[str]) -> Matrix:
    """Return the cosines of every sentence of `first` with every one of `second`, shape (len(first), len(second))."""
    embed = runtime.recall.embeddings.embed_documents
    vectors = unit(np.asarray(embed([*first, *second]), dtype=np.float32))
    similar: Matrix = vectors[: len(first)] @ vectors[len(first) :].T
    return similar
