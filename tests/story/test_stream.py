"""What a reader of the stream sees, and what happens when they stop reading."""

import asyncio
import json
from contextlib import closing, contextmanager
from itertools import pairwise, takewhile

import pytest

from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.errors import StoryBusy, StoryError
from recurrentgpt.schema.stream_buffer import StreamBuffer
from recurrentgpt.story import Story
from recurrentgpt.testing import ScriptedChatModel

pytestmark = pytest.mark.usefixtures("word_by_word")


class Stalling(ScriptedChatModel):
    """A model that says nothing more in the middle of a passage, while it `stalls`."""

    stalls: bool = True

    async def _astream(self, *given, **more):
        said = 0
        async for chunk in super()._astream(*given, **more):
            yield chunk
            said += 1
            if self.stalls and said == 100:
                await asyncio.Event().wait()


def follow(events):
    """Return the text that each passage's listener held when it was finished, beside the passage itself."""
    held, settled, found = "", 0, []
    for event in events:
        match event:
            case {"event": "stage", "node": "write"}:
                held, settled = "", 0
            case {"event": "prose"}:
                before = held[:settled]
                held += event["text"]
                settled = event["settled"]
                assert settled <= len(held)
                assert held.startswith(before)
            case {"event": "retract"}:
                assert event["length"] <= len(held)
                held = held[: event["length"]]
                settled = min(settled, len(held))
            case {"event": "passage"}:
                found.append((held, event["text"]))
    return found


PREMISES = [
    ("English", "Mr. Pike walks 3.5 miles to Dr. Vance. He wants his boat."),
    ("Chinese", "灯塔里没有人。沈岚每天晚上都去看灯。她在等一封信。"),
    ("English", f"{'and on ' * 700}."),
]


@pytest.mark.parametrize(("language", "premise"), PREMISES, ids=["abbreviations", "Chinese", "endless"])
def test_a_story_in_the_making_is_told_sentence_by_sentence(library, settings, language, premise):
    founding = {
        "title": 'The "Gull"', "premise": premise, "characters": [{"title": "Captain"}], "outline": ["It ends."],
        "short_term_memory": ["It begins."], "plans": ["Go on.", "Go back.", "Wait."],
    }  # fmt: skip
    model = ScriptedChatModel(replies=lambda messages: json.dumps(founding, ensure_ascii=False))
    story = Story.new("fantasy", library=library, **settings(model=model, language=language))
    with closing(story.begin()) as events:
        told = [event for event in takewhile(lambda event: event["event"] != "story", events) if "premise" in event]
    assert {event["title"] for event in told} == {founding["title"]}
    premises = [event["premise"] for event in told]
    assert premises[0] == "", "its title comes first"
    assert premises[-1] == premise
    assert all(later.startswith(earlier) for earlier, later in pairwise(premises))
    assert len(premises) <= 4


def test_what_was_given_is_told_as_it_was_given(begin):
    told = [event for event in begin(title="Mine").begin() if event["event"] == "founding"]
    assert [(event["title"], event["premise"]) for event in told] == [("Mine", "")]


def test_events_come_in_their_order(begin):
    events = list(begin().stream(2))
    names = [event["event"] for event in events if event["event"] not in ("prose", "retract", "stage", "founding")]
    assert names == ["story", "passage", "memory", "plans", "passage", "memory", "plans", "done"]
    stages = [event["node"] for event in events if event["event"] == "stage"]
    assert stages[:4] == ["open_story", "commit", "retrieve", "write"]
    assert set(stages[4:6]) == {"update_memory", "propose_plans"}
    passages = [event for event in events if event["event"] == "passage"]
    assert [passage["parent"] for passage in passages] == [None, passages[0]["id"]]
    plans = [event for event in events if event["event"] == "plans"]
    assert plans[0]["plan"] == passages[1]["plan"]
    assert (plans[1]["chosen"], plans[1]["plan"]) == (None, None)
    done = events[-1]
    assert done["steps"] == 2
    assert done["usage"]["calls"] == 8
    assert set(events[0]) >= {"event"}


