"""The table of docs/servers.md says what the servers do: `python -m tests.servers.studio` prints it."""

from pathlib import Path

import pytest

from tests.servers import studio

DOCS = Path(__file__).parents[2] / "docs" / "servers.md"


def shown():
    """Return the rows of the table, cell by cell, its headings first."""
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| what Studio does"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def column(name):
    """Return what the table says of a server, by what is done on it."""
    headings, _, *rows = shown()
    return {row[0]: row[headings.index(name)] for row in rows}


def test_the_table_has_a_row_for_everything_that_is_done():
    headings, _, *rows = shown()
    assert headings[1:] == [studio.DEV, studio.AEGRA]
    assert [row[0] for row in rows] == list(studio.DEEDS)


@pytest.mark.real
def test_what_langgraph_dev_does():
    assert dict(zip(studio.DEEDS, studio.column(), strict=True)) == column(studio.DEV)


@pytest.mark.real
def test_what_aegra_does(aegra):
    assert dict(zip(studio.DEEDS, studio.column(aegra), strict=True)) == column(studio.AEGRA)
