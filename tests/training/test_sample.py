"""The sampler: which context comes next, and what is kept of a draft."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.models.embedded.server import Endpoint
from recurrentgpt.schema.errors import ModelUnavailable
from training import sample
from training.client import complete
from training.data import Source, line, read_scenes
from training.product import sha256
from training.sample import draft, wanted
from training.sample import main as sample_main

from .scenes import premise, scene

BARE = Source(hand="model", model="abc")


class Server:
    """A chat server that says what it was asked, and fails as often as it is told."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.failures = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if outer.failures:
                    outer.failures -= 1
                    self.send_error(503)
                    return
                outer.bodies.append(body)
                text = outer.reply(body)
                reply = {
                    "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}},
                }
                content = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.endpoint = Endpoint(f"http://127.0.0.1:{self.http.server_port}/v1", "key")

    def reply(self, body: dict[str, Any]) -> str:
        return f"Nora wrote scene {len(self.bodies)}."


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()
    yield served
    served.http.shutdown()
    served.http.server_close()


def test_whole_stories_come_first_then_other_seeds() -> None:
    stories, done, order = [premise("one"), premise("two")], set(), []
    while (following := wanted(stories, 2, done, {})) is not None:
        context, seed = following
        done.add((context.story, context.step, seed))
        order.append((seed, context.story, context.step))
    assert order == [(seed, story, step) for seed in (0, 1) for story in ("one", "two") for step in (1, 2, 3)]


def test_a_scene_follows_the_mended_one_before_it() -> None:
    before = scene(story="one", passage="She left. He stayed.", facts=["Nora Teague has left."])
    following = wanted([premise("one")], 1, {("one", 1, 0)}, {("one", 1): before})
    assert following is not None
    assert following[0].ending == "She left. He stayed."
    assert following[0].memory == [*before.memory, "Nora Teague has left."]


def test_a_draft_says_how_it_was_made(server: Server) -> None:
    made = draft(server.endpoint, premise().context(2), 1, temperature=0.6, made_by=BARE, shown=scene(story="other"))
    assert made.passage == "Nora wrote scene 1."
    assert made.source.model_dump(include={"hand", "seed", "temperature", "model", "finish", "example"}) == {
        "hand": "model",
        "seed": 1,
        "temperature": 0.6,
        "model": "abc",
        "finish": "stop",
        "example": "other",
    }
    body = server.bodies[0]
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert not [name for name in body if name.startswith("dry_")]


def test_the_sampler_goes_on_where_it_stopped(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    (tmp_path / "premises.jsonl").write_text(line(premise("one")) + line(premise("two")))
    monkeypatch.setattr(sample, "embedded_server", lambda path, adapter: server.endpoint)
    output = tmp_path / "out" / "drafts.jsonl"
    command = [str(tmp_path / "premises.jsonl"), "-o", str(output), "--model", str(tmp_path / "model.gguf")]
    assert sample_main([*command, "--minutes", "0"]) == 0
    assert not output.exists()

    server.failures = 2
    assert sample_main(command) == 0
    assert len(read_scenes([output])) == 6
    capsys.readouterr()

    output.write_text("".join(output.read_text().splitlines(keepends=True)[:-1]))
    assert sample_main(command) == 0
    assert "6 of 6: two scene 3, seed 0" in capsys.readouterr().out
    assert len(read_scenes([output])) == 6

    adapter, drafts = tmp_path / "teller.gguf", tmp_path / "worn.jsonl"
    adapter.write_bytes(b"GGUF")
    worn = [*command[:2], str(drafts), *command[3:], "--adapter", str(adapter), "--scale", "0.5"]
    assert sample_main(worn) == 0
    assert {scene.source.adapter for scene in read_scenes([drafts])} == {f"{sha256(adapter)[:12]} at 0.5"}


def test_three_failures_in_a_row_end_it(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    (tmp_path / "premises.jsonl").write_text(line(premise("one")))
    monkeypatch.setattr(sample, "embedded_server", lambda path, adapter: server.endpoint)
    server.failures = 9
    command = [
        str(tmp_path / "premises.jsonl"),
        "-o",
        str(tmp_path / "out.jsonl"),
        "--model",
        str(tmp_path / "model.gguf"),
    ]
    assert sample_main(command) == 1
    assert "gave no reply" in capsys.readouterr().err
    assert server.failures == 6


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(ModelUnavailable, match="gave no reply"):
        complete(Endpoint("http://127.0.0.1:9/v1", "key"), [{"role": "user", "content": "?"}])
