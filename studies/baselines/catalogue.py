"""Every system by name: those of this package, a line each, and those that other packages add.

Another package declares a `System` under the entry point group `recurrentgpt.systems`.
"""

from __future__ import annotations

from recurrentgpt.studies.baselines import doc, paper, personas, re3, recurrent_systems, rolling
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.extensions import load_extensions

ENTRY_POINTS = "recurrentgpt.systems"
SYSTEMS = {
    system.name: system
    for system in (
        *recurrent_systems.SYSTEMS,
        *personas.SYSTEMS,
        paper.SYSTEM,
        *rolling.SYSTEMS,
        re3.SYSTEM,
        doc.SYSTEM,
    )
}


def all_systems() -> dict[str, System]:
    """Return every system by name; raise StudyError or ExtensionError for another package's that cannot be used."""
    return SYSTEMS | load_extensions(ENTRY_POINTS, System, SYSTEMS)


def find_system(name: str) -> System:
    """Return a system by its name; raise StudyError for an unknown one."""
    known = SYSTEMS if name in SYSTEMS else all_systems()
    if name not in known:
        raise StudyError(f"There is no system {name!r}; the systems are {', '.join(known)}.")
    return known[name]
