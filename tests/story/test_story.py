"""`Story`, blocking and awaited, over every kind of persistence."""

import asyncio
import dataclasses
import inspect
import threading

import pytest

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.library import Library, default_library
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StorageError, StoryBusy, StoryNotFound
from recurrentgpt.story import Story

EDIT = "Zoltan owes Mira a horse."
OWN = "Zephyrine swims beneath the quicksilver aqueduct and returns with one glove."


def test_an_erased_story_is_gone_and_no_other(each_library, settings):
    gone, kept = (Story.new("fantasy", library=each_library, **settings()) for _ in range(2))
    for story in (gone, kept):
        story.step()
        list(story.edit_passage(1, OWN))
    assert call(lambda: each_library.engine.saver.aget_tuple({"configurable": {"thread_id": gone.id}})) is not None
    each_library.erase(gone.id)
    assert [summary.story for summary in each_library.stories(archived=True)] == [kept.id]
    assert call(lambda: each_library.engine.saver.aget_tuple({"configurable": {"thread_id": gone.id}})) is None
    with pytest.raises(StoryNotFound):
        Story.open(gone.id, library=each_library)
    with pytest.raises(StoryNotFound):
        each_library.erase(gone.id)
    assert kept.step().step == 2


def test_a_story_that_is_being_written_is_not_erased(library, settings):
    story = Story.new("fantasy", library=library, **settings())
    writing = story.stream(2)
    next(event for event in writing if event["event"] == "passage")
    with pytest.raises(StoryBusy):
        library.erase(story.id)
    list(writing)
    assert len(story.passages()) == 2


def test_a_story_from_its_first_step_to_its_fifth(each_library, settings, model, write_prompts):
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, **settings())
    assert (story.head, story.passages()) == ("", [])
    first = story.step()
    assert (first.step, first.parent, story.head) == (1, None, first.id)
    assert 150 <= len(first.text.split()) <= 450
    assert story.brief["premise"] == "Mira tends a lamp."
    plan = story.plans[1]
    assert story.choose(2) == plan
    second = story.step()
    assert (second.plan, second.parent) == (plan, first.id)
    assert plan in write_prompts()[-1]
    assert story.choose(OWN) == OWN
    assert story.edit_memory(f"{EDIT} The lamp is blue.") == f"{EDIT}\nThe lamp is blue."
    third = story.step()
    assert third.plan == OWN
    assert OWN in write_prompts()[-1]
    assert EDIT in write_prompts()[-1]
    story.edit_memory(EDIT)
    story.choose({"number": 3, "plan": "Bo hides a spoon."})
    assert story.step().plan == "Bo hides a spoon."
    assert EDIT in write_prompts()[-1]
    again = Story.open(story.id, library=each_library, **settings())
    fifth = again.step()
    assert [passage.step for passage in again.passages()] == [1, 2, 3, 4, 5]
    assert again.head == fifth.id
    assert again.memory == fifth.short_term_memory
    assert again.rationale["added"]
    assert again.usage["calls"] == len(model.calls)
    (listed,) = each_library.stories()
    assert (listed.story, listed.step, listed.head, listed.title) == (story.id, 5, fifth.id, story.title)


async def test_the_same_story_awaited(each_library, settings, write_prompts):
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, **settings())
    first = await story.astep()
    await story.achoose(OWN)
    await story.aedit_memory(EDIT)
    events = [event async for event in story.astream(2)]
    assert OWN in write_prompts()[1]
    assert EDIT in write_prompts()[1]
    assert [event["step"] for event in events if event["event"] == "passage"] == [2, 3]
    async for _ in story.aretry():
        pass
    async for _ in story.areplan():
        pass
    passages = await story.apassages()
    assert [passage.step for passage in passages] == [1, 2, 3]
    assert passages[0].text == first.text
    again = await Story.aopen(story.id, library=each_library, **settings())
    assert (await again.astep()).step == 4
    assert len(await each_library.astories()) == 1


def test_another_take_is_a_sibling_and_new_plans_keep_the_passage(each_library, settings):
    story = Story.new("fantasy", library=each_library, **settings())
    story.step()
    first = story.step()
    memory = story.memory
    events = [event["event"] for event in story.retry()]
    second = story.passages()[-1]
    assert events.count("passage") == 1
    assert (second.step, second.plan, second.parent) == (2, first.plan, first.parent)
    assert second.text != first.text
    assert story.memory != memory
    plans = story.plans
    cost = story.usage["calls"]
    list(story.replan())
    assert story.usage["calls"] == cost + 1
    assert story.plans != plans
    assert story.passages()[-1].text == second.text
    chosen = story.plans[0]
    story.choose(1)
    third = story.step()
    assert (third.step, third.plan) == (3, chosen)
    links = each_library.engine.log.links
    from recurrentgpt.infrastructure.background_loop import call

    kept = call(lambda: links(story.id))
    assert first.id in kept
    assert sorted(link["step"] for link in kept.values()) == [0, 1, 2, 2, 2, 3]


