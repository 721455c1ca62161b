"""What a run was made with: the program's commit, the versions of what it stands on, the machine, the time."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = (
    "recurrentgpt", "langgraph", "langchain-core", "langchain-openai", "numpy", "scipy", "matplotlib",
    "sentence-transformers", "xllamacpp",
)  # fmt: skip


def collect_provenance() -> Mapping[str, object]:
    """Return when, on what machine and with which versions a run begins."""
    versions: dict[str, str] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"created": now(), "commit": _commit(), "versions": versions, "machine": platform.platform()}


def now() -> str:
    """Return the time, to the second, as a manifest has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _commit() -> str:
    """Return the commit of the source that runs, with + for changes; empty outside of a repository."""
    here = Path(__file__).resolve().parent
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],  # noqa: S607
            cwd=here,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
