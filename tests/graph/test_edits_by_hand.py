"""What somebody changes by hand in a thread's state holds in every way of going on, as a correction in the log, or is refused."""

import pytest
from langgraph.types import Command

from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.nodes.validate_state import FIELDS
from recurrentgpt.schema.errors import RecurrentGPTError, StateError, StoryError
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
    "entries": [{"name": "Zoltan", "kind": "person", "lines": [EDIT]}],
    "codex": [],
    "contradictions": [
        {
            "rule": "judge",
            "entry": "Zoltan",
            "kind": "person",
            "said": EDIT,
            "holds": EDIT,
            "rests_on": EDIT,
            "passage": "",
            "step": 1,
            "value": EDIT,
        }
    ],
    "sent": EDIT,
    "previous_passage": EDIT,
    "previous_memory": EDIT,
    "previous_turns": ["done"],
    "previous_clues": ["done"],
    "previous_unreached": EDIT,
    "memory_is_behind": True,
    "digests": {"digests": "0"},
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
    "problem": 5,
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
UNUSABLE_FIELDS = [f"{name} {kind}".strip() for kind, fields in UNUSABLE.items() for name in fields]
REFUSALS = [
    (field, way)
    for row, field in enumerate(UNUSABLE_FIELDS)
    for column, way in enumerate(WAYS)
    # Fields are refused by one rule and ways lead to one node: each field goes two ways, and each way has fields of every kind.
    if (column - row) % len(WAYS) in (0, 3)
]


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


@pytest.mark.parametrize(("field", "way"), REFUSALS)
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


@pytest.mark.parametrize("plan", ["Mira burns\x00 the letter.", "Mira runs. " * 300, "x" * 5000])
@pytest.mark.parametrize("name", ["plan", "next_plan"])
async def test_a_plan_that_no_answer_may_have_is_none_in_the_state_either(asked, model, name, plan):
    before = await asked.state()
    await asked.graph.aupdate_state(asked.config, {name: plan})
    with pytest.raises(StateError, match=f"The state's `{name}` h(as|olds)"):
        await asked.run(None)
    assert not model.calls
    await asked.graph.aupdate_state(asked.config, {name: EDIT})
    await asked.run(None)
    commit = await asked.log.get(before["story"], (await asked.state())["head"])
    assert (commit["step"], commit["plan"]) == (3, EDIT)


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


MEMORY = "Loveday has the key of the dry."
OTHER_PLAN = "Loveday sells the pump to the miller."
HELD_IN_A_STEP = {
    "short_term_memory": MEMORY,
    "turns": ["to come", "done", "done"],
    "clues": ["done"],
    "passage": CORRECTED["passage"],
    "title": EDIT,
    "premise": EDIT,
}
REMADE = {
    "summary": EDIT,
    "rationale": CORRECTED["rationale"],
    "unreached": EDIT,
    "candidate_plans": PLANS,
}
ENGINES = {
    **REFUSED,
    "plan": OTHER_PLAN,
    "next_plan": OTHER_PLAN,
    "short_term_memory": "Ada runs.\n" * 21,
    "passage": " ",
}


async def stop(it, node):
    """Answer the question, stop before a node of the next step, and return the state there."""
    await it.run(Command(resume=1), interrupt_before=[node])
    snapshot = await it.graph.aget_state(it.config)
    assert node in snapshot.next
    return snapshot.values


async def commits_of(it):
    """Return all commits of the story."""
    story = (await it.state())["story"]
    return await it.log.get_many(story, list(await it.log.links(story)))


@pytest.mark.parametrize("tier", ["full", "small"])
@pytest.mark.parametrize("field", HELD_IN_A_STEP)
async def test_an_edit_before_the_memory_is_made_holds(asked, model, prompts, monkeypatch, field, tier):
    monkeypatch.setattr(model, "tier", tier)
    before = await stop(asked, "update_memory")
    value = f"{before[field]}\n{MEMORY}" if field == "short_term_memory" else HELD_IN_A_STEP[field]
    await asked.graph.aupdate_state(asked.config, {field: value})
    assert (await asked.run(None))["step"] == 3
    state = await asked.state()
    commit = await asked.log.get(state["story"], state["head"])
    assert commit["parent"] == before["head"], "what the passage was written from stays as it was"
    assert commit["author"] == ("edited" if field == "passage" else "model")
    if field == "short_term_memory":
        for kept in (state, commit):
            assert MEMORY in kept[field].splitlines()
            assert {"sentence": MEMORY, "why": "edited by hand"} in kept["rationale"]["added"]
            old, new = before[field].splitlines(), kept[field].splitlines()
            dropped = {item["sentence"] for item in kept["rationale"]["dropped"]}
            added = {item["sentence"] for item in kept["rationale"]["added"]}
            assert set(new) == (set(old) - dropped) | added
        assert state["previous_memory"] == before[field]
        made_of = len(prompts())
        await asked.answer(1)
        assert any(MEMORY in prompt for prompt in prompts(made_of))
    elif field == "turns":
        # Of the first turn the scripted model says where it is now.
        assert commit["turns"][1:3] == ["done", "done"]
    elif field == "clues":
        assert commit["clues"][0] == "done"
    elif field == "premise":
        assert state["brief"]["premise"] == EDIT
    else:
        assert state[field] == HELD_IN_A_STEP[field]
        assert field == "title" or commit[field] == HELD_IN_A_STEP[field]