@pytest.mark.parametrize(
    "budget",
    [
        budget if budget % 4_000 == 3_000 else pytest.param(budget, marks=pytest.mark.long)
        for budget in range(15_000, 43_000, 1_000)
    ],
)
def test_the_last_event_says_that_a_budget_ended_the_run(begin, budget):
    story = begin(budget_tokens=budget)
    done = list(story.stream(4))[-1]
    assert done["steps"] == len(story.passages()) > 0
    assert done["stopped"] == ("budget" if done["steps"] < 4 else None)


def test_what_was_streamed_is_the_passage(begin):
    for held, passage in follow(begin().stream(3)):
        assert held == passage


WRAPPED = [
    ("Sure! Here is the next passage:\n\n{}", "Sure"),
    ("**Chapter 3**\n\n{}", "Chapter"),
    ("{}\n\nI hope you enjoyed this passage! Let me know what happens next.", "hope you"),
    ('"{}"', '""'),
]


@pytest.mark.parametrize(("wrapper", "refused"), WRAPPED)
@pytest.mark.parametrize("tier", ["small", "full"])
def test_wrappers_of_the_model_reach_neither_story_nor_stream(begin, model, wrapper, refused, tier):
    plain, model.tier = model.replies, tier

    def replies(messages):
        text = plain(messages)
        return text if text.startswith("{") else wrapper.format(text)

    model.replies = replies
    for held, passage in follow(begin().stream(2)):
        assert held == passage
        assert refused not in passage
        assert "**" not in passage


def test_a_passage_of_several_samples_is_streamed_as_it_is_kept(begin, model):
    plain, calls = model.replies, []

    def replies(messages):
        text = plain(messages)
        if text.startswith("{"):
            return text
        calls.append(text)
        return (
            text
            if len(calls) % 2 == 0
            else text[:700] + "\n\nAs an AI language model, I cannot continue this story. Sorry."
        )

    model.replies = replies
    events = list(begin().stream(2))
    assert [held for held, _ in follow(events)] == [text for _, text in follow(events)]
    assert any(event["event"] == "retract" for event in events)
    assert all("language model" not in text for _, text in follow(events))
    assert len(calls) == 4


@pytest.mark.parametrize("after", ["stage", "prose", "passage", "plans"])
def test_closing_the_iterator_stops_the_writing_and_keeps_what_is_done(begin, after):
    story = begin()
    story.step()
    stream = story.stream(50)
    for event in stream:
        if event["event"] == after:
            break
    stream.close()
    done = story.passages()
    assert len(done) < 40
    newest = story.step()
    assert newest.step == len(done) + 1, "and the story is free to be written"
    assert [passage.id for passage in story.passages()][:-1] == [passage.id for passage in done]


@pytest.mark.parametrize("after", ["stage", "prose", "passage"])
async def test_closing_the_awaited_iterator_does_so_too(begin, after):
    story = begin()
    await story.astep()
    stream = story.astream(50)
    async for event in stream:
        if event["event"] == after:
            break
    await stream.aclose()
    done = await story.apassages()
    assert len(done) < 40
    assert (await story.astep()).step == len(done) + 1


async def test_cancelling_a_step_frees_the_story(begin, model):
    story = begin()
    await story.astep()
    reached, here = asyncio.Event(), asyncio.get_running_loop()
    plain = model.replies

    def replies(messages):
        here.call_soon_threadsafe(reached.set)
        return plain(messages)

    model.replies = replies
    task = asyncio.create_task(story.astep())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await story.astep()).step == len(await story.apassages())


def test_a_choice_survives_a_step_that_was_stopped(begin, model, write_prompts):
    story = begin()
    story.step()
    plan = story.choose("Zephyrine swims beneath the quicksilver aqueduct.")
    stream = story.stream()
    for event in stream:
        if event["event"] == "prose":
            break
    stream.close()
    assert story.step().plan == plan
    assert plan in write_prompts()[-1]