def test_takes_and_plans_are_sampled_anew_each_time(begin, model):
    story = begin()
    story.step()
    seen = [{options["seed"] for options in model.options}]
    for again in (story.retry, story.retry, story.replan, story.replan):
        beginning = len(model.options)
        list(again())
        seen.append({options["seed"] for options in model.options[beginning:]})
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_somebodys_own_beginning_goes_on(library, settings, write_prompts):
    story = Story.new("western", plan=OWN, short_term_memory=EDIT, title="Nine Gloves", library=library, **settings())
    first = story.step()
    assert (first.plan, story.title) == (OWN, "Nine Gloves")
    assert OWN in write_prompts()[0]
    assert EDIT in write_prompts()[0]


def test_a_story_is_found_by_id_prefix_and_title(library, settings):
    for title in ("Nine Gloves", "Nine Lamps", "Élan"):
        Story.new("fantasy", title=title, library=library, **settings()).step()
    gloves = Story.open("nine gloves", library=library)
    for name in (gloves.id, gloves.id.upper(), gloves.id[:8], "Nine Gloves", "  NINE G "):
        assert Story.open(name, library=library).id == gloves.id
    assert Story.open("élan", library=library).title == "Élan"
    with pytest.raises(StoryNotFound, match=r"2 stories answer to 'nine'.*Nine Gloves.*Name one by its id"):
        Story.open("nine", library=library)
    with pytest.raises(StoryNotFound, match=r"no story 'lamps'; did you mean 'Nine Lamps' \([0-9a-f]{12}\)\?"):
        Story.open("lamps", library=library)
    for unknown in ("Ten Gloves", "", "   ", "*", "%"):
        with pytest.raises(StoryNotFound, match="There is no story"):
            Story.open(unknown, library=library)


def test_a_library_that_was_closed_is_a_sentence(tmp_path, settings):
    with Library.open(tmp_path / "closed") as closed:
        story = Story.new("fantasy", library=closed, **settings())
        story.step()
    for read in (story.step, closed.stories, lambda: story.plans):
        with pytest.raises(StorageError, match="was closed: open the library again"):
            read()


def test_what_is_no_embedding_model_is_refused_before_anything_is_written(library, settings, model):
    story = Story.new("fantasy", library=library, **settings(embeddings=5))
    with pytest.raises(SettingsError, match="Embeddings are a LangChain Embeddings, not int"):
        story.step()
    assert model.calls == []


async def test_the_users_own_library_is_opened_when_none_is_given(user_folder, settings):
    story = Story.new("fantasy", **settings())
    await story.astep()
    engine = story.engine
    import recurrentgpt.storage as module

    assert default_library().engine is engine
    default_library().close()
    module._default.clear()
    again = await Story.aopen(story.id, **settings())
    assert (await again.astep()).step == 2
    default_library().close()
    module._default.clear()
    reopened = await asyncio.to_thread(Story.open, story.id, **settings())
    assert len(reopened.passages()) == 2
    assert (user_folder / "stories.db").is_file()
    default_library().close()
    module._default.clear()
    assert engine is not reopened.engine


def test_an_old_name_says_what_took_its_place(begin):
    story = begin()
    for old, new in (
        ("another_take", "retry"),
        ("aanother_take", "aretry"),
        ("new_plans", "replan"),
        ("anew_plans", "areplan"),
    ):
        with pytest.warns(DeprecationWarning, match=f"Story.{old} goes with version 0.3.0; use Story.{new}"):
            getattr(story, old)()


def test_methods_made_from_coroutines_tell_what_they_are():
    for name in ("stream", "choose", "goto", "edit_passage", "export"):
        blocking, awaited = getattr(Story, name), getattr(Story, f"a{name}")
        assert awaited.__doc__.startswith(blocking.__doc__.strip().splitlines()[0])
        one, other = inspect.signature(blocking), inspect.signature(awaited)
        assert [*one.parameters] == [*other.parameters]
    assert inspect.signature(Story.stream).return_annotation == "Iterator[Event]"
    assert inspect.signature(Story.astream).return_annotation == "AsyncIterator[Event]"
    assert inspect.iscoroutinefunction(Story.achoose)
    assert not inspect.iscoroutinefunction(Story.choose)


