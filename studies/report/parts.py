"""What a report is made of, in a form that becomes HTML and Markdown alike."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    headings: list[str]
    rows: list[list[str]]


@dataclass
class Section:
    """One part of a report."""

    heading: str
    texts: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    """File and caption."""
