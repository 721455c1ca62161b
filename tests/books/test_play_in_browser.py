"""A story that is played in Chromium: from a file, offline, by keyboard, without scripts, and whatever its texts look like."""

from dataclasses import replace

import pytest

from recurrentgpt.books.book import BranchPassage
from recurrentgpt.books.writers import write_book
from tests.conftest import PATIENCE

HOSTILE = (
    "<img src=x onerror=\"document.title = 'hacked'\"></template><script>document.title = 'hacked'</script> & 'so'"
)
LAMP, BOAT = "Mira lights the lamp.", "Mira takes the boat."


@pytest.fixture
def game(a_book, tmp_path):
    """Give a book of two passages in which the second could be another, or another take of that."""
    book = a_book(("The Lamp", ["Mira woke.", "The lamp was lit."]), language="English")
    passages = [
        BranchPassage("1", "", "", "Mira woke.", told=True),
        BranchPassage("2", "1", BOAT, "The boat was cold.", told=False),
        BranchPassage("3", "1", LAMP, "The lamp was lit.", told=True),
        BranchPassage("4", "1", BOAT, HOSTILE, told=False),
        BranchPassage("5", "4", HOSTILE, "She came home.", told=False, title="The Sea"),
    ]
    return write_book(replace(book, branch_passages=passages), tmp_path / "game.html", "play-html").as_uri()


@pytest.fixture
def open_file(browser):
    """Give a maker of pages that reach nothing but files; a request, an error or a broken policy fails the test."""
    contexts, faults = [], []

    def make(**options):
        context = browser.new_context(offline=True, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "about:")) or faults.append(request.url))
        page.on("console", lambda message: faults.append(message.text))
        return page

    yield make
    for context in contexts:
        context.close()
    assert not faults


def expect(locator):
    """Return what waits for something of a page."""
    # Here, as Playwright may be missing where no browser is asked for.
    from playwright.sync_api import expect as expected

    return expected(locator)


def reads(page, *passages):
    """Wait until the page shows these passages and no other."""
    expect(page.locator("main > article")).to_have_text(passages, timeout=PATIENCE)


def test_a_story_is_played_by_keyboard_and_keeps_its_place(game, open_file):
    page = open_file()
    page.goto(game)
    reads(page, "The Lamp Mira woke.")
    choices = page.get_by_role("navigation", name="What happens next").get_by_role("listitem")
    assert choices.all_inner_texts() == [f"{BOAT}\ntake 1 of 2", LAMP, f"{BOAT}\ntake 2 of 2"]
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    reads(page, "The Lamp Mira woke.", HOSTILE)
    expect(page.locator("article:focus")).to_have_id("p-4", timeout=PATIENCE)
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Go on", timeout=PATIENCE)
    page.keyboard.press("Enter")
    reads(page, "The Lamp Mira woke.", HOSTILE, "The Sea She came home.")
    assert page.url == f"{game}#p-5"
    page.reload()
    reads(page, "The Lamp Mira woke.", HOSTILE, "The Sea She came home.")
    expect(page.get_by_text("What was written ends here.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("link", name="Back", exact=True).click()
    reads(page, "The Lamp Mira woke.", HOSTILE)
    page.go_back()
    reads(page, "The Lamp Mira woke.", HOSTILE, "The Sea She came home.")
    page.get_by_role("link", name="Begin again").click()
    reads(page, "The Lamp Mira woke.")
    expect(page.get_by_role("heading", level=1)).to_be_focused(timeout=PATIENCE)
    page.get_by_role("link", name=LAMP).click()
    reads(page, "The Lamp Mira woke.", "The lamp was lit.")
    assert page.title() == "The Tide"
    page.goto(f"{game}#no-such-place")
    reads(page, "The Lamp Mira woke.")


def test_a_book_without_branches_goes_on(plain_book, tmp_path, open_file):
    page = open_file()
    page.goto(write_book(plain_book, tmp_path / "book.html", "play-html").as_uri())
    reads(page, "The Harbour Mara woke. She rose.")
    for _ in range(2):
        page.get_by_role("link", name="Go on").click()
    reads(page, "The Harbour Mara woke. She rose.", "The Debt He paid.", "It rained.")
    expect(page.get_by_role("link", name="Go on")).to_have_count(0, timeout=PATIENCE)


def test_one_that_can_begin_in_several_ways_asks_for_the_first(a_book, tmp_path, open_file):
    passages = [
        BranchPassage("1", "", LAMP, "The lamp was lit.", told=True),
        BranchPassage("2", "", BOAT, "The boat sank.", told=False),
    ]
    book = replace(a_book(("", ["The lamp was lit."])), branch_passages=passages)
    page = open_file()
    page.goto(write_book(book, tmp_path / "book.html", "play-html").as_uri())
    reads(page)
    page.get_by_role("link", name=BOAT).click()
    reads(page, "The boat sank.")
    page.get_by_role("link", name="Back").click()
    reads(page)


def test_without_scripts_it_is_the_branch_to_read(game, open_file):
    page = open_file(java_script_enabled=False)
    page.goto(game)
    reads(page, "The Lamp Mira woke.", "The lamp was lit.")
    expect(page.get_by_role("navigation")).to_have_count(0, timeout=PATIENCE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_lies_outside_and_all_can_be_read(game, open_file, scheme, width):
    page = open_file(color_scheme=scheme, viewport={"width": width, "height": 700})
    page.goto(f"{game}#p-1")
    page.get_by_role("link", name=LAMP).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert min(link.bounding_box()["height"] for link in page.locator("#next a:visible").all()) >= 44
    ink, paper, faint = page.evaluate(
        """() => [getComputedStyle(document.body).color, getComputedStyle(document.documentElement).backgroundColor,
                  getComputedStyle(document.querySelector('.take')).color]"""
    )
    assert contrast(ink, paper) > 7
    assert contrast(faint, paper) > 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_axe_objects_to_nothing(game, open_file, axe, scheme, width):
    page = open_file(color_scheme=scheme, viewport={"width": width, "height": 700})
    for place, passage in (("", "The Lamp Mira woke."), ("#p-4", HOSTILE), ("#p-5", "The Sea She came home.")):
        page.goto("about:blank")
        page.goto(game + place)
        expect(page.locator("main > article").last).to_have_text(passage, timeout=PATIENCE)
        axe(page, f"{place} at {width} px, {scheme}")


def contrast(one, other):
    """Return the contrast of two colours, `rgb(...)`, by WCAG 2."""
    lighter, darker = sorted(map(luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    """Return the relative luminance of a colour, `rgb(...)`."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
