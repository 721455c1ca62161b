"""What readers are not told: entries that their author hides, what names those, and what the people of a story that is played do
not know. Where they look, it is left out."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from recurrentgpt.memory.codex import sentence_of
from recurrentgpt.schema.codex import (
    Change,
    Codex,
    Entry,
    Line,
    Sign,
    Superseded,
    searched,
    sign_of,
    sign_of_role,
)
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.names import ANYBODY, key_of, parted, parts_of, plain


class Readers:
    """Who reads a story of this codex; whoever `plays` it is not told, either, what somebody does not know."""

    def __init__(self, codex: Codex, *, plays: bool) -> None:
        self.codex, self.plays = codex, plays

    def entries(self) -> list[Entry]:
        """Return the entries that readers are told of, with what they are told; a thing of which that is nothing is left out."""
        told = [
            dataclasses.replace(
                entry,
                lines=tuple(line for line in entry.lines if not self.is_kept(entry, line)),
                aliases=tuple(filter(self._tells, entry.aliases)),
                former=tuple(filter(self._tells, entry.former)),
                keys=tuple(filter(self._tells, entry.keys)),
                earlier=(),
            )
            for entry in self.codex.entries.values()
            if not entry.hidden and self._tells(entry.name)
        ]
        had = {entry.name for entry in self.codex.entries.values() if entry.lines}
        return [entry for entry in told if entry.lines or entry.kind == "person" or entry.name not in had]

    def is_hidden(self, name: str) -> bool:
        """Return whether the entry that answers to a name is hidden."""
        entry = self.codex.find(name)
        return entry is not None and entry.hidden

    def is_kept(self, entry: Entry, line: Line) -> bool:
        """Return whether a line of an entry is kept from readers."""
        said = f"{sentence_of(entry, line)} {line.value}"
        return entry.hidden or (self.plays and line.aspect == "unaware") or not self._tells(said)

    def is_kept_change(self, change: Change) -> bool:
        """Return whether what a passage or the author changed is kept from readers."""
        return self.is_kept(*self._said(change)) or not self._tells(change["entry"])

    def is_kept_contradiction(self, name: str, holds: str) -> bool:
        """Return whether what a passage contradicts, a line of the entry of this name, is kept from readers."""
        entry = self.codex.find(name)
        lines = entry.lines if entry is not None and self.plays else ()
        unknown = [sentence_of(entry, line) for line in lines if entry and line.aspect == "unaware"]
        return self.is_hidden(name) or holds in unknown or not self._tells(f"{name}. {holds}")

    def noted_at(self, commit: Commit) -> list[Superseded]:
        """Return what was noted at a passage and is kept; what stands in the passage, everybody has read."""
        said = (self._said(change) for change in commit.get("codex", []) if change["do"] == "set")
        noted = [_noted(entry, line) for entry, line in said if self.is_kept(entry, line)]
        return [line for line in noted if line.sentence not in commit["passage"]]

    def kept_lines(self) -> dict[str, list[Superseded]]:
        """Return what passages made true, still is and is kept, by the ids of the passages."""
        found: dict[str, list[Superseded]] = {}
        if not self.plays and not self._signs:
            return found
        for entry in self.codex.entries.values():
            for line in entry.true_lines:
                for passage, _ in line.said_in if self.is_kept(entry, line) else ():
                    found.setdefault(passage, []).append(_noted(entry, line))
        return found

    def names_hidden(self, text: str) -> bool:
        """Return whether a text names an entry that is hidden, by a name or role that nobody has who is told of."""
        text = plain(text)
        lower = text.casefold()
        if any(self.codex.short_places(entry, text) for entry in self._hidden):
            return True
        near = [sign for sign in self._signs if sign.name.casefold() in lower]
        if not near:
            return False
        # Florence Hill is not the hill, nor Cole Abbey somebody who is called Cole.
        others = self._others.sub(" ", text) if self._others else text
        return any(sign.place_in(searched(others if len(sign.words) == 1 else text)) >= 0 for sign in near)

    def _tells(self, text: str) -> bool:
        return not self.names_hidden(text)

    def _said(self, change: Change) -> tuple[Entry, Line]:
        """Return the entry that a change is of, as it is now, and the line that it says."""
        entry = self.codex.find(change["entry"]) or Entry(change["entry"], change["kind"])
        return entry, Line(change.get("aspect", "fact"), change.get("value", ""), change.get("text", ""), "", "", 0)

    @cached_property
    def _hidden(self) -> list[Entry]:
        return [entry for entry in self.codex.entries.values() if entry.hidden]

    @cached_property
    def _signs(self) -> tuple[Sign, ...]:
        """What of a text means somebody or something hidden."""
        hidden = self._hidden
        told = {name for entry in self.codex.entries.values() if hidden and not entry.hidden for name in entry.called}
        signs: list[Sign] = []
        for entry in hidden:
            own = [*entry.own_names, *entry.former]
            signs += map(sign_of, own)
            former = [part for name in entry.former if entry.kind == "person" for part in parts_of(name)]
            parts = (*entry.names, *former, *_last_words(entry))
            signs += [sign_of(part) for part in parts if key_of(part) not in told]
            signs += map(sign_of_role, self.codex.own_roles(entry))
            if entry.kind in ("promise", "question"):
                signs += [sign_of(name.casefold().strip(" .?!…")) for name in own]
        return tuple(dict.fromkeys(sign for sign in signs if sign.name))

    @cached_property
    def _others(self) -> re.Pattern[str] | None:
        """The names of people and places who are told of, which hold the one-word name of somebody hidden, and not as theirs."""
        words = {sign.name for sign in self._signs if len(sign.words) == 1}
        names = [
            plain(name)
            for entry in self.codex.entries.values()
            if words and not entry.hidden and entry.kind in ("person", "place")
            for name in entry.own_names
        ]
        held = [name for name in names if words & set(name.split()) - {name}]
        return re.compile("|".join(map(re.escape, sorted(held, key=len, reverse=True)))) if held else None


def for_readers(codex: Codex, commits: Sequence[Commit] = (), *, plays: bool) -> Codex:
    """Return a codex in which what is kept from readers is over, so that no search tells it.

    Of `commits` that is all that was ever noted there; of the others, what still holds.
    """
    readers = Readers(codex, plays=plays)
    noted = readers.kept_lines() | {commit["id"]: readers.noted_at(commit) for commit in commits}
    over = {key: (*codex.over.get(key, ()), *lines) for key, lines in noted.items() if lines}
    return codex.with_over(over) if over else codex


def of_entries(entries: Iterable[Entry]) -> Codex:
    """Return the codex of some entries."""
    return Codex({entry.name.casefold(): entry for entry in entries})


def _last_words(entry: Entry) -> list[str]:
    """Return what somebody is called behind a word that is no name: Anselm, of Father Anselm."""
    if entry.kind != "person":
        return []
    names = [name for name in entry.own_names if len(name.split()) > 1 and not parted(plain(name)).articles]
    last = [name.split()[-1] for name in names]
    return [word for word in last if word[0].isupper() and word.casefold() not in ANYBODY]


def _noted(entry: Entry, line: Line) -> Superseded:
    return Superseded(sentence_of(entry, line), "", entry.names)
