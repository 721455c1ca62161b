"""Addresses to listen at, taken before a server starts: what cannot be had is said in a sentence."""

from __future__ import annotations

import errno
import socket

from recurrentgpt.schema.errors import SettingsError


def listening(host: str, port: int, who: str) -> socket.socket:
    """Return a socket that listens at a port, at a free one for 0; raise SettingsError where the address cannot be had.

    `who` would listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        taken.listen(128)
    except OSError as error:
        taken.close()
        other = "--host" if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL else "--port"
        raise SettingsError(
            f"{who} cannot listen at {host} port {port} ({error.strerror or error}): choose another {other}, or leave it out."
        ) from error
    return taken
