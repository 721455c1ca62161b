"""A story of 2,000 passages opens at its end, scrolls anywhere, and shows its map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.tree import forked, grow
from recurrentgpt.library import Library
from tests.desk.conftest import Served, there_are
from tests.warm_process import WarmProcess

PASSAGES = 2000


@pytest.fixture(scope="module")
def long_desk(warm: WarmProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a desk with a story of many passages, and one with as many that fork everywhere."""
    served = Served(warm, tmp_path_factory.mktemp("long"))
    with Library.open(served.home) as library:
        grow(library, "straight", lambda grown: grown[-1] if grown else None, PASSAGES)
        grow(library, "forked", forked(PASSAGES // 2), PASSAGES)
    served.start()
    yield served
    served.end()


def passages_in(page: Any) -> int:
    count: int = page.locator("article.passage").count()
    return count


def test_a_long_story_opens_where_it_is_written(page: Any, long_desk: Served) -> None:
    page.goto(f"{long_desk.address}#/story/straight")
    page.get_by_text(f"Passage {PASSAGES}. The lamp").wait_for()
    page.locator(".plans .card").first.wait_for()
    page.get_by_text(f"passage {PASSAGES}", exact=True).wait_for()
    assert 0 < passages_in(page) < 100


@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_just_out_of_sight_is_there_before_it_is_scrolled_to(page: Any, long_desk: Served, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{long_desk.address}#/story/straight")
    page.get_by_text(f"Passage {PASSAGES}. The lamp").wait_for()
    # The last block's top goes below the fold, and the block before it into sight; heights become known meanwhile.
    page.wait_for_function(
        """() => {
            const leaf = document.querySelector('.manuscript'), last = [...document.querySelectorAll('.block')].at(-1);
            const below = last.getBoundingClientRect().top - innerHeight;
            if (100 < below && below < 1000 && last.previousElementSibling.querySelector('.prose')) return true;
            // A reader who acts is not scrolled any more.
            dispatchEvent(new WheelEvent('wheel'));
            (leaf.scrollHeight > leaf.clientHeight + 1 ? leaf : window).scrollBy(0, below - 500);
            return false;
        }"""
    )
    there_are(page.locator(".block").last.locator("article"), 8)


def test_it_scrolls_from_one_end_to_the_other(page: Any, long_desk: Served) -> None:
    page.goto(f"{long_desk.address}#/story/straight")
    page.get_by_text(f"Passage {PASSAGES}. The lamp").wait_for()
    page.locator(".manuscript").focus()
    page.keyboard.press("Home")
    page.get_by_text("Passage 1. The lamp").wait_for()
    page.keyboard.press("End")
    page.get_by_text(f"Passage {PASSAGES}. The lamp").wait_for()
    assert passages_in(page) < 100


def test_the_map_of_a_long_story_draws_what_is_in_sight(page: Any, long_desk: Served) -> None:
    page.goto(f"{long_desk.address}#/story/forked")
    page.locator(".plans .card").first.wait_for()
    page.keyboard.press("m")
    page.locator(".node.head").wait_for()
    assert 1 < page.locator(".node").count() < 800
    page.keyboard.press("Home")
    page.locator(".node", has_text="·").wait_for()
    assert page.locator(".node").count() < 800
