"""The embedded server's process: with a stand-in that speaks its protocol, and with llama.cpp itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.models.calls import Meter, ask, write_stream
from recurrentgpt.models.embedded import server as embedded
from recurrentgpt.models.embedded.adapter import Adapter
from recurrentgpt.models.embedded.catalogue import WRITER
from recurrentgpt.models.embedded.fetch import fetch
from recurrentgpt.models.embedded.server import CONTEXT, MOST_STORIES, embedded_server, side_by_side, stop_servers
from recurrentgpt.models.roles import aresolve_model
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import ModelRefused

STAND_IN = """
import json, os, socket, sys
wish = json.loads(sys.stdin.readline())
print("llama.cpp talks a lot", file=sys.stderr)
with open(wish["path"] + ".wish", "w") as file:
    json.dump({name: wish[name] for name in ("context", "slots", "shared_cache", "cache_mib")}, file)
if "broken" in wish["path"]:
    os._exit(3)
server = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"address": "http://127.0.0.1:%d" % server.getsockname()[1]}), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def stopped() -> Iterator[None]:
    yield
    stop_servers()


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace llama.cpp, and give the path of a model file."""
    script = tmp_path / "server.py"
    script.write_text(STAND_IN)
    monkeypatch.setattr(embedded.llama_server, "__file__", str(script))
    return gguf(tmp_path / "toy.gguf")


def gguf(path: Path) -> Path:
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    return path


def listens(base_url: str) -> bool:
    parts = urlsplit(base_url)
    with socket.socket() as client:
        return client.connect_ex((parts.hostname, parts.port)) == 0


def test_one_server_per_file_whoever_asks(stand_in: Path) -> None:
    found: list[embedded.Endpoint] = []
    threads = [threading.Thread(target=lambda: found.append(embedded_server(stand_in))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    other = embedded_server(gguf(stand_in.with_name("other.gguf")))
    assert other.base_url != found[0].base_url
    assert len(found[0].api_key) >= 32
    assert other.api_key != found[0].api_key
    assert found[0].base_url.startswith("http://127.0.0.1:")


def test_a_server_that_died_is_started_again_and_says_how_it_ended(
    stand_in: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = embedded_server(stand_in)
    process = embedded._servers[stand_in.resolve(), None, 1].process
    process.kill()
    process.wait()
    second = embedded_server(stand_in)
    assert second != first
    assert listens(second.base_url)
    assert "ended by SIGKILL" in caplog.text


@pytest.mark.parametrize(("stories", "taken"), [(1, 1), (2, 2), (64, MOST_STORIES)])
def test_a_server_takes_the_calls_of_stories_written_side_by_side(stand_in: Path, stories: int, taken: int) -> None:
    alone = embedded_server(stand_in)
    with side_by_side(stories):
        served = call(lambda: asyncio.to_thread(embedded_server, stand_in))
    assert (served == alone) == (taken == 1)
    assert embedded_server(stand_in) == alone, "a story after a study has the server of one"
    wish = json.loads(stand_in.with_name("toy.gguf.wish").read_text())
    sizes = {"context": CONTEXT * taken, "slots": max(2, taken), "cache_mib": 512 * taken}
    assert wish == {**sizes, "shared_cache": taken == 1}


def test_stopping_frees_the_port(stand_in: Path) -> None:
    endpoint = embedded_server(stand_in)
    assert listens(endpoint.base_url)
    stop_servers()
    assert not listens(endpoint.base_url)


def test_a_server_that_dies_while_it_loads_is_a_sentence(stand_in: Path) -> None:
    with pytest.raises(ModelRefused, match="ended with status 3"):
        embedded_server(gguf(stand_in.with_name("broken.gguf")))


@pytest.mark.parametrize("ending", ["pass", "sys.exit(7)", "os.kill(os.getpid(), 9)", "raise KeyboardInterrupt"])
def test_the_server_ends_with_its_process(stand_in: Path, ending: str) -> None:
    script = f"""
        import os, sys
        from pathlib import Path
        from recurrentgpt.models.embedded import server as embedded
        embedded.llama_server.__file__ = {embedded.llama_server.__file__!r}
        endpoint = embedded.embedded_server(Path({str(stand_in)!r}))
        print(next(iter(embedded._servers.values())).process.pid, flush=True)
        {ending}
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    expected = {"pass": 0, "sys.exit(7)": 7, "os.kill(os.getpid(), 9)": -9, "raise KeyboardInterrupt": -signal.SIGINT}
    assert done.returncode == expected[ending]
    assert "llama.cpp" not in done.stdout + done.stderr
    assert gone(int(done.stdout))


