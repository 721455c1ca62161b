"""Serve the desk: one process, on this machine's own address unless somebody asks for another one."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

from recurrentgpt.desk import NEEDS
from recurrentgpt.infrastructure.event_loop import run
from recurrentgpt.infrastructure.listening import listening
from recurrentgpt.schema.errors import MissingExtra, SettingsError

try:
    import uvicorn
    from fastapi import FastAPI
except ImportError as error:
    raise MissingExtra(NEEDS) from error

USUAL_PORT = 8066
"""Where the desk is unless somebody says otherwise: a page that is left open finds a desk that was started again."""


class Server(uvicorn.Server):
    """Say when pages can be opened, and let them go before waiting for them: their streams never end by themselves."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all work and streams, then the server."""
        app: FastAPI = self.config.app  # type: ignore[assignment]
        await app.state.desk.stop()
        await super().shutdown(sockets)


def bound(host: str, port: int | None, who: str = "The desk") -> socket.socket:
    """Return a listening socket for `who`: at the usual port or a free one for None, at a free one for 0.

    Raises SettingsError where the address cannot be had.
    """
    if port is None:
        with suppress(SettingsError):
            return bound(host, USUAL_PORT)
        port = 0
    return listening(host, port, who)


def outward(host: str) -> str:
    """Return an address by which other machines find this one that listens everywhere; nothing is sent."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("2001:db8::1" if ":" in host else "192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def serve(app: FastAPI, listening: socket.socket, *, ready: Callable[[], None], timeout: int = 5) -> None:
    """Serve until somebody interrupts it; `ready` is called when pages can be opened."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=timeout)
    run(Server(config, ready).serve([listening]))


def open_browser(address: str) -> None:
    """Open the page in the user's browser, if there is one; slow ones must not hold up the server."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
