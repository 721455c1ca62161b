"""`recurrentgpt desk`: one command, one process; and the same page inside a host's server."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from recurrentgpt.cli.entry_point import run
from recurrentgpt.desk.app import create_app
from recurrentgpt.desk.serve import bound, outward
from recurrentgpt.library import Library
from recurrentgpt.models.embeddings import HashEmbeddings
from tests.conftest import PATIENCE
from tests.desk.conftest import API, HERE, HOST, Client
from tests.desk.scripted import DESK, paced
from tests.warm_process import WarmProcess


def test_it_says_where_it_is_and_ends_at_ctrl_c(warm: WarmProcess) -> None:
    command = ("-m", "recurrentgpt.cli", "desk", "--no-browser")
    with warm.start(*command, stderr=subprocess.PIPE, imports=DESK) as process:
        found = re.search(r"http://127\.0\.0\.1:\d+/desk/", process.stderr.readline())
        assert found
        assert httpx.get(found[0], timeout=PATIENCE / 1000).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert "Traceback" not in process.stderr.read()


def test_the_usual_port_is_taken_again_and_another_where_it_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        usual = taken.getsockname()[1]
        monkeypatch.setattr("recurrentgpt.desk.serve.USUAL_PORT", usual)
        with bound("127.0.0.1", None) as other:
            assert other.getsockname()[1] not in (0, usual)
    for _ in range(2):
        with bound("127.0.0.1", None) as again:
            assert again.getsockname()[1] == usual


@pytest.mark.parametrize("connected", [True, False])
def test_an_address_for_other_machines_is_one_that_they_can_find(
    connected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(self: socket.socket, address: object) -> None:
        if not connected:
            raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "getsockname", lambda self: ("10.0.0.5", 9))
    assert outward("0.0.0.0") == ("10.0.0.5" if connected else socket.gethostname())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(["--port", "{taken}"], "choose another --port"), (["--token", "short"], "16 or more letters and digits")],
)
def test_what_it_cannot_do_it_says_in_a_sentence(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["desk", "--no-browser", *(word.format(taken=port) for word in arguments)]) == 2
    assert why in capsys.readouterr().err


@pytest.fixture
def host(library: Library, tmp_path: Path) -> Iterator[Client]:
    """Give a host's server with the desk in it, and pages of its own."""
    model = paced(tmp_path, 0.0)
    settings = {"model": model, "embeddings": HashEmbeddings(), "new_character": 0.0}
    app = create_app(library, folder=tmp_path / "desk", given=settings, mounted=True)
    server = FastAPI(lifespan=app.router.lifespan_context)
    server.state.desk = app.state.desk

    @server.get("/threads")
    async def threads() -> str:
        return "the host's own"

    server.mount("/", app)
    with TestClient(server, base_url=HOST, client=HERE) as opened:
        yield Client(opened, model)


def test_a_host_keeps_every_other_path_and_the_desk_works_in_it(host: Client) -> None:
    assert host.http.get("/threads", headers={"Host": "a.host"}).json() == "the host's own"
    assert "<div id=" in host.http.get("/desk/").text
    assert host.http.get(f"{API}/stories", headers={"Host": "a.host"}).status_code == 400
    assert host.begin()["step"] == 1


@pytest.mark.parametrize(
    ("server", "there"),
    [
        ({"RECURRENTGPT_DESK": "off"}, False),
        ({"RECURRENTGPT_DESK": ""}, True),
        # What LangGraph's servers make of "auth" in langgraph.json: several people, who may come through one proxy.
        ({"LANGGRAPH_AUTH": '{"path": "./auth.py:auth"}'}, False),
    ],
)
def test_a_host_may_leave_the_desk_out(server: dict[str, str], there: bool, warm: WarmProcess) -> None:
    code = "from recurrentgpt.desk.host import app; print(bool(app.routes))"
    told = warm.run("-c", code, env={**os.environ, **server}, imports=DESK)
    assert told.stdout == f"{there}\n", told.stderr


def test_nothing_holds_up_the_hosts_event_loop(host: Client) -> None:
    guards = pytest.importorskip("blockbuster", reason="no blockbuster: pip install 'recurrentgpt[studio]'")
    # What LangGraph's development server lets pass.
    allowed = ("os.stat", "os.listdir", "os.remove", "io.", "threading.", "os.path.")
    guard = guards.BlockBuster()
    for name in [name for name in guard.functions if name.startswith(allowed)]:
        del guard.functions[name]
    guard.activate()
    try:
        story = host.begin()["id"]
        host.write(story, number=1)
        host.send("PUT", f"/stories/{story}/settings", {"values": {"note": "Keep it quiet."}})
        host.send("PUT", "/settings", {"values": {}})
        assert host.get(f"/stories/{story}")["step"] == 2
    finally:
        guard.deactivate()


@pytest.mark.parametrize("missing", ["uvicorn", "fastapi"])
@pytest.mark.parametrize("command", ["desk", "serve"])
def test_what_is_not_installed_is_named_by_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, missing: str
) -> None:
    for name in ("recurrentgpt.desk.app", "recurrentgpt.desk.serve"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert run([command, "--port", "0"]) != 0
    told = " ".join(capsys.readouterr().err.split())
    assert "pip install 'recurrentgpt[desk]'" in told
    assert "Unexpected" not in told
