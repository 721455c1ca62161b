"""The built page in the package is made from the sources beside it."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

DESK = Path(__file__).parents[2] / "desk"
MOST_SCRIPT = 250_000


def digest(folder: Path) -> str:
    """Return what desk/web/stamp.mjs writes for a folder."""
    found = []
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if (
            path.is_file()
            and "node_modules" not in inside.parts
            and inside.name[0] != "."
            and str(inside) != "stamp.json"
        ):
            found.append(inside.as_posix())
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in sorted(found)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.mark.parametrize(("name", "folder"), [("sources", "web"), ("built", "static")])
def test_the_built_page_is_not_stale(name: str, folder: str) -> None:
    stamp = json.loads((DESK / "static" / "stamp.json").read_text())
    assert stamp[name] == digest(DESK / folder), "the page is stale: cd desk/web && npm ci && npm run build"


def test_the_script_is_small() -> None:
    scripts = list((DESK / "static" / "assets").glob("*.js"))
    assert scripts
    assert sum(len(gzip.compress(path.read_bytes())) for path in scripts) < MOST_SCRIPT


def test_the_page_loads_nothing_from_elsewhere() -> None:
    styles = "".join(path.read_text() for path in (DESK / "static" / "assets").glob("*.css"))
    assert "@import" not in styles
    assert "http" not in styles
    assert "@font-face" not in styles
