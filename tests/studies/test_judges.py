"""Judges: qualification, both orders, ties, nonsense, and the human page."""

import itertools
import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request

import pytest

from recurrentgpt.studies.annotate import server
from recurrentgpt.studies.faults import StudyError
from recurrentgpt.studies.folder import RunFolder
from recurrentgpt.studies.judges import consolidated, judge_run, pairs, spoilt
from recurrentgpt.studies.plan import Judge
from recurrentgpt.testing import ScriptedChatModel

STORY = "\n\n".join(
    f"Mira lit lamp {number}. Then Tobias counted lamp {number}. Later Mira wrote {number} down."
    for number in range(1, 31)
)


def novel(system, unit="mystery-01-s1", text=STORY, **more):
    return {"id": f"{system}-{unit}", "system": system, "unit": unit, "premise": "Lamps.", "text": text, **more}


@pytest.fixture
def judged(tmp_path, plan):
    """Give a run whose novels are there, with three judges in its plan; rolling's stories say so."""
    plan = plan.model_copy(update={"judges": [Judge(model=name) for name in ("reader", "blind", "mad")]})
    folder = RunFolder.create(tmp_path / "judged", plan)
    for job in plan.jobs():
        text = STORY if job.system == "recurrentgpt" else STORY.replace("lit", "rolled")
        folder.finish(job, novel(job.system, job.unit, text))
    return folder


def stories(messages):
    asked = str(messages[0].text)
    return [asked.partition(f"STORY {side}\n")[2].partition("\n===")[0] for side in "AB"]


def answer(side):
    return json.dumps({"quotes_a": ["x"], "quotes_b": ["y"], "verdict": side})


def faults(text):
    numbers = [int(number) for number in re.findall(r"lamp (\d+)", text)]
    swapped = len(re.findall(r"Tobias (?:lit|rolled|wrote)|Mira counted", text))
    return sum(second < first for first, second in itertools.pairwise(numbers)) + swapped


def reader(messages):
    """Read properly: fewer faults win, else who lights lamps."""
    a, b = stories(messages)
    if faults(a) != faults(b):
        return answer("A" if faults(a) < faults(b) else "B")
    return answer("A" if "lit" in a and "lit" not in b else "B" if "lit" in b and "lit" not in a else "tie")


MODELS = {
    "reader": ScriptedChatModel(replies=reader),
    "blind": ScriptedChatModel(replies=lambda messages: answer("A")),
    "mad": ScriptedChatModel(replies=lambda messages: "I like both, thank you."),
}


def test_a_spoilt_copy_has_the_same_words_in_a_worse_order():
    copies = spoilt(STORY, 1)
    assert sorted(copies["shuffled"].split()) == sorted(STORY.split())
    assert len(copies["doubled"]) > len(STORY)
    assert copies["swapped"].count("Tobias lit") > 0
    assert all(faults(copy) > 0 for copy in copies.values())
    assert copies == spoilt(STORY, 1)


def test_verdicts_that_change_with_the_order_are_ties():
    table = {("A", "B"): 1.0, ("B", "A"): 0.0, ("A", "A"): 0.5, ("B", "B"): 0.5, ("tie", "B"): 0.5, ("tie", "tie"): 0.5}
    assert {votes: consolidated(*votes) for votes in table} == table


def test_only_judges_that_can_read_are_used(judged):
    said = []
    judge_run(judged, said.append, models=MODELS)
    qualified = {row["judge"]: row["right"] / row["pairs"] for row in judged.rows("qualification.jsonl")}
    assert qualified == {"reader": 1.0, "blind": 0.0, "mad": 0.0}
    verdicts = judged.rows("verdicts.jsonl")
    assert {row["judge"] for row in verdicts} == {"reader"}
    assert [row["preference"] for row in verdicts] == [1.0] * 4
    assert {(row["unit"], row["criterion"]) for row in verdicts} == {
        (unit, criterion) for unit in ("mystery-01-s1", "fantasy-01-s1") for criterion in ("interesting", "coherent")
    }
    assert "blind is not qualified" in " ".join(said)


