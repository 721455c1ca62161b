"""Passages written ahead while somebody reads: there when they are chosen, and otherwise as if they had never been."""

import asyncio
import threading

import pytest
from pydantic import PrivateAttr

from recurrentgpt.library import Library
from recurrentgpt.story import Story
from recurrentgpt.testing import ScriptedChatModel, story_replies


def kinds(events):
    return [event["event"] for event in events]


def shown(story):
    """Everything that tells of passages and of where the story stands."""
    snapshot = story.snapshot()
    return (
        story.tree().as_json(),
        [passage.id for passage in story.passages()],
        (snapshot.head, snapshot.plans, snapshot.waiting_plan, snapshot.status, snapshot.path, snapshot.names),
    )


@pytest.fixture
def reading(begin):
    """Give a maker of stories with one passage, read by somebody for whom the next is written ahead."""

    def make(**more):
        story = begin(**{"ahead": 1, **more})
        story.step()
        return story

    return make


def test_a_choice_that_was_written_ahead_is_there_without_a_call(each_library, settings, model):
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, ahead=2, **settings())
    story.step()
    story.write_ahead(wait=True)
    calls, plan = len(model.calls), story.plans[1]
    story.choose(2)
    events = list(story.stream())
    assert len(model.calls) == calls
    assert kinds(events) == ["story", "passage", "memory", "plans", "done"]
    passage = story.passage()
    assert (passage.step, passage.plan, passage.text) == (2, plan, events[1]["text"])
    assert story.plans == events[3]["plans"]
    assert story.waiting_plan is None
    # It is written on, recalled and undone like any other.
    assert story.step().parent == passage.id
    assert story.undo().id == passage.id
    assert story.undo().step == 1
    assert story.waiting_plan is None


def test_what_is_written_ahead_is_what_would_have_been_written(library, settings):
    texts = []
    for ahead in (0, 1):
        own = settings(model=ScriptedChatModel(), ahead=ahead)
        story = Story.new("fantasy", "Mira tends a lamp.", library=library, **own)
        story.step()
        story.write_ahead(wait=True)
        story.choose(1)
        texts.append([(one.text, one.plan, one.plans, one.short_term_memory) for one in [story.step(), story.step()]])
    assert texts[0] == texts[1]


def test_what_is_written_ahead_is_shown_nowhere(reading):
    story = reading(ahead=3)
    before = shown(story)
    story.write_ahead(wait=True)
    assert shown(story) == before


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda story: story.choose("Bo hides a spoon under the bridge."), id="another plan"),
        pytest.param(
            lambda story: (story.edit_memory("Zoltan owes Mira a horse."), story.choose(1)), id="edited memory"
        ),
        pytest.param(lambda story: (story.edit_plan(1, "Bo hides a spoon."), story.choose(1)), id="edited plan"),
        pytest.param(
            lambda story: (list(story.edit_passage(1, "Zoltan owes Mira a horse.")), story.choose(1)), id="edit"
        ),
        pytest.param(lambda story: (story.change_settings(note="It rains."), story.choose(1)), id="changed setting"),
        pytest.param(lambda story: (story.rename("The Lamp"), story.choose(1)), id="title"),
        pytest.param(lambda story: (list(story.replan()), story.choose(1)), id="new plans"),
        pytest.param(lambda story: (story.undo(), story.choose(1)), id="undo"),
    ],
)
def test_whatever_else_is_done_the_passage_is_written_from_that(reading, model, act):
    story = reading()
    story.write_ahead(wait=True)
    act(story)
    calls, known = len(model.calls), set(story.tree().nodes)
    passage = story.step()
    assert len(model.calls) > calls
    # What was thrown away is in no list, and was paid for.
    assert set(story.tree().nodes) - known == {passage.id}
    assert story.whole_usage["calls"] == len(model.calls)


def test_what_nobody_chose_is_counted_in_all_and_on_no_branch(reading, model):
    story = reading(ahead=2)
    branch = story.usage
    story.write_ahead(wait=True)
    assert story.usage == branch
    assert story.whole_usage["calls"] == len(model.calls) > branch["calls"]
    story.choose(1)
    (*_, done) = story.stream()
    assert done["usage"]["calls"] == len(model.calls) - branch["calls"]
    assert story.whole_usage["calls"] == len(model.calls)
    assert branch["calls"] < story.usage["calls"] < len(model.calls)


