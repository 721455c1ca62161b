"""The codex corrected at an older passage: true from there on, and every later passage stays as it is."""

import pytest

from recurrentgpt import Library
from recurrentgpt.engine import rebase
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.story import Story

DEAD = "Zoltan fell from the bridge and died before anybody reached him. The river took his hat."
WALKS = "The kettle sang in the empty kitchen. Zoltan walked to the stove and lit it with a long match."
KEPT = (
    "step",
    "text",
    "plan",
    "plan_author",
    "plans",
    "author",
    "short_term_memory",
    "rationale",
    "summary",
    "unreached",
)


def kept(passages):
    return [tuple(getattr(passage, name) for name in KEPT) for passage in passages]


def looks(story, at=None):
    return story.codex("Zoltan", at)[0].value("look")


def contradicting(story: Story) -> None:
    """Let passage 3 say what cannot be, as the codex says by passage 2, and two more passages follow."""
    list(story.stream(2))
    list(story.edit_passage(2, DEAD))
    story.add_entry("Zoltan", "person")
    story.edit_entry("Zoltan", "status", "dead")
    list(story.stream(1))
    list(story.edit_passage(3, WALKS))
    list(story.stream(2))
    assert [len(passage.contradictions) for passage in story.passages()] == [0, 0, 1, 0, 0]


def test_a_correction_at_an_older_passage_keeps_the_later_ones(each_library, settings, model, log):
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, **settings())
    list(story.stream(5))
    story.add_entry("Zoltan", "person")
    story.edit_summary(4, "Nothing but rain.")
    story.name_branch("rain")
    story.choose("They wait for the ferry.")
    old, head, known, calls = story.passages(), story.head, log(story), len(model.calls)
    entry = story.edit_entry("Zoltan", "look", "a scar", 2)
    assert entry.value("look") == "a scar"
    new = story.passages()
    assert kept(new) == kept(old)
    assert len(model.calls) == calls
    assert [looks(story, at) for at in range(1, 6)] == ["", "a scar", "a scar", "a scar", "a scar"]
    assert [passage.amends for passage in new[1:]] == [passage.id for passage in old[1:]]
    assert all(one["id"] in story.tree().path() for passage in new for one in log(story)[passage.id]["recalled"])
    assert {key: log(story)[key] for key in known} == known
    assert (story.waiting_plan, story.tree().names) == ("They wait for the ferry.", {"rain": story.head})
    assert story.usage_at() == story.usage_at(head)
    assert story.undo().id == head
    assert (kept(story.passages()), looks(story)) == (kept(old), "")
    assert story.redo().id == new[-1].id
    list(story.stream(1))
    assert (story.passage().step, looks(story)) == (6, "a scar")


def test_a_contradiction_is_meant_so_at_an_older_passage(begin, model):
    story = begin()
    contradicting(story)
    old, head, calls = story.passages(), story.head, len(model.calls)
    story.accept_contradiction(1, 3)
    assert kept(story.passages()) == kept(old)
    assert len(model.calls) == calls
    assert [passage.contradictions for passage in story.passages()] == [[]] * 5
    assert [story.codex("Zoltan", at)[0].value("status") for at in (2, 3, 5)] == ["dead", "alive", "alive"]
    assert story.undo().id == head
    assert story.codex("Zoltan")[0].value("status") == "dead"


def test_what_the_author_says_of_the_branch_ends_and_the_later_passages_stay(begin):
    story = begin()
    list(story.stream(4))
    story.add_entry("Zoltan", "person", ["Zoltan fears dogs."])
    old = story.passages()
    assert story.edit_entry("Zoltan", "fact", "Zoltan fears dogs.", 2, end=True).lines == ()
    assert kept(story.passages()) == kept(old)
    assert story.codex("Zoltan")[0].lines == ()


def test_a_contradiction_names_the_passage_of_its_own_branch(begin):
    story = begin()
    contradicting(story)
    story.edit_entry("Zoltan", "look", "a scar", 2)
    (found,) = story.passage(3).contradictions
    assert found["passage"] == story.passage(2).id