async def test_an_edit_of_the_memory_before_it_is_made_is_in_every_prompt_after_it(asked, prompts):
    await stop(asked, "update_memory")
    written = len(prompts())
    edited = f"{(await asked.state())['short_term_memory']}\n{MEMORY}"
    await asked.graph.aupdate_state(asked.config, {"short_term_memory": edited})
    await asked.run(None)
    after = prompts(written)
    assert len(after) == 2
    assert all(MEMORY in prompt for prompt in after)


@pytest.mark.parametrize("node", ["propose_plans", "commit"])
async def test_an_edit_of_the_memory_after_it_was_made_holds(asked, prompts, node):
    await stop(asked, node)
    written = len(prompts())
    await asked.graph.aupdate_state(asked.config, {"short_term_memory": MEMORY})
    await asked.run(None)
    state = await asked.state()
    assert (await asked.log.get(state["story"], state["head"]))["short_term_memory"] == MEMORY
    assert all(MEMORY in prompt for prompt in prompts(written))
    await asked.answer(1)
    assert MEMORY in prompts(written)[-1]


@pytest.mark.parametrize("tier", ["full", "small"])
@pytest.mark.parametrize("field", REMADE)
async def test_what_is_about_to_be_made_anew_is_refused_until_it_is(asked, model, monkeypatch, field, tier):
    monkeypatch.setattr(model, "tier", tier)
    before = await stop(asked, "update_memory")
    made = len(model.calls)
    await asked.graph.aupdate_state(asked.config, {field: REMADE[field]})
    with pytest.raises(StoryError, match=f"`{field}` still tells of the passage before"):
        await asked.run(None)
    assert len(model.calls) == made, "nothing is paid for"
    await asked.graph.aupdate_state(asked.config, {field: before[field]})
    await asked.run(None, interrupt_before=["commit"])
    # As the refusal says: after that it holds.
    await asked.graph.aupdate_state(asked.config, {field: REMADE[field]}, as_node="propose_plans")
    await asked.run(None)
    state = await asked.state()
    assert state["step"] == 3
    assert (await asked.log.get(state["story"], state["head"]))[field] == state[field] == REMADE[field]


@pytest.mark.parametrize("node", ["update_memory", "propose_plans", "commit"])
@pytest.mark.parametrize("field", ENGINES)
async def test_what_a_step_has_done_is_not_changed_in_the_middle_of_it(asked, model, field, node):
    before = await stop(asked, node)
    value = ENGINES[field]
    if value == before.get(field, []):
        value = [{"do": "end", "entry": "Zoltan", "text": EDIT}]
    made = len(model.calls)
    as_node = {"update_memory": "write", "propose_plans": "update_memory", "commit": "propose_plans"}[node]
    await asked.graph.aupdate_state(asked.config, {field: value}, as_node=as_node)
    with pytest.raises(StoryError, match=f"`{field}`|nowhere|no passage"):
        await asked.run(None)
    assert len(model.calls) == made, "nothing is paid for"
    await asked.graph.aupdate_state(asked.config, {field: before.get(field)}, as_node=as_node)
    await asked.run(None)
    state = await asked.state()
    commit = await asked.log.get(state["story"], state["head"])
    assert (state["step"], commit["plan"]) == (3, before["written_plan"])
    assert commit["parent"] == before["head"]


@pytest.mark.parametrize("field", ["recalled", "entries"])
async def test_what_was_recalled_is_not_changed_before_it_is_written_from(asked, field):
    await stop(asked, "write")
    await asked.graph.aupdate_state(asked.config, {field: REFUSED[field]})
    with pytest.raises(StoryError, match=f"`{field}` tells what was done"):
        await asked.run(None)


@pytest.mark.parametrize("way", ["chat", "Submit", "chat, another take"])
async def test_an_edit_of_the_memory_holds_where_its_step_is_given_up(asked, way):
    before = await stop(asked, "update_memory")
    await asked.graph.aupdate_state(asked.config, {"short_term_memory": MEMORY, "summary": EDIT})
    question = asked.question(await asked.run(WAYS[way]))
    assert "`summary`" in question["problem"]
    assert (await asked.state())["step"] == 2
    edited = [commit for commit in await commits_of(asked) if commit["amends"] == before["head"]]
    assert [(commit["short_term_memory"], commit["summary"]) for commit in edited] == [(MEMORY, before["summary"])]


async def test_a_passage_that_is_given_up_is_no_correction_of_the_one_before(asked):
    before = await stop(asked, "update_memory")
    await asked.graph.aupdate_state(asked.config, {"step": 99})
    assert "`step`" in asked.question(await asked.run({}))["problem"]
    assert (await asked.state())["passage"] == before["previous_passage"]
    assert {commit["amends"] for commit in await commits_of(asked)} == {""}
