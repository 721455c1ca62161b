"""Edits anywhere: what was written stays in the log, and no later prompt of the branch tells the old."""

import json
import re

import pytest

from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError
from recurrentgpt.story import Story
from recurrentgpt.testing import story_replies

EDIT = "Zoltan owes Mira a horse."
TOLD = "Zoltan rode out of the valley before sunrise.\n\nThe bells rang twice, and nobody answered them."
ODD = [("", "some words"), (" \n ", "some words"), (7, "some words"), ("a\x00b", "control character"),
       ("\ud800", "control character"), ("word " * 4001, "4,000 words fit"), ("x" * 60_000, "4,000 words fit")]  # fmt: skip


def naming(model, name):
    """Let the model call whatever it writes, notes and plans by a name."""
    marks = {"name": name}

    def replies(messages):

        marks["calls"] = marks.get("calls", 0) + 1
        text = story_replies([*messages, type(messages[-1])(f"call {marks['calls']}")])
        return re.sub(r"\b(the|The|a|A) (?=\w+)", lambda found: f"{found[0]}{marks['name']} ", text)

    model.replies = replies
    return marks


@pytest.mark.parametrize("tier", ["small", "full"])
def test_after_an_edit_no_prompt_of_the_branch_tells_what_it_replaced(written, model, prompts, tier):
    """Everything written from passage 2 on says Tobiaxx: the passage, what is noted of it, and the plans before it."""
    model.tier = tier
    marks = naming(model, "marbled")
    story = written(1, top_k=20)
    marks["name"] = "tobiaxx"
    list(story.replan())
    list(story.stream(3))
    old = story.head
    assert "tobiaxx" in story.passage(2).plan
    marks["name"] = "quarrelsome"
    beginning = len(model.calls)
    list(story.edit_passage(2, TOLD))
    list(story.stream(4))
    list(story.replan())
    story.choose(1)
    story.step()
    assert TOLD.partition(".")[0] in "".join(prompts(beginning)[:2])
    assert not any("tobiaxx" in prompt for prompt in prompts(beginning))
    assert "quarrelsome" in story.memory
    edited = story.passage(2)
    assert (edited.text, edited.author, edited.step) == (TOLD, "edited", 2)
    assert [passage.step for passage in story.passages()] == [1, 2, 3, 4, 5, 6, 7]
    assert "tobiaxx" in story.passage(old).text


@pytest.mark.parametrize("tier", ["small", "full"])
def test_the_memory_of_an_edited_passage_is_made_from_it_and_the_memory_before(written, model, prompts, tier):
    model.tier = tier
    story = written(3)
    before, old = story.passage(1), story.passage(2)
    beginning, cost = len(model.calls), story.usage["calls"]
    events = list(story.edit_passage(2, TOLD))
    new = story.passage()
    assert (new.parent, new.amends, new.plan) == (before.id, old.id, old.plan)
    assert new.summary != old.summary
    assert new.short_term_memory not in (old.short_term_memory, before.short_term_memory)
    assert new.plans != old.plans
    assert len(model.calls) == beginning + 2, "the memory and the plans"
    told = [event["event"] for event in events if event["event"] != "stage"]
    assert told == ["story", "passage", "memory", "plans", "done"]
    assert (events[-1]["steps"], events[-1]["usage"]["calls"]) == (1, 2)
    assert story.usage["calls"] == story.passage(1).usage["calls"] + old.usage["calls"] + 2 + _opening(story)
    assert cost > story.usage["calls"]
    assert story.rationale["added"]


def _opening(story):
    return story.passage(0).usage["calls"]


@pytest.mark.parametrize(("text", "reason"), ODD)
def test_a_text_that_is_none_changes_nothing(written, text, reason):
    story = written(1)
    head = story.head
    with pytest.raises(BadAnswer, match=reason):
        list(story.edit_passage(1, text))
    assert (story.head, len(story.tree().nodes)) == (head, 2)


