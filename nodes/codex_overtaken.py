"""Which facts a new one makes true no longer, without a word that says so: whoever has married is no widow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.nodes.codex_states import (
    State,
    denies,
    ends_denials_alone,
    excludes,
    may_exclude,
    states_by_clause,
    states_of,
)
from recurrentgpt.schema.codex import Change, Codex, Entry, Line

_READ = ("fact", "place", "role")


def mark_of(entry: Entry) -> str:
    """Return what stands for an entry in a fact that is read for states."""
    return f"§{entry.kind}_" + re.sub(r"\W", lambda found: f"_{ord(found[0])}_", entry.name.casefold())


def overtaken(marked: str, known: Codex, changes: Sequence[Change], mark: Callable[[str], str]) -> Iterator[Change]:
    """Yield the ends of what is known, or was noted by `changes` before it, and cannot be so together with a marked fact."""
    new = states_of(marked)
    if not new:
        return
    subjects = [entry for entry in known.entries.values() if any(mark_of(entry) == state.whose for state in new)]
    names = tuple(name for entry in subjects for name in entry.names)
    # Most facts can only take back what denies them, and few lines deny anything.
    are_deeds = all(ends_denials_alone(state) for state in new)
    for entry in known.entries.values():
        for line in entry.true_lines:
            if not line.passage or line.by_author or (are_deeds and line.text and not denies(line.text)):
                continue
            sentence = _sentence(entry, line)
            is_theirs = any(entry is one for one in subjects) or any(name in sentence for name in names)
            if sentence and is_theirs and _is_over(new, sentence, mark):
                yield end_of(entry, line)
    for change in changes:
        text = change.get("text", "")
        if change["do"] == "set" and change.get("aspect") == "fact" and _is_over(new, text, mark):
            yield Change(entry=change["entry"], kind=change["kind"], do="end", aspect="fact", text=text)


def _is_over(new: Sequence[State], old: str, mark: Callable[[str], str]) -> bool:
    new = [state for state in new if may_exclude(state, old)]
    if not new:
        return False
    # A clause that may be so still keeps the fact.
    return all(
        any(excludes(state, before) for before in states for state in new) for states in states_by_clause(mark(old))
    )


def _sentence(entry: Entry, line: Line) -> str:
    """Return what a line says as a fact; empty for what no rule reads."""
    if line.aspect == "role":
        return f"{entry.name} is the {line.value}"
    is_read = line.aspect in _READ or (line.aspect == "status" and line.value == "absent")
    return sentence_of(entry, line) if is_read else ""


def end_of(entry: Entry, line: Line) -> Change:
    """Return the change that ends a line: by its sentence where that is what it says, else by its value."""
    change = Change(entry=entry.name, kind=entry.kind, do="end", aspect=line.aspect)
    is_said = line.text and line.aspect in ("fact", "unaware")
    return {**change, "text": line.text} if is_said else {**change, "value": line.value}
