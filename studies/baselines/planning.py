"""What Re3 and DOC begin with: a setting and characters; and the end of the story that both keep before them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, create_model

from recurrentgpt.models.decoding import OPEN
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.studies.baselines.baseline_state import BaselineState, append_passage
from recurrentgpt.studies.baselines.drafts import TAIL_TOKENS, update_summary
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.text_windows import last_tokens
from recurrentgpt.studies.baselines.write_prose import fill_form, system_turns

CHARACTERS = 3


class Person(BaseModel):
    """One character."""

    name: str = Field(min_length=1)
    portrait: str = Field(min_length=1)


class PlannedState(BaselineState, total=False):
    """The state of a system that plans before it writes."""

    setting: str
    characters: list[dict[str, str]]
    """`name` and `portrait` each."""
    summary: str
    """Of everything before the last 256 tokens."""
    left_behind: str
    """What has left the last 256 tokens since the summary was made."""
    drafts: list[str]
    best: float
    """Score of the passage that was chosen."""


async def setting(state: Any, run: StudyRun) -> Update:
    """Plan where and when the story happens."""
    schema: Any = create_model("Setting", setting=(str, Field(min_length=1)))
    reply = await plan(state, run, "setting", schema)
    return {"setting": " ".join(reply.setting.split()), "summary": "", "left_behind": "", "tail": ""}


async def characters(state: Any, run: StudyRun) -> Update:
    """Plan who the story is about, each with a portrait."""
    people: Any = (list[Person], Field(min_length=CHARACTERS, max_length=CHARACTERS))
    schema: Any = create_model("Characters", characters=people)
    reply = await plan(state, run, "characters", schema, setting=state["setting"], count=CHARACTERS)
    return {
        "characters": [
            {"name": " ".join(person.name.split()), "portrait": " ".join(person.portrait.split())}
            for person in reply.characters
        ]
    }


async def plan(
    state: Any, run: StudyRun, template: str, schema: Any, *, system: str = "re3", purpose: str = "", **more: Any
) -> Any:
    """Return the planner's reply to a template about the novel."""
    model = await run.model("planner")
    turns = system_turns(run, system, template, genre=state["genre"], premise=state["premise"], **more)
    seed = run.seed(state, template, purpose)
    return await fill_form(run, model, turns, schema, seed, decoding=OPEN)


async def summarise(state: Any, run: StudyRun) -> Update:
    """Bring the summary of what precedes the last 256 tokens up to date."""
    if not state["left_behind"]:
        return {"summary": state["summary"]}
    return {"summary": await update_summary(state, run, state["left_behind"]), "left_behind": ""}


async def append_and_keep_tail(state: Any, run: StudyRun, *, ending: bool) -> Update:
    """Append the passage, keep the last 256 tokens, and set aside what has left them for the next summary."""
    whole = f"{state['tail']}\n\n{state['passage']}".strip()
    tail = last_tokens(whole, TAIL_TOKENS)
    gone = whole[: len(whole) - len(tail)].strip()
    left_behind = f"{state['left_behind']}\n\n{gone}".strip()
    update = await append_passage(state, run, tail=TAIL_TOKENS, ending=ending)
    return {**update, "tail": tail, "left_behind": left_behind, "drafts": []}
