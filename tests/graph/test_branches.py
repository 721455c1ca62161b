"""Branches stay apart: forks, edits by hand, and what each may remember."""

import re

import pytest
from langgraph.checkpoint.base.id import uuid6
from langgraph.types import Command

from recurrentgpt.schema.errors import StateError, StoryError
from recurrentgpt.testing import story_replies

EDIT = "Zoltan owes Mira a horse."
TOLD = "Zoltan rode out of the valley before sunrise. The bells rang twice, and nobody answered them."


async def go_back(it, question, number=-1):
    """Return the checkpoint at which the question after passage `question` was asked, `number` counted from the newest."""
    found = [
        snapshot
        async for snapshot in it.graph.aget_state_history(it.config)
        if snapshot.next == ("select_plan",) and snapshot.values["step"] == question
    ]
    return found[number]


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_no_prompt_of_a_branch_holds_a_word_of_another(in_memory, model, write_prompts, prompts, tier):
    """Three takes of passage 2, each continued in turn with everything recalled that can be."""
    branch = {"mark": ""}

    def marked(messages):
        text = story_replies(messages)
        return re.sub(r"\b(the|The|a|A) (?=\w+)", lambda found: f"{found[0]}{branch['mark']}", text)

    model.replies, model.tier = marked, tier
    it = in_memory(selector="simulator", steps=1, top_k=20)
    result = await it.begin()
    story, heads = result["story"], {}
    root = result["head"]
    for mark in ("alphaxx ", "betaxx ", "gammaxx "):
        branch["mark"], heads[mark] = mark, root
    for _ in range(4):
        for mark in heads:
            branch["mark"] = mark
            beginning = len(model.calls)
            heads[mark] = (await it.run({"story": story, "head": heads[mark]}))["head"]
            for other in heads.keys() - {mark}:
                assert not any(other.strip() in prompt for prompt in prompts(beginning))
    last = write_prompts()[-1]
    assert last.count("gammaxx") > 3, "the branch's own words are recalled"
    assert "From further back" in last or "Earlier passages" in last
    paths = [set(await it.log.path(story, head)) for head in heads.values()]
    assert [len(path) for path in paths] == [6, 6, 6]
    assert len(await it.links()) == 2 + 3 * 4


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_passage_edited_at_the_choice_is_what_the_story_goes_on_from(in_memory, model, write_prompts, tier):
    model.tier = tier
    it = in_memory()
    await it.begin()
    before = await it.state()
    await it.graph.aupdate_state(it.config, {"passage": TOLD})
    beginning = len(model.calls)
    await it.answer(1)
    prompt = write_prompts(beginning)[0]
    assert TOLD in prompt
    assert before["passage"][-60:] not in prompt
    state = await it.state()
    new = await it.log.get(state["story"], state["head"])
    edited = await it.log.get(state["story"], new["parent"])
    assert (edited["passage"], edited["author"], edited["amends"]) == (TOLD, "edited", before["head"])
    assert (await it.log.get(state["story"], before["head"]))["passage"] == before["passage"]


async def test_a_plan_edited_at_the_choice_is_written_without_asking(in_memory, model, write_prompts):
    it = in_memory()
    await it.begin()
    await it.graph.aupdate_state(it.config, {"plan": EDIT})
    beginning = len(model.calls)
    question = it.question(await it.run(None))
    assert question["step"] == 2
    assert EDIT in write_prompts(beginning)[0]
    assert (await it.log.get(question["story"], (await it.state())["head"]))["plan"] == EDIT


async def test_the_same_plan_as_before_can_be_chosen_again(in_memory):
    it = in_memory()
    await it.begin()
    for step in (2, 3):
        assert (await it.answer(EDIT))["step"] == step
    state = await it.state()
    assert (state["plan"], state["written_plan"], state["next_plan"]) == (EDIT, EDIT, "")


@pytest.mark.parametrize("before", ["retrieve", "write", "update_memory", "commit"])
async def test_a_checkpoint_without_the_next_plan_goes_on(player, before):
    """As they were before that channel: a plan waited while it was another than the written one, which `commit` told."""
    it = player()
    await it.begin()
    first = await it.state()
    await it.run(Command(resume=EDIT), interrupt_before=[before])
    saver, saved = it.graph.checkpointer, await it.graph.checkpointer.aget_tuple(it.config)
    values = saved.checkpoint["channel_values"]
    del values["next_plan"], values["selector"], values["digests"]
    values |= {"plan": EDIT, "written_plan": first["written_plan"]}
    versions = saved.checkpoint["channel_versions"]
    changed = {name: saver.get_next_version(versions[name], None) for name in ("plan", "written_plan")}
    versions |= changed
    del versions["next_plan"], versions["selector"], versions["digests"]
    await saver.aput(saved.config, {**saved.checkpoint, "id": str(uuid6(clock_seq=-2))}, saved.metadata, changed)
    question = it.question(await it.run(None))
    state = await it.state()
    assert (question["step"], state["plan"], state.get("next_plan", "")) == (2, EDIT, "")
    assert (await it.log.get(question["story"], state["head"]))["plan"] == EDIT


