"""simulator: stand in for the human: choose the best plan, say why, and revise it (paper, section 2.3)."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import SystemMessage

from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import CHOOSE, FULL_REPLY_TOKENS, sampled
from recurrentgpt.nodes.continuity import living
from recurrentgpt.nodes.prompt_messages import written_turns
from recurrentgpt.nodes.prompt_values import memory_lines, memory_was_edited, subjects, variables
from recurrentgpt.nodes.reply_schemas import ChoiceReply, choice_reply, revised
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.nodes.small.reply_patterns import is_english, without_cuts
from recurrentgpt.prose.list_marks import without_number
from recurrentgpt.prose.sentences import sentences
from recurrentgpt.prose.shared_runs import ngrams, tokens
from recurrentgpt.schema.choice import choose_plan
from recurrentgpt.schema.state import Choice, State

PLANS_COMPARED = 12
"""Passages whose plans a model that wears an adapter does not choose again, the newest ones."""
MOST_TOLD_AGAIN = 0.65
"""Share of the word pairs of the longer of two sentences of plans that the other may have, too."""
FEWEST_WORDS = 8
"""Words of the sentences that are compared."""
_Pairs = set[tuple[str, ...]]
"""The pairs of neighbouring words of a sentence."""


@node
async def simulator(state: State, runtime: StoryRuntime) -> Update:
    """Return the plan of the next passage, chosen and revised by a model, and why.

    It sees the plans in shuffled order: shown the passage too, a small model takes the last plan always.
    """
    model = await runtime.model("simulator")
    plans = state["candidate_plans"]
    taught = bool(model.adapter and state["step"])
    # Before the first passage there is no conversation that a choice could go on from.
    prompts = runtime.prompts(model if taught else replace(model, adapter=None))
    told_before = await _planned(state, runtime) if taught and runtime.context.checks_plans else []
    order = [number for number, plan in enumerate(plans) if not _tells_again(plan, told_before)] or list(
        range(len(plans))
    )
    runtime.chance(state, state["step"], state.get("take", 0), "order").shuffle(order)
    shared = variables(state, runtime, state["step"] + 1)
    shuffled = [plans[number] for number in order]
    # A capable model's conversation holds the memory, and what the passage made of it.
    told = model.tier == "full" and state["step"] and not memory_was_edited(state)
    memory = [] if told else memory_lines(state["short_term_memory"])
    asked = prompts.turns("choose", memory=memory, plans=shuffled, **shared)
    seed = runtime.seed(state, "simulator")

    def check(reply: ChoiceReply) -> str | None:
        return None if 1 <= reply.index <= len(shuffled) and reply.plan.strip() else f"index is 1 to {len(shuffled)}."

    if model.tier == "small":
        instruction = SystemMessage(prompts.fill("system", **shared))
        turns = [*(await written_turns(state, runtime, model) if taught else [instruction]), *asked]
        about = [] if taught else await living(state, runtime, subjects(state, runtime), state.get("passage", ""))
        schema: type[ChoiceReply] = choice_reply(len(shuffled), runtime.context.language, about, taught=taught)
        reply = await ask(model, turns, schema, **sampled(CHOOSE), seed=seed, meter=runtime.meter, check=check)
        reply.plan = revised(reply, shuffled)
        if is_english(runtime.context.language):
            reply.plan = without_cuts(reply.plan)
        if _tells_again(reply.plan, told_before):
            reply.plan = shuffled[reply.index - 1]
    else:
        before = [SystemMessage(prompts.fill("system", **shared))]
        turns = [*(await written_turns(state, runtime, model) if state["step"] else before), *asked]
        reply = await ask(
            model, turns, ChoiceReply, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=runtime.meter, check=check
        )
        reply.plan = without_number(reply.plan.strip(), reply.index)
    choice = Choice(index=order[reply.index - 1], by="simulator", why=" ".join(reply.why.split()))
    update = choose_plan(" ".join(reply.plan.split()), "simulator", choice)
    piloted = state.get("autopilot", 0)
    return {**update, "autopilot": piloted - 1 if piloted > 0 else piloted}


async def _planned(state: State, runtime: StoryRuntime) -> list[_Pairs]:
    """Return the word pairs of each sentence of the plans that the last passages were written from."""
    commits = await runtime.log.latest(state["story"], state["head"], PLANS_COMPARED)
    return [pairs for commit in commits for pairs in _pairs(commit["plan"])]


def _tells_again(plan: str, before: list[_Pairs]) -> bool:
    """Tell whether a plan has a sentence that says what one before has said: a small model's story turns in a circle."""
    own = [pairs for pairs in _pairs(plan) if len(pairs) >= FEWEST_WORDS - 1]
    return any(len(pairs & other) > MOST_TOLD_AGAIN * max(len(pairs), len(other)) for pairs in own for other in before)


def _pairs(plan: str) -> list[_Pairs]:
    return [ngrams(tokens(sentence), 2) for sentence in sentences(plan)]
