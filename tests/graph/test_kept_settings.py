"""What a run does not say of how a story is told is what the story has kept, whichever graph it is opened on."""

import asyncio
import copy
import itertools
import pickle

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt import Context, Library, Story
from recurrentgpt.graph.story import build_step_graph, build_story_graph
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.context import resolve_context
from recurrentgpt.schema.errors import SettingsError

PREMISE = "Greta keeps the clocks of a harbour town that has lost its hour."
CHOSEN = {
    "point_of_view": "first",
    "tense": "present",
    "style": "dry as the log of a ship",
    "min_words": 50,
    "max_words": 90,
    "plans": 4,
    "temperature": 0.4,
}
_threads = itertools.count(1)


class Host:
    """A server's graph: the machine is the host's, and what a client says of a run is plain JSON."""

    def __init__(self, model, build=build_story_graph, store=None, way="ainvoke", **defaults):
        self.model, self.store, self.way = model, store or InMemoryStore(), way
        machine = {"model": model, "embeddings": HashEmbeddings(), "seed": 7, "new_character": 0.0}
        self.graph = build(checkpointer=InMemorySaver(), store=self.store, defaults={**machine, **defaults})
        self.config = {"configurable": {"thread_id": f"kept-{next(_threads)}"}}

    async def run(self, given, **context):
        """Run the thread and return its question, or the result where there is none."""
        context = context or None
        if self.way == "invoke":
            result = await asyncio.to_thread(self.graph.invoke, given, self.config, context=context)
        else:
            result = await self.graph.ainvoke(given, self.config, context=context)
        found = result.get("__interrupt__")
        return {**result, **found[0].value} if found else result

    async def passage(self, given, **context):
        """Run the thread and return the prompt that its passage was asked for with."""
        told = len(self.model.calls)
        await self.run(given, **context)
        return self.prompts(told)[-1]

    def prompts(self, told=0):
        """Return the prompts for passages from call `told` on."""
        found = ["\n".join(str(message.text) for message in call) for call in self.model.calls[told:]]
        return [text for text in found if "JSON schema:" not in text and "words" in text]

    async def set(self, story, **settings):
        """Change what the story keeps, as another process does."""
        log = StoryLog(self.store, ("recurrentgpt",))
        (row,) = [row.value for row in await self.store.asearch(("recurrentgpt", "stories")) if row.key == story]
        await log.batch([log.put_record_op({**row, "settings": {**row["settings"], **settings}})])


def as_chosen(prompt):
    """Tell what of the chosen settings a prompt holds: the voice, the style, the length."""
    prompt = " ".join(prompt.split())
    return (
        "first person and the present tense" in prompt,
        "dry as the log of a ship" in prompt,
        "50 to 90 words" in prompt or "about 70 words" in prompt,
    )


@pytest.fixture(params=["small", "full"])
def tier(request, model):
    model.tier = request.param
    return request.param


@pytest.mark.parametrize("way", ["ainvoke", "invoke"])
async def test_what_the_first_run_chose_holds_in_the_next(model, tier, way):
    host = Host(model, way=way)
    assert as_chosen(await host.passage({"premise": PREMISE}, **CHOSEN)) == (True, True, True)
    for given in (Command(resume=1), {"messages": [HumanMessage("2")]}, Command(resume="another take")):
        told = len(model.calls)
        assert as_chosen(await host.passage(given)) == (True, True, True), given
        assert 0.4 in [options.get("temperature") for options in model.options[told:]]
    asked = await host.run(Command(resume="new plans"))
    assert len(asked["candidate_plans"]) == 4


async def test_what_was_set_elsewhere_holds_from_the_next_passage_on(model, tier):
    host = Host(model)
    first = await host.run({"premise": PREMISE})
    await host.set(first["story"], **CHOSEN)
    assert as_chosen(await host.passage(Command(resume=1))) == (True, True, True)
    assert len((await host.run(Command(resume=1)))["candidate_plans"]) == 4
    await host.set(first["story"], style="", plans=2)
    assert as_chosen(await host.passage(Command(resume=1))) == (True, False, True)
    assert len((await host.run(Command(resume="new plans")))["candidate_plans"]) == 2


