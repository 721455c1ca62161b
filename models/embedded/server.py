"""The embedded model: llama.cpp's own OpenAI-compatible server, on loopback, for this process alone."""

from __future__ import annotations

import atexit
import importlib.util
import json
import logging
import math
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from recurrentgpt.models.embedded import server_process as llama_server
from recurrentgpt.models.embedded.adapter import Adapter
from recurrentgpt.models.embedded.snapshots import SLOTS, Snapshots
from recurrentgpt.schema.errors import ModelRefused

logger = logging.getLogger(__name__)

CONTEXT = 8192
"""Tokens that all calls in flight of one story share."""
CACHE_MIB = 512
"""Memory for the prompts of finished calls of one story; llama.cpp's own 8 GiB are more than most machines have."""
MOST_STORIES = 8
"""Stories that a server writes side by side at most: the context of each takes about 230 MB, beside its `CACHE_MIB`."""
LOAD_SECONDS = 300.0
"""Bound of a first load, on a slow disk and a busy machine; two seconds are usual."""

_INSTEAD = "name another file with RECURRENTGPT_MODEL, or use an endpoint with OPENAI_BASE_URL"
_WITHOUT = "leave the adapter out with RECURRENTGPT_ADAPTER=none or --adapter none, or name another one there"


@dataclass(frozen=True)
class Endpoint:
    """Where an OpenAI-compatible server is, and the key that it wants."""

    base_url: str
    api_key: str = field(repr=False)
    snapshots: Snapshots | None = field(default=None, repr=False, compare=False)
    """The prompts that an embedded server keeps on disk."""


@dataclass(frozen=True)
class _Running:
    process: subprocess.Popen[bytes]
    endpoint: Endpoint
    errors: IO[bytes]
    """What it writes to standard error: nothing, until it crashes."""


_servers: dict[tuple[Path, Adapter | None, int], _Running] = {}
_lock = threading.Lock()
_stories = ContextVar("stories", default=1)


@contextmanager
def side_by_side(stories: int) -> Iterator[None]:
    """Within the block, ask a server that takes the calls of so many stories at once, `MOST_STORIES` at most.

    Two cores compute the next words of four texts in twice the time of one's.
    """
    token = _stories.set(min(max(stories, 1), MOST_STORIES))
    try:
        yield
    finally:
        _stories.reset(token)


def embedded_server(path: Path, adapter: Adapter | None = None) -> Endpoint:
    """Return the server of a GGUF file, starting it at the first call and again if it died. It ends with this process.

    The same file with another adapter, or for another number of stories, is another server. It blocks for the seconds that
    loading takes. Raises ModelRefused when a file cannot be loaded or llama.cpp is missing.
    """
    path = path.expanduser().resolve()
    if adapter is not None:
        adapter = replace(adapter, path=adapter.path.expanduser().resolve())
    served = path, adapter, _stories.get()
    with _lock:
        running = _servers.get(served)
        if running is not None and running.process.poll() is None:
            return running.endpoint
        if running is not None:
            logger.warning("The embedded model's process ended %s; it is started again.", _how_it_ended(running))
            _stop(running)
        _check(path, "model", _INSTEAD)
        if adapter is not None:
            _check(adapter.path, "adapter", _WITHOUT)
        _servers[served] = _start(*served)
        return _servers[served].endpoint


def stop_servers() -> None:
    """Stop every embedded server of this process and free its memory; a later call starts it again."""
    with _lock:
        for running in _servers.values():
            _stop(running)
        _servers.clear()


atexit.register(stop_servers)


