"""`--remote URL` where what answers is no server of LangGraph's protocol, is a broken one, or leads somewhere else."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

COMMANDS = [["stories"], ["show", "abcd"], ["write", "--genre", "mystery", "--steps", "1"], ["write", "abcd"]]
ODD = {
    "null": b"null",
    "empty": b"",
    "numbers": b"[1]",
    "text": b'"x"',
    "empty objects": b"[{}]",
    "object": b"{}",
    "page": b"<!doctype html><title>Welcome</title>",
    "deep": b"[" * 100_000,
    "beyond numbers": b"[1e999]",
    "no text": b'"\xff"',
}
THREAD = {"thread_id": "7", "updated_at": "2026-01-01T00:00:00Z", "metadata": {"story": "abcd", "title": "The Lamp"}}
BRIEF = {"title": "The Lamp", "genre": "mystery", "premise": "A lamp.", "characters": [], "outline": []}
VALUES = {
    "story": "abcd", "title": "The Lamp", "genre": "mystery", "premise": "A lamp.", "brief": BRIEF, "head": "0" * 24, "step": 1,
    "short_term_memory": "She has a lamp.", "candidate_plans": ["She goes."], "status": "choosing", "passage": "She had a lamp.",
}  # fmt: skip
STATE = {"values": VALUES, "next": [], "checkpoint": {"checkpoint_id": "1"}, "created_at": "2026-01-01T00:00:00Z"}
EMPTY = {"/threads": THREAD, "/state": {"values": [], "next": [], "checkpoint": None}}
"""What a server says of a story in which nothing is written."""

Served = Callable[..., "Server"]


class Server(ThreadingHTTPServer):
    """Answer whatever is asked with one body, or with that of the path's end; `headers` come with every answer."""

    daemon_threads = True

    def __init__(
        self, body: bytes, paths: Mapping[str, Any], status: int, headers: Mapping[str, str], kind: str
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body, self.paths, self.status, self.headers, self.kind = body, paths, status, headers, kind
        self.asked: list[tuple[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, path: str) -> tuple[bytes, str]:
        """Return the body for a path, and what it is."""
        found = next((value for end, value in self.paths.items() if path.endswith(end)), None)
        if found is None:
            return self.body, self.kind
        if path.endswith("/stream"):
            parts = (f"event: {event}\ndata: {json.dumps(data)}\n\n" for event, data in found)
            return "".join(parts).encode(), "text/event-stream"
        return json.dumps(found).encode(), "application/json"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        self.server.asked.append((path, self.headers.get("authorization", "")))
        body, kind = self.server.answer(path)
        self.send_response(self.server.status)
        for name, value in {"content-type": kind, "content-length": len(body), **self.server.headers}.items():
            self.send_header(name, str(value).replace("PATH", path))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PATCH = do_GET


@pytest.fixture
def served() -> Iterator[Served]:
    """Give what starts a server, until the test is over."""
    with ExitStack() as stack:

        def serve(
            body: bytes = b"{}", *, status: int = 200, kind: str = "application/json", paths: Any = (), **headers: str
        ) -> Server:
            server = Server(body, dict(paths), status, headers, kind)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            return server

        yield serve


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a token that nobody else may get."""
    monkeypatch.setenv("RECURRENTGPT_REMOTE_TOKEN", "the-secret-token")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("body", ODD.values(), ids=list(ODD))
def test_what_is_no_answer_of_such_a_server_is_told(cli, served, body, command):
    server = served(body, kind="text/html" if body.startswith(b"<") else "application/json")
    result = cli(*command, "--remote", server.url)
    assert (result.code, result.out) == (1, "")
    assert (
        result.err
        == f"Error: The server at {server.url} does not answer as a LangGraph server does: check the address.\n"
    )


@pytest.mark.parametrize(
    "paths",
    [
        {"/search": [THREAD], "/state": None},
        {"/search": [THREAD], "/state": {**STATE, "values": {**VALUES, "title": 7}}},
        {"/search": [THREAD], "/state": {**STATE, "values": {"head": "0" * 24}}},
        {"/search": [THREAD], "/state": STATE, "/history": None},
        {"/search": [THREAD], "/state": STATE, "/history": [{"values": {}}]},
        {"/search": [THREAD], "/state": STATE, "/history": [{**STATE, "values": {**VALUES, "brief": "A lamp."}}]},
        {"/search": [{**THREAD, "metadata": ["abcd"]}]},
    ],
)  # fmt: skip
def test_a_story_of_another_shape_is_told(cli, served, paths):
    server = served(paths=paths)
    result = cli("show", "abcd", "--remote", server.url)
    assert (result.code, result.out) == (1, "")
    assert "does not answer as a LangGraph server does" in result.err


@pytest.mark.parametrize(
    "settings", [["plans"], {"plans": [3]}, {"unheard of": 3}, {"plans": 3, "length": "x" * 10}, "plans"]
)
def test_settings_that_a_thread_keeps_are_taken_as_far_as_they_are_some(cli, served, settings):
    thread = {**THREAD, "metadata": {**THREAD["metadata"], "settings": settings}}
    result = cli("show", "abcd", "--settings", "--remote", served(paths={"/search": [thread], "/state": STATE}).url)
    assert "Unexpected" not in result.err


def test_a_history_without_the_passage_is_told(cli, served):
    result = cli("show", "abcd", "--remote", served(paths={"/search": [THREAD], "/state": STATE, "/history": []}).url)
    assert (result.code, result.err) == (1, f"Error: The server has no checkpoint of passage '{'0' * 24}' any more.\n")


@pytest.mark.parametrize(
    "stream",
    [
        [("updates", ["commit"])],
        [("updates", {"commit": {}})],
        [("updates", {"simulator": {}})],
        [("updates", {"commit": {"head": 7}})],
        [("custom", None)],
        [("custom", {"event": "prose"})],
        [("custom", {"event": "stage", "node": 1})],
    ],
)
def test_a_stream_of_another_shape_is_told(cli, served, stream):
    paths = {**EMPTY, "/history": [{**STATE, "next": ["commit"], "values": {"step": 0}}], "/stream": stream}
    result = cli("write", "--genre", "mystery", "--remote", served(paths=paths).url)
    assert result.code == 1
    assert "does not answer as a LangGraph server does" in result.err


def test_an_event_of_a_later_version_is_passed_over(cli, served):
    paths = {**EMPTY, "/stream": [("custom", {"event": "illustration"})]}
    result = cli("write", "--genre", "mystery", "--remote", served(paths=paths).url)
    assert result.code == 0, result.err


def test_a_page_where_events_were_asked_for_is_told(cli, served):
    result = cli("write", "--genre", "mystery", "--remote", served(paths=EMPTY).url)
    assert "does not answer as a LangGraph server does" in result.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_server_is_not_followed(cli, served, status, command):
    other = served(b"[]")
    server = served(status=status, location=f"{other.url}PATH")
    result = cli(*command, "--remote", server.url)
    assert (result.code, result.out) == (1, "")
    assert (
        f"{server.url} redirects to {other.url}, an address that nobody named, and nothing was sent there" in result.err
    )
    assert other.asked == []


@pytest.mark.parametrize("location", ["http://[bad", "//other.example", "file:///etc/passwd", "https://", ""])
def test_an_odd_redirect_is_a_sentence(cli, served, location):
    result = cli("stories", "--remote", served(status=307, location=location).url)
    assert (result.code, result.out) == (1, "")
    assert "Unexpected" not in result.err


def test_a_redirect_at_the_same_server_is_followed_as_long_as_it_leads_somewhere(cli, served):
    server = served(status=307, location="PATH/")
    result = cli("stories", "--remote", server.url)
    assert result.err == f"Error: The server at {server.url} redirects in a circle: check the address.\n"
    assert len(server.asked) > 2


def test_a_refusal_nested_beyond_reading_is_a_sentence(cli, served):
    server = served(b"[" * 100_000, status=403)
    assert cli("stories", "--remote", server.url).err == f"Error: The server at {server.url} refuses this.\n"
