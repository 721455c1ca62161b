"""Another take, other plans, another choice: at any passage, any number of times."""

import pytest

from recurrentgpt.infrastructure.background_loop import call


def test_any_passage_is_taken_again_from_the_same_plan(written, log, write_prompts):
    story = written(4)
    old, kept = story.passages(), log(story)
    events = [event["event"] for event in story.retry(2)]
    new = story.passage()
    assert events.count("passage") == 1
    assert (new.step, new.plan, new.parent) == (2, old[1].plan, old[0].id)
    assert new.text != old[1].text
    assert story.passages()[0] == old[0]
    assert new.plan in write_prompts()[-1]
    assert old[2].text[:80] not in write_prompts()[-1]
    assert story.step().step == 3
    list(story.retry(old[3].id))
    assert (story.passage().parent, story.passage().step) == (old[2].id, 4)
    assert {key: log(story)[key] for key in kept} == kept


def test_other_plans_are_proposed_after_any_passage(written, model, log):
    story = written(3)
    old, kept = story.passages(), log(story)
    beginning = len(model.calls)
    list(story.replan(1))
    # By chance, two of the scripted model's plans may be one; then it is asked again.
    asked = [call for call in model.calls[beginning:] if "That reply cannot be used" not in call[-1].text]
    assert len(asked) == 1
    now = story.passage()
    assert (now.step, now.text, now.amends) == (1, old[0].text, old[0].id)
    assert now.plans != old[0].plans
    plan = story.choose(2)
    assert story.step().plan == plan == now.plans[1]
    list(story.replan(0))
    assert story.passage().step == 0
    assert story.step().step == 1
    assert {key: log(story)[key] for key in kept} == kept


def test_another_plan_is_chosen_at_a_choice_that_was_answered(written, write_prompts):
    story = written(4)
    old = story.passages()
    for answer, plan in ((3, old[0].plans[2]), ("Bo hides a spoon.", "Bo hides a spoon.")):
        assert story.choose(answer, at=old[0].id) == plan
        assert story.waiting_plan == plan
        new = story.step()
        assert (new.step, new.plan, new.parent) == (2, plan, old[0].id)
        assert plan in write_prompts()[-1]
        assert not any(passage.text[:80] in write_prompts()[-1] for passage in old[1:])
    assert story.choose(2, at="opening") == story.passage(0).plans[1]
    assert story.step().step == 1
    assert story.choose({"number": 1, "short_term_memory": "Zoltan sings."}, at=old[1].id)
    assert story.step().step == 3
    assert "Zoltan sings." in write_prompts()[-1]


@pytest.mark.parametrize("number", [20, pytest.param(200, marks=pytest.mark.long)])
def test_many_takes_of_one_passage(written, model, log, number):
    story = written(2)
    parent = story.passage(1).id
    for _ in range(number):
        list(story.retry())
        model.calls.clear()  # it compares each call with all before
    tree = story.tree()
    takes = [node for node in tree.nodes.values() if node.parent == parent]
    assert len(takes) == number + 1
    assert len({log(story)[node.id]["passage"] for node in takes}) == number + 1
    assert len(tree.branches) == number + 1
    assert story.passage().step == 2
    assert story.undo().id == parent
    assert story.redo().step == 2
    assert len(story.passages()) == 2


def test_a_model_that_always_says_the_same_loses_no_memory(written, model, log):
    """The same passage from the same plan is the same commit; what was noted of it may differ."""
    from recurrentgpt.testing import story_replies

    calls = []

    def replies(messages):
        calls.append(1)
        asked = [*messages, type(messages[-1])(f"call {len(calls)}")]
        return story_replies(asked if "JSON schema:" in str(messages[-1].content) else messages[:1])

    model.replies = replies
    story = written(1)
    first, kept = story.passage(), log(story)
    list(story.retry())
    second = story.passage()
    assert (second.text, second.amends) == (first.text, first.id)
    assert second.short_term_memory != first.short_term_memory
    assert {key: log(story)[key] for key in kept} == kept
    assert story.usage["calls"] == len(calls)


def test_a_crash_between_the_log_and_the_thread_loses_nothing(written, library):
    """The choice is in the thread, the head in the log: with either alone, the story goes on."""
    story = written(3)
    story.choose("Bo hides a spoon.", at=1)
    call(lambda: library.engine.saver.adelete_thread(story.id))
    assert story.waiting_plan is None
    assert story.step().step == 2
    story.choose("Bo hides a spoon.")
    story.goto(1)
    assert story.step().plan != "Bo hides a spoon.", "a choice that waits elsewhere is not written here"


def test_another_take_goes_on_from_its_own_checkpoint_whatever_a_client_adds(written, monkeypatch):
    story = written(2)
    first, graph = story.passage(1), story.engine.graph
    update = type(graph).aupdate_state

    async def update_and_be_overtaken(self, config, values, as_node):
        saved = await update(self, config, values, as_node=as_node)
        other = {"next_plan": "A stranger sings.", "plan": "A stranger sings."}
        await update(self, config, other, as_node="open_story")
        return saved

    monkeypatch.setattr(type(graph), "aupdate_state", update_and_be_overtaken)
    list(story.retry(1))
    assert (story.passage().step, story.passage().plan) == (1, first.plan)
