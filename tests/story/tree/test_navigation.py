"""To go somewhere, take back, do again, and name: the head moves, and nothing else."""

import pytest
from filelock import FileLock

from recurrentgpt.engine.refs import resolve
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.schema.errors import SettingsError, StoryBusy, StoryError, StoryNotFound
from recurrentgpt.story import Story

EDIT = "Zoltan owes Mira a horse."


def test_undo_and_redo_walk_along_the_branch(each_library, settings, log):
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, **settings())
    list(story.stream(4))
    ids, kept = [passage.id for passage in story.passages()], log(story)
    assert story.undo().id == ids[2]
    assert story.undo(2).id == ids[0]
    assert [passage.id for passage in story.passages()] == ids[:1]
    assert story.redo(2).id == ids[2]
    assert story.undo(3).step == 0
    assert story.passages() == []
    assert story.redo(4).id == ids[3]
    assert log(story) == kept


def test_undo_and_redo_say_how_far_they_can_go_and_change_nothing(written):
    story = written(2)
    head = story.head
    with pytest.raises(StoryError, match=r"^Only 2 steps can be undone here"):
        story.undo(3)
    with pytest.raises(StoryError, match=r"^Nothing can be done again"):
        story.redo()
    for bad in (0, -1):
        for move in (story.undo, story.redo):
            with pytest.raises(SettingsError, match=f"1 or more; it is {bad}"):
                move(bad)
    assert story.head == head
    story.undo()
    with pytest.raises(StoryError, match=r"^Only 1 step can be done again"):
        story.redo(2)
    story.undo()
    with pytest.raises(StoryError, match=r"^Nothing can be undone here"):
        story.undo()
    assert story.redo(2).id == head


def test_a_new_passage_ends_what_can_be_done_again(written, log):
    story = written(3)
    lost = story.head
    story.undo()
    new = story.step()
    assert new.parent == story.passages()[1].id
    with pytest.raises(StoryError, match="Nothing can be done again"):
        story.redo()
    assert lost in log(story)
    assert story.goto(lost).id == lost


def test_an_edit_by_hand_is_a_step_to_undo(written):
    story = written(2)
    before, memory = story.head, story.memory
    story.edit_memory(EDIT)
    story.edit_plan(1, "Bo hides a spoon.")
    assert story.undo().short_term_memory == EDIT
    assert story.undo().id == before
    assert story.memory == memory
    story.redo(2)
    assert (story.memory, story.plans[0]) == (EDIT, "Bo hides a spoon.")


def test_an_edit_further_back_is_undone_to_where_the_story_stood(written):
    story = written(4)
    head = story.head
    story.edit_memory(EDIT, at=2)
    assert [passage.step for passage in story.passages()] == [1, 2]
    edited = story.head
    assert story.undo().id == head
    assert story.redo().id == edited


def test_a_choice_that_waits_is_there_again_after_undo_and_redo(written, write_prompts):
    story = written(2)
    plan = story.choose("Zephyrine swims beneath the aqueduct.")
    story.undo()
    assert story.waiting_plan is None
    story.redo()
    assert story.waiting_plan == plan
    assert story.step().plan == plan
    assert plan in write_prompts()[-1]


def test_a_passage_is_named_by_id_prefix_step_and_name(written):
    story = written(3)
    ids = [passage.id for passage in story.passages()]
    for ref in (ids[1], ids[1].upper(), f" {ids[1][:12]} ", 2, "2", "02"):
        assert story.resolve(ref) == ids[1]
    assert story.resolve("Opening") == story.resolve(0) == story.passage("0").id
    assert story.passage(0).text == ""
    assert story.name_branch("  The  Lamp ", 2) == "The Lamp"
    assert story.resolve("the lamp") == ids[1]
    assert story.passage().id == ids[2]


@pytest.mark.parametrize("ref", ["", "   ", "zz", -1, "-1", "9" * 5000, "²", "0x1", "a" * 24, "\x00", "*", "%"])
def test_what_no_passage_answers_to_is_one_sentence(written, ref):
    story = written(1)
    with pytest.raises(StoryNotFound, match=r"has no passage .*from 0 to 1 or the beginning of an id; .*tree"):
        story.goto(ref)
    assert story.passage().step == 1


@pytest.mark.parametrize("ref", ["2", 99, "12345678"])
def test_a_number_is_a_step_and_never_the_beginning_of_an_id(written, ref):
    story = written(1)
    known = call(lambda: story.engine.log.links(story.id))
    elsewhere = {**known, **{key * 8: known[story.head] for key in ("222", "999", "123")}}
    with pytest.raises(StoryNotFound, match=f"has no passage {ref}: its newest is 1.*tree"):
        call(lambda: resolve(story.engine.log, story.id, ref, elsewhere))


