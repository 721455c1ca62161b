"""What somebody changes by hand in a thread's state holds in every way of going on, as a correction in the log, or is refused."""

import pytest
from langgraph.types import Command

from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.nodes.validate_state import FIELDS
from recurrentgpt.schema.errors import RecurrentGPTError, StoryError
from recurrentgpt.schema.state import State

EDIT = "Zoltan owes Mira a horse."
PLANS = ["Ada runs.", EDIT, "Cy sings at dawn."]
WAYS = {
    "number": Command(resume=2),
    "another take": Command(resume="another take"),
    "new plans": Command(resume="new plans"),
    "chat": {"messages": "2"},
    "chat, another take": {"messages": "another take"},
    "Submit": {},
    "Submit of a form": {"title": "", "genre": None, "premise": "", "short_term_memory": "", "story": "", "head": ""},
    "new process": {},
}
"""What a thread is sent after the edit."""
CORRECTED = {
    "passage": "The lamp went out. Nobody lit it again before the boats were in.",
    "summary": EDIT,
    "short_term_memory": EDIT,
    "rationale": {"dropped": [], "added": [{"sentence": EDIT, "why": "so it is"}]},
    "candidate_plans": PLANS,
    "turns": ["done", "under way"],
    "clues": ["done"],
    "unreached": EDIT,
}
OF_THE_BRANCH = ["title", "genre", "premise", "brief.title", "brief.genre", "brief.premise", "brief.voice"]
REFUSED = {
    "story": "f" * 12,
    "head": "f" * 24,
    "overlay": "abc",
    "step": 99,
    "player": EDIT,
    "plan_author": "bogus",
    "written_plan": EDIT,
    "author": "human",
    "recalled": [{"id": "f" * 24, "step": 1, "score": 0.5, "summary": EDIT, "piece": EDIT}],
    "entries": [{"entry": "Zoltan", "text": EDIT}],
    "codex": [],
    "contradictions": [{"sentence": EDIT, "fact": EDIT, "entry": "Zoltan"}],
    "sent": EDIT,
    "previous_passage": EDIT,
    "previous_memory": EDIT,
    "previous_turns": ["done"],
    "previous_clues": ["done"],
    "previous_unreached": EDIT,
    "memory_is_behind": True,
}
BAD_TYPES = {
    "title": None,
    "brief": {"title": None},
    "genre": 5,
    "passage": 5,
    "candidate_plans": None,
    "turns": ["often"],
    "choice": {"by": "human"},
    "usage": {"write": 5},
    "take": "twice",
}
BEYOND = {
    "short_term_memory": "Mira runs.\n" * 21,
    "passage": " ",
    "summary": "Mira runs. " * 61,
    "candidate_plans": ["", EDIT],
    "title": " ",
    "genre": "",
    "premise": "",
    "brief": {"colour": "blue"},
}
UNUSABLE = {"": REFUSED, "of a bad type": BAD_TYPES, "beyond what fits": BEYOND}


def test_every_field_has_a_row():
    assert set(FIELDS) == set(State.__annotations__)
    by_kind = {kind: {name for name, change in FIELDS.items() if change == kind} for kind in FIELDS.values()}
    assert by_kind["passage"] == set(CORRECTED)
    assert by_kind["branch"] == {name.partition(".")[0] for name in OF_THE_BRANCH}
    assert by_kind["none"] == set(REFUSED)


@pytest.fixture(scope="module")
def written():
    """Keep a player who was asked what shall happen after passage 2, once there is one."""
    return []


@pytest.fixture
async def asked(in_memory, model, written):
    """Give a player who was just asked what shall happen after passage 2: the passages are written once for all tests."""
    if not written:
        it = in_memory()
        await it.begin()
        await it.answer(1)
        written.append(it)
        model.calls.clear()
    return in_memory(like=written[0])


async def edit(it, field, value):
    """Change a field of the thread's state, or a part of its brief, and return the state before."""
    before = await it.state()
    name, _, part = field.partition(".")
    await it.graph.aupdate_state(
        it.config, {name: {**before["brief"], part: value} if part else value}, as_node="commit"
    )
    return before


