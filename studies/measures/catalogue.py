"""Every measure of a novel: those of this package, a line each, and those that other packages add.

Another package declares a `Measure` under the entry point group `recurrentgpt.measures`.
"""

from __future__ import annotations

from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.extensions import load_extensions
from recurrentgpt.studies.measures import choices, entities, long_range, recalled_passages, repetition, step_contract
from recurrentgpt.studies.measures.measure import Measure

ENTRY_POINTS = "recurrentgpt.measures"
MEASURES = {
    measure.name: measure
    for measure in (
        repetition.MEASURE,
        entities.MEASURE,
        long_range.MEASURE,
        recalled_passages.MEASURE,
        choices.MEASURE,
        step_contract.CONTRACT,
        step_contract.PROMPT_GROWTH,
    )
}


def all_measures() -> dict[str, Measure]:
    """Return every measure by name; raise StudyError or ExtensionError for another package's that cannot be used."""
    columns = {column: measure.name for measure in MEASURES.values() for column in measure.columns}
    added = load_extensions(ENTRY_POINTS, Measure, MEASURES)
    for measure in added.values():
        for column in measure.columns:
            if columns.setdefault(column, measure.name) != measure.name:
                raise StudyError(
                    f"The measures {columns[column]!r} and {measure.name!r} both have a column {column!r}: rename it in one."
                )
    return MEASURES | added
