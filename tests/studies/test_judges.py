"""Judges: qualification, both orders, ties, nonsense, and the human page."""

import re
import socket
import struct
import threading
import urllib.error
import urllib.parse
import urllib.request
from itertools import islice

import pytest

from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.judging.annotate import Annotation, server
from recurrentgpt.studies.judging.judge_runner import judge_run
from recurrentgpt.studies.judging.pairwise import consolidate, corrupted_copies, pairs, specimens
from recurrentgpt.studies.runs.plan import CRITERIA, Judge
from recurrentgpt.testing import ScriptedChatModel

from .readers import MODELS, STORY, faults, judged_run, novel, reader


@pytest.fixture
def judged(tmp_path, plan):
    """Give a run whose novels are there, with three judges in its plan."""
    return judged_run(tmp_path / "judged", plan, *(Judge(model=name) for name in ("reader", "blind", "mad")))


def test_a_spoilt_copy_has_the_same_words_in_a_worse_order():
    copies = corrupted_copies(STORY, "mystery-01-s1")
    assert sorted(copies["shuffled"].split()) == sorted(STORY.split())
    assert len(copies["doubled"]) > len(STORY)
    assert copies["swapped"].count("Tobias lit") > 0
    assert all(faults(copy) > 0 for copy in copies.values())
    assert copies == corrupted_copies(STORY, "mystery-01-s1")


def test_spoilt_copies_are_laid_out_as_the_story_is():
    story = "\n\n".join(
        " ".join(f"Mira lit lamp {at} and Tobias saw." for at in range(2 + 5 * (part % 3))) for part in range(9)
    )
    copies = corrupted_copies(story, "mystery-01-s1")
    for kind in ("shuffled", "swapped"):
        assert copies[kind] != story
        assert [part.count(".") for part in copies[kind].split("\n\n")] == [2, 7, 12] * 3


def test_a_story_of_nobody_qualifies_no_judge(plan):
    told = {
        "Nobody was there.": 0,
        "The rain fell.": 0,
        "In he came.": 1,
        "So Mira saw. And Mira ate. Then Mira slept.": 1,
    }
    jobs = list(plan.jobs())
    for text, shown in told.items():
        found = list(islice(specimens([novel(jobs[0], text)]), 1))
        assert len(found) == shown
        assert (corrupted_copies(text, "1")["swapped"] != text) is bool(shown)


@pytest.mark.parametrize(
    ("story", "exchanged"),
    [
        ("So Tamsin Ironwell met old Harrow. Then Tamsin Ironwell left. And Tamsin saw Harrow.", {"Tamsin", "Harrow"}),
        ("It was Halloway. You know that Halloway ate. She said that Halloway slept.", {"Halloway", "Brandreth"}),
        ("It was Tamsin. You know that Tamsin ate. She said that Tamsin slept.", {"Tamsin", "Halloway"}),
        ("The rain fell and he went out. Then she came in. Later she sang, and he slept.", {"he", "she"}),
        ("It was Jiří. You know that Jiří ate. She said that Jiří slept.", {"Jiří", "Halloway"}),
        ("It was McCarthy. You know that McCarthy ate. She said that McCarthy slept.", {"McCarthy", "Halloway"}),
    ],
)  # fmt: skip
def test_two_people_are_exchanged_and_no_two_names_of_one(story, exchanged):
    text = "\n\n".join([story] * 8)
    swapped = corrupted_copies(text, "1")["swapped"]
    assert {word for word in re.findall(r"\w+", swapped) if swapped.count(word) != text.count(word)} <= exchanged
    pattern = rf"\b(?:{'|'.join(exchanged)})\b"
    assert re.sub(pattern, "X", swapped) == re.sub(pattern, "X", text)
    assert swapped != text


def test_verdicts_that_change_with_the_order_are_ties():
    table = {("A", "B"): 1.0, ("B", "A"): 0.0, ("A", "A"): 0.5, ("B", "B"): 0.5, ("tie", "B"): 0.5, ("tie", "tie"): 0.5}
    assert {votes: consolidate(*votes) for votes in table} == table


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
    judged.save_novel(first, novel(first, "<script>alert(1)</script> & $a story"))
    with server(judged, 0) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
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

        ask.port = running.server_address[1]
        yield ask
        running.shutdown()
        thread.join()


BEGIN = "/?annotator=Ada&begin=1"


def hidden(text, name):
    return re.search(rf'name="{name}" value="([^"]*)"', text)[1]


def test_an_annotator_labels_every_pair_once(judged, page):
    status, text = page(BEGIN)
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
    assert "All 4 are done" in page(BEGIN)[1]
    assert "1 of 4" in page("/?annotator=Bob&begin=1")[1]


def test_an_address_with_a_name_begins_with_what_is_kept_of_who_has_not_agreed(page):
    text = page("/?annotator=Ada")[1]
    assert "Taking part is your own choice" in text
    assert (hidden(text, "begin"), hidden(text, "annotator")) == ("1", "Ada")
    text = page(BEGIN)[1]
    page("/", {name: hidden(text, name) for name in ("token", "annotator", "task")} | {"verdict": "A"})
    assert "2 of 4" in page("/?annotator=Ada")[1]


