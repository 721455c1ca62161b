"""A story as a page to play: the choices are those that were written, on whatever branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from lxml import html

from recurrentgpt.engine.reader import StoryReader
from recurrentgpt.engine.refs import Ref
from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.schema.log import Commit
from recurrentgpt.story import Story

LAMP, BOAT = "Mira lights the lamp.", "Mira takes the boat."


@pytest.fixture
def played(tmp_path: Path) -> Callable[..., tuple[list[str], dict[str, list[tuple[str, str, str]]]]]:
    """Give what a page to play tells: the texts of its branch, and by text what follows it, as (choice, take, text)."""

    def read(story: Story, **options: Any) -> tuple[list[str], dict[str, list[tuple[str, str, str]]]]:
        path = story.export(tmp_path / "game.html", "play-html", force=True, **options)
        page = html.document_fromstring(path.read_bytes())
        articles = sorted(page.xpath("//article"), key=lambda article: int(article.get("data-number")))
        texts = {article.get("id"): "\n\n".join(p.text_content() for p in article.findall("p")) for article in articles}
        assert len(texts) == len(articles)
        ways: dict[str, list[tuple[str, str, str]]] = {}
        for article in articles:
            before = texts[article.get("data-after")] if article.get("data-after") else ""
            way = (article.get("data-choice"), article.get("data-take"), texts[article.get("id")])
            ways.setdefault(before, []).append(way)
        return [texts[article.get("id")] for article in page.xpath("//main/article")], ways

    return read


@pytest.fixture
def story(begin: Callable[..., Story]) -> Story:
    """Give a story of which the second passage was written from two plans, and from the second of them twice."""
    story = begin()
    story.step()
    for plan in (LAMP, BOAT):
        story.choose(plan, at=1)
        story.step()
    list(story.retry())
    return story


def test_every_plan_that_was_carried_out_is_a_choice_and_takes_are_told_apart(story: Story, played: Any) -> None:
    told, ways = played(story)
    first, last = story.passages()
    assert told == [first.text, last.text]
    assert [way[:2] for way in ways[first.text]] == [(LAMP, ""), (BOAT, "take 1 of 2"), (BOAT, "take 2 of 2")]
    assert ways[first.text][2][2] == last.text
    assert [way[2] for way in ways[""]] == [first.text]
    assert set(ways) == {"", first.text}


def test_passages_after_the_place_where_the_story_stands_are_there(story: Story, played: Any) -> None:
    story.goto(1)
    told, ways = played(story)
    assert len(told) == 1
    assert len(ways[told[0]]) == 3


def test_versions_that_read_alike_are_one(story: Story, played: Any) -> None:
    before = played(story)
    story.edit_memory("Mira has a boat.")
    story.edit_plans(["She rows.", "She waits."])
    assert played(story) == before
    story.edit_memory("Mira has a lamp.", 1)
    story.choose(LAMP)
    story.step()
    told, ways = played(story)
    assert [way[2] for way in ways[""]] == [told[0]] == before[0][:1]
    assert [way[:2] for way in ways[told[0]]][:1] == [(LAMP, "take 1 of 2")]
    assert len(ways[told[0]]) == 4


def test_a_text_that_was_replaced_is_no_choice(begin: Callable[..., Story], played: Any) -> None:
    story = begin()
    for _ in range(3):
        story.step()
    texts = [passage.text for passage in story.passages()]
    list(story.edit_passage(2, "Nobody came.", replay=True))
    assert played(story) == ([texts[0], "Nobody came.", texts[2]], played(story)[1])
    assert {text: len(ways) for text, ways in played(story)[1].items()} == {"": 1, texts[0]: 1, "Nobody came.": 1}
    story.replace("Nobody", "No one")
    (first, _, _), ways = played(story)
    assert [len(found) for found in ways.values()] == [1, 1, 1]
    list(story.edit_passage(1, "It rained."))
    told, ways = played(story)
    assert told == ["It rained."]
    assert [way[1:] for way in ways[""]] == [("take 1 of 2", first), ("take 2 of 2", "It rained.")], "it goes on"
    assert len(ways) == 3
    story.undo()
    told, ways = played(story)
    assert [len(told), len(ways[""])] == [3, 2]


def test_a_long_story_without_branches_has_one_way(begin: Callable[..., Story], played: Any) -> None:
    story = begin()
    for _ in range(3):
        story.step()
    told, ways = played(story)
    assert told == [passage.text for passage in story.passages()]
    assert [[way[2] for way in found] for found in ways.values()] == [[text] for text in told]


def test_other_branches_have_the_marks_that_are_wanted_and_what_a_player_did(
    begin: Callable[..., Story], played: Any
) -> None:
    story = begin(mode="fiction")
    story.step()
    for plan in ('You say "No".', 'You say "Yes".'):
        story.choose(plan, at=1)
        story.step()
    _, ways = played(story, quotes=True)
    (found,) = [found for found in ways.values() if len(found) == 2]
    assert [choice for choice, _, _ in found] == ["You say “No”.", "You say “Yes”."]
    assert [text.partition("\n\n")[0] for _, _, text in found] == ["> You say “No”.", "> You say “Yes”."]


def test_a_story_that_moves_while_it_is_exported_is_told_as_it_stood_at_the_beginning(
    story: Story, played: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = played(story)
    read, first = StoryReader.commits, story.passage(1)

    async def move_afterwards(reader: StoryReader, ref: Ref | None = None) -> list[Commit]:
        found = await read(reader, ref)
        await cast(StoryLog, reader.log).move_head(await reader.log.get(story.id, first.id), "writing")
        return found

    monkeypatch.setattr(StoryReader, "commits", move_afterwards)
    assert played(story) == expected
