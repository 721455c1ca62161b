"""A server for several people on one machine: Aegra and Postgres, without Docker: `python -m recurrentgpt.aegra`.

It speaks LangGraph's protocol with the graphs of langgraph.json. Aegra needs Python 3.12; `make server` sets everything up.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from recurrentgpt.infrastructure.settings import home, resolve
from recurrentgpt.schema.errors import MissingExtra, RecurrentGPTError

HERE = "127.0.0.1"


def serve(*, config: Path, port: int, database_url: str | None, folder: Path) -> None:
    """Serve the graphs of `config` at 127.0.0.1:`port` until ended; without a database, on a Postgres of its own in `folder`.

    Raises MissingExtra without Aegra, or without a Postgres to run.
    """
    if importlib.util.find_spec("aegra_api") is None:
        raise MissingExtra(
            "Aegra is not installed; install it under Python 3.12 or newer with: pip install aegra-api, or run: make server"
        )
    # uvicorn, when it is done, raises again the signal that ended it: by default that ends us before the Postgres is stopped.
    signal.signal(signal.SIGTERM, _leave)
    with ExitStack() as stack:
        if not database_url:
            from recurrentgpt.checkpoints.disposable import local_postgres

            folder.mkdir(parents=True, exist_ok=True)
            database_url = stack.enter_context(local_postgres(folder))
        # Aegra listens to every network by default, and reads all of this when it is imported.
        os.environ |= {
            "AEGRA_CONFIG": str(config),
            "DATABASE_URL": database_url,
            "HOST": HERE,
            "PORT": str(port),
            "RUN_MIGRATIONS_ON_STARTUP": "true",
            # It would show everybody the stories of whoever runs the server.
            "RECURRENTGPT_DESK": "off",
        }
        import uvicorn

        uvicorn.run("aegra_api.main:app", host=HERE, port=port, log_level="warning")


def _leave(signum: int, _: object) -> None:
    sys.exit(128 + signum)


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m recurrentgpt.aegra", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("langgraph.json"), help="which graphs; langgraph.json here")
    parser.add_argument("--port", type=int, default=2026)
    parser.add_argument("--database-url", help="postgresql:// address; a Postgres of its own without one")
    given = parser.parse_args()
    try:
        serve(
            config=given.config.resolve(),
            port=given.port,
            database_url=resolve("database_url", given.database_url).value,
            folder=home() / "server",
        )
    except RecurrentGPTError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
