"""Logs as one JSON object a line, for `--log-json`: what happened and how long it took, without prompts and without keys."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS, resolve

QUIET = ("openai", "httpx", "httpx2", "httpcore", "httpcore2", "langsmith", "aiosqlite")
"""Loggers of clients: below warnings they repeat requests, and with them prompts."""


class JsonFormatter(logging.Formatter):
    """Write a record as one line of JSON; the values of secret settings are blotted out wherever they turn up."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "about", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            # What an exception says may quote a request; its kind is enough to look for.
            line["error"] = record.exc_info[0].__name__
        text = json.dumps(line, ensure_ascii=False, default=str)
        for setting in MACHINE_SETTINGS:
            if setting.secret and (value := resolve(setting.name).value):
                text = text.replace(json.dumps(value)[1:-1], "[hidden]")
        return text


def log_json(stream: TextIO | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send the records of this program to `stream` (default: standard error) as JSON, and return the handler."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    return handler
