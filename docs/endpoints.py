"""Write the table of endpoints.md from the registry of profiles: `python -m docs.endpoints`. A test keeps it fresh."""

from __future__ import annotations

from pathlib import Path

from recurrentgpt.models.profiles import as_table

PAGE = Path(__file__).with_name("endpoints.md")
BEGIN, END = "<!-- profiles -->\n", "<!-- end of profiles -->"


def with_table(page: str) -> str:
    """Return the page with the registry's table between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n{as_table()}\n\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
