"""`recurrentgpt study run`: what it asks before tokens are spent, what it tells, and how it stops."""

import json
import signal
from pathlib import Path

import pytest

from recurrentgpt.studies.runs.costs import estimate, novel_cost
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import Judge, Options, read_plan
from recurrentgpt.testing import FaultyServer

from .conftest import reply, wait_for_requests

PLAN = """
name = "tiny"
systems = ["rolling_1024", "one_shot"]
genres = ["mystery"]
premises = 1
words = 300
embedder = "hash-256"
criteria = ["coherent"]
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Give a function that writes a plan file and returns its path; runs go to the same folder."""
    monkeypatch.chdir(tmp_path)

    def write(more=""):
        (tmp_path / "tiny.toml").write_text(PLAN + more)
        return "tiny.toml"

    return write


def test_a_model_of_the_environment_is_asked_about_and_a_pipe_needs_yes(cli, server, plan, tmp_path):
    refused = cli("study", "run", plan(), "-o", "run")
    assert refused.code == 2
    assert "There is nobody here to ask: run it again with --yes." in refused.err
    assert "about 2 calls" in refused.err
    assert server.requests == []
    assert not (tmp_path / "run").exists(), "nothing was begun"
    done = cli("study", "run", plan(), "-o", "run", "--yes")
    assert done.code == 0, done.err
    again = cli("study", "run", plan(), "-o", "run")
    assert again.code == 0, "nothing is left to pay for"


def test_a_judge_elsewhere_is_asked_about_where_the_novels_are_there(cli, server, plan):
    assert cli("study", "run", plan(), "-o", "run", "--yes").code == 0
    judged = plan('[[judges]]\nmodel = "reader"\n')
    refused = cli("study", "run", judged, "-o", "run")
    assert refused.code == 2
    assert "0 novels" in refused.err
    assert "50 of the calls and" in refused.err
    assert "qualification included" in refused.err


def test_a_judge_that_did_not_qualify_costs_nothing_more(cli, server, plan):
    judged = plan('[[judges]]\nmodel = "reader"\n')
    done = cli("study", "run", judged, "-o", "run", "--yes")
    assert done.code == 0, done.err
    assert "reader is not qualified" in done.err
    asked = len(server.requests)
    again = cli("study", "run", judged, "-o", "run")
    assert again.code == 0, again.err
    assert len(server.requests) == asked


def test_judges_are_named_on_the_command_line_and_missed_where_there_are_none(cli, server, plan, tmp_path):
    alone = cli("study", "run", plan(), "-o", "run", "--estimate")
    assert "no judge is named (--judge MODEL), so there will be no preferences" in alone.err
    judged = cli(
        "study", "run", plan(), "-o", "run", "--judge", "reader", "--judge", "other", "--judge", "reader", "--yes"
    )
    assert judged.code == 0, judged.err
    assert "are of 2 judges" in judged.err
    assert "reader is not qualified" in judged.err
    assert [judge.model for judge in RunFolder.open(tmp_path / "run").plan.judges] == ["reader", "other"]


def test_an_estimate_is_of_what_is_left_and_of_what_is_asked(cli, server, plan):
    estimate = ("study", "run", "tiny.toml", "-o", "run", "--estimate")
    plan()
    assert json.loads(cli(*estimate).out)["calls"] == 2
    assert cli("study", "run", plan(), "-o", "run", "--yes").code == 0
    left = json.loads(cli(*estimate).out)
    assert (left["novels"], left["calls"], left["input_tokens"]) == (0, 0, 0)
    again = cli("study", "run", plan('replay = "run/calls"\n'), "-o", "again", "--estimate")
    recorded = json.loads(again.out)
    assert (recorded["novels"], recorded["calls"]) == (2, 0)
    assert "2 novels, 600 words, from recorded calls: no model is asked." in again.err


def test_recorded_calls_are_not_asked_about(cli, server, plan):
    assert cli("study", "run", plan(), "-o", "run", "--yes").code == 0
    asked = len(server.requests)
    done = cli("study", "run", plan('replay = "run/calls"\n[[judges]]\nmodel = "reader"\n'), "-o", "again")
    assert done.code == 0, done.err
    assert "reader has no recorded calls in" in done.err
    assert len(server.requests) == asked


def test_a_judge_is_added_to_a_finished_run_also_where_it_was_replayed(cli, server, plan, tmp_path):
    assert cli("study", "run", plan(), "-o", "run", "--yes").code == 0
    assert cli("study", "run", plan('replay = "run/calls"\n'), "-o", "again").code == 0
    server.requests.clear()
    estimate = cli("study", "judge", "again", "--judge", "reader", "--estimate")
    assert json.loads(estimate.out)["calls"] == 2 + 24 * 2
    refused = cli("study", "judge", "again", "--judge", "reader")
    assert "run it again with --yes" in refused.err
    assert server.requests == []
    done = cli("study", "judge", "again", "--judge", "reader", "--yes")
    assert done.code == 0, done.err
    assert len(server.requests) >= 24 * 2
    assert "reader is not qualified to say what is coherent" in done.err
    folder = RunFolder.open(tmp_path / "again")
    assert [judge.model for judge in folder.plan.judges] == ["reader"]
    assert len(folder.novels()) == 2


