"""What a report is made of, in a form that becomes HTML and Markdown alike."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    headings: list[str]
    rows: list[list[str]]
    caption: str = ""
    """What it shows, in a few words, where it stands alone."""


@dataclass(frozen=True)
class Picture:
    """A plot."""

    file: str
    caption: str


@dataclass
class Section:
    """One part of a report: texts, tables and plots in the order in which they are read."""

    heading: str
    parts: list[str | Table | Picture] = field(default_factory=list)

    @property
    def tables(self) -> list[Table]:
        """Return its tables alone."""
        return [part for part in self.parts if isinstance(part, Table)]
