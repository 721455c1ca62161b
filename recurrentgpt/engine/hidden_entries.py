"""What was noted of entries that their author hides from readers: where they look, it is left out."""

from __future__ import annotations

from collections.abc import Sequence

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.schema.codex import Codex, Entry, Line, Superseded
from recurrentgpt.schema.log import Commit


def is_hidden(codex: Codex, name: str) -> bool:
    """Return whether the entry that answers to a name is hidden from readers."""
    entry = codex.find(name)
    return entry is not None and entry.hidden


def for_readers(codex: Codex, commits: Sequence[Commit] = ()) -> Codex:
    """Return a codex in which what was noted of hidden entries is over, so that no search tells it.

    Of `commits` that is all that was ever noted there; of the others, what still holds.
    """
    noted = lines_of_hidden(codex) | {commit["id"]: noted_at(codex, commit) for commit in commits}
    over = {key: (*codex.over.get(key, ()), *lines) for key, lines in noted.items() if lines}
    return codex.with_over(over) if over else codex


def noted_at(codex: Codex, commit: Commit) -> list[Superseded]:
    """Return what was noted at a passage of hidden entries; what stands in the passage, everybody has read."""
    noted = [
        _noted(entry, Line(change.get("aspect", "fact"), change.get("value", ""), change.get("text", ""), "", "", 0))
        for change in commit.get("codex", [])
        if change["do"] == "set" and (entry := codex.find(change["entry"])) and entry.hidden
    ]
    return [line for line in noted if line.sentence not in commit["passage"]]


def lines_of_hidden(codex: Codex) -> dict[str, list[Superseded]]:
    """Return what passages made true of hidden entries and still is, by the ids of the passages."""
    found: dict[str, list[Superseded]] = {}
    for entry in codex.entries.values():
        for line in entry.lines if entry.hidden else ():
            if line.passage:
                found.setdefault(line.passage, []).append(_noted(entry, line))
    return found


def _noted(entry: Entry, line: Line) -> Superseded:
    return Superseded(sentence_of(entry, line), "", entry.names)
