"""Text of a model or a user is only text, whatever it looks like."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.desk.conftest import Served, begin, there_are, written

HOSTILE = {
    "script": "<script>window.hacked = true</script>",
    "image": '<img src=x onerror="window.hacked = true"> She laughed.',
    "link": "[a lamp](javascript:window.hacked=true) and javascript:alert(1) lay there.",
    "style": "<style>body { display: none }</style> &lt;b&gt; &amp; {{ 7 * 7 }} ${7 * 7}",
    "zero width": "The\u200blamp\u200d\u200e was\ufeff lit\u2060.",
    "bidi": "\u202eThe lamp was lit\u2066 backwards.",
    "huge": "L" + "a" * 9000 + "mp.",
    "frame": '<iframe srcdoc="<script>parent.hacked = true</script>"></iframe><svg onload="window.hacked = true">',
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_shown_as_it_is(page: Any, desk: Served, kind: str) -> None:
    text = HOSTILE[kind]
    begin(page, desk.address)
    story = page.url.rpartition("/")[2]
    wide = page.evaluate("document.documentElement.scrollWidth")
    api = f"{desk.address}api/stories/{story}"
    with httpx.Client(timeout=60) as http:
        assert http.put(f"{api}/title", json={"title": text[:80]}).status_code == 200
        if kind != "huge":
            assert http.put(f"{api}/memory", json={"text": text}).status_code == 200
            assert http.put(f"{api}/plans", json={"plans": [text, "She waits."]}).status_code == 200
            assert http.post(f"{api}/names", json={"name": text[:60]}).status_code == 200
        assert http.post(f"{api}/passage", json={"at": "1", "text": f"{text} It burned all night."}).status_code == 200
    page.locator("article.by-edited").wait_for()
    page.locator(".stop").wait_for(state="detached")
    written(page, 1)
    shown = page.evaluate("document.querySelector('article.passage > div').textContent")
    assert " ".join(shown.split()) == " ".join(f"{text} It burned all night.".split())
    page.keyboard.press("m")
    page.locator(".node").nth(1).wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("window.hacked") is None
    there_are(page.locator("#page script, #page iframe, #page img, #page a[href^='javascript']"), 0)
    assert page.evaluate("document.documentElement.scrollWidth") == wide


def test_the_page_runs_no_script_that_is_slipped_in(browser: Any, desk: Served) -> None:
    # A page of its own: for others, a broken policy is a failure.
    page = browser.new_page()
    page.goto(desk.address)
    page.get_by_role("button", name="Begin").wait_for()
    slipped = """() => new Promise((done) => {
        document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective));
        const script = document.createElement('script');
        script.textContent = 'window.hacked = true';
        document.body.append(script);
    })"""
    assert page.evaluate(slipped).startswith("script-src")
    assert page.evaluate("window.hacked") is None
    page.context.close()