def test_an_edit_that_changes_nothing_or_the_opening_says_so(written, model):
    story = written(2)
    beginning = len(model.calls)
    with pytest.raises(BadAnswer, match="has this text already"):
        list(story.edit_passage(1, f" {story.passage(1).text}\n"))
    with pytest.raises(StoryError, match="opening has no passage to edit"):
        list(story.edit_passage(0, TOLD))
    with pytest.raises(StoryError, match="opening of a story has no passage to take again"):
        list(story.retry(0))
    assert len(model.calls) == beginning


def test_the_same_edit_again_goes_there_and_costs_nothing(written, model):
    story = written(3)
    head = story.head
    list(story.edit_passage(2, TOLD))
    edited = story.head
    story.goto(head)
    beginning = len(model.calls)
    events = list(story.edit_passage(2, TOLD))
    assert (story.head, len(model.calls), events[-1]["usage"]["calls"]) == (edited, beginning, 0)


def test_an_edited_passage_can_be_taken_again_from_its_plan(written, write_prompts):
    story = written(2)
    plan = story.passage(2).plan
    list(story.edit_passage(2, TOLD))
    list(story.retry())
    assert (story.passage().plan, story.passage().plan_author) == (plan, "human")
    assert plan in write_prompts()[-1]


@pytest.mark.parametrize("tier", ["small", "full"])
def test_a_corrected_summary_is_what_this_branch_recalls_and_no_other(written, model, write_prompts, prompts, tier):
    model.tier = tier
    story = written(4, top_k=20)
    fork, old = story.head, story.passage(2).summary
    assert story.edit_summary(2, f"  {EDIT}\n") == EDIT
    beginning = len(model.calls)
    list(story.stream(3))
    for prompt in write_prompts(beginning):
        assert EDIT in prompt
        assert old not in prompt
    later = story.head
    story.goto(fork)
    beginning = len(model.calls)
    list(story.stream(1))
    assert not any(EDIT in prompt for prompt in prompts(beginning))
    assert old in write_prompts(beginning)[0]
    story.goto(later)
    story.edit_summary(2, "Bo hides a spoon.")
    story.edit_summary(3, "Nobody speaks.")
    beginning = len(model.calls)
    story.step()
    (prompt,) = write_prompts(beginning)
    assert "Bo hides a spoon." in prompt
    assert "Nobody speaks." in prompt
    assert EDIT not in prompt


def test_a_plan_of_what_a_corrected_summary_tells_is_asked_for_again(written, model, prompts):
    model.tier = "small"
    story = written(2)
    story.edit_summary(1, EDIT)
    beginning = len(model.calls)

    def replies(messages):
        text = story_replies(messages)
        if len(model.calls) > beginning + 1:
            return text
        first, *_ = plans = json.loads(text)
        return json.dumps({**plans, first: " ".join(reversed(EDIT.split()))})

    model.replies = replies
    list(story.replan())
    assert f"Plan 1 has happened: {EDIT}" in prompts(beginning)[1]


def test_a_corrected_summary_is_shown_where_it_stands(written):
    story = written(2)
    was = story.passage(1).summary
    story.edit_summary(1, "Mira keeps the key.")
    assert story.passage(1).summary == story.passages()[0].summary == "Mira keeps the key."
    story.undo()
    assert story.passage(1).summary == story.passages()[0].summary == was


def test_a_corrected_summary_is_searched(written, library, settings, write_prompts):
    story = written(6, top_k=1)
    story.edit_summary(2, "Zephyrine swims beneath the quicksilver aqueduct.")
    for again in (story, Story.open(story.id, library=library, **settings(top_k=1))):
        import recurrentgpt.memory.recall as module

        again.choose("Zephyrine swims beneath the quicksilver aqueduct.")
        again.step()
        assert "Zephyrine" in write_prompts()[-1].partition("The plan for")[0]
        module._INDEXES.clear()


