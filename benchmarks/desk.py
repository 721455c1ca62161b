"""Time the desk's page in a browser: `python -m benchmarks.desk [--passages 2000] [--chapters 60]`.

Prints JSON. For a long story in chapters: milliseconds until the page has painted something, until its newest passage and its
plans stand there, and from the key to the contents; frames while it is scrolled, with the share that came late and the longest.
For a new passage: milliseconds from the model's first token to its first words on the screen. For a choice whose passage was
written ahead: milliseconds from the key to its words on the screen, and where they go. The model follows a script. Needs
Chromium and playwright.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.tree import grow
from recurrentgpt import Library, Story
from recurrentgpt.desk.backend.disk_store import MACHINE, DiskStore
from tests.desk.scripted import scripted_desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LIMIT_MS = 300.0
"""First words may not come later than this after the model's first token."""
AHEAD_LIMIT_MS = 100.0
"""Words that were written ahead may not come later than this after the key that chose them."""
FRAME_MS = 1000 / 60
SCROLL = """async (seconds) => {
    const leaf = document.querySelector('.manuscript'), frames = [], blank = [];
    const step = leaf.clientHeight / 6;
    leaf.scrollTo(0, leaf.scrollHeight / 2);
    await new Promise((done) => setTimeout(done, 1500));
    let before = await new Promise(requestAnimationFrame);
    for (const end = before + 1000 * seconds; before < end; ) {
        leaf.scrollBy(0, -step);
        const now = await new Promise(requestAnimationFrame);
        frames.push(now - before);
        before = now;
        const box = leaf.getBoundingClientRect();
        const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        blank.push(!at.closest('.passage:not(.waiting), .opening'));
    }
    return { frames, blank: blank.filter(Boolean).length };
}"""
WATCH = """() => {
    window.shown = new Promise((done) => {
        const look = () => {
            if (!document.querySelector('.draft p')?.textContent.trim()) return requestAnimationFrame(look);
            // This frame is painted when the next task begins.
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => done((performance.timeOrigin + performance.now()) / 1000);
            port2.postMessage(0);
        };
        requestAnimationFrame(look);
    });
}"""

CONTENTS = """async () => {
    const begun = performance.now();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }));
    while (!document.querySelector('.contents > li')) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return [performance.now() - begun, document.querySelectorAll('.contents > li').length];
}"""
WATCH_CHOICE = """(step) => {
    addEventListener('keydown', () => (window.pressed = performance.now()), { capture: true, once: true });
    window.shown = new Promise((done) => {
        const look = () => {
            const newest = document.querySelector(`article.passage:not(.waiting):not(.draft)[aria-label^='Passage ${step}'] p`);
            if (!newest?.textContent.trim()) return requestAnimationFrame(look);
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => done(performance.now() - window.pressed);
            port2.postMessage(0);
        };
        requestAnimationFrame(look);
    });
}"""
WATCH_EVENTS = """() => {
    const Source = window.EventSource;
    window.EventSource = class extends Source {
        set onmessage(hear) {
            super.onmessage = (message) => {
                if (message.data.includes('"event": "passage"')) window.told = performance.now();
                hear(message);
            };
        }
    };
}"""
PARTS = """() => {
    const asked = performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/write')).at(-1);
    return [asked.startTime - window.pressed, asked.responseEnd - asked.startTime, window.told - window.pressed];
}"""
WRITTEN_AHEAD = (
    """(usage) => fetch(usage).then((answer) => answer.json()).then((now) => now.in_all.calls > now.calls)"""
)


def opened(browser: Browser, address: str) -> tuple[Page, dict[str, float]]:
    """Open a story on a new page; return the page, and milliseconds until what was painted."""
    page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
    page.goto(address, wait_until="commit")
    ready = "document.querySelector('.plans .card') && document.querySelector('article.passage:not(.waiting) p')"
    read = page.wait_for_function(
        f"() => ({ready}) ? performance.now() : 0", polling="raf", timeout=120_000
    ).json_value()
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return page, {"first_paint_ms": paint, "ready_ms": read}