async def go_on(it, way):
    """Send the thread what `way` says, and return the question, or what else came of it."""
    if way == "new process":
        it.graph = build_story_graph(checkpointer=it.graph.checkpointer, store=it.graph.store)
    return it.question(await it.run(WAYS[way]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", CORRECTED)
async def test_a_change_of_the_passage_is_a_correction_in_the_log(asked, write_prompts, field, way):
    before = await edit(asked, field, CORRECTED[field])
    await go_on(asked, way)
    story, state = before["story"], await asked.state()
    commits = await asked.log.get_many(story, list(await asked.log.links(story)))
    (edited,) = [commit for commit in commits if commit["amends"] == before["head"]]
    assert edited[field] == CORRECTED[field]
    (old,) = [commit for commit in commits if commit["id"] == before["head"]]
    assert old.get(field, "") != CORRECTED[field]
    assert state["step"] == (3 if way in ("number", "chat") else 2)
    if way in ("number", "chat"):
        assert (await asked.log.get(story, state["head"]))["parent"] == edited["id"]
        if field in ("passage", "short_term_memory"):
            assert CORRECTED[field] in write_prompts()[0]
        if field == "candidate_plans":
            assert state["written_plan"] == EDIT
    elif "take" not in way and not (way == "new plans" and field == "candidate_plans"):
        assert state[field] == CORRECTED[field]
    # And from there it goes on as from any other place.
    assert (await asked.answer(1))["step"] == state["step"] + 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", OF_THE_BRANCH)
async def test_a_change_of_the_story_is_a_correction_of_the_branch(asked, field, way):
    before = await edit(asked, field, EDIT)
    question = await go_on(asked, way)
    assert "begins another story" not in question.get("problem", "")
    for _ in range(2):
        state, name = await asked.state(), field.removeprefix("brief.")
        assert state["brief"][name] == EDIT
        assert {part: value for part, value in state["brief"].items() if part != name} == {
            part: value for part, value in before["brief"].items() if part != name
        }
        if name != "voice":
            assert state[name] == EDIT
        # In a thread of its own, from the log alone.
        asked.config = {"configurable": {"thread_id": "another"}}
        await asked.run({"story": before["story"]})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", [f"{name} {kind}".strip() for kind, fields in UNUSABLE.items() for name in fields])
async def test_what_cannot_be_changed_is_refused_with_a_sentence(asked, model, field, way):
    name, _, kind = field.partition(" ")
    value = UNUSABLE[kind][name]
    before = await edit(asked, name, {**(await asked.state())["brief"], **value} if name == "brief" else value)
    question, raised = None, None
    try:
        question = await go_on(asked, way)
    except RecurrentGPTError as error:
        raised = error
    if question is None:
        if name not in ("story", "head"):
            assert isinstance(raised, StoryError)
            assert f"`{name}" in str(raised)
        assert not model.calls, "nothing is paid for"
        right = {"write": None} if name == "usage" else before.get(name)
        sent = {} if isinstance(WAYS[way], Command) else {field: before.get(field, "") for field in WAYS[way]}
        await asked.graph.aupdate_state(asked.config, {**sent, name: right}, as_node="commit")
    else:
        assert f"`{name}" in question["problem"]
        assert "from 1 to 3" in question["problem"], "and how to answer"
        assert (await asked.state()).get(name) != value
    assert (await asked.state())["step"] == 2
    assert len(await asked.log.links(before["story"])) == 3, "nothing was written"
    assert (await asked.answer(1))["step"] == 3


@pytest.mark.parametrize("as_node", ["__start__", None])
@pytest.mark.parametrize("place", [-1, -2], ids=["before the input", "after it"])
async def test_a_fork_at_the_beginning_tells_another_story(in_memory, as_node, place):
    it = in_memory()
    await it.begin()
    history = [snapshot async for snapshot in it.graph.aget_state_history(it.config)]
    forked = await it.graph.aupdate_state(history[place].config, {"premise": EDIT}, as_node=as_node)
    await it.graph.ainvoke(None, forked, context=it.context)
    assert (await it.state())["premise"] == EDIT


async def test_a_memory_that_is_edited_as_an_input_is_a_correction(asked):
    await asked.graph.aupdate_state(asked.config, {"short_term_memory": EDIT}, as_node="__start__")
    await asked.run(None)
    state = await asked.state()
    assert (await asked.log.get(state["story"], state["head"]))["short_term_memory"] == EDIT


async def rename(it, title):
    """Let somebody else give the story another title."""
    record = await it.log.record((await it.state())["story"])
    await it.log.put_record({**record, "title": title, "brief": {**record["brief"], "title": title}})


async def test_a_story_that_was_named_anew_elsewhere_is_called_so_after_the_next_passage(asked):
    await rename(asked, "Ten Lamps")
    await asked.answer(1)
    state = await asked.state()
    assert (state["title"], state["brief"]["title"]) == ("Ten Lamps", "Ten Lamps")


async def test_the_title_that_was_typed_last_holds(asked):
    await rename(asked, "Ten Lamps")
    await edit(asked, "title", EDIT)
    await asked.answer(1)
    state = await asked.state()
    assert {state["title"], state["brief"]["title"], (await asked.log.record(state["story"]))["title"]} == {EDIT}
