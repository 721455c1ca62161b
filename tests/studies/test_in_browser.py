"""What people open in a browser: the page on which they read and judge, and the folder of results."""

import json
import re
import threading
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from recurrentgpt.cli.app import app
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.annotate import addresses, server
from recurrentgpt.studies.report.site import write_site
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge, read_plan
from recurrentgpt.studies.runs.runner import run
from recurrentgpt.studies.scripted_author import scripted_author

from .conftest import QUICK
from .readers import STORY, judged_run, novel

HOSTILE = (
    "<script>window.hacked = true</script>\n\n<img src=x onerror='window.hacked = true'>\n\n"
    "</p></details><style>body { display: none }</style> ${7 * 7} <a href='javascript:window.hacked=true'>lamp</a>\n\n"
    + "L"
    * 3000
)
PHONE = {"width": 360, "height": 740}


@contextmanager
def serving(folder, *readers):
    """Serve the page of a run to readers with links, and give their addresses by name."""
    with server(folder, 0, readers) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield dict(line.split(": ", 1) for line in addresses(running))
        finally:
            running.shutdown()
            thread.join()


def follow(page, button):
    """Press what leads to another page, and wait for that page."""
    with page.expect_navigation():
        button.click()


def answer(page):
    """Say whose lamps are lit to what is more coherent, and neither to what is more interesting."""
    first = "lit lamp" in page.locator(".story").first.text_content()
    said = ("A" if first else "B") if "Which is more coherent" in page.inner_text("form") else "Neither"
    follow(page, page.get_by_role("button", name=said, exact=True))


def read_all(page):
    """Answer every question, and return how many there were."""
    answered = 0
    while page.get_by_role("button", name="Neither").count():
        answer(page)
        answered += 1
    return answered


def test_readers_with_links_of_their_own_read_on_a_phone_resume_and_agree(tmp_path, plan, open_page):
    folder = judged_run(tmp_path / "run", plan)
    first = next(iter(folder.plan.jobs()))
    folder.save_novel(first, novel(first, f"{STORY}\n\n" * 100))
    page = open_page(viewport=PHONE)
    with serving(folder, "Ada", "Bob") as links:
        page.goto(links["Ada"])
        assert "Taking part is your own choice" in page.inner_text("body")
        follow(page, page.get_by_role("button", name="I agree, begin"))
        assert "1 of 4" in page.inner_text("body")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        box = page.get_by_role("button", name="Neither").bounding_box()
        assert box["height"] >= 40
        assert box["y"] + box["height"] <= PHONE["height"], "answers are at hand wherever one reads"
        follow(page, page.get_by_role("button", name="Neither"))
        follow(page, page.get_by_role("link", name="Change the answer before"))
        assert "You chose neither" in page.inner_text("body")
        answer(page)
    with serving(folder, "Ada", "Bob") as again:
        assert [link.partition("?")[2] for link in again.values()] == [
            link.partition("?")[2] for link in links.values()
        ]
        page.goto(again["Ada"])
        assert "2 of 4" in page.inner_text("body"), "another day she goes on where she was"
        assert read_all(page) == 3
        assert "All 4 are done" in page.inner_text("body")
        page.goto(again["Bob"])
        follow(page, page.get_by_role("button", name="I agree, begin"))
        assert read_all(page) == 4
    labels = folder.rows("labels.jsonl")
    assert {row["annotator"] for row in labels} == {"Ada", "Bob"}
    (other,) = {row["unit"] for row in labels} - {labels[0]["unit"]}
    unlike = {**labels[0], "unit": other}
    for person in ("Ada", "Bob"):
        folder.append("labels.jsonl", {**unlike, "annotator": person, "preference": 0.0})
    done = CliRunner().invoke(app, ["study", "agreement", str(folder.path), "--json"])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["among"], row["raters"], row["items"], row["alpha"]) for row in found] == [("people", 2, 2, 1.0)]
    assert "1.00" in CliRunner().invoke(app, ["study", "agreement", str(folder.path)]).output