async def test_plan_and_memory_edited_before_writing_are_written_from(in_memory, model, write_prompts):
    it = in_memory()
    await it.begin()
    before = await it.state()
    await it.run(Command(resume=1), interrupt_before=["write"])
    assert (await it.graph.aget_state(it.config)).next == ("write",)
    await it.graph.aupdate_state(it.config, {"plan": "Bo hides a spoon.", "short_term_memory": EDIT})
    beginning = len(model.calls)
    await it.run(None)
    assert EDIT in write_prompts(beginning)[0]
    assert "Bo hides a spoon." in write_prompts(beginning)[0]
    state = await it.state()
    new = await it.log.get(state["story"], state["head"])
    assert new["plan"] == "Bo hides a spoon."
    edited = await it.log.get(state["story"], new["parent"])
    assert (edited["short_term_memory"], edited["amends"]) == (EDIT, before["head"])


async def test_a_passage_edited_while_in_flight_is_what_is_remembered(in_memory, model, prompts):
    it = in_memory()
    await it.begin()
    await it.run(Command(resume=1), interrupt_before=["update_memory", "propose_plans"])
    await it.graph.aupdate_state(it.config, {"passage": TOLD})
    beginning = len(model.calls)
    await it.run(None)
    assert all(TOLD in prompt for prompt in prompts(beginning))
    state = await it.state()
    assert (await it.log.get(state["story"], state["head"]))["passage"] == TOLD
    assert len(await it.links()) == 3, "it was never in the log otherwise"


async def test_a_memory_edited_before_the_commit_is_committed(in_memory, model, write_prompts):
    it = in_memory()
    await it.begin()
    await it.run(Command(resume=1), interrupt_before=["commit"])
    await it.graph.aupdate_state(it.config, {"short_term_memory": EDIT}, as_node="update_memory")
    question = it.question(await it.run(None))
    assert question["short_term_memory"] == EDIT
    state = await it.state()
    assert (await it.log.get(state["story"], state["head"]))["short_term_memory"] == EDIT
    beginning = len(model.calls)
    await it.answer(1)
    assert EDIT in write_prompts(beginning)[0]


async def test_a_fork_of_an_old_checkpoint_gets_its_own_branch(player, model, prompts, write_prompts):
    it = player()
    await it.begin()
    await it.answer(1)
    await it.answer(1)
    first = await it.state()
    old = await go_back(it, question=1)
    await it.graph.aupdate_state(old.config, {"short_term_memory": EDIT})
    beginning = len(model.calls)
    question = await it.answer(2)
    assert question["step"] == 2
    assert EDIT in write_prompts()[-1]
    story = first["story"]
    lost = await it.log.get_many(story, (await it.log.path(story, first["head"]))[2:])
    assert not any(commit["passage"][:60] in prompt for commit in lost for prompt in prompts(beginning))
    fork = await it.log.get_many(story, await it.log.path(story, (await it.state())["head"]))
    assert [commit["step"] for commit in fork] == [0, 1, 2]
    assert (fork[1]["amends"], fork[1]["short_term_memory"]) == (old.values["head"], EDIT)
    assert fork[2]["plan"] == old.values["candidate_plans"][1]
    assert len(await it.log.path(story, first["head"])) == 4, "the first branch is whole"
    assert (await it.log.head(story))["head"] == fork[2]["id"]


async def test_a_step_run_twice_is_one_row(in_memory, model):
    """A crash between the log and the checkpoint runs `commit` again."""
    it = in_memory()
    await it.begin()
    await it.run(Command(resume=1), interrupt_before=["commit"])
    before = await it.graph.aget_state(it.config)
    await it.run(None)
    rows = await it.links()
    await it.run(None, config=before.config)
    assert await it.links() == rows
    assert (await it.state())["head"] in rows


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_story_reopens_at_any_passage_from_the_log_alone(player, persistence, tier, model):
    model.tier = tier
    it = player(selector="simulator", steps=3)
    result = await it.begin()
    story = result["story"]
    states = {}
    async for snapshot in it.graph.aget_state_history(it.config):
        if snapshot.values.get("status") == "choosing" and snapshot.values.get("head"):
            states.setdefault(snapshot.values["head"], snapshot.values)
    await persistence.saver.adelete_thread(it.config["configurable"]["thread_id"])
    assert not await it.state()
    path = await it.log.path(story, result["head"])
    assert set(path) <= set(states)
    it.context.selector, it.context.steps = "human", 0
    for head in path:
        question = it.question(await it.run({"story": story, "head": head}))
        now, then = await it.state(), states[head]
        assert question["candidate_plans"] == then["candidate_plans"]
        same = ("step", "passage", "short_term_memory", "rationale", "summary", "brief", "title")
        assert {name: now[name] for name in same} == {name: then[name] for name in same}
        if then["step"]:
            lstm = ("plan", "plan_author", "previous_passage", "previous_memory")
            assert {name: now[name] for name in lstm} == {name: then[name] for name in lstm}
    newest = await it.answer(1)
    assert newest["step"] == 4


