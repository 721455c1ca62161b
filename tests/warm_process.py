"""Python in processes that are forked from one which has imported what most of them want: a start of its own takes two seconds.

`python -m tests.warm_process SOCKET` listens at a Unix socket. A request is JSON with the three streams that the process is to
have; the answers are its process id and, when it has ended, its exit status.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO, Any

from tests.same_ids import ids_of

ROOT = Path(__file__).parents[1]
WARM = (
    *(
        "langchain_openai",
        "openai.resources.chat.completions",
        "langgraph.checkpoint.sqlite.aio",
        "langgraph.store.sqlite.aio",
    ),
    *("recurrentgpt.library", "recurrentgpt.checkpoints.sqlite", "recurrentgpt.checkpoints.backups"),
    *("recurrentgpt.models.endpoint_chat", "recurrentgpt.models.http_client", "recurrentgpt.memory.index"),
    *("recurrentgpt.cli.terminal.interactive", "recurrentgpt.cli.terminal.renderer", "recurrentgpt.testing"),
)
"""What takes long to import, and reads nothing of the environment."""
REQUEST = 1 << 18
_started = Counter[str]()
PATIENCE = 600
"""Seconds after which a process hangs that is waited for."""


class WarmProcess:
    """Where processes are forked."""

    def __init__(self, address: Path) -> None:
        self.address = address

    def start(self, *arguments: str, **options: Any) -> Forked:
        """Start what `python ARGUMENTS` starts."""
        return Forked(self.address, arguments, **options)

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run what `python ARGUMENTS` runs, to its end."""
        with self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@contextmanager
def warm_process(folder: Path) -> Iterator[WarmProcess]:
    """Start the process that forks the others."""
    address = folder / "forks"
    command = [sys.executable, "-m", "tests.warm_process", str(address)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield WarmProcess(address)
        finally:
            server.terminate()


class Forked:
    """A process as `subprocess.Popen` gives it, with streams of text; or, with a `terminal`, one that has no other stream.

    `imports` names what it is to find imported, beside what is warm for all.
    """

    stdin: IO[str]
    stdout: IO[str]
    stderr: IO[str]
    returncode: int | None = None

    def __init__(
        self,
        address: Path,
        arguments: Sequence[str],
        *,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        terminal: int | None = None,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        imports: Sequence[str] = (),
    ) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        _started[test] += 1
        request = {
            "ids": f"{test} {_started[test]}",
            "arguments": arguments,
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "terminal": terminal is not None,
            "imports": imports,
        }
        given, own = [], []
        for number, (name, stream) in enumerate({"stdin": stdin, "stdout": stdout, "stderr": stderr}.items()):
            if stream == subprocess.PIPE:
                ends = os.pipe()
                mine, others = ends if number else ends[::-1]
                setattr(self, name, open(mine, "r" if number else "w", encoding="utf-8"))  # noqa: SIM115
                own.append(others)
            elif stream == subprocess.DEVNULL:
                own.append(os.open(os.devnull, os.O_RDWR))
            given.append(own[-1] if stream in (subprocess.PIPE, subprocess.DEVNULL) else _number(stream, number))
        self._answers = socket.socket(socket.AF_UNIX)
        self._answers.settimeout(PATIENCE)
        self._answers.connect(str(address))
        socket.send_fds(
            self._answers, [json.dumps(request).encode() + b"\n"], given if terminal is None else [terminal] * 3
        )
        for descriptor in own:
            os.close(descriptor)
        self.pid = self._answer()

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self.kill()
        for name in ("stdin", "stdout", "stderr"):
            if stream := vars(self).get(name):
                with suppress(BrokenPipeError):
                    stream.close()
        self.wait()

    def communicate(self, text: str = "", timeout: float = PATIENCE) -> tuple[str, str]:
        """Write to its standard input, read the others to their ends, and wait for its end."""
        with ThreadPoolExecutor(2) as pool:
            streams = [vars(self).get(name) for name in ("stdout", "stderr")]
            reading = [stream and pool.submit(stream.read) for stream in streams]
            if stdin := vars(self).get("stdin"):
                with suppress(BrokenPipeError):
                    stdin.write(text)
                    stdin.close()
            try:
                out, err = (future.result(timeout) if future else "" for future in reading)
            except TimeoutError:
                self.kill()
                raise
        for stream in streams:
            if stream:
                stream.close()
        self.wait()
        return out, err

    def poll(self) -> int | None:
        """Return the exit code if there is one."""
        if self.returncode is None and select.select([self._answers], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        """Return the exit code, once there is one."""
        if self.returncode is None:
            self._answers.settimeout(timeout)
            self.returncode = os.waitstatus_to_exitcode(self._answer())
            self._answers.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _answer(self) -> int:
        answer = b""
        while len(answer) < 4:
            answer += (received := self._answers.recv(4 - len(answer)))
            assert received, "the process that forks the others has ended"
        return int.from_bytes(answer)


def _number(stream: Any, usual: int) -> int:
    if stream is None:
        return usual
    number: int = stream if isinstance(stream, int) else stream.fileno()
    return number


def serve(address: str) -> dict[str, Any]:
    """Fork a process for each request; return the request in the one that is to do it."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while True:
            answers, _ = listening.accept()
            reap()
            asked, streams, _, _ = socket.recv_fds(answers, REQUEST, 3)
            while not asked.endswith(b"\n"):
                asked += answers.recv(REQUEST) or b"\n"
            request: dict[str, Any] = json.loads(asked)
            for name in request["imports"]:
                importlib.import_module(name)
            gc.freeze()  # what is there is not looked through, and so copied, in each process
            if not os.fork():
                break
            answers.close()
            for stream in streams:
                os.close(stream)
    if pid := os.fork():
        for stream in streams:
            os.close(stream)
        with suppress(OSError):  # nobody waits for it any more
            answers.sendall(pid.to_bytes(4))
            answers.sendall(os.waitpid(pid, 0)[1].to_bytes(4))
        os._exit(0)
    answers.close()
    if request["terminal"]:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    return request


def reap() -> None:
    """Let go of the processes that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def prepare(request: dict[str, Any]) -> None:
    """Make this process what a start of its own would have made it."""
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", buffering=1 if request["terminal"] else -1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    uuid.uuid4 = ids_of(request["ids"])


def run_python(arguments: list[str]) -> None:
    """Do what `python ARGUMENTS` does."""
    match arguments:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv = ["-c", *rest]
            sys.modules["__main__"] = main = ModuleType("__main__")
            exec(code, vars(main))
        case [script, *_]:
            sys.argv = arguments
            runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    from recurrentgpt.cli import entry_point

    for name in WARM:
        importlib.import_module(name)
    entry_point._command()
    asked = serve(sys.argv[1])
    prepare(asked)
    run_python(asked["arguments"])
