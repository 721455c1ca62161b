"""The page on extending names files, registries and tests that are there, and every group of entry points."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| a")]
FOLDERS = r"(?:[\w.]+/)+"


@pytest.mark.parametrize("page", ["extending.md", "architecture.md"])
def test_every_python_file_that_a_page_names_is_there(page):
    named = re.findall(r"`((?:\w+/)+\w+\.(?:py|ts))`", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("cells", ROWS, ids=[cells[0] for cells in ROWS])
def test_every_file_that_is_named_is_there(cells):
    named = re.findall(rf"`({FOLDERS}[\w<>.]+)`", " ".join(cells[1:]))
    for path in named:
        # `books/writers/<format>.py` is for whoever extends: its folder is there.
        assert (ROOT / (path.partition("<")[0].rpartition("/")[0] if "<" in path else path)).exists(), path
    for name, path in re.findall(rf"`(\w+)`(?: and `\w+`)? (?:in|of) `({FOLDERS}[\w.]+)`", " ".join(cells)):
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")), f"{path} has no {name}"
    assert re.search("tests/", cells[3]), "which test asks for it?"


def test_every_group_of_entry_points_is_shown():
    code = "".join(
        path.read_text(encoding="utf-8") for folder in ("books", "studies") for path in (ROOT / folder).rglob("*.py")
    )
    groups = set(re.findall(r'^\w+ = "(recurrentgpt\.\w+)"$', code, re.MULTILINE))
    assert len(groups) == 4
    assert groups == set(re.findall(r'entry-points\."(.+?)"', PAGE))


def test_what_contributing_tells_to_run_is_there():
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (test|lint|fuzz|flake)\b", told):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    for link in re.findall(r"\]\(([\w/.]+)\)", told):
        assert (ROOT / link).exists()
