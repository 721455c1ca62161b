"""A study on a real `langgraph dev`: novels and calls come home, whoever is killed in the middle."""

import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest

from recurrentgpt.studies.errors import RunStopped
from recurrentgpt.studies.recording.recording import Recording
from recurrentgpt.studies.runs import remote_runner as remote
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import parse_plan
from recurrentgpt.studies.runs.remote_runner import run_remote
from recurrentgpt.studies.runs.runner import Outcome, run
from recurrentgpt.studies.scripted_author import author_replies
from recurrentgpt.testing import story_answers

ROOT = Path(__file__).parents[2]
PLAN = """
name = "small"
systems = ["recurrentgpt", "rolling_1024"]
genres = ["mystery"]
premises = 1
words = 700
parallel = 2
embedder = "hash-256"
"""
LAST = "bring it to its end"
"""In the prompt for the last of a novel's passages only."""
pytestmark = pytest.mark.real


@pytest.fixture
def writer(playing):
    """Give a fake OpenAI server that writes for every system."""
    with playing.Writer(partial(story_answers, replies=author_replies)) as server:
        yield server


@pytest.fixture
def server(processes, environment, tmp_path):
    place = tmp_path / "server"
    place.mkdir()
    config = processes.config(ROOT, place, "langgraph-studies.json")
    it = processes.ServerProcess(processes.dev_server(config), {**environment, **processes.QUIET}, place)
    it.start()
    yield it
    it.stop()


@pytest.fixture
def on_aegra(aegra_server):
    yield from aegra_server("langgraph-studies.json")


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path / "run", parse_plan(PLAN, "small", Path()))


@pytest.fixture
def told():
    """Give what was reported, by novel."""
    return []


@pytest.fixture
def report(told):
    return lambda event: told.append((event.job.system, event.what))


def openings(folder):
    """Return for each novel how many calls made its opening."""
    recordings = [Recording.read(folder.calls(job)) for job in folder.plan.jobs()]
    return [sum(call.step == 0 and call.role == "planner" for call in recording.calls) for recording in recordings]


@pytest.fixture
def orphaned(server, writer, folder, report):
    """Give a run whose server was killed before the last call."""
    writer.hold = LAST
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_remote, folder, report, server.url)
        assert writer.reached.wait(60)
        server.kill()
        writer.go_on.set()
        yield running


def test_a_server_is_killed_in_the_middle_and_the_run_ends_all_the_same(
    orphaned, server, folder, report, tmp_path, environment
):
    server.start()
    assert orphaned.result() == Outcome(finished=2, kept=0, failed=0)
    assert openings(folder) == [1, 1], "nothing was begun anew"
    for job, novel in zip(folder.plan.jobs(), folder.novels(), strict=True):
        assert (novel["id"], novel["models"]) == (job.id, ["scripted"])
        assert 630 <= novel["words"] <= 770
        calls = Recording.read(folder.calls(job)).calls
        assert len(calls) >= novel["usage"]["calls"]
    assert httpx.post(f"{server.url}/threads/search", json={}).json() == []
    written = b"".join(path.read_bytes() for path in folder.path.rglob("*") if path.is_file())
    assert environment["OPENAI_API_KEY"].encode() not in written

    server.stop()
    again = folder.plan.model_copy(update={"replay": str(folder.path / "calls")})
    replayed = RunFolder.create(tmp_path / "again", again)
    assert run(replayed, report) == Outcome(finished=2, kept=0, failed=0), replayed.failures()
    for one, other in zip(folder.novels(), replayed.novels(), strict=True):
        # What was asked for again after the kill was counted by the log once, and is on the tape twice.
        assert one["text"] == other["text"]
        assert list(one) == list(other)
        assert list(one["passages"][0]) == list(other["passages"][0])


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(remote, "WAITS", (0.1, 0.1))


def test_a_run_without_its_server_stops_and_goes_on_later(impatient, orphaned, server, folder, report, told):
    with pytest.raises(RunStopped, match="has gone: start it again, and run the plan again"):
        orphaned.result()
    assert folder.failures() == []
    server.start()
    told.clear()
    kept = len(folder.novels())
    assert run_remote(folder, report, server.url) == Outcome(finished=2 - kept, kept=kept, failed=0)
    assert "goes on" in [what for name, what in told]
    assert openings(folder) == [1, 1], "nothing was begun anew"


def test_a_client_is_killed_and_the_next_one_finds_its_novels(server, writer, folder, report, tmp_path):
    (tmp_path / "small.toml").write_text(PLAN)
    writer.hold = LAST
    run = ["study", "run", "small.toml", "-o", "run", "--remote", server.url, "--yes"]
    command = [sys.executable, "-m", "recurrentgpt", *run]
    alone = {**os.environ, "RECURRENTGPT_HOME": str(tmp_path / "nowhere")}
    client = subprocess.Popen(command, cwd=tmp_path, env=alone, stderr=subprocess.PIPE)
    assert writer.reached.wait(60)
    client.kill()
    client.communicate()
    writer.go_on.set()
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "run\n"), done.stderr
    assert len(folder.novels()) == 2
    assert openings(folder) == [1, 1], "nothing was begun anew"


def test_a_novel_that_fails_is_listed_and_goes_on_when_the_model_is_back(server, writer, folder, report):
    writer.script = ("ok", "ok", "403")
    first = run_remote(folder, report, server.url)
    assert first.failed == 2
    failures = [row["error"] for row in folder.failures()]
    assert all("may not use that model" in error for error in failures), failures
    writer.script = ("ok",)
    assert run_remote(folder, report, server.url) == Outcome(finished=2, kept=0, failed=0)
    assert openings(folder) == [1, 1]


def test_aegra_writes_them_too(on_aegra, writer, folder, report, told):
    writer.script = ("ok", "ok", "403")
    assert run_remote(folder, report, on_aegra.url).failed
    writer.script = ("ok",)
    assert run_remote(folder, report, on_aegra.url).failed == 0, folder.failures()
    assert openings(folder) == [1, 1], "nothing was begun anew"
    assert ("rolling_1024", "passage 1") in told


def test_two_runs_of_one_plan_do_not_meet(server, folder, report, tmp_path):
    other = RunFolder.create(tmp_path / str(uuid.uuid4()), folder.plan)
    for place in (folder, other):
        assert run_remote(place, report, server.url).finished == 2
    assert {novel["id"] for novel in folder.novels()} == {novel["id"] for novel in other.novels()}
    assert openings(other) == [1, 1]
