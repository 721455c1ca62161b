"""What the README shows must run as it stands."""

import re
from pathlib import Path

import pytest

from recurrentgpt.testing import FaultyServer, story_answers

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", PYTHON, ids=["story", "graph"])
def test_python_examples_run(example, monkeypatch, capsys):
    with FaultyServer(text=story_answers) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RECURRENTGPT_MODEL", "scripted")
        exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_commands_exist():
    from typer.main import get_command

    from recurrentgpt.cli.app import app

    known = set(get_command(app).commands)
    named = set(re.findall(r"^    recurrentgpt ([a-z]+)", README, re.MULTILINE))
    assert len(named) > 4
    assert named <= known


def test_make_targets_exist():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    named = set(re.findall(r"^    make ([a-z]+)", README, re.MULTILINE))
    assert {"story", "test"} <= named
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in named)


def test_the_readme_shows_the_graph_as_it_is():
    drawn = (Path(__file__).parents[1].parent / "docs" / "graph.mmd").read_text()
    assert f"```mermaid\n{drawn}```" in README
