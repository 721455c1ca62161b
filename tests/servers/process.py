"""A server as a real process: started on a free port of this machine, killed without mercy, started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

PATIENCE = 120
QUIET = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "1", "LANGSMITH_TRACING": "false"}
"""Nothing of the development server calls home."""


def config(root: Path, folder: Path, name: str = "langgraph.json") -> Path:
    """Return a copy of langgraph.json for a server that keeps its own files in `folder`: its paths are absolute."""
    text = (root / name).read_text(encoding="utf-8").replace('"./', f'"{root}/').replace('"."', f'"{root}"')
    copied = folder / "langgraph.json"
    copied.write_text(text, encoding="utf-8")
    return copied


def dev_server(config: Path) -> list[str]:
    """Return the command of LangGraph's development server."""
    langgraph = [sys.executable, "-m", "langgraph_cli"]
    return [*langgraph, "dev", "--config", str(config), "--no-browser", "--no-reload", "--port", "{port}"]


def aegra_server(python: str, config: Path, database_url: str = "") -> list[str]:
    """Return the command of Aegra, in the environment of this Python; without a database it starts one."""
    serve = [python, "-m", "recurrentgpt.aegra", "--config", str(config), "--port", "{port}"]
    return [*serve, "--database-url", database_url] if database_url else serve


class ServerProcess:
    """One server of LangGraph's protocol; `command` may hold {port}."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [part.format(port=self.port) for part in command]
        self.env = {**os.environ, **env}
        self.folder = folder
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, ready: str = "/ok") -> None:
        """Start it and wait until it answers; fail with its log."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if httpx.get(self.url + ready, timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.2)
        raise AssertionError(f"{self.command[0]} did not start:\n{self.log.read_text()[-4000:]}")

    def kill(self) -> None:
        """End it with -9, and everything that it started."""
        self._end(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it as Ctrl-C would; kill what does not end."""
        try:
            self._end(how, timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()

    def _end(self, how: signal.Signals, timeout: float = PATIENCE) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, how)
            self.process.wait(timeout)

    def addresses(self) -> set[str]:
        """Return the addresses that its processes listen on."""
        import psutil

        assert self.process is not None
        family = [psutil.Process(self.process.pid)]
        family += family[0].children(recursive=True)
        connections = [one for member in family for one in member.net_connections("inet")]
        return {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}
