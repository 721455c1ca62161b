"""A study on a server, as far as no server is needed: what is refused, what is served, and how calls are kept."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.memory.story_log import StoryLog
from recurrentgpt.remote.server import error_text
from recurrentgpt.schema.errors import ModelReplyError, SettingsError, StoryError
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.recording.recording import Call, RoleModel
from recurrentgpt.studies.recording.store_recorder import StoreRecorder, delete_lines, recorded_lines
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.plan import read_plan
from recurrentgpt.studies.runs.remote_runner import run_remote
from recurrentgpt.studies.runs.runner import novel_record, novel_settings, run
from recurrentgpt.studies.scripted_author import scripted_author
from recurrentgpt.studies.server import graphs as served
from recurrentgpt.studies.study_context import StudyContext

from .conftest import QUICK

ROOT = Path(__file__).parents[2]
PLAYED = RoleModel("scripted", "full", False, False)


def quiet(event):
    """Take no notice."""


@pytest.fixture
def answers():
    """Give a function that serves one answer to everything, or what a function says of each path, and returns the address."""
    running = []

    def serve(status, text):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = (text if isinstance(text, str) else text(self.path)).encode()
                self.send_response(status if isinstance(status, int) else status(self.path))
                self.send_header("content-type", "text/event-stream" if "stream" in self.path else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                self.do_GET()

            def log_message(self, *_):
                """Keep quiet."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("status", "text", "error", "message"),
    [
        (200, "<html>Welcome</html>", StudyError, "no server of LangGraph's protocol"),
        (200, '{"detail": "odd"}', StudyError, "no server of LangGraph's protocol"),
        (200, '[{"name": "odd"}]', StudyError, "no server of LangGraph's protocol"),
        (404, "not here", StudyError, "no server of LangGraph's protocol"),
        (
            200,
            '[{"graph_id": "novel"}]',
            StudyError,
            "has no graph 'recurrentgpt': start it with .*langgraph-studies.json",
        ),
        (401, "{}", SettingsError, "check RECURRENTGPT_REMOTE_TOKEN"),
        (500, "{}", StoryError, "answered 500; see its log"),
    ],
)
def test_a_server_that_cannot_write_the_novels_is_a_sentence(folder, answers, status, text, error, message):
    with pytest.raises(error, match=message):
        run_remote(folder, quiet, answers(status, text))
    assert folder.failures() == []


WRITER = 'The writer\'s \\ "reply" is none: run the plan again.'


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (repr(ModelReplyError(WRITER)), WRITER),
        (repr(ModelReplyError("It isn't.")), "It isn't."),
        ({"error": "ModelReplyError", "message": WRITER}, WRITER),
        ({"error": "X", "message": repr(ModelReplyError(WRITER))}, WRITER),
        ("Timeout('a', 'b')", "Timeout('a', 'b')"),
        ("KeyError('a' + 'b')", "KeyError('a' + 'b')"),
        ("No memory (at 'all')", "No memory (at 'all')"),
    ],
)
def test_what_failed_on_the_server_is_its_sentence(data, sentence):
    assert error_text(data) == sentence


def test_a_novel_that_failed_on_the_server_is_listed_with_its_sentence(folder, answers):
    state = {"values": {}, "next": ["novel"], "tasks": [{"error": repr(ModelReplyError(WRITER))}]}
    graphs = [{"graph_id": name} for name in folder.plan.systems]
    told = {
        "search": graphs,
        "threads": {},
        "state": state,
        "runs": {"run_id": "run-1"},
        "limit": [],
        "run-1": {"status": "error"},
    }

    def of(path):
        part = "limit" if "limit=" in path else path.partition("?")[0].rpartition("/")[2]
        return json.dumps(told.get(part, {})) if part != "stream" else ""

    assert run_remote(folder, quiet, answers(200, of)).failed == 4
    assert [row["error"] for row in folder.failures()] == [WRITER] * 4


def test_a_server_that_reads_and_never_works_is_given_up(folder, answers, monkeypatch):
    monkeypatch.setattr("recurrentgpt.studies.runs.remote_runner.WAITS", (0.0,) * 5)
    told = {
        "search": [{"graph_id": name} for name in folder.plan.systems],
        "state": {"values": {}, "next": ["novel"], "tasks": []},
    }
    asked = []

    def status(path):
        asked.append(path)
        return 503 if path.endswith("/runs") else 200

    def of(path):
        return json.dumps(told.get(path.partition("?")[0].rpartition("/")[2], [] if "limit=" in path else {}))

    assert run_remote(folder, quiet, answers(status, of)).failed == 4
    assert ["answered 503; see its log." in row["error"] for row in folder.failures()] == [True] * 4
    assert sum(path.endswith("/runs") for path in asked) >= 6