async def test_a_given_plan_is_in_the_log_before_it_is_written(in_memory):
    it = in_memory()
    await it.run({"premise": "Mira tends a lamp.", "plan": EDIT}, interrupt_after=["commit"])
    state = await it.state()
    assert state["step"] == 0
    assert (await it.log.get(state["story"], state["head"]))["candidate_plans"][0] == EDIT
    assert it.question(await it.run(None))["step"] == 1
    assert (await it.state())["plan"] == EDIT


@pytest.mark.parametrize("answer", [1, "another take", "new plans"])
@pytest.mark.parametrize("field", ["premise", "genre", "title"])
async def test_what_is_changed_of_the_brief_holds_everywhere(in_memory, write_prompts, model, answer, field):
    it = in_memory()
    question = await it.begin()
    brief = (await it.state())["brief"]
    # In the brief, or in the field that Studio shows beside it.
    edit = {"brief": {**brief, field: EDIT}} if answer == 1 else {field: EDIT}
    await it.graph.aupdate_state(it.config, edit)
    await it.answer(answer)
    beginning = len(model.calls)
    await it.answer(1)
    assert (await it.state())["brief"][field] == EDIT
    if field == "premise":
        assert EDIT in write_prompts(beginning)[0]
    it.config = {"configurable": {"thread_id": "another"}}
    await it.begin(story=question["story"])
    state = await it.state()
    assert (state["brief"][field], state[field]) == (EDIT, EDIT)
    assert {name: value for name, value in state["brief"].items() if name != field} == {
        name: value for name, value in brief.items() if name != field
    }


async def test_a_step_that_is_none_is_refused(in_memory, model):
    it = in_memory()
    await it.begin()
    await it.graph.aupdate_state(it.config, {"step": 99})
    calls = len(model.calls)
    with pytest.raises(StoryError, match="`step` is 99, and the story stands at passage 1: put it right"):
        await it.answer(1)
    assert len(model.calls) == calls, "nothing is paid for"


@pytest.mark.parametrize("edit", [{"short_term_memory": EDIT}, {"plan": EDIT}])
@pytest.mark.parametrize("as_node", [None, "select_plan"])
async def test_what_is_edited_right_behind_an_answer_is_written_from(in_memory, model, write_prompts, edit, as_node):
    it = in_memory()
    await it.begin()
    await it.run(Command(resume=2), interrupt_before=["retrieve"])
    await it.graph.aupdate_state(it.config, edit, as_node=as_node)
    assert (await it.graph.aget_state(it.config)).next == ("retrieve",)
    beginning = len(model.calls)
    question = it.question(await it.run(None))
    assert question["step"] == 2
    assert EDIT in write_prompts(beginning)[0]


@pytest.mark.parametrize(
    ("edit", "reason"), [({"until": "x"}, "`until` cannot be used"), ({"usage": "x"}, "`usage` cannot be used")]
)
async def test_an_edit_that_an_edge_cannot_read_is_refused_at_once(in_memory, edit, reason):
    it = in_memory()
    await it.begin()
    with pytest.raises(StateError, match=reason) as told:
        await it.graph.aupdate_state(it.config, edit)
    assert isinstance(told.value, ValueError), "servers answer 422 with its sentence"


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"autopilot": -3}, "`autopilot` cannot be used"),
        ({"passage": "The bell\x07 rang."}, "control character"),
        ({"short_term_memory": "The bell\x07 rang."}, "control character"),
    ],
)
async def test_an_edit_that_cannot_be_used_is_refused_with_a_sentence(in_memory, edit, reason):
    it = in_memory()
    await it.begin()
    await it.graph.aupdate_state(it.config, edit)
    with pytest.raises(StateError, match=reason):
        await it.answer(1)


async def test_the_simulator_writes_on_for_a_bounded_number_of_passages(in_memory):
    it = in_memory()
    await it.begin()
    await it.run(Command(resume={"action": "simulator", "passages": 0}), interrupt_before=["simulator"])
    assert 0 < (await it.state())["autopilot"] <= 1000
