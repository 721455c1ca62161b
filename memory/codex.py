"""The codex as of a passage: the fold of what every passage on its path changed, with what the author says of the branch.

Each commit holds the changes of its own passage, so a branch, an undo and an edit with replay need nothing more. A fold is kept
for the newest commits that were asked for, and made from the nearest one that is kept.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from recurrentgpt.memory.corrections import read_overlay
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.query import query_parts
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import LASTING, ONE_EACH, Change, Codex, Entry, Line, Told
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import Brief

MOST_LINES = 8
"""Lines of one entry of an aspect that may have several; the oldest go first, and stay in the commits that said them."""
MOST_ENTRIES = 400
"""Entries that passages have made and that are kept; what nobody told of for longest goes first, and stays in the commits."""
KEPT_FOLDS = 64
WALK = 64
"""Commits that are read one by one before the whole path is."""
AT_ONCE = 500
_SAME = 0.6
"""Share of the words of a line that another one has which says the same, or takes it back."""

_FOLDS: WeakKeyDictionary[object, OrderedDict[tuple[str, ...], Codex]] = WeakKeyDictionary()
_FOLDS_LOCK = threading.Lock()

_GONE = ("dead", "absent", "lost", "destroyed")
_TOLD_FIRST = ("unaware", "status", "holder", "place", "look", "fact", "role", "pronouns")


async def codex_at(log: LogReader, story: str, head: str, overlay: str, brief: Brief) -> Codex:
    """Return the codex after the passage `head` with the corrections `overlay` in force; of an opening, what the brief says."""
    said = (await read_overlay(log, story, overlay)).get("codex", [])
    return under(await _fold(log, story, head), [*_of_brief(brief), *said])


async def _fold(log: LogReader, story: str, head: str) -> Codex:
    root = (*log.root, story)
    with _FOLDS_LOCK:
        kept = _FOLDS.setdefault(log.store, OrderedDict())
    missing: list[Commit] = []
    at, codex = head, Codex()
    while at and len(missing) < WALK:
        if (found := kept.get((*root, at))) is not None:
            codex = found
            break
        missing.append(await log.get(story, at))
        at = missing[-1]["parent"]
    else:
        # Cold: what is further back is read in pages, and nothing of it is kept.
        path = (await log.path(story, at))[::-1] if at else []
        known = next((number for number, key in enumerate(path) if (*root, key) in kept), len(path))
        codex = kept.get((*root, path[known]), codex) if known < len(path) else codex
        older = path[:known][::-1]
        for first in range(0, len(older), AT_ONCE):
            for commit in await log.get_many(story, older[first : first + AT_ONCE]):
                codex = changed(codex, commit.get("codex", []), commit["id"], commit["step"])
    for commit in missing[::-1]:
        codex = changed(codex, commit.get("codex", []), commit["id"], commit["step"])
    if head:
        with _FOLDS_LOCK:
            kept[(*root, head)] = codex
            kept.move_to_end((*root, head))
            while len(kept) > KEPT_FOLDS:
                kept.popitem(last=False)
    return codex


def facts(commit: Commit) -> list[str]:
    """Return what a passage made true of entries, each as a sentence that is not its own: rows of the recall beside those."""
    texts = [
        sentence_of(Entry(change["entry"], change["kind"]), _line(change))
        for change in commit.get("codex", [])
        if change["do"] == "set" and change.get("aspect") in LASTING
    ]
    return [text for text in dict.fromkeys(texts) if text not in commit["passage"]]


def in_names(codex: Codex, plan: str) -> list[str]:
    """Return what a plan says of people and things under other names and roles, with their names in the place of those."""
    named = plan
    for entry in codex.named_in(plan):
        if entry.name.casefold() not in plan.casefold():
            others = "|".join(re.escape(alias.removeprefix("the ")) for alias in sorted(entry.aliases, key=len)[::-1])
            named = re.sub(rf"(?:\bthe )?\b(?:{others})\b", entry.name, named, flags=re.IGNORECASE) if others else named
    if named == plan:
        return []
    known = query_parts(plan)
    return [part for part in query_parts(named) if part not in known]


def changed(codex: Codex, changes: Iterable[Change], passage: str = "", step: int = 0) -> Codex:
    """Return the codex after the changes of a passage."""
    for change in changes:
        codex = _with(codex, change, passage, step, below=False)
    return codex


def under(codex: Codex, said: Iterable[Change]) -> Codex:
    """Return a codex with what the brief and the author say of the whole branch, where no passage says otherwise."""
    for change in said:
        codex = _with(codex, change, "", 0, below=True)
    return codex


def _with(codex: Codex, change: Change, passage: str, step: int, *, below: bool) -> Codex:
    name, value, do = change["entry"], change.get("value", ""), change["do"]
    old = codex.find(name)
    entry = old or Entry(name, change["kind"])
    match do:
        case "set":
            line = _line(change, passage, step)
            entry = dataclasses.replace(entry, lines=_with_line(entry.lines, line, below=below))
            if line.aspect in ONE_EACH:
                codex = _ended(codex, old, entry)
        case "end":
            entry = dataclasses.replace(entry, lines=_without(entry.lines, change))
            codex = _ended(codex, old, entry)
        case "rename":
            former = tuple(called for called in dict.fromkeys([*entry.former, entry.name]) if called != value)
            if (other := codex.entries.get(value.casefold())) is not None and other is not old:
                codex, entry, old = _put(codex, other, None), _merged(entry, other), old or other
            entry = dataclasses.replace(
                entry, name=value, former=former, aliases=tuple(a for a in entry.aliases if a != value)
            )
        case "alias":
            entry = dataclasses.replace(entry, aliases=tuple(dict.fromkeys([*entry.aliases, value])))
        case "key":
            entry = dataclasses.replace(entry, keys=tuple(dict.fromkeys([*entry.keys, value])))
        case "merge":
            other = codex.find(value)
            if other is None or other is old:
                return codex
            codex = _put(codex, other, None)
            entry = _merged(entry, other)
        case "pin" | "unpin":
            entry = dataclasses.replace(entry, pinned=do == "pin")
        case "hide" | "show":
            entry = dataclasses.replace(entry, hidden=do == "hide")
        case "remove":
            return _put(codex, old, None)
    if old is None and do not in ("set", "key", "alias", "pin", "hide", "merge"):
        return codex
    return _put(codex, old, entry)


def _line(change: Change, passage: str = "", step: int = 0) -> Line:
    text, rests_on = change.get("text", ""), change.get("rests_on", "")
    return Line(change.get("aspect", "fact"), change.get("value", ""), text, rests_on, passage, step)


def _put(codex: Codex, old: Entry | None, new: Entry | None) -> Codex:
    """Return a codex with `new` in the place of `old`; every entry that stays is shared."""
    entries = dict(codex.entries)
    if old is not None:
        entries.pop(old.name.casefold(), None)
    if new is not None:
        # At the end, so that the first is what nobody has told of for the longest time.
        entries[new.name.casefold()] = new
        if len(entries) > MOST_ENTRIES:
            entries.pop(next(iter(entries)))
    return Codex(entries, codex.over)


def _ended(codex: Codex, old: Entry | None, new: Entry) -> Codex:
    """Return a codex that knows which lines of an entry hold no more, so that no recall tells them as true."""
    true = {(line.aspect, line.value) for line in new.lines}
    lasting = [line for line in (old.lines if old else ()) if line.passage and line.aspect in LASTING]
    ended = [line for line in lasting if (line.aspect, line.value) not in true]
    if not ended:
        return codex
    over = dict(codex.over)
    for line in ended:
        texts = filter(None, (sentence_of(new, line), line.rests_on))
        over[line.passage] = tuple(dict.fromkeys([*over.get(line.passage, ()), *texts]))
    return Codex(codex.entries, over)


def _with_line(lines: tuple[Line, ...], line: Line, *, below: bool) -> tuple[Line, ...]:
    alike = [other for other in lines if other.aspect == line.aspect]
    if line.aspect in ONE_EACH:
        if below and alike:
            return lines
        return (*(other for other in lines if other.aspect != line.aspect), line)
    if any((other.text, other.value) == (line.text, line.value) for other in alike):
        return lines
    lines = (line, *lines) if below else (*lines, line)
    if len(alike) < MOST_LINES:
        return lines
    gone = next(other for other in lines if other.aspect == line.aspect)
    return tuple(other for other in lines if other is not gone)


def _without(lines: tuple[Line, ...], change: Change) -> tuple[Line, ...]:
    aspect = change.get("aspect", "fact")
    if aspect in ONE_EACH:
        return tuple(line for line in lines if line.aspect != aspect)
    wanted = set(tokens(f"{change.get('value', '')} {change.get('text', '')}"))
    shares = {line: _overlap(wanted, _words(line)) for line in lines if line.aspect == aspect}
    nearest = max(shares, key=lambda line: shares[line], default=None)
    return tuple(line for line in lines if line is not nearest or shares[line] < _SAME)


def _words(line: Line) -> set[str]:
    return set(tokens(line.text or line.value))


def _overlap(first: set[str], second: set[str]) -> float:
    return len(first & second) / max(1, min(len(first), len(second)))


def _merged(entry: Entry, other: Entry) -> Entry:
    lines = entry.lines
    for line in sorted(other.lines, key=lambda line: line.step):
        own = entry.line(line.aspect) if line.aspect in ONE_EACH else None
        if own is None or own.step < line.step:
            lines = _with_line(lines, line, below=False)
    return dataclasses.replace(
        entry,
        lines=tuple(sorted(lines, key=lambda line: line.step)),
        aliases=tuple(dict.fromkeys([*entry.aliases, other.name, *other.aliases])),
        former=tuple(dict.fromkeys([*entry.former, *other.former])),
        keys=tuple(dict.fromkeys([*entry.keys, *other.keys])),
        pinned=entry.pinned or other.pinned,
        hidden=entry.hidden or other.hidden,
    )


_HE = "man|boy|brother|father|son|husband|widower|king|prince|lord|uncle|nephew|grandfather|monk|priest|fisherman|ferryman"
_SHE = "woman|girl|sister|mother|daughter|wife|widow|queen|princess|lady|aunt|niece|grandmother|nun|midwife|waitress"
_WHO = re.compile(
    rf"(?:^|, )(?:(?:an?|the|his|her|their|your) )?(?:[\w-]+ ){{0,2}}?(?:(?P<he>{_HE})|(?P<she>{_SHE}))\b",
    re.IGNORECASE,
)


def _of_brief(brief: Brief) -> list[Change]:
    """Return the people of the brief as changes: who they are, and whether `he` or `she` where a word says so."""
    changes: list[Change] = []
    for character in brief["characters"]:
        name, _, who = (part.strip() for part in character.partition(":"))
        if not name:
            continue
        about = Change(entry=name, kind="person", do="set")
        changes.append(
            {**about, "aspect": "role", "value": who, "text": character}
            if who
            else {**about, "do": "alias", "value": name}
        )
        if match := _WHO.search(who):
            changes.append({**about, "aspect": "pronouns", "value": "he" if match["he"] else "she", "text": character})
    return changes


_NAMES_A_PLACE = re.compile(r"(?:the|an?|his|her|its|their|my|your|our)\b|[A-Z]")
"""What a place begins with that is named without saying whether somebody is in it, on it or under it."""


def sentence_of(entry: Entry, line: Line) -> str:
    """Return a line as a sentence that names its entry."""
    if line.text:
        return line.text
    forms = {
        "status": f"{f'The question “{entry.name}”' if entry.kind == 'question' else entry.name} is {line.value}.",
        "place": f"{entry.name} is {'at ' * bool(_NAMES_A_PLACE.match(line.value))}{line.value}.",
        "holder": f"{line.value} has {entry.name}.",
        "unaware": f"{entry.name} does not know {line.value}.",
        "pronouns": f"{entry.name} is spoken of as {line.value}.",
    }
    return forms.get(line.aspect, f"{entry.name}: {line.value}")


def open_entries(codex: Codex) -> list[Entry]:
    """Return the promises and questions that nothing has settled yet."""
    return [
        entry
        for entry in codex.entries.values()
        if entry.kind in ("promise", "question") and entry.value("status") in ("", "open")
    ]


def tell(
    codex: Codex, plan: str, passage: str, *, words: int, known: Sequence[str] = (), also: Sequence[Entry] = ()
) -> list[Told]:
    """Return what the writer is told of all that the plan and the last passage name, of what they hold, and of what is pinned.

    `also` are further entries, which come first. At most so many `words`. The first line of each entry goes before the second
    of any; `known` are sentences that the prompt holds anyway.
    """
    pinned = [entry for entry in codex.entries.values() if entry.pinned]
    named = list(dict.fromkeys([*also, *codex.named_in(plan), *pinned, *codex.named_in(passage)]))
    people = {entry.name for entry in named}
    held_things = [entry for entry in codex.entries.values() if entry.value("holder") in people]
    entries = list(dict.fromkeys([*named, *held_things]))
    held = [set(tokens(sentence)) for sentence in known]
    waiting = [(entry, _to_tell(entry, held)) for entry in entries]
    chosen: dict[str, list[str]] = {}
    for turn in range(max((len(lines) for _, lines in waiting), default=0)):
        for entry, lines in waiting:
            if turn >= len(lines) or count_words(lines[turn]) > words:
                continue
            if any(lines[turn] in others for others in chosen.values()):
                continue
            words -= count_words(lines[turn])
            chosen.setdefault(entry.name, []).append(lines[turn])
    return [
        Told(name=entry.name, kind=entry.kind, lines=chosen[entry.name]) for entry in entries if entry.name in chosen
    ]


def _to_tell(entry: Entry, held: Sequence[set[str]]) -> list[str]:
    """Return the sentences of an entry that a prompt does not hold yet, what matters most first, and of facts the newest."""
    lines = sorted(entry.lines, key=lambda line: (_TOLD_FIRST.index(line.aspect), -line.step))
    found = []
    gone = entry.line("status") if entry.value("status") in _GONE else None
    for line in lines:
        if gone and line.step < gone.step and line.aspect != "role":
            continue  # it was true of the living
        # Who somebody is, and that they are alive, the brief says or nobody doubts.
        if line.aspect in ("pronouns",) or (line.aspect == "role" and not line.step and not line.rests_on):
            continue
        sentence = limit_words(sentence_of(entry, line), 40)
        own = set(tokens(sentence))
        if line.value != "alive" and not any(own <= other for other in held):
            found.append(sentence)
    return list(dict.fromkeys(found))
