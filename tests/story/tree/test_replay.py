"""An edit with replay: the later passages word for word, their memory rewritten, and nothing lost on the way."""

import asyncio

import pytest

from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.errors import BadAnswer, ModelRefused, StoryError
from recurrentgpt.story import Story

TOLD = "Zoltan rode out of the valley before sunrise. The bells rang twice, and nobody answered them."
OTHER = "Bo rode out of the valley after sunrise. The bells kept still."


def failing(model, after):
    """Let the model refuse its service after some more calls."""
    whole, calls = model.replies, []

    def replies(messages):
        calls.append(1)
        if len(calls) > after:
            raise ModelRefused("No more today.")
        return whole(messages)

    model.replies = replies
    return lambda: setattr(model, "replies", whole)


def interrupt(story, model, after, ref):
    """Let an edit with replay stop after so many calls of the model."""
    mend = failing(model, after)
    with pytest.raises(ModelRefused):
        list(story.edit_passage(ref, TOLD, replay=True))
    mend()


def done(events):
    """Return what a replay told of each passage: its step, whether it cost nothing, and how far it was."""
    return [
        (event["step"], event["kept"], event["done"], event["total"]) for event in events if event["event"] == "replay"
    ]


@pytest.mark.parametrize("tier", ["small", "full"])
def test_later_passages_are_kept_word_for_word_with_a_memory_of_their_own(
    each_library, settings, model, prompts, log, tier
):
    model.tier = tier
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, **settings())
    list(story.stream(5))
    old, kept = story.passages(), log(story)
    beginning = len(model.calls)
    events = list(story.edit_passage(2, TOLD, replay=True))
    new = story.passages()
    assert [passage.text for passage in new] == [old[0].text, TOLD, *(passage.text for passage in old[2:])]
    assert [passage.plan for passage in new] == [passage.plan for passage in old]
    assert [passage.author for passage in new] == ["model", "edited", "model", "model", "model"]
    assert [passage.amends for passage in new[1:]] == [passage.id for passage in old[1:]]
    for was, now in zip(old[1:], new[1:], strict=True):
        assert now.short_term_memory != was.short_term_memory
    assert len(model.calls) == beginning + 4 + 1, "a memory for each, and plans once"
    assert not any(old[1].text[:80] in prompt for prompt in prompts(beginning))
    assert done(events) == [(2, False, 1, 4), (3, False, 2, 4), (4, False, 3, 4), (5, False, 4, 4)]
    assert (events[-1]["event"], events[-1]["usage"]["calls"]) == ("done", 5)
    assert [event["event"] for event in events].count("plans") == 1
    assert story.plans
    assert story.plans != old[-1].plans
    assert story.pending_replay is None
    assert {key: log(story)[key] for key in kept} == kept
    assert story.undo().id == old[-1].id
    assert story.redo().id == new[-1].id
    list(story.stream(2))
    assert story.passages()[-1].step == 7
    assert not any(old[1].text[:80] in prompt or old[1].summary in prompt for prompt in prompts(beginning))


@pytest.mark.parametrize("calls", range(5))
def test_an_interrupted_replay_leaves_the_story_as_it_was_and_goes_on(written, model, calls):
    story = written(5)
    head, plans = story.head, story.plans
    mend = failing(model, calls)
    with pytest.raises(ModelRefused):
        list(story.edit_passage(2, TOLD, replay=True))
    assert (story.head, story.plans) == (head, plans), "a reader sees the old branch whole"
    pending = story.pending_replay
    finished = min(calls, 3)
    assert (pending.step, pending.text, pending.done, pending.total, pending.head) == (2, TOLD, finished, 4, head)
    mend()
    beginning = len(model.calls)
    cost = story.replay_cost(2)
    assert (cost.passages, cost.calls) == (4 - finished, 5 - finished)
    go_on = (lambda: story.edit_passage(2, TOLD, replay=True)) if calls % 2 else story.resume_replay
    events = list(go_on())
    assert len(model.calls) - beginning == 5 - finished, "what was done is not paid for again"
    assert [kept for _, kept, _, _ in done(events)] == [True] * finished + [False] * (4 - finished)
    assert [passage.step for passage in story.passages()] == [1, 2, 3, 4, 5]
    assert story.passage(2).text == TOLD
    assert story.pending_replay is None
    with pytest.raises(StoryError, match="No replay"):
        list(story.resume_replay())


