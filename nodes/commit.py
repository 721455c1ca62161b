"""commit: append the timestep to the story log, idempotently; corrections are appended by `by_hand`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langgraph.store.base import PutOp

from recurrentgpt.memory.story_log import Commit, StoryRecord, commit_id, now
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.by_hand import amend, correct_branch
from recurrentgpt.nodes.human.chat import told_end, told_passage, told_standing
from recurrentgpt.nodes.routes import waiting_plan
from recurrentgpt.nodes.runtime import StoryRuntime, Update, node, tokens_of_step
from recurrentgpt.nodes.server_thread import name_thread
from recurrentgpt.nodes.validate_state import corrections, refuse
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.schema.context import STORY_SETTINGS
from recurrentgpt.schema.log import recalled_id
from recurrentgpt.schema.parts import reworded
from recurrentgpt.schema.state import Rationale, State, Usage

STANDING: tuple[Literal["turns", "clues", "unreached"], ...] = ("turns", "clues", "unreached")
"""Where the parts of the brief stand after a passage, and what of its plan is left."""
MADE: tuple[Literal["rationale", "codex", "contradictions"], ...] = ("rationale", "codex", "contradictions")
"""What a timestep made of its passage."""


@node
async def commit(state: State, runtime: StoryRuntime) -> Update:
    """Append the passage with the whole LSTM state after it, and move the head there.

    What somebody changed by hand in the state since the last commit is first appended as a corrected sibling of that commit,
    so that the log always tells what the passage was written from; a changed brief, title, genre or premise is a correction
    of the branch. `nodes.validate_state` says of each field what becomes of a change. A chat is told the passage,
    the question of an opening, or that a story that was ended is kept.
    """
    head = await runtime.log.remembered(state["story"], state["head"]) if state.get("head") else None
    new_title = ""
    if head is None:
        update = await _open(state, runtime)
        new_title = state["title"]
    else:
        if state["step"] not in (head["step"], head["step"] + 1):
            refuse({"step": f"`step` is {state['step']}, and the story stands at passage {head['step']}"})
        branch = await correct_branch(state, state.get("overlay", head.get("overlay", "")), runtime.log)
        state, brief, new_title = {**state, "overlay": branch.overlay}, branch.brief, branch.title
        update = await (_amended if state["step"] == head["step"] else _appended)(state, head, runtime, branch.also)
        if brief is not None:
            update |= {"brief": brief, "title": brief["title"], "genre": brief["genre"], "premise": brief["premise"]}
    if runtime.server_thread and new_title:
        await name_thread(runtime.server_thread, state["story"], new_title)
    context = runtime.context
    asks = context.selector == "human" and not state.get("autopilot") and update["status"] != "finished"
    chosen = head is not None and state["step"] > head["step"]
    if update["status"] == "finished" and not chosen:
        update["messages"] = told_end(state)
    elif state.get("passage"):
        update["messages"] = told_passage(state, chosen=chosen, asks=asks)
    elif asks and not waiting_plan(state):
        update["messages"] = told_standing({**state, "head": update["head"]}, played=context.mode == "fiction")
    return {**update, "selector": context.selector, "digests": {}}


async def _amended(state: State, head: Commit, runtime: StoryRuntime, also: Sequence[PutOp]) -> Update:
    """Append what was changed by hand, or new plans, and keep the story at its passage."""
    changes = {**corrections(state, head), "overlay": state.get("overlay", head.get("overlay", ""))}
    if "update_memory" in state.get("usage", {}) and state.get("codex"):
        # The passage that was to be the last is remembered now.
        changes["codex"] = state["codex"]
    passage = changes.pop("passage", head["passage"])
    amended = await amend(runtime, head, changes, passage=passage, usage=_spent(state), also=also)
    update = _committed(amended, state if amended is not head else None)
    if state.get("status") != "finished":
        # A plan that was chosen goes on waiting.
        return {**update, "plan": plan} if (plan := waiting_plan(state)) else update
    await runtime.log.move_head(amended, "finished")
    return {**update, "status": "finished"}


async def _appended(state: State, head: Commit, runtime: StoryRuntime, also: Sequence[PutOp]) -> Update:
    """Append the new passage, to its parent as somebody may have corrected it."""
    overlay = state.get("overlay", head.get("overlay", ""))
    corrected: State = {"short_term_memory": state["previous_memory"]}
    head = await amend(runtime, head, corrected, passage=state["previous_passage"])
    made = entry(state, parent=head["id"], overlay=overlay)
    status = "finished" if state.get("status") == "finished" else "choosing"
    known = await runtime.log.find(made["story"], made["id"])
    if known is None:
        await append_passage(made, status, runtime, also=also)
        return {**_committed(made, state), "status": status}
    # The same words once more, from the same plan: this node run again, or another take that is none. Memory and plans
    # may differ, and what is in the log stays there.
    names = ("short_term_memory", "candidate_plans", "summary", *STANDING, *MADE, "recalled", "told")
    changes = {name: made[name] for name in names if name in made}  # type: ignore[literal-required]
    changes["unreached"] = made.get("unreached", "")
    kept = await amend(runtime, known, changes, passage=known["passage"], usage=made["usage"], also=also)
    await runtime.log.move_head(kept, status)
    return {**_committed(kept, state), "status": status}


async def append_passage(
    made: Commit, status: str, runtime: StoryRuntime, *, searchable: bool = True, also: Sequence[PutOp] = ()
) -> None:
    """Append a passage with the rows in `also` and move the head there; a `searchable` one gets vectors, for recall."""
    vectors = [await runtime.recall.vectors_op(made)] if searchable else []
    await runtime.log.append(made, status, also=[*also, *vectors])


async def _open(state: State, runtime: StoryRuntime) -> Update:
    return _committed(await append_opening(state, runtime), state)


async def append_opening(state: State, runtime: StoryRuntime) -> Commit:
    """Append the opening, step 0 with no passage and the first plans to choose from, and the record of the story."""
    opening, title = entry(state, parent=""), visible_text(state["title"]).strip() or state["story"]
    record = StoryRecord(
        story=state["story"],
        title=title,
        genre=state["genre"],
        premise=state["premise"],
        brief={**reworded(state["brief"], visible_text), "title": title},
        settings={name: getattr(runtime.context, name) for name in STORY_SETTINGS},
        created=opening["created"],
    )
    await runtime.log.append(opening, "choosing", also=[runtime.log.put_record_op(record)])
    return opening


def entry(state: State, *, parent: str, overlay: str = "", amends: str = "") -> Commit:
    """Return the commit of the passage in `state`, to follow `parent`."""
    step, story = state.get("step", 0), state["story"]
    # An opening was written from no plan: `plan` there is what the first passage shall do.
    plan = state.get("plan", "") if step else ""
    passage = state.get("passage", "")
    made = Commit(
        id=commit_id(story, parent, plan, passage, overlay or None),
        story=story,
        parent=parent,
        amends=amends,
        step=step,
        plan=plan,
        plan_author=state.get("plan_author", "model") if step else "",
        passage=passage,
        author=state.get("author", "model"),
        summary=state.get("summary", ""),
        short_term_memory=state.get("short_term_memory", ""),
        rationale=state.get("rationale") or Rationale(dropped=[], added=[]),
        candidate_plans=state.get("candidate_plans", []),
        recalled=[recalled_id(one) for one in state.get("recalled", [])],
        usage=_spent(state),
        created=now(),
        overlay=overlay,
    )
    for name in STANDING:
        if standing := state.get(name):
            made[name] = standing
    if step and "entries" in state:
        made["told"] = state["entries"]
    if step and state.get("codex"):
        made["codex"] = state["codex"]
    if step and state.get("contradictions"):
        made["contradictions"] = state["contradictions"]
    if step and state.get("sent"):
        made["sent"] = state["sent"]
    return made


def _spent(state: State) -> Usage:
    return total_usage(list(state.get("usage", {}).values()))


def _committed(made: Commit, state: State | None = None) -> Update:
    update: Update = {"head": made["id"], "overlay": made.get("overlay", ""), "status": "choosing"}
    if state is not None:
        # The next timestep counts anew; merge_usage drops what is None.
        update["usage"] = dict.fromkeys(state.get("usage", {}), None)
        if made["step"]:
            update |= {"plan": made["plan"], "written_plan": made["plan"]}
            # As the log has it, where a corrected commit tells it in another way.
            told = {"author": made["author"], "plan_author": made["plan_author"]} | {
                name: made.get(name) for name in MADE
            }
            update |= {
                name: value or [] for name, value in told.items() if (state.get(name) or None) != (value or None)
            }
        tokens = tokens_of_step(state)
        update["spent"] = state.get("spent", 0) + tokens
        if made["step"]:
            # In full, as `spent` is: whoever reads this update alone can tell whether the budget ends the run here.
            update["dearest"] = max(state.get("dearest", 0), 2 * tokens)
    return update