def long_story(
    browser: Browser, home: Path, passages: int, chapters: int, times: int, seconds: float
) -> dict[str, Any]:
    """Return how a story of many passages and chapters opens and scrolls."""
    with Library.open(home) as library:
        grow(library, "long", lambda grown: grown[-1] if grown else None, passages)
        story = Story.open("long", library=library)
        for number in range(chapters):
            story.edit_chapter(1 + number * passages // chapters, f"The Lamp of Night {number + 1}")
    with scripted_desk(home) as address:
        figures = []
        for _ in range(times):
            page, figure = opened(browser, f"{address}#/story/long")
            figures.append(figure)
            if len(figures) < times:
                page.context.close()
        seen = page.evaluate(SCROLL, seconds)
        contents, rows = page.evaluate(CONTENTS)
    frames = seen["frames"]
    return {
        "passages": passages,
        "chapters": rows,
        **{name: round(statistics.median(figure[name] for figure in figures), 1) for name in figures[0]},
        "slowest_ready_ms": round(max(figure["ready_ms"] for figure in figures), 1),
        "contents_ms": round(contents, 1),
        "scrolled_frames": len(frames),
        "median_frame_ms": round(statistics.median(frames), 1),
        "late_frames": round(sum(frame > 1.5 * FRAME_MS for frame in frames) / len(frames), 4),
        "longest_frame_ms": round(max(frames), 1),
        "blank_frames": round(seen["blank"] / len(frames), 4),
    }


def first_words(browser: Browser, home: Path, takes: int) -> dict[str, Any]:
    """Return how long after the model's first token the words stand on the page, over a new story and some takes."""
    late = []
    with scripted_desk(home, 0.02) as address:
        page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
        page.goto(address)
        for number in range(takes):
            page.evaluate(WATCH)
            if number == 0:
                page.get_by_role("button", name="Begin").click()
            else:
                page.keyboard.press("a")
            shown = page.evaluate("window.shown")
            late.append(1000 * (shown - float((home / "first-word").read_text())))
            page.locator(".stop").wait_for(state="detached", timeout=120_000)
            page.locator(".plans .card").first.wait_for(timeout=120_000)
    slowest = max(late)
    return {
        "takes": takes,
        "median_ms": round(statistics.median(late), 1),
        "slowest_ms": round(slowest, 1),
        "limit_ms": LIMIT_MS,
        "ok": slowest <= LIMIT_MS,
    }


def ready_choices(browser: Browser, home: Path, choices: int) -> dict[str, Any]:
    """Return how long after a choice the passage stands on the page that was written while somebody read."""
    DiskStore(home / "desk").write_settings(MACHINE, {"ahead": 1})
    late: list[float] = []
    parts: list[list[float]] = []
    with scripted_desk(home) as address:
        page = browser.new_context(viewport={"width": 1280, "height": 860}).new_page()
        page.add_init_script(f"({WATCH_EVENTS})()")
        page.goto(address)
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**#/story/*")
        usage = f"{address}api/stories/{page.url.rpartition('/')[2]}/usage"
        for step in range(2, choices + 2):
            page.get_by_text(f"passage {step - 1}", exact=True).wait_for(timeout=120_000)
            page.locator(".plans .card").first.wait_for(timeout=120_000)
            while not page.evaluate(WRITTEN_AHEAD, usage):
                page.wait_for_timeout(50)
            page.evaluate(WATCH_CHOICE, step)
            page.keyboard.press("1")
            late.append(page.evaluate("window.shown"))
            page.wait_for_function(
                "() => performance.getEntriesByType('resource').some((one) => one.name.endsWith('/write'))"
            )
            parts.append([*page.evaluate(PARTS), late[-1]])
            page.evaluate("() => performance.clearResourceTimings()")
        tally = page.evaluate("(usage) => fetch(usage).then((answer) => answer.json())", usage)
    return {
        "choices": tally["choices"],
        "ready": tally["ready"],
        "median_ms": round(statistics.median(late), 1),
        "slowest_ms": round(max(late), 1),
        "median_parts_ms": {
            "key_to_request": round(statistics.median(part[0] for part in parts), 1),
            "choice_in_the_log": round(statistics.median(part[1] for part in parts), 1),
            "choice_to_passage_event": round(statistics.median(part[2] - part[1] - part[0] for part in parts), 1),
            "event_to_screen": round(statistics.median(part[3] - part[2] for part in parts), 1),
        },
        "limit_ms": AHEAD_LIMIT_MS,
        "ok": statistics.median(late) <= AHEAD_LIMIT_MS,
    }


def main() -> None:
    """Print the figures as one JSON object."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--chapters", type=int, default=60)
    parser.add_argument("--times", type=int, default=5, help="how often the long story is opened")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long it is scrolled")
    parser.add_argument("--takes", type=int, default=15, help="how many passages are begun")
    parser.add_argument("--choices", type=int, default=15, help="how many passages are written ahead and chosen")
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        figures = {
            "long_story": long_story(
                browser, Path(folder, "long"), given.passages, given.chapters, given.times, given.seconds
            ),
            "first_words": first_words(browser, Path(folder, "new"), given.takes),
            "ready_choices": ready_choices(browser, Path(folder, "ahead"), given.choices),
        }
        browser.close()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
