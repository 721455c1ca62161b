"""retrieve: read the long-term memory with the plan as the query (paper, section 2.1)."""

from __future__ import annotations

from collections.abc import Collection

from recurrentgpt.memory.codex import in_names, sentence_of, without_names
from recurrentgpt.memory.corrections import read_overlay, with_summary
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.superseded import still_true
from recurrentgpt.nodes.continuity import told_entries
from recurrentgpt.nodes.prompt_values import codex_before
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node
from recurrentgpt.schema.codex import LASTING, Codex, Line
from recurrentgpt.schema.state import Recalled, State

KNOWN_LINES = 2
"""Lines of the codex whose passages come in between those that are found, for each part of a plan."""


@node
async def retrieve(state: State, runtime: StoryRuntime) -> Update:
    """Return the earlier passages of this branch that bear most on the plan, best first.

    The newest passage is left out: the prompt holds it (or its end) anyway.
    """
    story, head = state["story"], state.get("head", "")
    if not state.get("step"):
        # Before the first passage there is nothing to recall, and the embedding model takes seconds to load.
        entries = await told_entries(state, runtime, [])
        return {"recalled": [], "entries": entries, "next_plan": state["plan"], "status": "writing"}
    corrected = (await read_overlay(runtime.log, story, state.get("overlay", "")))["summaries"]
    codex = await codex_before(state, runtime) if runtime.context.codex else Codex()
    also = in_names(codex, state["plan"])
    hits = await runtime.recall.search(
        story,
        head,
        state["plan"],
        runtime.context.top_k,
        without=head,
        corrected=corrected,
        also=also,
        stale=codex.over,
        known=await _known(codex, query_parts(state["plan"], also), state["plan"], runtime),
    )
    found = await runtime.log.remembered_many(story, [hit.id for hit in hits])
    commits = [with_summary(commit, corrected) for commit in found]
    recalled: list[Recalled] = []
    for hit, commit in zip(hits, commits, strict=True):
        true = still_true(codex, commit, hit.kind, hit.row, runtime.recall.text(commit, hit))
        if true.piece:
            recalled.append(
                Recalled(
                    id=hit.id,
                    step=hit.step,
                    score=round(hit.score, 4),
                    summary=true.summary,
                    piece=true.piece,
                    quoted=true.quoted,
                    row=hit.row,
                    kind=hit.kind,
                )
            )
    entries = await told_entries(state, runtime, [entry["summary"] for entry in recalled])
    return {"recalled": recalled, "entries": entries, "next_plan": state["plan"], "status": "writing"}


async def _known(
    codex: Codex, parts: Collection[str], plan: str, runtime: StoryRuntime
) -> dict[str, list[tuple[str, list[str]]]]:
    """Return, by part of a plan, the passages of those lines of whom it names that are nearest to it, with their sentences."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for part in parts:
        lines, near = dict[str, Line](), dict[str, float]()
        for entry in codex.named_in(part, plan):
            own = {sentence_of(entry, line): line for line in entry.lines if line.passage and line.aspect in LASTING}
            # What all lines of somebody have in common tells nothing of which of them is meant.
            is_person = entry.kind == "person"
            bare = {text: without_names(text, entry) if is_person else text for text in own}
            asked = without_names(part, entry) if is_person else part
            nearness = await runtime.recall.nearness(asked, {*bare.values()}) if own else {}
            lines |= own
            near |= {text: max(near.get(text, -1.0), nearness[bare[text]]) for text in own}
        nearest = sorted(lines, key=lambda text: (-near[text], -lines[text].step))[:KNOWN_LINES]
        found[part] = [
            (lines[text].passage, [said for said in (lines[text].rests_on, text) if said]) for text in nearest
        ]
    return found
