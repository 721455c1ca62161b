"""Take a picture of each view of the desk: python -m docs.screenshots [ADDRESS] [-o FOLDER].

Without an address it starts a desk with a scripted model. With one (`recurrentgpt desk --no-browser` prints it) it writes
a short story there with whatever model that desk uses. It needs Chromium (`apt-get install chromium`) and playwright.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.desk.scripted import scripted_desk

COLOURS = 128
PREMISE = "A lighthouse keeper finds a stranger's diary, and in it a name that is her own."
PATIENCE = 600_000
"""Milliseconds for a passage of a model on a slow machine."""


def settled(page: Page) -> None:
    """Wait until the plans are there and nothing is being written."""
    page.locator(".plans .plan").first.wait_for(timeout=PATIENCE)
    page.wait_for_timeout(900)


def press(page: Page, key: str) -> None:
    """Press a key that begins some writing, and wait for its end."""
    page.keyboard.press(key)
    page.locator(".busy").wait_for(timeout=10_000)
    settled(page)


def write_a_story(page: Page, address: str, take: Take) -> str:
    """Write a story with branches, taking pictures on the way; return its address."""
    page.goto(address)
    page.get_by_label("What is it about?").fill(PREMISE)
    page.get_by_label("mystery").check(force=True)
    take("start")
    page.get_by_role("button", name="Begin").click()
    page.locator(".draft p").first.wait_for(timeout=PATIENCE)
    page.wait_for_timeout(600)
    take("writing")
    settled(page)
    for key in "2131":
        press(page, key)
    press(page, "a")
    page.keyboard.press("w")
    page.get_by_label("Your plan for the next passage").fill("She reads the last page aloud, and somebody answers.")
    take("own-plan")
    page.get_by_role("button", name="Write from it").click()
    page.locator(".busy").wait_for()
    settled(page)
    take("choices")
    return page.url


def play_a_part(page: Page, address: str, take: Take) -> None:
    """Take a picture of a story that is played."""
    take.page = page
    page.goto(address)
    page.get_by_label("play a part in it").check(force=True)
    page.get_by_label("Who do you play?").fill("the cook of a whaling ship")
    page.get_by_role("button", name="Begin").click()
    settled(page)
    press(page, "1")
    take("play")


def look_around(page: Page, take: Take) -> None:
    """Take pictures of every view of a written story."""
    page.locator("article .number").last.click()
    page.get_by_role("button", name="Edit", exact=True).first.wait_for()
    page.locator("article").nth(2).dblclick()
    page.locator("article textarea").first.wait_for()
    page.wait_for_timeout(700)
    take("edit")
    page.keyboard.press("Escape")
    page.locator("#memory").scroll_into_view_if_needed()
    if (folded := page.locator("details summary")).count():
        folded.first.click()
    page.locator(".memory .found-list li").last.scroll_into_view_if_needed()
    take("memory")
    page.locator("h1").first.click(position={"x": 1, "y": 1}, trial=True)
    page.evaluate("document.activeElement.blur()")
    for key, name in (("m", "map"), ("/", "search"), ("?", "keys")):
        page.keyboard.press(key)
        page.locator("dialog[open]").wait_for()
        if name == "map":
            page.locator(".node").nth(2).hover()
        if name == "search":
            page.get_by_role("searchbox").fill("who wrote the diary")
            page.keyboard.press("Enter")
            page.locator("dialog .found-list li").first.wait_for()
        page.wait_for_timeout(500)
        take(name)
        if name == "map":
            page.locator(".node:not(.on)").last.click()
            page.get_by_role("button", name="Compare").click()
            page.locator("dialog .sides").wait_for()
            take("compare")
            page.get_by_role("button", name="Back to the map").click()
            page.locator(".node").first.wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
    for name in ("Contents", "Page", "Settings", "Export"):
        page.get_by_role("button", name=name, exact=name != "Contents").click()
        page.locator("dialog[open]").wait_for()
        page.wait_for_timeout(400)
        take(name.casefold())
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
    page.get_by_role("article").last.locator(".prose p").first.evaluate(
        "prose => getSelection().selectAllChildren(prose)"
    )
    page.get_by_role("group", name="Work on the selection").get_by_role("button", name="Shorten").click()
    page.get_by_role("button", name="Leave it").wait_for(timeout=PATIENCE)
    settled(page)
    take("suggestion")
    page.get_by_role("button", name="Leave it").click()
    page.locator("#codex").scroll_into_view_if_needed()
    take("codex")


class Take:
    """Save pictures of a page under a theme's name."""

    def __init__(self, page: Page, folder: Path, theme: str) -> None:
        self.page, self.folder, self.theme = page, folder, theme

    def __call__(self, name: str) -> None:
        """Save the page as it is, in few colours: text needs no more, and the picture is a third as large."""
        path = self.folder / f"desk-{name}-{self.theme}.png"
        self.page.screenshot(path=path)
        with Image.open(path) as taken:
            taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def page_of(browser: Browser, theme: str, width: int = 1280, height: int = 860) -> Page:
    """Return a page of this theme and size."""
    scheme = "dark" if theme == "dark" else "light"
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": height}, "reduced_motion": "reduce"}
    return browser.new_context(**options).new_page()


def main() -> None:
    """Take the pictures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("address", nargs="?")
    options.add_argument("-o", "--output", type=Path, default=Path(__file__).parent / "images")
    given = options.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        if given.address:
            take_all(browser, given.address, given.output)
        else:
            with tempfile.TemporaryDirectory() as home, scripted_desk(Path(home), 0.01) as address:
                take_all(browser, address, given.output)


def take_all(browser: Browser, address: str, folder: Path) -> None:
    """Write a story in the light, and look at it in the light, in the dark and on a narrow screen."""
    page = page_of(browser, "light")
    story = write_a_story(page, address, Take(page, folder, "light"))
    look_around(page, Take(page, folder, "light"))
    play_a_part(page_of(browser, "light"), address, Take(page, folder, "light"))
    dark = page_of(browser, "dark")
    dark.goto(story)
    settled(dark)
    Take(dark, folder, "dark")("choices")
    look_around(dark, Take(dark, folder, "dark"))
    narrow = page_of(browser, "narrow", 390, 844)
    narrow.goto(address)
    narrow.locator(".stories li").first.wait_for()
    Take(narrow, folder, "narrow")("start")
    narrow.goto(story)
    settled(narrow)
    Take(narrow, folder, "narrow")("story")
    narrow.locator("#next").scroll_into_view_if_needed()
    narrow.evaluate("document.getElementById('next').scrollIntoView()")
    narrow.wait_for_timeout(400)
    Take(narrow, folder, "narrow")("choices")
    narrow.get_by_role("button", name="Map").click()
    narrow.locator(".node").first.wait_for()
    Take(narrow, folder, "narrow")("map")


if __name__ == "__main__":
    main()
