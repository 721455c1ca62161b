"""The opening of no_short_term_memory: the engine's own, but for a memory that is neither asked for nor kept."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import create_model

from recurrentgpt.graph.state import Brief, Rationale
from recurrentgpt.models.calls import ask
from recurrentgpt.models.embeddings import check_embedder
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.nodes.conceive import FoundingReply
from recurrentgpt.nodes.conversation import FULL_REPLY_TOKENS, voice
from recurrentgpt.nodes.open_story import check_input, open_story
from recurrentgpt.studies.surroundings import StudyRun

_FIELDS: dict[str, Any] = {
    name: (field.annotation, field) for name, field in FoundingReply.model_fields.items() if name != "short_term_memory"
}


async def open_unremembered(state: Any, run: StudyRun) -> dict[str, Any]:
    """Open the novel, or find its place in the log again, without a short-term memory.

    The form of a capable model's opening has a field for it, so here is another form. A small model's has none, but the
    engine makes a memory of the people: that one is dropped.
    """
    model = await run.model("planner")
    if model.tier == "small" or await run.chronicle.head(state["story"]):
        return {**await open_story(state, run), "short_term_memory": ""}
    return await _conceived(state, run, model)


async def _conceived(state: Any, run: StudyRun, model: ResolvedModel) -> dict[str, Any]:
    story, genre, premise = state["story"], state["genre"].strip(), " ".join(state["premise"].split())
    check_input({"story": story, "genre": genre, "premise": premise})
    if run.context.embeddings is None:
        await asyncio.to_thread(check_embedder)
    prompts, told = run.prompts(model), voice(run.context)
    given = {"genre": genre, "premise": premise, "title": "", "memory": "", "plans": run.context.plans}
    system = SystemMessage(prompts.fill("system", brief={"genre": genre}, **told))
    schema: Any = create_model("Founding", **_FIELDS)
    turns = [system, HumanMessage(prompts.fill("open", **told, **given))]
    seed = run.deck({"story": story})
    reply = await ask(model, turns, schema, max_tokens=FULL_REPLY_TOKENS, seed=seed, meter=run.meter)
    plans = reply.plans[: run.context.plans]
    brief = Brief(
        title=reply.title,
        genre=genre,
        premise=premise or reply.premise,
        characters=reply.characters,
        outline=reply.outline,
    )
    return {
        "story": story,
        "title": reply.title,
        "genre": genre,
        "premise": brief["premise"],
        "brief": brief,
        "head": "",
        "step": 0,
        "plan": plans[0],
        "plan_author": "model",
        "written_plan": "",
        "passage": "",
        "summary": "",
        "short_term_memory": "",
        "rationale": Rationale(dropped=[], added=[]),
        "candidate_plans": plans,
        "recalled": [],
        "status": "writing",
        "until": 0,
        "spent": 0,
        "dearest": 0,
    }