def test_where_no_server_is_it_is_said_and_the_run_can_be_gone_on_with(folder, unused_tcp_port):
    with pytest.raises(StoryError, match="No server answers"):
        run_remote(folder, quiet, f"http://127.0.0.1:{unused_tcp_port}")
    with pytest.raises(SettingsError, match="begins with http"):
        run_remote(folder, quiet, "")
    assert run(folder, quiet, model=scripted_author(), retry=QUICK).finished == 4


def test_recorded_calls_need_no_server(tmp_path):
    folder = RunFolder.create(tmp_path / "toy", read_plan("toy"))
    with pytest.raises(StudyError, match="leave --remote out, or add --live"):
        run_remote(folder, quiet, "http://127.0.0.1:1")


def test_every_system_is_served_by_its_name():
    config = json.loads((ROOT / "langgraph-studies.json").read_text())
    assert config["graphs"] == {name: f"./studies/server/graphs.py:{name}" for name in SYSTEMS}
    own = json.loads((ROOT / "langgraph.json").read_text())
    assert all(config[part] == own[part] for part in ("checkpointer", "store", "dependencies", "python_version"))
    for name in SYSTEMS:
        graph = getattr(served, name)
        assert graph.name == name
        assert set(graph.get_input_jsonschema()["properties"]) == {"genre", "premise"}
        assert not {"recorder", "recording", "embeddings"} & set(graph.get_context_jsonschema()["properties"])


def comparable(novel):
    """Return what two writings of one novel have in common: all but the time that they took, and on what."""
    passages = [{name: part for name, part in passage.items() if name != "usage"} for passage in novel["passages"]]
    named = {name: part for name, part in novel.items() if name not in ("usage", "passages", "models", "outdated")}
    return {**named, "passages": passages, "calls": novel["usage"]["calls"]}


async def test_a_served_novel_ends_with_all_that_a_local_one_has(folder):
    run(folder, quiet, model=scripted_author(), retry=QUICK)
    (job, *_), (novel, *_) = folder.plan.jobs(), folder.novels()
    store = InMemoryStore()
    graph = served.recurrentgpt.copy(update={"checkpointer": InMemorySaver(), "store": store})
    given = {"genre": job.genre, "premise": job.premise}
    config = {"configurable": {"thread_id": "thread-1"}, "recursion_limit": 10_000}
    said = {**novel_settings(folder.plan, job), "model": scripted_author(), "record": "prompts"}
    await graph.ainvoke(given, config, context=said)
    values = (await graph.aget_state(config)).values
    remote = novel_record(job, values["written"])
    assert comparable(remote) == comparable(novel)
    local = [json.loads(line) for line in folder.calls(job).read_text().splitlines()]
    kept = [json.loads(line) for line in values["calls"]]
    assert sorted(row["key"] for row in kept if "key" in row) == sorted(row["key"] for row in local if "key" in row)
    assert {tuple(row) for row in kept} == {tuple(row) for row in local}
    assert await recorded_lines(StoryLog(store), "thread-1") == [], "the store is tidy"


def call(key):
    return Call(key, "writer", 1, "A lamp.", [], {}, "stop", True, 0.1)


async def test_calls_are_kept_in_order_until_they_are_fetched(persistence):
    log = StoryLog(persistence.store)
    for key in ("first", "second"):
        recorder = await StoreRecorder.open(log, "novel", prompts=False)
        recorder.add_role("writer", PLAYED)
        recorder.add(call(key), [], {"text": "x" * 100})
        await recorder.flush()
    rows = [json.loads(line) for line in await recorded_lines(log, "novel")]
    assert [row.get("role") for row in rows] == ["writer"] * 3
    assert [row.get("key") for row in rows] == [None, "first", "second"]
    assert rows[1]["parameters"] == {"text": "..."}
    other = await StoreRecorder.open(log, "novel")
    with pytest.raises(StudyError, match="The recording of novel was begun with scripted as writer"):
        other.add_role("writer", RoleModel("another", "full", False, False))
    await delete_lines(log, "novel")
    assert await recorded_lines(log, "novel") == []


@pytest.mark.parametrize("wrong", [{"record": "all"}, {"embedder": "none"}])
def test_what_a_client_may_say_is_checked(wrong):
    with pytest.raises(SettingsError, match=f"{next(iter(wrong))} is one of"):
        StudyContext(**wrong)