def test_a_passage_of_another_story_is_none_of_this_one(written):
    one, other = written(1), written(1)
    with pytest.raises(StoryNotFound, match="has no passage"):
        one.goto(other.head)


def test_a_beginning_that_several_ids_have_lists_them(written):
    story = written(1)
    known = call(lambda: story.engine.log.links(story.id))
    two = {"a" * 12 + end * 12: known[story.head] for end in "bc"}
    with pytest.raises(StoryNotFound, match=r"2 passages begin with 'a{12}': .*step 1.*Give more of the id"):
        call(lambda: resolve(story.engine.log, story.id, "a" * 12, {**known, **two}))


def test_a_name_goes_along_with_the_head_that_carries_it(written):
    story = written(2)
    story.name_branch("dark")
    tip = story.step().id
    assert story.names() == {"dark": tip}
    story.edit_memory(EDIT)
    assert story.names() == {"dark": story.head}
    dark = story.head
    story.undo(2)
    story.choose(2)
    other = story.step().id
    assert story.names() == {"dark": dark}, "a fork leaves the name where it was"
    story.name_branch("light")
    story.goto("Dark")
    grown = story.step().id
    assert story.names() == {"dark": grown, "light": other}
    list(story.retry())
    assert story.names() == {"dark": grown, "light": other}, "another take is not the branch that was named"
    assert story.goto("light").id == other
    assert story.goto(grown[:10]).id == grown
    assert story.names()["dark"] == grown != story.step().id == story.names()["dark"]


def test_two_names_at_one_passage_part_there(written):
    story = written(1)
    story.name_branch("left")
    story.name_branch("right")
    fork = story.head
    story.goto("left")
    left = story.step().id
    story.goto("right")
    right = story.step().id
    assert story.names() == {"left": left, "right": right}
    story.name_branch("LEFT", fork)
    assert story.resolve("left") == fork, "a name given again moves, whatever its case"
    story.remove_name("left")
    assert story.names() == {"right": right}
    with pytest.raises(StoryError, match=r"No branch is called 'left'; the names are right\."):
        story.remove_name("left")
    story.step()
    assert story.names() == {"right": story.head}


@pytest.mark.parametrize("name", ["", " ", "x" * 61, "12", "Opening", "a\x07b", "0123456789abcdef01234567", "\ud800"])
def test_a_name_that_could_be_taken_for_something_else_is_refused(written, name):
    with pytest.raises(SettingsError):
        written(1).name_branch(name)


def test_a_name_is_told_of_the_character_in_it_that_nobody_sees(written):
    with pytest.raises(SettingsError, match=r"holds '\\x1b', a character that nobody sees"):
        written(1).name_branch("\x1b[31mred")


def test_nobody_moves_a_story_that_another_process_is_writing(written):
    story = written(2)
    with FileLock(story.engine.locks / f"{story.id}.lock"):
        for move in (
            lambda: story.goto(1),
            story.undo,
            lambda: story.name_branch("dark"),
            lambda: list(story.retry()),
            lambda: list(story.replan()),
            lambda: story.choose(1, at=1),
            lambda: list(story.edit_passage(1, EDIT, replay=True)),
            lambda: list(story.edit_passage(1, EDIT)),
            lambda: story.edit_memory(EDIT, at=1),
            lambda: story.edit_summary(1, EDIT),
            lambda: story.edit_brief(premise=EDIT),
            lambda: story.rename("Nine"),
            story.archive,
        ):
            with pytest.raises(StoryBusy):
                move()
    assert len(story.tree().nodes) == 3


async def test_the_same_awaited(written, settings):
    story = written(3)
    ids = [passage.id for passage in story.passages()]
    assert (await story.aundo(2)).id == ids[0]
    assert (await story.aredo()).id == ids[1]
    assert (await story.agoto(3)).id == ids[2]
    assert await story.aname_branch("dark") == "dark"
    assert await story.anames() == {"dark": ids[2]}
    await story.aremove_name("dark")
    assert await story.aresolve(1) == ids[0]
    assert (await story.apassage(ids[0])).step == 1
    assert (await story.atree()).head == ids[2]
    assert (await story.adiff(1, 2)).a.id == ids[0]


def test_a_name_goes_with_an_edit_and_comes_back_with_it(written):
    story = written(3)
    story.name_branch("dark")
    tip = story.head
    list(story.edit_passage(2, EDIT, replay=True))
    edited = story.head
    assert story.names() == {"dark": edited}
    story.undo()
    assert (story.head, story.names()) == (tip, {"dark": tip})
    story.redo()
    assert (story.head, story.names()) == (edited, {"dark": edited})
    story.undo(2)
    assert story.names() == {"dark": edited}, "to go further back leaves it at its branch"