def _check(path: Path, kind: str, instead: str) -> None:
    """Raise ModelRefused, which says what to do `instead`, for a file of some kind that llama.cpp could not load."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelRefused(f"The {kind} file {path} cannot be read ({error.strerror}): {instead}.") from error
    if magic != b"GGUF":
        raise ModelRefused(
            f"The {kind} file {path} is not a GGUF file, the kind that the embedded model needs: {instead}."
        )
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelRefused(
            "The package xllamacpp, which runs the embedded model, is not installed: install it, or use an endpoint with "
            "OPENAI_BASE_URL."
        )


def _start(path: Path, adapter: Adapter | None, stories: int) -> _Running:
    snapshots = Snapshots.of(path, adapter)
    if preload := snapshots.sound():
        try:
            return _serve(path, adapter, stories, snapshots, preload)
        except ModelRefused as error:
            # A start must never depend on a cache.
            logger.info("The embedded model did not start with its kept prompts (%s); starting without them.", error)
            snapshots.clear()
    return _serve(path, adapter, stories, snapshots, [])


def _serve(path: Path, adapter: Adapter | None, stories: int, snapshots: Snapshots, preload: list[str]) -> _Running:
    key = secrets.token_urlsafe(24)
    wish = {
        "path": str(path),
        "key": key,
        "context": CONTEXT * stories,
        "slots": max(SLOTS, stories),
        "shared_cache": stories == 1,
        "cache_mib": CACHE_MIB * stories,
        "threads": _threads(),
        "snapshots": f"{snapshots.folder}{os.sep}",
        "preload": preload,
        "adapter": {"path": str(adapter.path), "scale": adapter.scale} if adapter else None,
    }
    errors = _file_for_errors()
    # -P: the script's own folder must not shadow other modules. The key goes through the pipe, as arguments are public.
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-P", llama_server.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )
    running = _Running(process, Endpoint("", key), errors)
    try:
        reply = _first_line(process, json.dumps(wish).encode() + b"\n")
    except BaseException:
        process.kill()
        _stop(running)
        raise
    if "address" not in reply:
        why = reply.get("error") or f"its process ended {_how_it_ended(running)}; is there enough memory?"
        _stop(running)
        worn = f" with the adapter {adapter.path}" if adapter else ""
        instead = f"{_WITHOUT}, or {_INSTEAD}" if adapter else _INSTEAD
        raise ModelRefused(
            f"The embedded model could not load {path}{worn} ({str(why)[:200].rstrip(' .')}): a file may be damaged or need a "
            f"newer xllamacpp; {instead}."
        )
    return replace(running, endpoint=Endpoint(f"{reply['address']}/v1", key, snapshots))


def _first_line(process: subprocess.Popen[bytes], wish: bytes) -> dict[str, Any]:
    """Return what the server says once it has loaded; nothing when it died."""
    assert process.stdin is not None
    assert process.stdout is not None
    source, lines = process.stdout, queue.SimpleQueue[bytes]()
    with suppress(BrokenPipeError):
        process.stdin.write(wish)
        process.stdin.flush()
    threading.Thread(target=lambda: lines.put(source.readline()), daemon=True).start()
    try:
        line = lines.get(timeout=LOAD_SECONDS)
    except queue.Empty:
        raise ModelRefused(f"The embedded model did not load within {LOAD_SECONDS:.0f} seconds: {_INSTEAD}.") from None
    reply: dict[str, Any] = json.loads(line) if line else {}
    return reply


def _file_for_errors() -> IO[bytes]:
    """Return a file without a name; where none can be made, what is said of a crash is lost and nothing else."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return open(os.devnull, "r+b")


def _how_it_ended(running: _Running) -> str:
    """Return by which status or signal a server's process ended, and the first line that it left about it, if any."""
    status = running.process.wait()
    running.errors.seek(0)
    said = running.errors.read(4096).decode(errors="replace").strip().partition("\n")[0]
    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return f"{how}: {said[:200]}" if said else how


def _stop(running: _Running) -> None:
    """End a server by closing its standard input, and wait for it."""
    process = running.process
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
    running.errors.close()


def _threads() -> int:
    """Return the threads to compute with; 0 leaves it to llama.cpp, which counts the machine's physical cores.

    It does not see that a container or an affinity gives this process fewer, where more threads than cores are far
    slower than too few.
    """
    everything = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else everything
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            allowed = min(allowed, max(1, math.floor(int(quota) / int(period))))
    return allowed if allowed < everything else 0