def test_the_tally_says_how_many_choices_were_ready(reading):
    story = reading()
    assert (story.snapshot().ahead["choices"], story.snapshot().ahead["ready"]) == (0, 0)
    for number in (1, 2, 1):
        story.write_ahead(wait=True)
        story.choose(number)
        story.step()
    assert (story.snapshot().ahead["choices"], story.snapshot().ahead["ready"]) == (3, 2)


def test_nothing_is_written_ahead_unless_it_is_asked_for(reading, model):
    story = reading(ahead=0)
    calls = len(model.calls)
    story.write_ahead(wait=True)
    assert len(model.calls) == calls
    story.choose(1)
    story.step()
    assert story.snapshot().ahead["choices"] == 0


def test_a_budget_ends_what_is_written_ahead(reading, model):
    story = reading(ahead=3)
    before, calls = story.whole_usage, len(model.calls)
    story.write_ahead(10, wait=True)
    assert len(model.calls) == calls
    story.write_ahead(4000, wait=True)
    spent = story.whole_usage["input_tokens"] + story.whole_usage["output_tokens"]
    assert spent - before["input_tokens"] - before["output_tokens"] <= 4000
    story.choose(1)
    assert story.step().step == 2


class Held:
    """Replies that wait, from the moment they are held, until they are let go."""

    def __init__(self):
        self.hold = False
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self, messages):
        if self.hold:
            self.asked.set()
            self.go.wait(30)
        return story_replies(messages)


def test_it_ends_when_the_machine_is_needed_and_goes_on_later(library, settings):
    held = Held()
    story = Story.new("fantasy", library=library, **settings(model=ScriptedChatModel(replies=held), ahead=1))
    other = Story.new("western", library=library, **settings())
    story.step()
    held.hold = True
    story.write_ahead()
    assert held.asked.wait(30)
    held.hold = False
    held.go.set()
    # Whatever it had come to, another story is written at once, and the rest is written when somebody reads again.
    assert other.step().step == 1
    story.write_ahead(wait=True)
    story.choose(1)
    assert kinds(story.stream())[0] == "story"
    assert story.snapshot().ahead["ready"] == 1


TURNS = 200
"""Of the event loop, in which whoever follows a stream has read what is in it."""


