"""propose_plans: several ways for the story to go on, of which a human or the simulator takes one (paper, section 2.3)."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, create_model
from pydantic.config import JsonDict

from recurrentgpt.memory.nearness import nearness
from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS, PLANS, PLANS_TAUGHT, sampled
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.continuity import living
from recurrentgpt.nodes.prompt_messages import plans_request, small_turns, written_turns
from recurrentgpt.nodes.prompt_values import finale, memory_lines, people, subjects, summaries_of, to_come, variables
from recurrentgpt.nodes.reply_schemas import PlansReply, plan_of, plans_reply
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.nodes.small.plot_moves import Move, deal
from recurrentgpt.nodes.small.reply_patterns import first_name, is_english
from recurrentgpt.nodes.worked_examples import strangers, walks_in
from recurrentgpt.prose.list_marks import without_marks
from recurrentgpt.prose.shared_runs import overlap
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.schema.state import State

TOKENS_PER_PLAN = 160

MOST_OVERLAP = 0.45
"""Share of word pairs that two plans may have in common."""

MOST_NEARNESS = 0.9
"""Cosine up to which a plan says something else than another, or than what has happened."""

HAPPENED = 100
"""Passages whose summaries a plan is compared with, the newest ones."""


class Proposals(BaseModel):
    """A capable model's plans."""

    plans: list[str]


@node
async def propose_plans(state: State, runtime: StoryRuntime) -> Update:
    """Return the candidate plans for the next passage; none after the passage that ends the story, unless it is gone on with."""
    if state.get("status") == "writing" and finale(state, runtime, state["step"]) == "last":
        return {"candidate_plans": [], "status": "finished"}
    model = await runtime.model("planner")
    plans = await (_dealt if model.tier == "small" else _proposed)(state, runtime, model)
    return {"candidate_plans": [" ".join(plan.split()) for plan in plans]}


async def _proposed(state: State, runtime: StoryRuntime, model: ResolvedModel) -> list[str]:
    prompts, count = runtime.prompts(model), runtime.context.plans
    turns = [*await written_turns(state, runtime, model), plans_request(state, runtime, prompts)]
    seed = runtime.seed(state, "propose_plans")
    reply = await ask(
        model,
        turns,
        _proposals(count),
        max_tokens=FULL_REPLY_TOKENS,
        seed=seed,
        meter=runtime.meter,
        check=lambda reply: (
            _too_few(reply.plans, count) or (repeats(reply.plans) if runtime.context.checks_plans else None)
        ),
        insist=False,
    )
    return without_marks([plan.strip() for plan in reply.plans])


def _too_few(plans: list[str], count: int) -> str | None:
    """Return what is wrong with fewer plans than were asked for, or None; a second reply of one is enough to choose from."""
    return f"It has {len(plans)} of {count} plans." if len(plans) < count else None


@lru_cache(maxsize=16)
def _proposals(count: int) -> type[Proposals]:
    """Return the form of exactly so many plans; Pydantic takes milliseconds to make it.

    From a server that holds nobody to a form, the first ones of more plans are read, and those that stand in objects.
    """
    first = BeforeValidator(lambda plans: [*map(plan_of, plans[:count])] if isinstance(plans, list) else plans)
    exactly: JsonDict = {"minItems": count, "maxItems": count}
    return create_model(
        "Proposals",
        __base__=Proposals,
        plans=(Annotated[list[str], first], Field(min_length=1, json_schema_extra=exactly)),
    )