async def test_a_run_with_an_ending_ends_the_story_before_the_length_that_it_keeps(model):
    model.tier = "full"
    host = Host(model)
    await host.run({"premise": PREMISE}, length=20)
    told = len(model.calls)
    result = await host.run(Command(resume=1), ending=True, last_step=3, selector="simulator")
    assert ["passage 2 of 3" in prompt for prompt in host.prompts(told)] == [True, False]
    assert "passage 3 of 3" in host.prompts(told)[-1]
    assert result["status"] == "finished"


async def test_a_run_with_an_ending_and_no_end_goes_by_the_length_that_the_story_keeps(model):
    model.tier = "full"
    host = Host(model)
    await host.run({"premise": PREMISE}, length=20)
    assert "passage 2 of 20" in await host.passage(Command(resume=1), ending=True)


def test_what_is_set_on_a_story_holds_also_where_it_is_the_default(tmp_path, model):
    with Library.open(tmp_path / "stories") as library:
        told = {"model": model, "embeddings": HashEmbeddings(), "seed": 7}
        story = Story.new(premise=PREMISE, library=library, **told, plans=5)
        list(story.begin())
        story = Story.open(story.id, library=library, **told)
        story.context.plans = 3
        list(story.stream(1))
        assert len(story.plans) == 3


def test_a_setting_is_set_back_to_none(tmp_path, model):
    with Library.open(tmp_path / "stories") as library:
        told = {"model": model, "embeddings": HashEmbeddings(), "seed": 7}
        story = Story.new(premise=PREMISE, library=library, **told, temperature=0.4)
        list(story.begin())
        story.context.temperature = None
        asked = len(model.options)
        list(story.stream(1))
        assert 0.4 not in {call.get("temperature") for call in model.options[asked:]}


def test_what_another_context_of_a_story_does_not_say_stays(tmp_path, model):
    with Library.open(tmp_path / "stories") as library:
        told = {"model": model, "embeddings": HashEmbeddings(), "seed": 7}
        story = Story.new(premise=PREMISE, library=library, **told, plans=5)
        list(story.begin())
        story.context = Context(**told, tense="present")
        assert (story.settings["plans"], story.settings["tense"]) == (5, "present")
        list(story.stream(1))
        assert len(story.plans) == 5


@pytest.mark.parametrize("build", [build_story_graph, build_step_graph])
async def test_a_story_that_is_opened_by_its_id_is_told_as_it_is_kept(model, tier, build):
    begun = Host(model)
    first = await begun.run({"premise": PREMISE}, **CHOSEN)
    host = Host(model, build, begun.store)
    given = {"story": first["story"], "plan": "Greta climbs the tower and stops the great clock."}
    assert as_chosen(await host.passage(given)) == (True, True, True)


async def test_what_a_run_says_holds_for_that_run_alone_also_where_it_is_the_default(model, tier):
    host = Host(model)
    await host.run({"premise": PREMISE}, **CHOSEN)
    said = await host.passage(Command(resume=1), tense="past", style="", min_words=200, max_words=400, plans=3)
    assert "first person and the past tense" in " ".join(said.split())
    assert as_chosen(said) == (False, False, False)
    assert as_chosen(await host.passage(Command(resume=1))) == (True, True, True)


async def test_what_is_null_in_a_run_is_not_said(model, tier):
    host = Host(model)
    first = await host.passage({"premise": PREMISE}, **CHOSEN, language=None, model=None, codex=None)
    assert as_chosen(first) == (True, True, True)
    assert "written in English" in first or "write in English" in first
    assert as_chosen(await host.passage(Command(resume=1), **dict.fromkeys(CHOSEN))) == (True, True, True)


async def test_the_defaults_of_a_graph_are_below_what_a_story_keeps(model, tier):
    begun = Host(model)
    first = await begun.run({"premise": PREMISE}, **CHOSEN)
    host = Host(model, store=begun.store, tense="past", style="like a ballad", plans=2)
    asked = await host.run({"story": first["story"]})
    assert as_chosen(await host.passage(Command(resume=1))) == (True, True, True)
    assert len(asked["candidate_plans"]) == len((await host.run(Command(resume=1)))["candidate_plans"]) == 4


async def test_a_story_to_play_goes_on_as_one_whichever_graph_it_is_opened_on(model):
    novel = Host(model)
    begun = await novel.run({"premise": PREMISE}, mode="fiction")
    assert begun["question"].startswith("Who are you?")
    after = await novel.run(Command(resume=1))
    assert after["question"].startswith("What do you do?")
    assert "interactive" in novel.prompts()[-1]
    elsewhere = Host(model, store=novel.store)
    assert (await elsewhere.run({"story": begun["story"]}))["question"] == after["question"]
    played = await elsewhere.run({"messages": [HumanMessage("go back")]})
    assert played["step"] == 2, "of a novel that is no plan"


