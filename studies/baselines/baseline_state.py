"""What every system has in common: a state that stays bounded, an opening, and passages appended to the story log.

A novel of a study is a story like any other: it can be read with `recurrentgpt show` from the folder of its run, at every
step, with what each step cost.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

from langgraph.graph import StateGraph

# Python 3.11's own leaves the forms of servers empty.
from typing_extensions import TypedDict

from recurrentgpt.models.calls import Meter
from recurrentgpt.nodes import commit
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.state import Brief, Recalled, State, Usage, merge_usage
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.system import Builder
from recurrentgpt.studies.baselines.text_windows import last_tokens
from recurrentgpt.studies.study_context import MOST_ENDINGS, StudyContext, is_full


class NovelInput(TypedDict):
    """What a novel starts from."""

    story: str
    genre: str
    premise: str


class NovelOutput(TypedDict):
    """What is left when it is done; the text is in the log."""

    story: str
    head: str
    step: int
    words: int
    status: str


class RecurrentState(State, total=False):
    """The engine's state and what a study adds to it."""

    words: int
    """Words of all passages that are in the log."""
    pace: list[int]
    """Least words, most words and passages left, as the passage in the making was asked for."""
    endings: int
    """Passages written beyond the planned last one."""
    unread: list[Recalled]
    """What a system without a long-term memory would have recalled, which its gate against copies alone is given."""


class BaselineState(TypedDict, total=False):
    """The state of a baseline."""

    story: str
    genre: str
    premise: str
    head: str
    step: int
    words: int
    endings: int
    plan: str
    passage: str
    tail: str
    """The end of the story, as much of it as the system's next prompt needs."""
    outline: list[str]
    usage: Annotated[dict[str, Usage], merge_usage]
    status: str


def baseline_graph(state: type[Any]) -> Builder:
    """Return an empty graph of a baseline."""
    return StateGraph(state, context_schema=StudyContext, input_schema=NovelInput, output_schema=NovelOutput)


async def open_novel(state: Any, run: StudyRun, outline: list[str], characters: list[str], **more: Any) -> Update:
    """Append a novel's opening to the log, and return the state of a novel without a word."""
    title = f"{state['genre'].title()}: {state['premise'].split(',')[0][:40]}"
    brief = Brief(title=title, genre=state["genre"], premise=state["premise"], characters=characters, outline=outline)
    # What the node in the making has spent is the opening's too, and not the first passage's.
    spent, run.meter = run.meter.usage, Meter()
    usage = {**state.get("usage", {}), "opening": spent}
    opened = {**state, "title": title, "brief": brief, "step": 0, "passage": "", "usage": usage}
    entry = await commit.append_opening(cast(State, opened), run)
    start = {"head": entry["id"], "step": 0, "words": 0, "endings": 0, "tail": "", "outline": outline}
    return {**start, "passage": "", "usage": dict.fromkeys(state.get("usage", {}), None), "status": "writing", **more}


async def append_passage(
    state: Any, run: StudyRun, *, tail: int | None, ending: bool, searchable: bool = False
) -> Update:
    """Append the passage to the log and return the state behind it; the story's last `tail` tokens stay at hand.

    `ending` tells whether the passage was asked to end the novel: then it does, unless it is still too short. A `searchable`
    passage gets vectors, for a system that has a long-term memory.
    """
    passage, step = state["passage"], state["step"] + 1
    words = state["words"] + count_words(passage)
    done = ending and (is_full(words, run.settings.target_words) or state["endings"] >= MOST_ENDINGS)
    entry = commit.entry(cast(State, {**state, "step": step}), parent=state["head"])
    await commit.append_passage(entry, "finished" if done else "choosing", run, searchable=searchable)
    text = f"{state['tail']}\n\n{passage}".strip()
    return {
        "head": entry["id"],
        "step": step,
        "words": words,
        "endings": state["endings"] + ending,
        "tail": last_tokens(text, tail),
        "usage": dict.fromkeys(state.get("usage", {}), None),
        "status": "finished" if done else "writing",
    }


def is_unfinished(state: Any) -> bool:
    """Tell whether the novel has not ended."""
    return bool(state.get("status") != "finished")
