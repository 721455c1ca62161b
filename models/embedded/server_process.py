"""Run llama.cpp's own server until standard input closes; started as a script by `recurrentgpt.models.embedded.server`.

It is a process of its own because llama.cpp's binding holds Python's lock while it loads, which would freeze the whole
program for seconds, and because it crashes the interpreter that exits during a generation. The parent holds the other
end of standard input: however it ends, the pipe closes and this process ends too.

It reads one line of JSON (path, key, context, slots, shared_cache, cache_mib, threads, snapshots, preload, adapter) and
writes one (address, or error).
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from typing import Any

HEALTH_SECONDS = 60.0


def main() -> None:
    """Serve as standard input says, and end with it."""
    # Ctrl-C at the terminal reaches every process of its group; this one ends when its parent has finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = os.fdopen(os.dup(1), "w")
    # llama.cpp prints to the standard streams at will; only the one line above may reach the parent. What it says of a crash
    # goes to standard error, which the parent reads then.
    os.dup2(2, 1)
    faulthandler.enable()
    wish = json.loads(sys.stdin.buffer.readline())
    try:
        server = _serve(wish)
        _wait_until_healthy(server.listening_address)
        _preload(server.listening_address, wish)
        reply = {"address": server.listening_address}
    except (ImportError, RuntimeError, OSError) as error:
        reply = {"error": f"{error}"}
    print(json.dumps(reply), file=answer, flush=True)
    if "address" in reply:
        sys.stdin.buffer.read()
    # Not an ordinary exit: tearing llama.cpp down during a generation crashes or hangs.
    os._exit(0)


def _serve(wish: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = wish["path"]
    params.n_ctx = wish["context"]
    params.n_parallel = wish["slots"]
    # The two calls of one story share its context. Those of several stories would each be compared with all the others' words.
    params.kv_unified = wish["shared_cache"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wish["key"]]
    params.verbosity = -1
    # A newcomer waits for the first word: no trial run, and no search for the settings that fit a graphics card.
    params.warmup = False
    params.fit_params = False
    params.ui = False
    params.endpoint_slots = True
    params.slot_save_path = wish["snapshots"]
    # Prompts of finished calls are kept in memory to be continued.
    params.cache_ram_mib = wish["cache_mib"]
    if wish["threads"]:
        params.cpuparams.n_threads = wish["threads"]
        params.cpuparams_batch.n_threads = wish["threads"]
    if wish["adapter"]:
        adapter = xllamacpp.CommonAdapterLoraInfo()
        adapter.path, adapter.scale = wish["adapter"]["path"], wish["adapter"]["scale"]
        params.lora_adapters = [adapter]
    return xllamacpp.Server(params)


def _wait_until_healthy(address: str) -> None:
    """Return when the server answers; it says 503 while it loads."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + HEALTH_SECONDS
    while True:
        try:
            with direct.open(f"{address}/health", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError) as error:
            if time.monotonic() > deadline:
                raise OSError(f"the server did not become ready: {error}") from error
            time.sleep(0.05)


def _preload(address: str, wish: dict[str, Any]) -> None:
    """Load the snapshots of prompts into the server's memory.

    A file is loaded into a slot; a call in another slot then makes the server put the idle one's content into its memory.
    """
    for name in wish["preload"]:
        _post(f"{address}/slots/0?action=restore", {"filename": name}, wish["key"])
        _post(
            f"{address}/completion", {"prompt": ".", "n_predict": 1, "cache_prompt": False, "id_slot": 1}, wish["key"]
        )


def _post(url: str, body: dict[str, Any], key: str) -> None:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - our own address
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=HEALTH_SECONDS):
        pass


if __name__ == "__main__":
    main()