def test_a_corrected_summary_of_the_newest_passage_is_recalled_later(written, write_prompts):
    story = written(2, top_k=20)
    story.edit_summary(None, EDIT)
    assert story.passage().summary == EDIT
    list(story.stream(2))
    assert EDIT in write_prompts()[-1]


def test_summaries_that_cannot_be_corrected_say_why(written):
    story = written(3)
    for ref, text, reason in (
        (0, EDIT, "opening has no passage"),
        (2, " ", "some words"),
        (2, "word " * 121, "121 words"),
    ):
        with pytest.raises((BadAnswer, StoryError), match=reason):
            story.edit_summary(ref, text)
    lost = story.head
    story.undo()
    with pytest.raises(StoryError, match="not on the branch of the head"):
        story.edit_summary(lost, EDIT)


@pytest.mark.parametrize("tier", ["small", "full"])
def test_an_edited_brief_is_in_every_prompt_of_this_branch_alone(written, model, write_prompts, tier):
    model.tier = tier
    story = written(3)
    fork = story.head
    brief = story.edit_brief(premise="Zoltan tends a lamp.", characters=["Zoltan: a keeper"])
    assert (brief["premise"], story.brief["characters"], story.brief["title"]) == (
        "Zoltan tends a lamp.", ["Zoltan: a keeper"], story.title)  # fmt: skip
    for again in (lambda: list(story.stream(2)), lambda: list(story.retry()), lambda: list(story.retry(2))):
        beginning = len(model.calls)
        again()
        for prompt in write_prompts(beginning):
            assert "Zoltan tends a lamp." in prompt
            assert "Mira tends a lamp." not in prompt
    story.goto(fork)
    assert story.brief["premise"] == "Mira tends a lamp."
    beginning = len(model.calls)
    story.step()
    assert "Mira tends a lamp." in write_prompts(beginning)[0]


def test_a_brief_edited_while_a_choice_waits_is_written_from(written, write_prompts):
    story = written(1)
    story.choose("Bo hides a spoon.")
    story.edit_brief(outline=["Zoltan sings."], genre="western")
    story.rename("Nine Gloves")
    assert story.waiting_plan == "Bo hides a spoon."
    assert story.step().plan == "Bo hides a spoon."
    for said in ("Bo hides a spoon.", "Zoltan sings.", "Nine Gloves"):
        assert said in write_prompts()[-1]
    assert story.brief["genre"] == "western"


def test_choosing_further_back_keeps_the_edited_brief(written, write_prompts):
    story = written(3)
    story.edit_brief(premise="Zoltan tends a lamp.")
    plan = story.passage(1).plans[1]
    assert story.choose(2, at=1) == plan
    assert story.step().plan == plan
    assert "Zoltan tends a lamp." in write_prompts()[-1]


def test_where_a_turn_stands_is_edited_with_the_outline(written, write_prompts):
    story = written(2)
    first, *others = story.brief["outline"]
    lines = ["[done] Zoltan sings.", *others, "[under way] Zoltan sleeps."]
    assert story.edit_brief(outline=lines)["outline"] == lines
    assert story.brief["outline"] == lines
    story.step()
    asked = write_prompts()[-1]
    assert "1. Zoltan sings.\n" in asked, "the mark is not part of the turn"
    assert f"Of the turns above: 1 done; {len(lines)} under way;" in asked
    story.undo(2)
    assert story.brief["outline"][0] == first


def test_which_clues_were_given_is_edited_with_them(written, write_prompts):
    story = written(1)
    before = story.brief.get("clues")
    lines = ["[done] A feather: passage 1", "A song: passage 3"]
    assert story.edit_brief(truth="Zoltan did it.", clues=lines)["clues"] == lines
    assert story.brief["clues"] == lines
    story.step()
    asked = write_prompts()[-1]
    assert "1. A feather: passage 1\n2. A song: passage 3\n" in asked, "the mark is not part of the clue"
    assert "Of the clues above: 1 told; 2 still to plant." in asked
    assert story.brief["clues"] == lines, "the next passage keeps the count"
    assert story.edit_brief(clues=["A song: passage 3"])["clues"] == ["A song: passage 3"]
    story.undo(3)
    assert story.brief.get("clues") == before