def test_a_judge_of_the_generators_kin_is_refused_before_it_is_paid(cli, server, plan, tmp_path):
    assert cli("study", "run", plan('family = "OpenAI"\n'), "-o", "run", "--yes").code == 0
    asked = len(server.requests)
    refused = cli("study", "judge", "run", "--judge", "gpt-4o-mini", "--yes")
    assert "gpt-4o-mini is of the generator's own family" in refused.err
    assert refused.code != 0
    named = cli("study", "run", plan('family = "OpenAI"\n'), "-o", "run", "--judge", "o3", "--yes")
    assert "o3 is of the generator's own family, and is not asked" in named.err
    assert len(server.requests) == asked


def test_judges_that_failed_are_an_exit_code(cli, server, plan):
    with FaultyServer("401") as refusing:
        judges = f'[[judges]]\nmodel = "reader"\nbase_url = "{refusing.base_url}"\n'
        failed = cli("study", "run", plan(judges), "-o", "run", "--yes")
    assert failed.code == 1
    assert "1 judge of 1 failed: run the plan again" in failed.err


def test_a_server_that_is_not_there_leaves_no_folder(cli, plan, unused_tcp_port, tmp_path):
    failed = cli("study", "run", plan(), "-o", "run", "--remote", f"http://127.0.0.1:{unused_tcp_port}", "--yes")
    assert failed.code == 1
    assert "No server answers" in failed.err
    assert not (tmp_path / "run").exists()


def test_a_key_of_a_judge_that_is_missing_leaves_no_folder(cli, server, plan, tmp_path, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    failed = cli("study", "run", plan('[[judges]]\nmodel = "m"\napi_key_env = "NOT_SET"\n'), "-o", "run", "--yes")
    assert failed.code == 1
    assert "NOT_SET" in failed.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_says_how_to_go_on_and_has_no_failures(server, process, plan, tmp_path, how):
    with FaultyServer("ok", "endless", text=reply) as slow:
        given = plan(f'model = "scripted"\nbase_url = "{slow.base_url}"\n')
        running = process("study", "run", given, "-o", "run", "--yes", cwd=tmp_path)
        wait_for_requests(slow, 2)
        running.send_signal(how)
        _, err = running.communicate()
    assert running.returncode == 130
    assert "Stopped." in err
    assert "Continue: recurrentgpt study run tiny.toml -o run" in err
    assert "failed" not in err
    assert RunFolder.open(tmp_path / "run").rows("failures.jsonl") == []


def test_the_estimate_has_the_judges_and_grows_as_systems_do():
    plan = read_plan("table1")
    jobs = list(plan.jobs())
    alone = estimate(jobs, plan)
    judged = estimate(jobs, plan.model_copy(update={"judges": [Judge(model=name) for name in "abc"]}))
    # 840 pairs, 2 criteria, 2 orders, 3 judges; and 8 novels, 3 spoilt copies, 2 criteria, 2 orders, 3 judges.
    assert judged["judges_calls"] == judged["calls"] - alone["calls"] == 10080 + 288
    assert judged["input_tokens"] - alone["input_tokens"] == pytest.approx(131e6, rel=0.05)
    assert alone["judges_calls"] == 0
    short, long = (novel_cost("rolling_unlimited", words).input_tokens for words in (3000, 6000))
    assert long == pytest.approx(4 * short), "its prompts hold the whole story"
    short, long = (novel_cost("rolling_1024", words).input_tokens for words in (3000, 6000))
    assert long < 2.3 * short, "its window was full all along"


@pytest.mark.parametrize(
    ("system", "words", "calls", "tokens"),
    [
        ("recurrentgpt", 6000, 71, 88_706),
        ("recurrentgpt", 3000, 35, 40_753),
        ("rolling_unlimited", 6000, 19, 55_723),
        ("rolling_4096", 6000, 19, 38_090),
        ("rolling_1024", 3000, 10, 5_297),
        ("re3", 3000, 114, 49_409),
        ("doc", 3000, 242, 103_484),
    ],
)
def test_estimates_are_near_what_a_capable_server_took(system, words, calls, tokens):
    # RE3 was measured with four drafts.
    cost = novel_cost(system, words, Options(candidates=4) if system == "re3" else Options())
    assert calls / 1.5 < cost.calls < calls * 1.5
    assert tokens / 1.5 < cost.input_tokens < tokens * 2


def test_systems_are_named_on_the_command_line_in_place_of_the_plans(cli, server, plan, tmp_path):
    done = cli("study", "run", plan(), "-o", "run", "--system", "paper", "--system", "bare", "--yes")
    assert done.code == 0, done.err
    assert RunFolder(tmp_path / "run").plan.systems == ["paper", "bare"]
    assert len(RunFolder(tmp_path / "run").novels()) == 2
    unknown = cli("study", "run", plan(), "--system", "nobody", "--estimate")
    assert "There is no system 'nobody'" in unknown.err


def test_a_reader_is_forgotten_once_that_is_agreed_to(cli, server, plan):
    assert cli("study", "run", plan(), "-o", "run", "--yes").code == 0
    said = {"unit": "mystery-01-s1", "first": "rolling_1024", "second": "one_shot", "criterion": "coherent"}
    RunFolder.open(Path("run")).append("labels.jsonl", {"annotator": "Ada", **said, "preference": 1.0})
    unknown = cli("study", "forget", "run", "Bob", "--yes")
    assert (unknown.code, "there are Ada" in unknown.err) == (1, True)
    assert "run it again with --yes" in cli("study", "forget", "run", "Ada").err
    done = cli("study", "forget", "run", "Ada", "--yes")
    assert (done.code, "1 answer deleted." in done.err) == (0, True)
    assert "there is nobody" in cli("study", "forget", "run", "Ada", "--yes").err