async def _dealt(state: State, runtime: StoryRuntime, model: ResolvedModel) -> list[str]:
    """Return one plan per story move of a rotating deck: asked for three plans, a small model writes one three times."""
    if not state["step"]:
        # Before the first passage there is no conversation that plans could go on from.
        model = replace(model, adapter=None)
    prompts = runtime.prompts(model)
    shared = variables(state, runtime, state["step"] + 1)
    take = state.get("take", 0)
    moves = deal(
        state["step"] + 7 * take,
        runtime.deck(state),
        runtime.context.plans,
        finale=shared["finale"],
        mode=runtime.context.mode,
    )
    # Beside a memory in the making it is the one that the passage was written from.
    memory = memory_lines(state["short_term_memory"])
    alive = await living(state, runtime, people(state), state["passage"])
    cast = [one for one in state["brief"]["characters"] if one.partition(":")[0].strip() in alive]
    asked = prompts.turns(
        "plans",
        passage=state["passage"],
        memory=memory,
        moves=moves,
        coming=to_come(state, shared["last_step"]),
        **{**shared, "brief": {**shared["brief"], "characters": cast}},
    )
    turns = [*await small_turns(state, runtime, model, shared), *asked]
    form, limit = await _form(moves, state, runtime, model), TOKENS_PER_PLAN * runtime.context.plans
    unknown = strangers(asked, prompts, people(state))

    replies: list[list[str]] = []

    async def problem(plans: list[str]) -> str | None:
        if not runtime.context.checks_plans:
            return None
        # A bare model is held to the living by its form.
        of_dead = await _of_the_dead(plans, state, runtime) if model.adapter else None
        return of_dead or await _unusable(plans, unknown, state, runtime)

    async def usable(reply: PlansReply) -> str | None:
        replies.append(reply.in_order())
        return await problem(replies[-1])

    async def dealt(*sample: int, insist: bool) -> list[str]:
        reply = await ask(
            model,
            turns,
            form,
            **{**sampled(PLANS_TAUGHT if model.adapter else PLANS), "max_tokens": limit},
            seed=runtime.seed(state, "propose_plans", *sample),
            meter=runtime.meter,
            check=usable,
            insist=insist,
            # One that was taught says its plans again when it is shown them: what is wrong it is told last.
            second_seed=runtime.seed(state, "propose_plans", "second") if model.adapter and insist else None,
        )
        return reply.in_order()

    with contextlib.suppress(ModelReplyError):
        return await dealt(insist=True)
    if plans := await _of_several(replies, problem):
        return plans
    # Shown its own plans, a small model is apt to say them again: it is asked anew.
    runtime.meter.resamples += 1
    last = await dealt(1, insist=False)
    return await _of_several([*replies, last], problem) or last


async def _of_several(replies: list[list[str]], problem: Callable[[list[str]], Awaitable[str | None]]) -> list[str]:
    """Return each move's first plan that nothing is wrong with beside those before it; none at all where a move has none."""
    plans: list[str] = []
    for of_move in zip(*replies, strict=True):
        for plan in dict.fromkeys(of_move):
            if await problem([*plans, plan]) is None:
                plans.append(plan)
                break
        else:
            return []
    return plans


async def _unusable(plans: list[str], unknown: list[str], state: State, runtime: StoryRuntime) -> str | None:
    """Return what is wrong with plans, or None.

    One says what another says or what has happened, in whatever words, or tells of somebody `unknown` to the story.
    """
    if problem := repeats(plans):
        return problem
    if name := walks_in("\n".join(plans), unknown):
        return f"Nobody in this story is called {name}. Every plan must be about its people."
    if not is_english(runtime.context.language):
        # The embedder finds any two sentences of some languages alike.
        return None
    # The passage that was just written is being summed up beside this: it is known by its plan.
    summaries = [entry.summary for entry in await summaries_of(state, runtime)]
    happened = [text for text in (state["plan"], *summaries[-HAPPENED:]) if text]
    for number, plan in enumerate(plans, start=1):
        near = await asyncio.to_thread(nearness, runtime.recall.embeddings, [plan], [*plans[: number - 1], *happened])
        text, most = max(near.items(), key=lambda found: found[1], default=("", 0.0))
        if most > MOST_NEARNESS:
            if text in happened:
                return f"Plan {number} has happened: {text} Every plan must go on from there."
            return f"Plans {plans.index(text) + 1} and {number} say the same; every plan must go its own way."
    return None


async def _of_the_dead(plans: list[str], state: State, runtime: StoryRuntime) -> str | None:
    """Return that somebody dead acts in a plan, or None."""
    known = subjects(state, runtime)
    alive = await living(state, runtime, known, state.get("passage", ""))
    for name in [name for name in known if name not in alive]:
        called = "|".join(map(re.escape, dict.fromkeys([name, first_name(name)])))
        acts = re.compile(rf"(?:^|[.!?] )(?:(?:Then|But|Now) )?(?:{called})\b(?!'s| (?:is|was|lies) )")
        if any(map(acts.search, plans)):
            return f"{name} is dead. Every plan must be about the living."
    return None


async def _form(moves: list[Move], state: State, runtime: StoryRuntime, model: ResolvedModel) -> type[PlansReply]:
    """Return the form of the plans: of a bare model's, none begins with somebody dead.

    A model that wears an adapter was taught how they begin, and needs less of one.
    """
    language = runtime.context.language
    if model.adapter:
        return plans_reply(moves, language, taught=True)
    about = await living(state, runtime, subjects(state, runtime), state.get("passage", ""))
    return plans_reply(moves, language, about, state["step"])


def repeats(plans: list[str]) -> str | None:
    """Return what is wrong with plans of which two say the same, or None."""
    for second, plan in enumerate(plans):
        for first in range(second):
            if overlap(plans[first], plan) > MOST_OVERLAP:
                return f"Plans {first + 1} and {second + 1} say the same; every plan must go its own way."
    return None
