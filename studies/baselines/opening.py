"""Openings of ablations: the engine's own, without the memory, without the outline and the cast, or without all three."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, create_model

from recurrentgpt.nodes.found_story import FoundingReply
from recurrentgpt.nodes.open_story import open_story
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.studies.baselines.runtime import StudyRun

_FIELDS: dict[str, Any] = {
    name: (field.annotation, field) for name, field in FoundingReply.model_fields.items() if name != "short_term_memory"
}
_FORM: type[BaseModel] = create_model("Founding", **_FIELDS)


async def open_unremembered(state: Any, run: StudyRun) -> Update:
    """Open the novel, or find its place in the log again, without a short-term memory.

    The form of a small model's opening has no field for one, but the engine makes a memory of the people: it is dropped.
    """
    return {**await open_story(state, run, _FORM), "short_term_memory": ""}


async def open_bare(state: Any, run: StudyRun) -> Update:
    """Open the novel, or find its place in the log again, and keep neither outline nor cast."""
    return _bared(await open_story(state, run))


async def open_bare_unremembered(state: Any, run: StudyRun) -> Update:
    """Open the novel, or find its place in the log again, without outline, cast and short-term memory."""
    return _bared(await open_unremembered(state, run))


def _bared(update: Update) -> Update:
    kept = {name: update["brief"][name] for name in ("title", "genre", "premise")}
    return {**update, "brief": {**kept, "characters": [], "outline": []}}