def test_another_replay_waits_for_the_unfinished_one(written, model):
    """It has one place to be remembered in, and in it a text that is nowhere else."""
    story = written(4)
    interrupt(story, model, 1, 2)
    pending = story.pending_replay
    for ref, text in ((2, OTHER), (3, TOLD)):
        with pytest.raises(StoryError, match=r"edit of passage 2 is unfinished.*--resume.*--drop"):
            list(story.edit_passage(ref, text, replay=True))
    assert story.pending_replay == pending
    list(story.edit_passage(4, OTHER))
    assert story.pending_replay == pending, "an edit without replay may be in between"


def test_a_reader_who_stops_listening_can_go_on_later(written, monkeypatch):
    story = written(4)
    head, kept, append = story.head, [], StoryLog.append

    async def keep_one(log, commit, *given, **options):
        # The replay goes on beside the test that stops it.
        if kept:
            await asyncio.Event().wait()
        kept.append(commit)
        await append(log, commit, *given, **options)

    with monkeypatch.context() as held:
        held.setattr(StoryLog, "append", keep_one)
        events = story.edit_passage(1, TOLD, replay=True)
        for event in events:
            if event["event"] == "replay":
                break
        events.close()
    assert story.head == head
    assert story.pending_replay.done == 1
    list(story.resume_replay())
    assert story.passages()[0].text == TOLD


def test_a_replay_goes_on_from_another_object_and_place(written, library, settings, model):
    story = written(4)
    target = story.head
    interrupt(story, model, 2, 1)
    story.goto(2)
    again = Story.open(story.id, library=library, **settings())
    assert again.step().step == 3, "meanwhile the story goes on elsewhere"
    elsewhere = again.head
    list(again.resume_replay())
    assert [passage.step for passage in again.passages()] == [1, 2, 3, 4]
    assert again.passage().amends == target
    assert again.undo().id == elsewhere, "undo leads to where the story stood"


def test_what_was_written_and_corrected_behind_an_interrupted_replay_is_there_when_it_is_done(written, model):
    story = written(3)
    interrupt(story, model, 1, 1)
    story.edit_brief(premise="A cook finds a map.")
    story.edit_chapter(3, "The Map")
    story.step()
    fourth = story.passage().text
    events = list(story.resume_replay())
    assert [step for step, *_ in done(events)] == [1, 2, 3, 4]
    assert [passage.text for passage in story.passages()][::3] == [TOLD, fourth]
    assert story.brief["premise"] == "A cook finds a map."
    assert story.chapters()[3] == "The Map"
    assert story.pending_replay is None


def test_an_interrupted_replay_goes_on_upon_the_edited_passage_as_it_was_corrected(written, model):
    story = written(2)
    interrupt(story, model, 1, 1)
    story.replace(story.passage(1).text.split()[-1].strip('.”"!?'), "barge")
    story.edit_brief(premise="A cook finds a map.")
    list(story.resume_replay())
    assert [passage.step for passage in story.passages()] == [1, 2]
    assert story.passage(1).text == TOLD
    assert story.brief["premise"] == "A cook finds a map."
    assert story.pending_replay is None


def test_a_replay_can_be_forgotten(written, model, log):
    story = written(3)
    interrupt(story, model, 1, 1)
    rows = log(story)
    story.drop_replay()
    story.drop_replay()
    assert story.pending_replay is None
    assert log(story) == rows


def test_what_the_middle_of_a_replay_has_no_plans_for_is_proposed_there(written, model):
    story = written(4)
    list(story.edit_passage(1, TOLD, replay=True))
    middle = story.goto(2)
    assert middle.plans == []
    with pytest.raises(BadAnswer):
        story.choose(1)
    list(story.replan())
    assert (story.passage().text, len(story.plans)) == (middle.text, 3)
    story.choose(2)
    assert story.step().step == 3
    story.goto(middle.id)
    assert story.step().step == 3, "or the simulator chooses among new ones"