@pytest.mark.parametrize("end", [True, False])
def test_nothing_contradicts_what_the_author_takes_back(begin, end):
    story = begin()
    contradicting(story)
    head, (found,) = story.head, story.passage(3).contradictions
    story.edit_entry("Zoltan", "fact", "Zoltan limps.", 2)
    assert len(story.passage(3).contradictions) == 1
    story.edit_entry("Zoltan", "status", "dead" if end else "alive", 2, end=end)
    assert [passage.contradictions for passage in story.passages()] == [[]] * 5
    story.undo(2)
    assert (story.head, story.passage(3).contradictions) == (head, [found])


def test_a_thing_that_is_found_has_what_the_passage_says_of_it(begin):
    story = begin()
    list(story.stream(2))
    story.add_entry("silver watch", "thing")
    story.edit_entry("silver watch", "status", "lost", 2)
    list(story.stream(1))
    found = "Jonas took the silver watch from his pocket."
    list(story.edit_passage(3, f"Rain fell on the bridge all morning. {found}"))
    list(story.stream(1))
    assert [one["rule"] for one in story.passage(3).contradictions] == ["lost"]
    story.accept_contradiction(1, 3)
    watch = story.codex("silver watch")[0]
    assert [(line.aspect, line.text, line.step) for line in watch.lines] == [("fact", found, 3)]
    assert watch.lines[0].rests_on == found


def test_what_a_writer_was_sent_is_told_after_a_correction_before_it(begin):
    story = begin()
    list(story.stream(4))
    story.add_entry("Zoltan", "person")
    sent = story.written_from(4)
    story.edit_entry("Zoltan", "look", "a scar", 2)
    assert story.written_from(4) == sent


def test_a_passage_of_another_branch_is_corrected_there(begin):
    story = begin()
    list(story.stream(3))
    other = story.head
    story.add_entry("Zoltan", "person")
    list(story.retry())
    with pytest.raises(StoryError, match="go to its branch first"):
        story.edit_entry("Zoltan", "look", "a scar", other)


def test_a_story_that_was_corrected_further_back_is_whole_and_travels(begin, tmp_path):
    story = begin()
    contradicting(story)
    story.accept_contradiction(1, 3)
    with Library.open(tmp_path / "elsewhere") as library:
        again = library.restore(story.export(tmp_path / "story.json"))
        assert kept(again.passages()) == kept(story.passages())
        assert again.codex() == story.codex()
        assert again.undo().step == 5


def test_what_is_recalled_is_embedded_once(begin, settings):
    """The vectors of the passages that stay are kept, and no model is loaded for them."""
    story = begin()
    list(story.stream(70))
    story.add_entry("Zoltan", "person")
    found = story.search("the lamp", 9)
    embeddings = story.context.embeddings
    asked, embed = [], type(embeddings).embed_documents

    class Counting(type(embeddings)):
        def embed_documents(self, texts):
            asked.extend(texts)
            return embed(self, texts)

    embeddings.__class__ = Counting
    story.edit_entry("Zoltan", "look", "a scar", 2)
    assert not asked
    again = story.search("the lamp", 9)
    assert [(hit.step, hit.piece) for hit in again] == [(hit.step, hit.piece) for hit in found]
    assert len(asked) < 60


def test_whoever_is_cut_off_stands_on_the_old_branch_or_on_the_new_one(begin, monkeypatch):
    monkeypatch.setattr(rebase, "AT_ONCE", 2)
    story = begin()
    list(story.stream(6))
    story.add_entry("Zoltan", "person")
    old, head, batch = story.passages(), story.head, StoryLog.batch
    left = 0

    async def failing(log, operations):
        nonlocal left
        operations = list(operations)
        if any(type(operation).__name__ == "PutOp" for operation in operations):
            if not left:
                raise OSError("The power went off.")
            left -= 1
        return await batch(log, operations)

    for writes in range(20):
        left = writes
        monkeypatch.setattr(StoryLog, "batch", failing)
        try:
            story.edit_entry("Zoltan", "look", "a scar", 2)
        except OSError:
            monkeypatch.setattr(StoryLog, "batch", batch)
            assert (story.head, looks(story)) == (head, "")
            continue
        monkeypatch.setattr(StoryLog, "batch", batch)
        break
    assert writes >= 3, "what was appended is found there the next time"
    assert (kept(story.passages()), looks(story)) == (kept(old), "a scar")
    assert story.undo().id == head