async def test_a_novel_goes_on_as_one_on_the_graph_of_stories_to_play(model):
    begun = Host(model)
    first = await begun.run({"premise": PREMISE})
    host = Host(model, store=begun.store, mode="fiction")
    assert (await host.run({"story": first["story"]}))["question"] == first["question"]
    assert "interactive" not in await host.passage(Command(resume=1))
    assert (await host.run(None, mode="fiction"))["question"] != first["question"], "a run may say otherwise"


async def test_an_old_story_that_kept_nothing_goes_on_as_the_graph_tells(model, tier):
    host = Host(model, style="dry as the log of a ship")
    first = await host.run({"premise": PREMISE})
    (row,) = [row.value for row in await host.store.asearch(("recurrentgpt", "stories"))]
    await host.store.aput(("recurrentgpt", "stories"), first["story"], {**row, "settings": {}})
    prompt = await host.passage(Command(resume=1))
    assert as_chosen(prompt) == (False, True, False)
    assert "first person" not in prompt
    assert "present tense" not in prompt


async def test_what_is_kept_and_cannot_be_used_is_said(model):
    host = Host(model)
    first = await host.run({"premise": PREMISE})
    await host.set(first["story"], pace="breakneck")
    with pytest.raises(SettingsError, match="pace is one of slow, steady, fast"):
        await host.run(Command(resume=1))
    with pytest.raises(SettingsError, match="min_words is at most max_words"):
        await host.run(Command(resume=1), pace="slow", max_words=100)
    assert (await host.run(Command(resume=1), pace="slow"))["step"] == 2


async def test_what_is_set_while_a_plan_waits_holds_for_its_passage(tmp_path, model):
    with Library.open(tmp_path / "stories") as library:
        told = {"model": model, "embeddings": HashEmbeddings(), "seed": 7}
        story = Story.new(premise=PREMISE, library=library, **told, style="dry as the log of a ship")
        list(story.begin())
        elsewhere = Story.open(story.id, library=library, **told)
        elsewhere.choose(1)
        elsewhere.change_settings(tense="present", style="")
        list(elsewhere.stream(1))
        prompts = ["\n".join(str(message.text) for message in call) for call in model.calls]
        written = " ".join([text for text in prompts if "JSON schema:" not in text][-1].split())
        assert "the present tense" in written
        assert "dry as the log" not in written


async def test_what_one_owner_keeps_is_not_anothers():
    store = InMemoryStore()
    logs = [StoryLog(store, ("recurrentgpt", "users", owner)) for owner in ("one", "two")]
    record = {"story": "s", "title": "Clocks", "genre": "g", "premise": PREMISE, "created": "2026-01-01"}
    brief = {"title": "Clocks", "genre": "g", "premise": PREMISE, "characters": [], "outline": []}
    for log, style in zip(logs, ("dry", "lush"), strict=True):
        await log.put_record({**record, "brief": brief, "settings": {"style": style}})
    assert [(await log.remembered_record("s"))["settings"]["style"] for log in logs * 2] == ["dry", "lush"] * 2


def test_what_a_graph_changes_of_the_defaults_is_nobodys_choice():
    host = resolve_context({"plans": 2}, {"style": "dry", "plans": 5, "seed": 7})
    assert (host.style, host.plans, host.given) == ("dry", 2, {"plans": 2})
    assert host.over({"style": "lush", "plans": 4}).given == {"plans": 2, "style": "lush"}
    assert host.changed(tense="past").style == "dry"
    assert Context(plans=None, temperature=None).given == {}
    kept = Context(plans=3, tense=None).over({"plans": 5, "tense": "past", "selector": "simulator", "unknown": 1})
    assert (kept.plans, kept.tense, kept.selector) == (3, "past", "human")


@pytest.mark.parametrize("context", [resolve_context({"plans": 2}), resolve_context({"plans": 2}, {"style": "dry"})])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_context_can_be_copied(context, copied):
    made = copied(context)
    assert (made, made.given) == (context, {"plans": 2})
    made.tense = "auto"
    assert made.given == {"plans": 2, "tense": "auto"}
    assert context.given == {"plans": 2}
