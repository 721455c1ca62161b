"""Servers for the tests, as processes, and the fake model that writes in them."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recurrentgpt.models.embeddings import HashEmbeddings

ROOT = Path(__file__).parents[2]


def load(name):
    """Return a helper beside this file; tests are imported without packages."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def playing():
    """Give the helpers that tell a story through the SDK."""
    return load("play")


@pytest.fixture
def processes():
    """Give the helpers that run a server."""
    return load("process")


@pytest.fixture
def writer(playing):
    """Give a fake OpenAI server."""
    with playing.Writer() as server:
        yield server


@pytest.fixture
def environment(writer, user_folder):
    """Give the environment of a server that uses the fake model and this test's folder."""
    return {
        "RECURRENTGPT_HOME": str(user_folder),
        "RECURRENTGPT_MODEL": "scripted",
        "RECURRENTGPT_EMBEDDER": HashEmbeddings.model_id,
        "OPENAI_BASE_URL": writer.base_url,
        "OPENAI_API_KEY": "sk-never-to-be-seen-4711",
    }


@pytest.fixture(scope="session")
def aegra():
    """Give the Python of an environment with Aegra: AEGRA_PYTHON, or that of `make server`."""
    python = os.environ.get("AEGRA_PYTHON") or str(ROOT / ".venv-server" / "bin" / "python")
    if not shutil.which(python):
        pytest.skip(
            "Aegra is not installed: it needs Python 3.12; `make server` sets it up, or name one in AEGRA_PYTHON"
        )
    if subprocess.run([python, "-c", "import aegra_api, recurrentgpt"], capture_output=True).returncode:
        pytest.skip(f"{python} has no Aegra or no recurrentgpt; `make server` installs both")
    return python


@pytest.fixture
def aegra_server(processes, environment, aegra, postgres_url, tmp_path):
    """Give a generator of one server with Aegra, which runs the graphs of a file until it is closed."""

    def serve(name):
        folder = tmp_path / "server"
        folder.mkdir()
        command = processes.aegra_server(aegra, processes.config(ROOT, folder, name), postgres_url)
        it = processes.ServerProcess(command, environment, folder)
        it.start("/health")
        yield it
        it.stop()

    return serve
