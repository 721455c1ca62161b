"""The command in processes that are forked from one which has imported its packages: a start of its own takes two seconds.

`python -m tests.cli.warm_command SOCKET` listens at a Unix socket. A request is the command's arguments, folder and environment
as JSON, with the terminal that it is to have; the answers are its process id and, when it has ended, its exit status.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUEST = 1 << 18
KIND = socket.SOCK_SEQPACKET
"""A socket whose messages arrive whole."""


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """Start the process that forks the others; give the address of its socket."""
    address = folder / "command"
    command = [sys.executable, "-m", "tests.cli.warm_command", str(address)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield address
        finally:
            server.terminate()


class Started:
    """A command that runs in a terminal."""

    def __init__(self, address: Path, arguments: list[str], environment: dict[str, str], terminal: int) -> None:
        request = {"arguments": arguments, "folder": os.getcwd(), "environment": environment}
        self._answers = socket.socket(socket.AF_UNIX, KIND)
        self._answers.connect(str(address))
        socket.send_fds(self._answers, [json.dumps(request).encode()], [terminal])
        self.pid = self._number()

    def wait(self) -> int:
        """Return the exit code, once there is one."""
        status = self._number()
        self._answers.close()
        return os.waitstatus_to_exitcode(status)

    def _number(self) -> int:
        answer = self._answers.recv(4)
        assert len(answer) == 4, "the process that forks the others has ended"
        return int.from_bytes(answer)


def serve(address: str) -> None:
    """Fork a process for each request; return in the one that is to be the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, KIND) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while True:
            answers, _ = listening.accept()
            if not os.fork():
                break
            answers.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked, descriptors, _, _ = socket.recv_fds(answers, REQUEST, 1)
    request, terminal = json.loads(asked), descriptors[0]
    if pid := os.fork():
        os.close(terminal)
        answers.sendall(pid.to_bytes(4))
        answers.sendall(os.waitpid(pid, 0)[1].to_bytes(4))
        os._exit(0)
    answers.close()
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for stream in (0, 1, 2):
        os.dup2(terminal, stream)
    os.close(terminal)
    # As of a terminal: line by line.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    # What takes long, and reads nothing of the environment.
    import langchain_openai  # noqa: F401

    import recurrentgpt.engine.engine  # noqa: F401

    serve(sys.argv[1])

    from recurrentgpt.cli import main

    main()