def test_control_is_asked_of_people_who_see_what_was_chosen_and_of_no_judge(tmp_path, plan):
    plan = plan.model_copy(update={"criteria": ["interesting", "control"]})
    run = judged_run(tmp_path / "run", plan, Judge(model="reader"))
    first = next(job for job in run.plan.jobs() if job.system == "recurrentgpt")
    chosen, told = "Tobias burns the letter.", "The letter burned in the lamp."
    passage = {"step": 2, "plan": chosen, "text": told, "offered": [chosen], "words": 6, "plans": 3}
    passage |= {"short_term_memory": "", "usage": {"calls": 4, "input_tokens": 900}}
    run.save_novel(first, {**novel(first), "passages": [passage]})
    shown = {task.criterion: {task.a, task.b} for task in Annotation(run).tasks("Ada") if task.pair.unit == first.unit}
    assert f"[{chosen}]\n\n{told}" in shown["control"]
    assert STORY in shown["interesting"]
    judge_run(run, lambda text: None, models=MODELS)
    assert {row["criterion"] for row in run.rows("verdicts.jsonl")} == {"interesting"}


def test_a_pair_is_read_once_for_all_questions_about_it(judged, page):
    tasks = Annotation(judged).tasks("Ada")
    first, second = tasks[::2], tasks[1::2]
    assert [task.pair for task in first] == [task.pair for task in second]
    assert [(task.a, task.b) for task in first] == [(task.a, task.b) for task in second]
    assert {(one.criterion, other.criterion) for one, other in zip(first, second, strict=True)} == {CRITERIA}
    text = page(BEGIN)[1]
    assert "The same two novels" not in text
    fields = {name: hidden(text, name) for name in ("token", "annotator", "task")}
    assert "The same two novels as before" in page("/", {**fields, "verdict": "A"})[1]


def test_a_wrong_click_can_be_taken_back_and_the_last_answer_holds(judged, page):
    def choose(text, verdict):
        fields = {name: hidden(text, name) for name in ("token", "annotator", "task")}
        return page("/", {**fields, "verdict": verdict})[1]

    first = page(BEGIN)[1]
    assert "<p hidden>" in first, "there is nothing to take back yet"
    text = choose(first, "tie")
    back = re.search(r'<p ><a href="([^"]+)"', text)[1].replace("&amp;", "&")
    again = page(back)[1]
    assert hidden(again, "task") == hidden(first, "task")
    assert "You chose neither" in again
    assert "1 of 4" in again
    assert hidden(choose(again, "A"), "task") == hidden(text, "task")
    assert len(judged.rows("labels.jsonl")) == 1
    assert judged.rows("labels.jsonl")[0]["preference"] != 0.5
    for _ in range(3):
        text = choose(page(BEGIN)[1], "tie")
    assert "All 4 are done" in text
    last = re.search(r'<a href="([^"]+)"', text)[1].replace("&amp;", "&")
    assert "4 of 4" in page(last)[1]


def test_two_servers_of_one_run_count_a_label_once(judged, page):
    text = page(BEGIN)[1]
    task = hidden(text, "task")
    page("/", {"token": hidden(text, "token"), "annotator": "Ada", "task": task, "verdict": "A"})
    other = Annotation(judged)
    other.label("Ada", task, "A")
    other.label("Ada", task, "B")
    (label,) = judged.rows("labels.jsonl")
    assert label["verdict"] == "B"
    assert "2 of 4" in page(BEGIN)[1]


def test_text_is_shown_and_not_run(page):
    pages = [page(f"/?annotator=Reader{number}&begin=1")[1] for number in range(8)]
    assert any("&lt;script&gt;alert(1)&lt;/script&gt; &amp; $a story" in text for text in pages)
    assert not any("<script" in text for text in pages)


def test_other_sites_cannot_reach_the_page(page):
    assert page("/", Host="evil.example")[0] == 403
    text = page(BEGIN)[1]
    fields = {name: hidden(text, name) for name in ("token", "annotator", "task")} | {"verdict": "A"}
    assert page("/", fields, Origin="http://evil.example")[0] == 403
    assert page("/", {**fields, "token": "guess"})[0] == 403
    assert page("/", {**fields, "verdict": "C"})[0] == 400
    assert page("/?annotator=%3Cscript%3E")[0] == 400
    assert page("/etc/passwd")[0] == 404
    assert page("/", {"x": "y" * 20_000})[0] == 413


@pytest.fixture
def raw(page):
    """Give a function that sends bytes to the page and returns the answer, or cuts the line at once."""

    def send(text, *, cut=False):
        with socket.create_connection(("127.0.0.1", page.port), timeout=30) as line:
            line.sendall(text.replace("HOST", f"127.0.0.1:{page.port}").encode("latin-1"))
            if not cut:
                return b"".join(iter(lambda: line.recv(65536), b"")).decode()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return ""

    return send


@pytest.mark.parametrize("length", ["\xb2", "-1", "1e3", "9" * 5000, "", "10, 10"])
def test_a_length_that_is_none_is_refused_in_silence(raw, capfd, length):
    said = raw(f"POST / HTTP/1.0\r\nHost: HOST\r\nContent-Length: {length}\r\n\r\n")
    assert " 413 " in said.splitlines()[0]
    assert capfd.readouterr() == ("", "")


def test_a_path_that_is_none_and_a_browser_that_goes_away_leave_the_terminal_alone(raw, page, capfd):
    others = set(threading.enumerate())  # of servers that other tests have left
    assert " 404 " in raw("GET http://[/ HTTP/1.0\r\nHost: HOST\r\n\r\n").splitlines()[0]
    raw("POST / HTTP/1.0\r\nHost: HOST\r\nContent-Length: 100\r\n\r\ntoken=", cut=True)
    assert page("/")[0] == 200, "and by now the request that was cut has a thread"
    for thread in {*threading.enumerate()} - others:
        if "process_request_thread" in thread.name:
            thread.join(timeout=30)
    assert capfd.readouterr() == ("", "")


def test_damage_to_the_labels_is_said_on_the_page(judged, page):
    (judged.path / "labels.jsonl").write_text("{}\n")
    status, text = page(BEGIN)
    assert (status, "labels.jsonl is damaged" in text) == (500, True)