def test_without_a_link_nobody_gets_in_where_readers_have_links(tmp_path, plan, open_page):
    folder, page = judged_run(tmp_path / "run", plan), open_page()
    with serving(folder, "Ada") as links:
        for address in (links["Ada"].partition("?")[0], links["Ada"].partition("=")[0] + "=Zoë", links["Ada"][:-1]):
            assert page.goto(address).status == 403
            assert "nobody's link" in page.inner_text("body")
    with pytest.raises(StudyError, match="name each with --reader"):
        server(folder, 0, host="0.0.0.0")
    with pytest.raises(StudyError, match="1 to 40 letters"):
        server(folder, 0, ["<b>"])


@pytest.fixture
def site(tmp_path, plan):
    """Give the site of a run whose model wrote what no page may run, judged, and of a replay of it."""
    plan = plan.model_copy(
        update={"judges": [Judge(model="reader", family="b", base_url="http://10.0.0.9/v1")], "family": "a"}
    )
    folder = RunFolder.create(tmp_path / "run & co", plan)
    run(folder, lambda event: None, model=scripted_author(), retry=QUICK)
    first = next(plan.jobs())
    folder.save_novel(first, {**novel(first, HOSTILE), "models": ["<script>window.hacked = true</script>"]})
    write_site([folder], tmp_path / "site")
    return tmp_path / "site"


def test_the_site_is_read_from_a_disk_without_a_network_and_runs_nothing(site, browser):
    context = browser.new_context(offline=True, viewport=PHONE)
    page, asked, broken = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: broken.append(request.url))
    page.goto((site / "index.html").as_uri())
    seen, links = set(), page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")
    pages = [link for link in links if link.endswith(".html")]
    assert len(pages) == 3, "a report, and the novels of two premises"
    for address in pages:
        page.goto(address)
        seen.add(page.title())
        assert page.evaluate("window.hacked") is None
        assert page.locator("script, iframe, a[href^=javascript]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        pictures = page.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
        assert all(pictures), "every plot is there"
    assert len(seen) == 3
    assert all(url.startswith("file:") for url in asked)
    assert broken == []
    context.close()


def test_novels_are_read_blind_and_unblinded_at_the_end(site, browser):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(next(site.glob("*/read/mystery*.html")).as_uri())
    assert "recurrentgpt" not in page.inner_text("body")
    assert "recurrentgpt" not in page.url
    for letter in "AB":
        page.get_by_text(f"Novel {letter}", exact=True).click()
    assert "recurrentgpt" not in page.inner_text("body")
    assert "<script>window.hacked = true</script>" in page.inner_text("body"), "it is only text"
    page.get_by_text("Who wrote which", exact=True).click()
    assert {"recurrentgpt", "rolling_1024"} <= set(page.inner_text("table").split())
    context.close()


def test_the_recordings_of_a_site_make_its_novels_again(site, tmp_path):
    (plan,) = site.glob("*/recordings/plan.toml")
    assert "10.0.0.9" not in plan.read_text()
    read = read_plan(str(plan))
    again = RunFolder.create(tmp_path / "again", read)
    outcome = run(again, lambda event: None, retry=QUICK)
    assert (outcome.finished, outcome.failed) == (4, 0)
    before = RunFolder.open(tmp_path / "run & co")
    assert [one["text"] for one in again.novels()][1:] == [one["text"] for one in before.novels()][1:]


def test_a_site_of_several_runs_is_one_command(tmp_path, plan):
    for name in ("one", "two"):
        judged_run(tmp_path / name, plan.model_copy(update={"guards": "shared" if name == "two" else "none"}))
    runs = [str(tmp_path / name) for name in ("one", "two")]
    done = CliRunner().invoke(app, ["study", "report", *runs, "--site", "-o", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip().endswith("index.html")
    text = (tmp_path / "site" / "index.html").read_text()
    assert re.findall(r"<td>(one|two)</td><td>recurrentgpt</td><td>(\w+)</td>", text) == [
        ("one", "none"),
        ("two", "shared"),
    ]
    for name in ("one", "two"):
        assert STORY.split()[0] in (tmp_path / "site" / name / "read" / "mystery-01-s1.html").read_text()
        assert not (tmp_path / "site" / name / "recordings").exists(), "nothing was recorded"