def test_a_shorter_replay_of_the_same_edit_pays_for_plans_alone(written, model):
    story = written(4)
    list(story.edit_passage(1, TOLD, replay=True))
    story.undo()
    story.goto(2)
    beginning = len(model.calls)
    events = list(story.edit_passage(1, TOLD, replay=True))
    assert len(model.calls) == beginning + 1
    assert done(events) == [(1, True, 1, 2), (2, True, 2, 2)]
    assert events[-1]["usage"]["calls"] == 1
    assert [passage.step for passage in story.passages()] == [1, 2]
    assert story.plans


def test_several_edits_one_upon_the_other(written, prompts, model):
    story = written(4)
    first = story.passage(1)
    list(story.edit_passage(1, TOLD, replay=True))
    list(story.edit_passage(1, OTHER, replay=True))
    beginning = len(model.calls)
    list(story.edit_passage(3, TOLD, replay=True))
    assert [passage.text for passage in story.passages()][::2] == [OTHER, TOLD]
    list(story.stream(2))
    assert not any(first.text[:80] in prompt for prompt in prompts(beginning))
    assert story.usage["calls"] > 0


def test_only_the_branch_of_the_head_is_replayed(written):
    story = written(3)
    lost = story.head
    story.goto(1)
    with pytest.raises(StoryError, match="not on the branch of the head"):
        list(story.edit_passage(lost, TOLD, replay=True))
    with pytest.raises(StoryError, match="not on the branch of the head"):
        story.replay_cost(lost)
    list(story.edit_passage(lost, TOLD))
    assert story.passage().step == 3, "without replay, another branch's passage can be edited"


def test_the_cost_is_known_before(written, model):
    story = written(5)
    cost = story.replay_cost(2)
    assert (cost.passages, cost.calls) == (4, 5)
    assert cost.input_tokens > cost.output_tokens > 0
    spent = list(story.edit_passage(2, TOLD, replay=True))[-1]["usage"]
    assert spent["calls"] == cost.calls
    assert spent["input_tokens"] / 3 < cost.input_tokens < 3 * spent["input_tokens"]
    assert cost.as_json()["calls"] == 5


def test_a_server_that_stumbles_is_asked_again(written, model):
    from recurrentgpt.schema.errors import ModelUnavailable

    story = written(2)
    whole, calls = model.replies, []

    def replies(messages):
        calls.append(1)
        if len(calls) % 2:
            raise ModelUnavailable("Busy.")
        return whole(messages)

    model.replies = replies
    list(story.edit_passage(1, TOLD, replay=True))
    assert story.passage(1).text == TOLD


def test_edits_need_no_checkpoint(written, library):
    """The threads of all stories are gone, as after pruning or on another machine."""
    from recurrentgpt.infrastructure.background_loop import call

    story = written(4)
    call(lambda: library.engine.saver.adelete_thread(story.id))
    list(story.edit_passage(2, TOLD, replay=True))
    call(lambda: library.engine.saver.adelete_thread(story.id))
    plan = story.passage(1).plans[2]
    assert story.choose(3, at=1) == plan
    assert story.step().plan == plan
    call(lambda: library.engine.saver.adelete_thread(story.id))
    take = story.passage().text
    list(story.retry())
    assert story.passage().plan == plan
    assert story.passage().text != take


async def test_the_same_awaited(written, model):
    story = written(3)
    mend = failing(model, 1)
    with pytest.raises(ModelRefused):
        async for _ in story.aedit_passage(1, TOLD, replay=True):
            pass
    mend()
    assert (await story.apending_replay()).done == 1
    assert (await story.areplay_cost(1)).passages == 2
    async for _ in story.aresume_replay():
        pass
    assert (await story.apassage()).step == 3
    await story.adrop_replay()


def test_a_passage_that_repeats_another_edit_word_for_word(written, model):
    """Content addresses meet: an edit to the words of another take is that take."""
    story = written(2)
    first = story.passage(2)
    list(story.retry(2))
    assert story.passage().id != first.id
    beginning = len(model.calls)
    list(story.edit_passage(2, first.text))
    assert (story.head, len(model.calls)) == (first.id, beginning)