def test_what_is_kept_from_the_reader_can_be_edited(written, write_prompts):
    story = written(1)
    story.edit_brief(truth="Zoltan did it.", clues=["A feather: passage 2"], voice="Dry.", synopsis="It is dark.")
    story.step()
    asked = write_prompts()[-1]
    assert all(
        part in asked for part in ("Zoltan did it.", "1. A feather: passage 2", "How it is told: Dry.", "It is dark.")
    )


@pytest.mark.parametrize("bad", [{"premise": ""}, {"premise": "word " * 501}, {"premise": 7}, {"genre": "\x00"}, {"genre": " "},
                                 {"characters": "Mira"}, {"characters": ["a"] * 21}, {"outline": [7]},
                                 {"outline": ["word " * 61]}, {"characters": ["a\x07"]}])  # fmt: skip
def test_a_brief_that_no_prompt_should_carry_is_refused(written, bad):
    story = written(1)
    head = story.head
    with pytest.raises((BadAnswer, SettingsError)):
        story.edit_brief(**bad)
    assert story.head == head


def test_memory_and_plans_are_edited_at_any_passage(written, log, write_prompts):
    story = written(3)
    kept = log(story)
    assert story.edit_memory(f"{EDIT} The lamp is blue.", at=2) == f"{EDIT}\nThe lamp is blue."
    assert story.edit_plans(["Bo hides a spoon.", " Mira\nsleeps. "], at=None) == [
        "Bo hides a spoon.",
        "Mira sleeps.",
    ]
    assert story.edit_plan(2, "Mira wakes.") == ["Bo hides a spoon.", "Mira wakes."]
    story.choose(2)
    assert story.step().plan == "Mira wakes."
    assert EDIT in write_prompts()[-1]
    assert story.usage["calls"] > 0
    assert {key: log(story)[key] for key in kept} == kept
    for number in (0, 4, -1):
        with pytest.raises(BadAnswer, match=f"number {number} is none"):
            story.edit_plan(number, "Mira wakes.")
    for bad in ([], ["a"] * 10, "Mira wakes.", [""]):
        with pytest.raises(BadAnswer):
            story.edit_plans(bad)


def test_a_title_is_found_and_shown_and_the_list_can_be_tidied(written, library, settings):
    story = written(1)
    assert story.rename("  Nine \n Gloves ") == "Nine Gloves"
    assert Story.open("nine gloves", library=library).id == story.id
    for bad in ("", " ", "word " * 31, "\x00"):
        with pytest.raises(SettingsError):
            story.rename(bad)
    story.archive()
    assert library.stories() == []
    (put_away,) = library.stories(archived=True)
    assert (put_away.title, put_away.archived) == ("Nine Gloves", True)
    again = Story.open("nine gloves", library=library, **settings())
    again.step()
    assert library.stories() == []
    again.unarchive()
    assert [summary.title for summary in library.stories()] == ["Nine Gloves"]
    assert again.title == "Nine Gloves"


async def test_the_same_awaited(written, library):
    story = written(2)
    await story.aedit_memory(EDIT)
    assert await story.aedit_plans(["Bo hides a spoon."]) == ["Bo hides a spoon."]
    assert await story.aedit_plan(1, "Bo sings.") == ["Bo sings."]
    assert await story.aedit_summary(1, EDIT) == EDIT
    assert (await story.aedit_brief(premise=EDIT))["premise"] == EDIT
    await story.arename("Nine")
    await story.aarchive()
    assert await library.astories() == []
    await story.aunarchive()
    assert len(await library.astories(archived=True)) == 1
    assert [event["event"] async for event in story.aedit_passage(1, TOLD)][-1] == "done"
    async for _ in story.aretry(1):
        pass
    async for _ in story.areplan():
        pass
    await story.achoose(2, at=0)
    assert (await story.astep()).step == 1