class Halting(ScriptedChatModel):
    """A model that halts in the middle of a reply, once it is told of what, until it is left."""

    _at: str = PrivateAttr(default="")
    _halted: threading.Event = PrivateAttr(default_factory=threading.Event)

    def halt(self, at):
        self._at = at
        return self._halted

    async def _astream(self, messages, stop=None, run_manager=None, **options):
        chunks = list(self._chunks(messages, stop, options))
        is_prose = "JSON schema:" not in str(messages[-1].text)
        halts = self._at == ("prose" if is_prose else "memory")
        for chunk in chunks[: len(chunks) // 2] if halts else chunks:
            yield chunk
        if halts:
            self._at = ""
            for _ in range(TURNS):
                await asyncio.sleep(0)
            self._halted.set()
            await asyncio.Event().wait()


@pytest.fixture
def halted_at(library, settings):
    """Give a maker of stories whose passage ahead has halted in the middle of its prose or its memory, with their model."""

    def make(at, tier="full"):
        model = Halting(tier=tier)
        story = Story.new("fantasy", library=library, **settings(model=model, ahead=1))
        story.step()
        halted = model.halt(at)
        story.write_ahead()
        assert halted.wait(30)
        return story, model

    return make


@pytest.mark.parametrize("tier", ["small", "full"])
def test_a_passage_that_is_still_written_when_its_plan_is_chosen_is_gone_on_with(halted_at, tier):
    story, model = halted_at("prose", tier)
    story.choose(1)
    before = len(model.calls)
    events = list(story.stream())
    passage = story.passage()
    (begun,) = [str(turn.text) for turn in model.calls[before] if turn.type == "ai" and turn.text in passage.text]
    assert passage.text.startswith(begun)
    assert len(begun.split()) > 20
    assert next(event for event in events if event["event"] == "prose")["text"].startswith(begun)
    assert [event["step"] for event in events if event["event"] == "passage"] == [2]
    assert (story.snapshot().ahead["choices"], story.snapshot().ahead["ready"]) == (1, 0)
    assert story.step().parent == passage.id


@pytest.mark.parametrize("tier", ["small", "full"])
def test_of_a_passage_that_is_whole_only_the_memory_is_made(halted_at, tier):
    story, model = halted_at("memory", tier)
    story.choose(1)
    before = len(model.calls)
    list(story.stream())
    assert all("JSON schema:" in str(call[-1].text) for call in model.calls[before:])
    passage = story.passage()
    assert passage.step == 2
    assert story.plans
    # What its words cost is its own now, and is counted once.
    assert passage.usage["calls"] == 3
    assert story.snapshot().ahead["usage"]["output_tokens"] < passage.usage["output_tokens"]


@pytest.mark.parametrize("at", ["prose", "memory", ""])
def test_a_passage_that_ends_the_story_ends_it_wherever_it_was_begun(library, settings, at):
    model = Halting()
    story = Story.new("fantasy", library=library, **settings(model=model, ahead=1))
    story.step()
    again = Story.open(story.id, library=library, **settings(model=model, ahead=1, ending=True))
    halted = model.halt(at)
    again.write_ahead(wait=not at)
    assert not at or halted.wait(30)
    again.choose(1)
    list(again.stream())
    assert again.settings["length"] == 2
    assert Story.open(story.id, library=library).settings["length"] == 2


@pytest.mark.parametrize("at", ["prose", "memory"])
def test_of_a_passage_that_was_begun_ahead_what_is_there_comes_first(halted_at, at):
    story, _ = halted_at(at)
    story.choose(1)
    events = list(story.stream())
    prose = next(number for number, event in enumerate(events) if event["event"] == "prose")
    assert {event["event"] for event in events[:prose]} <= {"stage", "story"}
    assert "update_memory" not in [event.get("node") for event in events[:prose]]
    assert story.passage().text.startswith(events[prose]["text"].strip())


def test_whoever_leaves_a_ready_passage_lets_the_story_go(library, settings, model):
    story = Story.new("fantasy", library=library, **settings(ahead=1))
    story.step()
    story.write_ahead(wait=True)
    story.choose(1)
    events = story.stream()
    next(events)
    events.close()
    assert story.passage().step == 2
    assert story.waiting_plan is None
    assert story.step().step == 3


def test_an_unfinished_passage_of_another_plan_is_thrown_away(halted_at):
    story, model = halted_at("prose")
    story.choose("Mira puts the lamp out and waits for whoever comes.")
    before = len(model.calls)
    list(story.stream())
    assert not [turn for turn in model.calls[before] if turn.type == "ai"]
    assert story.passage().plan == "Mira puts the lamp out and waits for whoever comes."


def test_a_model_that_fails_is_told_of_when_its_passage_is_asked_for(library, settings):
    class Failing:
        fail = False

        def __call__(self, messages):
            return "" if self.fail else story_replies(messages)

    replies = Failing()
    story = Story.new("fantasy", library=library, **settings(model=ScriptedChatModel(replies=replies), ahead=1))
    story.step()
    replies.fail = True
    story.write_ahead(wait=True)
    assert len(story.passages()) == 1
    replies.fail = False
    story.choose(1)
    assert story.step().step == 2


def test_a_name_given_meanwhile_goes_along(reading):
    story = reading()
    story.write_ahead(wait=True)
    story.name_branch("the dark ending")
    story.choose(1)
    assert kinds(story.stream())[0] == "story"
    assert story.names() == {"the dark ending": story.head}


def test_an_erased_story_leaves_no_tally(library, settings):
    story = Story.new("fantasy", library=library, **settings(ahead=1))
    story.step()
    story.write_ahead(wait=True)
    library.erase(story.id)
    again = Library(library.engine)
    assert again.stories(archived=True) == []
    assert story.ahead_tally()["usage"]["calls"] == 0


def test_an_opening_of_a_story_to_play_is_written_ahead_too(begin, model):
    story = begin(mode="fiction", ahead=1)
    list(story.begin())
    story.write_ahead(wait=True)
    calls = len(model.calls)
    story.choose(1)
    assert story.step().step == 1
    assert len(model.calls) == calls
