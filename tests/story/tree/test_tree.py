"""The tree as data: branches, where each left, and what differs between two takes."""

import json
import re

import pytest

from recurrentgpt.engine.diff import changes, sentence_changes
from recurrentgpt.engine.tree import Tree
from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.story import Story

EDIT = "Zoltan owes Mira a horse."


def link(key, parent="", step=0, words=0, **more):
    return {"id": key, "parent": parent, "amends": "", "step": step, "words": words, "author": "model", **more}


def test_branches_say_where_they_left(each_library, settings):
    story = Story.new("fantasy", "Mira tends a lamp.", library=each_library, **settings())
    list(story.stream(3))
    first = story.passages()
    story.choose(2, at=1)
    list(story.stream(2))
    second = story.passages()
    list(story.retry(2))
    third = story.passages()
    story.name_branch("dark")
    story.goto(first[2].id)
    tree = story.tree()
    assert (tree.story, tree.title, tree.head, tree.names) == (
        story.id,
        story.title,
        first[2].id,
        {"dark": third[1].id},
    )
    own, *others = tree.branches
    assert own.nodes == (story.resolve(0), *(passage.id for passage in first))
    assert (own.left, own.tip, own.is_head, own.first_step, own.last_step) == ("", first[2].id, True, 0, 3)
    assert own.words == sum(tree.nodes[passage.id].words for passage in first) > 600
    assert {(branch.nodes, branch.left, branch.names) for branch in others} == {
        (tuple(passage.id for passage in second[1:]), first[0].id, ()),
        ((third[1].id,), first[0].id, ("dark",)),
    }
    assert not any(branch.is_head or branch.superseded for branch in others)
    assert set(tree.tips) == {branch.tip for branch in tree.branches}
    assert sorted(key for branch in tree.branches for key in branch.nodes) == sorted(tree.nodes)
    assert tree.path(second[2].id) == [story.resolve(0), *(passage.id for passage in second)]
    assert all(node.created and node.author == "model" for node in tree.nodes.values())
    with pytest.raises(StoryNotFound):
        tree.path("nonsense")


def test_a_story_taken_back_still_shows_what_lies_ahead(written):
    story = written(3)
    story.undo(2)
    (branch,) = story.tree().branches
    assert (branch.is_head, branch.last_step) == (True, 3)


def test_only_versions_with_the_same_text_are_superseded(written):
    story = written(2)
    old = story.head
    story.edit_memory(EDIT)
    once = story.head
    assert [(branch.tip, branch.superseded) for branch in story.tree().branches] == [(once, False), (old, True)]
    list(story.edit_passage(2, EDIT))
    story.edit_plan(1, EDIT)
    hidden = {branch.tip: branch.superseded for branch in story.tree().branches}
    assert (hidden[story.head], hidden[once], hidden[old]) == (False, False, True)
    story.goto(old)
    assert not any(branch.superseded for branch in story.tree().branches if branch.is_head)


def test_a_tree_is_plain_json(written):
    story = written(2)
    story.name_branch("dark")
    list(story.retry(1))
    plain = story.tree().as_json()
    assert json.loads(json.dumps(plain)) == plain
    assert len(plain["passages"]) == 4
    assert [branch["is_head"] for branch in plain["branches"]] == [True, False]
    assert {"id", "parent", "amends", "step", "words", "author", "created", "names"} <= set(plain["passages"][0])


def test_a_chart_has_a_box_for_each_run_between_forks(written):
    story = written(4)
    story.choose(2, at=2)
    story.step()
    story.name_branch('"]; click p1 #quot; <b>`x`\\')
    chart = story.tree().mermaid()
    assert chart.startswith("flowchart TD\n")
    assert [name for name in re.findall(r"\[\"(\S+(?: to \d)?) ", chart)] == ["0 to 2", "3", "3 to 4"]
    boxes = re.findall(r'(?:(p\d) --> )?(p\d)\["([\w .,·#;-]*)"\]', chart)
    assert [(before, box) for before, box, _ in boxes] == [("", "p1"), ("p1", "p2"), ("p1", "p3")]
    assert "#34;#93;#59; click p1 #35;quot#59; #60;b#62;" in boxes[1][2]
    assert "head" in boxes[1][2]
    assert chart.count('"') == 6


def test_rows_of_earlier_versions_are_drawn_too():
    tree = Tree("s", "Nine", "b", [link("b", "a", 1, 9), link("a")])
    assert [node.id for node in tree.nodes.values()] == ["a", "b"]
    assert tree.branches[0].nodes == ("a", "b")
    assert Tree("s", "Nine", "", []).branches == []
    assert Tree("s", "Nine", "", []).mermaid() == "flowchart TD\n"


def test_two_takes_are_compared_word_by_word(written):
    story = written(2)
    first = story.passage()
    list(story.retry())
    second = story.passage()
    diff = story.diff(first.id, second.id)
    assert (diff.a, diff.b) == (first, second)
    assert "".join(change.before for change in diff.text) == first.text
    assert "".join(change.after for change in diff.text) == second.text
    assert "".join(change.before for change in diff.sentences) == first.text
    assert "".join(change.after for change in diff.sentences) == second.text
    assert {change.kind for change in diff.plan} == {"same"}
    old, new = first.short_term_memory.splitlines(), second.short_term_memory.splitlines()
    assert diff.memory_dropped == [line for line in old if line not in new] != []
    assert diff.memory_added == [line for line in new if line not in old] != []
    plain = diff.as_json()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["a"] == first.id
    assert story.diff(1, 2).text


def test_texts_are_compared_sentence_by_sentence():
    before = 'Mira runs far.  Bo sleeps.\n\n"Well?" asked Dr. Lind. It rains.'
    after = 'Bo sleeps. "Well?" asked Dr. Holm. It snows. It rains.'
    found = sentence_changes(before, after)
    assert [(change.kind, change.before.strip(), change.after.strip()) for change in found] == [
        ("removed", "Mira runs far.", ""),
        ("same", "Bo sleeps.", "Bo sleeps."),
        ("changed", '"Well?" asked Dr. Lind.', '"Well?" asked Dr. Holm. It snows.'),
        ("same", "It rains.", "It rains."),
    ]
    assert "".join(change.before for change in found) == before
    assert "".join(change.after for change in found) == after
    japanese = sentence_changes("夜だった。朝が来た。", "夜だった。昼が来た。", "Japanese")
    assert [change.kind for change in japanese] == ["same", "changed"]


@pytest.mark.parametrize(("before", "after", "kinds"), [
    ("Mira runs.", "Mira runs.", ["same"]),
    ("Mira runs.", "Bo runs.", ["changed", "same"]),
    ("Mira runs.", "Mira runs. Bo sleeps.", ["same", "added"]),
    ("Mira runs. Bo sleeps.", "Bo sleeps.", ["removed", "same"]),
    ("", "Bo", ["added"]), ("", "", []), ("\n Mira\n\nruns ", "\n Mira runs ", ["same"]),
    ("word " * 3000, "word " * 2999 + "end", ["same", "changed"]),
])  # fmt: skip
def test_words_that_differ(before, after, kinds):
    found = changes(before, after)
    assert [change.kind for change in found] == kinds
    assert "".join(change.before for change in found) == before
    assert "".join(change.after for change in found) == after