def gone(pid: int) -> bool:
    """Wait for a process that is not a child of ours to be gone."""
    waiting = threading.Event()
    for _ in range(200):
        try:
            os.kill(pid, 0)
            if " Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        waiting.wait(0.05)
    return False


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "letter.gguf"
    other.write_text("Dear reader")
    with pytest.raises(ModelRefused, match="not a GGUF file"):
        embedded_server(other)
    with pytest.raises(ModelRefused, match="cannot be read"):
        embedded_server(tmp_path / "nowhere.gguf")
    with pytest.raises(ModelRefused, match="cannot be read"):
        embedded_server(tmp_path)


def test_what_is_wrong_with_an_adapter_is_not_said_of_the_model(stand_in: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.gguf"
    letter.write_text("Dear reader")
    for adapter, fault in ((letter, "is not a GGUF file"), (tmp_path / "nowhere.gguf", "cannot be read")):
        with pytest.raises(
            ModelRefused, match=rf"adapter file {adapter} {fault}.*RECURRENTGPT_ADAPTER=none"
        ) as refused:
            embedded_server(stand_in, Adapter(adapter))
        assert "RECURRENTGPT_MODEL" not in str(refused.value)


def test_what_cannot_be_loaded_with_an_adapter_may_be_either_file(stand_in: Path, tmp_path: Path) -> None:
    broken, adapter = gguf(tmp_path / "broken.gguf"), gguf(tmp_path / "teller.gguf")
    with pytest.raises(
        ModelRefused, match=rf"{broken} with the adapter {adapter} .*--adapter none.*RECURRENTGPT_MODEL"
    ):
        embedded_server(broken, Adapter(adapter))


def test_a_truncated_file_is_refused_by_llama_cpp_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelRefused, match="could not load"):
        embedded_server(gguf(tmp_path / "half.gguf"))
    assert capfd.readouterr() == ("", "")


def test_without_xllamacpp_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelRefused, match=r"xllamacpp.*not installed"):
        embedded_server(gguf(tmp_path / "toy.gguf"))


@pytest.mark.real
async def test_the_real_model_writes_and_answers_in_json(capfd: pytest.CaptureFixture[str]) -> None:
    fetch(WRITER)
    model = await aresolve_model("writer", Context())
    assert (model.tier, model.embedded) == ("small", True)
    prompt, meter = [HumanMessage("Write one paragraph about a lighthouse keeper.")], Meter()
    sampling = {"min_p": 0.04, "dry_multiplier": 1.0, "dry_penalty_last_n": 8192}
    stream = write_stream(model, prompt, max_tokens=40, temperature=0.8, seed=1, sampling=sampling, meter=meter)
    assert len("".join([piece async for piece in stream]).split()) > 15
    assert (meter.output_tokens, meter.finish_reason) == (40, "length")

    schema = {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}},
        "required": ["facts"],
    }
    reply = await ask(model, prompt, schema, max_tokens=200, temperature=0.3, seed=1, meter=meter)
    assert len(reply["facts"]) == 2

    meter = Meter()
    stream = write_stream(model, prompt, max_tokens=2000, meter=meter)
    await anext(stream)
    await stream.aclose()
    again = [piece async for piece in write_stream(model, prompt, max_tokens=3, meter=meter)]
    assert again
    assert meter.cached_tokens > 0
    assert meter.seconds < 60
    assert capfd.readouterr() == ("", "")
