"""What a measure is: figures of one novel, taken without a judge, and how a reader of the report is to take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.runs.schemas import NovelRecord


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure; its columns stand in measures.csv, and their means over premises in the report."""

    name: str
    description: str
    """What the figures say and do not say: the text above their table."""
    columns: tuple[str, ...]
    compute: Callable[[NovelRecord, System], Mapping[str, float | None]]
    """Return the value of every column; None where the system does not have what is measured."""