def test_a_story_that_is_being_written_is_busy_for_others(library, begin, settings):
    story = begin()
    story.step()
    other = Story.open(story.id, library=library, **settings())
    stream = story.stream(1)
    next(stream)
    with pytest.raises(StoryBusy, match="by this very program, in a call or an iterator that is still open"):
        story.choose(1)
    for write in (other.step, lambda: other.choose(1), lambda: other.edit_memory("Mira."), lambda: list(other.replan()),
                  lambda: list(other.retry()), story.step):  # fmt: skip
        with pytest.raises(StoryBusy, match="being written"):
            write()
    assert len(other.passages()) == 1, "reading is free"
    stream.close()
    assert other.step().step == 2


def test_without_a_lock_two_writers_make_siblings(settings, model):
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.store.memory import InMemoryStore

    from recurrentgpt.engine.engine import Engine
    from recurrentgpt.library import Library

    store = InMemoryStore()
    first, second = (Library(Engine(InMemorySaver(), store)) for _ in range(2))
    story = Story.new("fantasy", library=first, **settings())
    story.step()
    other = Story.open(story.id, library=second, **settings())
    stream = story.stream(1)
    while next(stream)["event"] != "prose":
        pass
    theirs = other.step()
    (mine,) = [event for event in stream if event["event"] == "passage"]
    assert (mine["step"], mine["parent"]) == (theirs.step, theirs.parent)
    assert mine["id"] != theirs.id
    assert story.passages()[-1].id in (mine["id"], theirs.id)


@pytest.mark.parametrize("reopened", [False, True])
def test_a_passage_that_was_written_is_not_written_again(
    library, begin, settings, write_prompts, monkeypatch, reopened
):
    """Stopped while its memory was being made: the passage is in the checkpoint, and only the rest is left to do."""
    story = begin()
    story.step()
    with nothing_is_kept(monkeypatch):
        stream, held = story.stream(), ""
        for event in stream:
            if event["event"] == "prose":
                held += event["text"]
            elif event["event"] == "retract":
                held = held[: event["length"]]
            elif event["event"] == "stage" and event["node"] in ("update_memory", "propose_plans"):
                break
        stream.close()
    assert len(story.passages()) == 1
    asked = len(write_prompts())
    if reopened:
        story = Story.open(story.id, library=library, **settings())
    assert story.step().text == held
    assert len(write_prompts()) == asked


def test_a_passage_that_was_stopped_is_kept_or_discarded(library, model):
    story = Story.new("mystery", library=library, model=model)
    story.step()
    with pytest.raises(StoryError, match="nothing to keep"):
        list(story.keep("She stops."))
    plan = story.choose(1)
    for kept in ("She opens the door. The lamp is out.", ""):
        events = story.stream()
        next(event for event in events if event["event"] == "prose")
        events.close()
        assert story.waiting_plan == plan
        if kept:
            list(story.keep(kept))
            assert (story.passage().text, story.passage().plan, story.passage().step) == (kept, plan, 2)
            assert len(story.plans) == 3
            plan = story.choose(2)
        else:
            story.discard()
            assert story.waiting_plan is None
    assert len(story.passages()) == 2


@pytest.mark.parametrize("tier", ["full", "small"])
def test_a_passage_that_was_stopped_goes_on_from_its_sentences(library, tier):
    model = Stalling(tier=tier, stalls=False)
    story = Story.new("mystery", library=library, model=model, embeddings=HashEmbeddings(), seed=7)
    story.step()
    with pytest.raises(StoryError, match="nothing to go on with"):
        list(story.go_on("She opens the door."))
    plan, model.stalls = story.choose(1), True
    heard = StreamBuffer()
    events = story.stream()
    for event in events:
        if heard.apply(event) and heard.settled > 200:
            break
    events.close()
    begun, model.stalls = heard.text[: heard.settled], False
    asked = len(model.calls)
    (held, text), *others = follow(story.go_on(begun))
    assert held == text == story.passage().text
    assert text.startswith(begun.strip())
    assert len(text) > 2 * len(begun)
    assert (story.passage().plan, story.passage().step) == (plan, 2)
    assert not others
    assert any(message.text == begun.strip() for message in model.calls[asked]), "the model is shown what stands"
    # The next passage is begun anew.
    assert not story.step().text.startswith(begun.strip())


