"""Conceive a new story: its title, premise, people, outline, first memory and first plans."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from recurrentgpt.graph.state import StoryInput
from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import OPEN
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.conversation import FULL_REPLY_TOKENS, sampled
from recurrentgpt.nodes.moves import deal, deal_names, deal_spark
from recurrentgpt.nodes.replies import opening_reply
from recurrentgpt.nodes.run import Run


class FoundingReply(BaseModel):
    """A capable model's new story."""

    title: str = Field(min_length=1)
    premise: str = Field(min_length=1)
    characters: list[str] = Field(min_length=1)
    outline: list[str]
    short_term_memory: list[str]
    plans: list[str] = Field(min_length=1)


@dataclass(frozen=True)
class Founding:
    """What a story starts from."""

    title: str
    premise: str
    characters: list[str]
    outline: list[str]
    memory: list[str]
    plans: list[str]


async def conceive(run: Run, given: StoryInput, seed: int) -> Founding:
    """Return a new story made from what is given; what the model should keep is in its prompt."""
    model = await run.model("planner")
    return await (_dealt if model.tier == "small" else _asked)(run, model, given, seed)


async def _asked(run: Run, model: ResolvedModel, given: StoryInput, seed: int) -> Founding:
    prompts, context = run.prompts(model), run.context
    request = prompts.fill(
        "open",
        genre=given["genre"],
        premise=given["premise"],
        title=given["title"],
        memory=given["short_term_memory"],
        language=context.language,
        plans=context.plans,
    )
    brief = {"genre": given["genre"]}
    turns = [SystemMessage(prompts.fill("system", brief=brief, language=context.language)), HumanMessage(request)]
    reply = await ask(model, turns, FoundingReply, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=run.meter)
    return Founding(reply.title, reply.premise, reply.characters, reply.outline, reply.short_term_memory, reply.plans)


async def _dealt(run: Run, model: ResolvedModel, given: StoryInput, seed: int) -> Founding:
    """Return a story built on dealt names and a dealt trouble: a small model left alone tells of Dr. Elara in 2050."""
    prompts, context, free = run.prompts(model), run.context, not given["premise"]
    names = deal_names(seed) if free else []
    spark = deal_spark(seed) if free else ""
    moves = deal(0, seed, context.plans) if free else []
    turns = prompts.turns(
        "open",
        genre=given["genre"],
        premise=given["premise"],
        spark=spark,
        names=names,
        moves=moves,
        language=context.language,
    )
    schema = opening_reply(context.language, context.plans, names, spark, moves)
    system = prompts.fill("system", brief={"genre": given["genre"]}, language=context.language)
    reply = await ask(model, [SystemMessage(system), *turns], schema, **sampled(OPEN), seed=seed, meter=run.meter)
    people = [f"{person.name}: {person.who.rstrip('. ')}" for person in reply.characters]
    return Founding(reply.title, reply.premise, people, reply.outline, [f"{person}." for person in people], reply.plans)