def test_nothing_is_judged_twice(judged):
    judge_run(judged, lambda text: None, models=MODELS)
    before = judged.rows("verdicts.jsonl")
    again = {name: ScriptedChatModel(replies=[]) for name in MODELS}
    judge_run(judged, lambda text: None, models=again)
    assert judged.rows("verdicts.jsonl") == before
    assert [len(model.calls) for model in again.values()] == [0, 0, 0]


def test_a_prompt_is_blind_and_asks_for_quotes_first(judged):
    model = ScriptedChatModel(replies=reader)
    judge_run(judged, lambda text: None, models={**MODELS, "reader": model})
    for call in model.calls:
        asked = str(call[0].text).partition("JSON schema:")[0]
        assert "recurrentgpt" not in asked
        assert "rolling_1024" not in asked
        assert asked.index("quotes_a") < asked.index("- verdict")
        assert ("which is more interesting" in asked) != ("which is more coherent" in asked)


def test_a_run_without_pairs_is_said(folder):
    with pytest.raises(StudyError, match="no two finished novels"):
        judge_run(folder, lambda text: None)


@pytest.fixture
def page(judged):
    """Give the running page: a function that asks it."""
    first = next(job for job in judged.plan.jobs() if job.system != "recurrentgpt")
    judged.finish(first, novel(first.system, first.unit, "<script>alert(1)</script> & $a story"))
    with server(judged, 0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()

        def ask(path="/", data=None, **headers):
            address = f"http://127.0.0.1:{running.server_address[1]}"
            body = urllib.parse.urlencode(data).encode() if data else None
            request = urllib.request.Request(address + path, body, headers)
            try:
                with urllib.request.urlopen(request) as reply:
                    return reply.status, reply.read().decode()
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, error.read().decode()

        yield ask
        running.shutdown()
        thread.join()


def hidden(text, name):
    return re.search(rf'name="{name}" value="([^"]*)"', text)[1]


def test_an_annotator_labels_every_pair_once(judged, page):
    status, text = page("/?annotator=Ada")
    seen = 0
    while "Which is more" in text:
        assert status == 200
        assert "recurrentgpt" not in text
        fields = {name: hidden(text, name) for name in ("token", "annotator", "task")}
        story_a = text.partition("<h2>A</h2>")[2].partition("<h2>B</h2>")[0]
        fields["verdict"] = "A" if "lit lamp" in story_a else "B"
        status, text = page("/", fields)
        page("/", fields)
        seen += 1
    assert seen == len(pairs(judged)) * 2 == 4
    labels = judged.rows("labels.jsonl")
    assert [row["preference"] for row in labels] == [1.0] * 4
    assert "All 4 are done" in page("/?annotator=Ada")[1]
    assert "1 of 4" in page("/?annotator=Bob")[1]


def test_text_is_shown_and_not_run(page):
    pages = [page(f"/?annotator=Reader{number}")[1] for number in range(8)]
    assert any("&lt;script&gt;alert(1)&lt;/script&gt; &amp; $a story" in text for text in pages)
    assert not any("<script" in text for text in pages)


def test_other_sites_cannot_reach_the_page(page):
    assert page("/", Host="evil.example")[0] == 403
    text = page("/?annotator=Ada")[1]
    fields = {name: hidden(text, name) for name in ("token", "annotator", "task")} | {"verdict": "A"}
    assert page("/", fields, Origin="http://evil.example")[0] == 403
    assert page("/", {**fields, "token": "guess"})[0] == 403
    assert page("/", {**fields, "verdict": "C"})[0] == 400
    assert page("/?annotator=%3Cscript%3E")[0] == 400
    assert page("/etc/passwd")[0] == 404
    assert page("/", {"x": "y" * 20_000})[0] == 413