def test_settings_that_are_replaced_hold_from_the_next_passage_on(begin):
    story = begin()
    assert len(story.step().plans) == 3
    story.context = dataclasses.replace(story.context, plans=2)
    assert len(story.step().plans) == 2


def test_a_snapshot_holds_where_the_story_stands(begin):
    story = begin()
    before = story.snapshot()
    assert (before.story, before.head, before.step, before.plans, before.memory) == (story.id, "", 0, [], "")
    story.step()
    there = story.snapshot(usage=True)
    assert (there.title, there.head, there.step) == (story.title, story.head, 1)
    assert (there.brief, there.memory, there.rationale) == (story.brief, story.memory, story.rationale)
    assert (there.plans, there.waiting_plan, there.pending_replay) == (story.plans, None, None)
    assert (there.usage, there.settings, there.status) == (story.usage, story.settings, "choosing")
    assert [link["id"] for link in there.path] == [story.head]
    plan = story.choose(2)
    assert story.snapshot().waiting_plan == story.waiting_plan == plan == there.plans[1]


def test_a_bad_choice_changes_nothing(begin):
    story = begin()
    story.step()
    head = story.head
    for bad, reason in ((0, "from 1 to 3"), (4, "from 1 to 3"), ("", "some words"), ({"action": "end"}, "sets no plan"),
                        ("\ud800 ends", "control character")):  # fmt: skip
        with pytest.raises(BadAnswer, match=reason):
            story.choose(bad)
    for bad, reason in (("Mira runs. " * 21, "20 sentences"), ("word " * 501, "500 words"), ("\x00", "control")):
        with pytest.raises(BadAnswer, match=reason):
            story.edit_memory(bad)
    assert story.head == head
    assert story.step().step == 2


def test_nothing_written_yet_is_said_so(begin):
    story = begin()
    for read in (lambda: story.memory, lambda: story.plans, lambda: story.choose(1), lambda: list(story.replan())):
        with pytest.raises(StoryNotFound, match="write its first passage"):
            read()
    with pytest.raises(StoryNotFound, match="There is no story"):
        _ = story.title


def test_two_objects_of_one_story_take_turns(library, begin, settings):
    story = begin()
    story.step()
    other = Story.open(story.id, library=library, **settings())
    assert other.step().parent == story.passages()[0].id
    assert story.step().step == 3
    assert [passage.step for passage in other.passages()] == [1, 2, 3]


def test_two_libraries_on_one_folder_take_turns(library, begin, settings, tmp_path):
    """Each keeps vectors in memory, and must notice what the other wrote."""
    story = begin()
    story.step()
    with Library.open(tmp_path / "library") as second:
        other = Story.open(story.id, library=second, **settings())
        for number in range(4):
            assert (other, story)[number % 2].step().step == 2 + number
        assert other.edit_memory(EDIT) == story.memory


def test_several_threads_write_several_stories(library, settings):
    stories = [Story.new("fantasy", library=library, **settings()) for _ in range(4)]
    failed = []

    def write(story):
        try:
            for _ in range(3):
                story.step()
        except BaseException as error:  # noqa: BLE001 - any failure is one too many
            failed.append(error)

    threads = [threading.Thread(target=write, args=(story,)) for story in stories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [len(story.passages()) for story in stories] == [3] * 4
    assert len(library.stories()) == 4


async def test_blocking_calls_work_inside_a_running_loop(begin):
    story = begin()
    assert story.step().step == 1
    assert [event["event"] for event in story.stream(1)][-1] == "done"


def test_several_loops_one_after_the_other(begin):
    story = begin()
    assert [asyncio.run(story.astep()).step for _ in range(3)] == [1, 2, 3]


async def test_the_event_loop_runs_on_while_a_story_is_written(library, settings, model):
    """Models and embedders that block do so elsewhere: each waits for this loop to answer."""
    from recurrentgpt.models.embeddings import HashEmbeddings
    from recurrentgpt.testing import story_replies

    here, answers = asyncio.get_running_loop(), []

    def ask_the_loop():
        answered = threading.Event()
        here.call_soon_threadsafe(answered.set)
        answers.append(answered.wait(timeout=60))

    class Blocking(HashEmbeddings):
        def embed_documents(self, texts):
            ask_the_loop()
            return super().embed_documents(texts)

    def replies(messages):
        ask_the_loop()
        return story_replies(messages)

    model.replies = replies
    story = Story.new("fantasy", library=library, **settings(embeddings=Blocking()))
    await story.astep()
    await story.achoose(1)
    await story.astep()
    assert len(answers) > 8
    assert all(answers)