def test_another_take_that_was_stopped_waits_behind_no_correction_of_the_passage_before_it(begin):
    story = begin()
    story.step()
    story.step()
    stream = story.retry()
    next(event for event in stream if event["event"] == "prose")
    stream.close()
    story.edit_memory("Zoltan sings.", at=1)
    assert story.waiting_plan is None


CORRECTIONS = {
    "memory": lambda story: story.edit_memory("Zoltan sings."),
    "plans": lambda story: story.edit_plans(["Zoltan sleeps."]),
    "brief": lambda story: story.edit_brief(outline=["Zoltan sings."]),
    "summary": lambda story: story.edit_summary(None, "Zoltan sings."),
    "codex": lambda story: story.add_entry("Zoltan", kind="person"),
    "title": lambda story: story.rename("Nine Gloves"),
    "words": lambda story: story.replace("the", "that"),
}


@pytest.mark.parametrize("name", CORRECTIONS)
@pytest.mark.parametrize("node", ["retrieve", "write", "update_memory"])
def test_a_correction_leaves_the_plan_of_a_passage_that_was_stopped(begin, write_prompts, monkeypatch, name, node):
    story = begin()
    story.step()
    plan = "Zoltan hides a spoon."
    story.choose(plan)
    with nothing_is_kept(monkeypatch):
        stream = story.stream()
        for event in stream:
            if event["event"] == "stage" and event["node"] == node and (node != "write" or next(stream)):
                break
        stream.close()
    assert story.waiting_plan == plan
    CORRECTIONS[name](story)
    assert story.waiting_plan == plan
    passage = story.step()
    assert (passage.step, passage.plan) == (2, plan)
    assert plan in write_prompts()[-1]


@pytest.mark.parametrize("left", [lambda story: story.goto(1), lambda story: story.undo()], ids=["goto", "undo"])
def test_a_plan_of_another_place_waits_nowhere_where_a_run_was_stopped_while_it_opened_the_story(begin, left):
    story = begin()
    story.step()
    story.step()
    story.choose("Zoltan hides a spoon.")
    stop_at(story, "write")
    left(story)
    stop_at(story, "open_story")
    # The run may have gone on to a plan of this place before it was stopped.
    assert story.waiting_plan != "Zoltan hides a spoon."
    story.edit_memory("Zoltan sings.")
    assert story.waiting_plan != "Zoltan hides a spoon."


def test_a_correction_leaves_the_plan_of_a_last_passage_that_was_stopped_before_it_was_kept(begin, monkeypatch):
    story = begin(length=2)
    story.step()
    story.choose("Zoltan hides a spoon.")
    with nothing_is_kept(monkeypatch):
        stop_at(story, "commit")
    story.edit_memory("Zoltan sings.")
    assert story.waiting_plan == "Zoltan hides a spoon."
    assert (story.step().plan, story.snapshot().status) == ("Zoltan hides a spoon.", "finished")


@contextmanager
def nothing_is_kept(monkeypatch):
    """Hold passages before they are in the log: a run goes on beside the test that stops it."""
    with monkeypatch.context() as held:
        held.setattr(StoryLog, "append", lambda *given, **options: asyncio.Event().wait())
        yield


def stop_at(story, node):
    """Write, and stop where a node begins."""
    stream = story.stream()
    next(event for event in stream if event["event"] == "stage" and event["node"] == node)
    stream.close()
