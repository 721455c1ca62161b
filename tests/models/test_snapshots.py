"""The kept beginnings of prompts: found, checked, bounded, and never a reason for a start to fail."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from recurrentgpt.models.calls import Meter, write_stream
from recurrentgpt.models.embedded import snapshots as module
from recurrentgpt.models.embedded.catalogue import WRITER
from recurrentgpt.models.embedded.fetch import fetch
from recurrentgpt.models.embedded.server import stop_servers
from recurrentgpt.models.embedded.snapshots import Snapshots, beginning
from recurrentgpt.models.roles import aresolve_model
from recurrentgpt.schema.context import Context

EXAMPLE = [HumanMessage("Name a colour."), AIMessage("Red. " * 40, example=True)]


def kept(folder: Path, name: str, content: bytes = b"computed") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.{hashlib.sha256(content).hexdigest()[:16]}.kv"
    path.write_bytes(content)
    return path


def test_the_fixed_beginning_ends_with_the_last_example() -> None:
    begun = AIMessage("The story so far")
    messages = [SystemMessage("You are a novelist."), *EXAMPLE, HumanMessage("Name another."), begun]
    assert [message["role"] for message in beginning(messages)] == ["system", "user", "assistant"]
    assert beginning([SystemMessage("You are a novelist."), HumanMessage("Write."), begun]) == []


def test_a_damaged_file_is_deleted_before_llama_cpp_sees_it(tmp_path: Path) -> None:
    whole, damaged = kept(tmp_path, "a"), kept(tmp_path, "b")
    damaged.write_bytes(b"comp")
    other = tmp_path / "c.kv"
    other.write_bytes(b"anything")
    assert Snapshots(tmp_path).sound() == [whole.name]
    assert not damaged.exists()
    assert not other.exists()


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    for age in range(module.MOST_FILES + 3):
        path = kept(tmp_path, f"prompt{age}")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    names = Snapshots(tmp_path).sound()
    assert [name.partition(".")[0] for name in names] == [f"prompt{age}" for age in range(module.MOST_FILES)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_an_unfinished_file_is_left_to_its_process_for_an_hour(tmp_path: Path) -> None:
    fresh, abandoned = tmp_path / "1.part", tmp_path / "2.part"
    fresh.write_bytes(b"half")
    abandoned.write_bytes(b"half")
    os.utime(abandoned, (1_000_000, 1_000_000))
    assert Snapshots(tmp_path).sound() == []
    assert [path.name for path in tmp_path.iterdir()] == ["1.part"]


def test_a_new_model_file_leaves_nothing_of_the_old_one(tmp_path: Path) -> None:
    model = tmp_path / "toy.gguf"
    model.write_bytes(b"GGUF1")
    old = Snapshots.of(model)
    kept(old.folder, "a")
    model.write_bytes(b"GGUF, another one")
    new = Snapshots.of(model)
    assert new.folder != old.folder
    assert not old.folder.exists()


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    assert Snapshots(file / "cache").sound() == []


@pytest.mark.real
async def test_the_next_start_computes_no_example_again() -> None:
    fetch(WRITER)
    asked = [SystemMessage("You answer in a word."), *EXAMPLE, HumanMessage("Name another.")]
    cached = []
    for _ in range(2):
        model, meter = await aresolve_model("writer", Context()), Meter()
        assert [piece async for piece in write_stream(model, asked, max_tokens=4, meter=meter)]
        cached.append((meter.input_tokens, meter.cached_tokens))
        stop_servers()
    (first_sent, first_cached), (sent, again) = cached
    assert first_sent == sent + first_cached, "the first start computes the beginning, once"
    assert again == first_cached > 80


@pytest.mark.real
async def test_files_that_llama_cpp_refuses_are_cleared_and_the_start_goes_on() -> None:
    path = fetch(WRITER)
    kept(Snapshots.of(path).folder, "strange", b"no such format" * 400)
    model, meter = await aresolve_model("writer", Context(adapter="none")), Meter()
    assert [piece async for piece in write_stream(model, EXAMPLE[:1], max_tokens=4, meter=meter)]
    stop_servers()
    assert not list(Snapshots.of(path).folder.glob("strange.*"))
