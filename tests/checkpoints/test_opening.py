"""Which place is opened, by whom, and how lightly; and that the tests themselves are isolated."""

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import recurrentgpt.checkpoints.sqlite as module
from recurrentgpt.checkpoints import open_persistence


async def test_a_given_folder_beats_the_url_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("RECURRENTGPT_DATABASE_URL", "postgresql://127.0.0.1:1/db")
    async with open_persistence(folder=tmp_path / "mine") as opened:
        assert opened.description == f"SQLite in {tmp_path / 'mine'}"


async def test_the_server_entry_points_work_from_a_second_copy_of_the_module(user_folder, put_steps):
    spec = importlib.util.spec_from_file_location("second_copy", Path(module.__file__))
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    async with copy.saver() as saver, copy.store() as store:
        await put_steps(saver, 1)
        await store.aput(("log",), "1", {"passage": "Once"})
    async with open_persistence() as opened:
        assert await opened.saver.aget_tuple({"configurable": {"thread_id": "t"}}) is not None
        assert await opened.store.aget(("log",), "1") is not None


def test_importing_the_package_imports_no_driver():
    code = "import sys, recurrentgpt.checkpoints; print(*sys.modules)"
    imported = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not {"langgraph", "aiosqlite", "psycopg"} & set(imported)


def test_tests_reach_no_other_machine():
    with socket.socket() as sock, pytest.raises(RuntimeError, match=r"tried to reach 192\.0\.2\.1"):
        sock.connect(("192.0.2.1", 80))


def test_tests_see_no_settings_of_the_user(user_folder):
    names = [name for name in os.environ if name.startswith(("OPENAI_", "RECURRENTGPT_", "LANGCHAIN_", "LANGSMITH_"))]
    assert sorted(names) == ["RECURRENTGPT_EMBEDDER", "RECURRENTGPT_HOME"]
    assert not user_folder.exists()
