"""Which sentences of a short-term memory are true no longer after changes of the codex: a passage's, or the author's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from recurrentgpt.memory.codex import line_of, outdated
from recurrentgpt.memory.superseded import says_again, tells_of_other_holder, tells_where_it_is
from recurrentgpt.memory.told_of_people import tells_how_they_live, tells_of_the_living
from recurrentgpt.nodes.codex_changes import from_text
from recurrentgpt.schema.codex import Change, Codex, Entry, Superseded


def outdated_sentences(
    memory: Iterable[str], changes: Sequence[Change], known: Codex, after: Codex, *, step: int
) -> list[str]:
    """Return the sentences of a memory that changes make untrue: by what they end, who has died, who has what and is where.

    `known` is the codex before the changes, which are those of the passage `step`, and `after` the one with them.
    """
    ended = {text for change in changes if change["do"] == "end" and (text := change.get("text"))}
    moved = list[tuple[Change, bool]]()
    for change in changes:
        if change["do"] != "set" or change.get("aspect") not in ("status", "place", "holder"):
            continue
        untrue = outdated(entry, line_of(change, step=step)) if (entry := known.find(change["entry"])) else ()
        ended |= {line.text for line in untrue if line.text}
        is_lost = change.get("aspect") == "status" and change["value"] in ("lost", "destroyed")
        if change["kind"] == "thing" and (is_lost or change.get("aspect") != "status"):
            is_held = change.get("aspect") == "holder" or is_lost or any(line.aspect == "holder" for line in untrue)
            moved.append((change, is_held))
    over = [
        one
        for key in after.over.changed_since(known.over)
        for one in after.over.get(key, ())
        if one not in known.over.get(key, ())
    ]
    left = [
        (entry, office)
        for change in changes
        if (entry := known.find(change["entry"])) and change.get("aspect") == "fact" and change["do"] == "set"
        for office in entry.offices_of_brief
        if change.get("text") == entry.no_longer(office)
    ]
    died = newly_dead(known, after)
    now = {change["entry"]: change for change in changes if change.get("aspect") == "status"}
    return [
        line
        for line in memory
        if line in ended
        or any(says_again(line, one) and not _tells_of_others(line, one, known) for one in over)
        or any(tells_of_the_living(line, after.called_alone(entry)) for entry in died)
        or any(_tells_of_office(line, entry, office) for entry, office in left)
        or any(_tells_otherwise(line, change, changes_hands=is_held) for change, is_held in moved)
        or (now and any(_is_no_longer(told, now.get(told["entry"])) for told in from_text(line, known)))
    ]


def _tells_of_office(line: str, entry: Entry, office: str) -> bool:
    """Return whether an English sentence says that somebody is what they are no longer, and nothing else."""
    names = "|".join(map(re.escape, entry.names))
    said = re.fullmatch(
        rf"(?:{names}) (?:still |now )?(?:is|remains) (?:still |now )?(?P<role>[a-z][\w'’ -]*)\.?", line
    )
    return said is not None and office in entry.offices_called(said["role"])


def _tells_of_others(line: str, over: Superseded, known: Codex) -> bool:
    """Return whether a sentence tells of somebody whom neither a line that is over nor its entry's name means."""
    meant = {entry.name for entry in known.named_in(f"{over.sentence} {' '.join(over.called)}")}
    return any(entry.kind == "person" and entry.name not in meant for entry in known.named_in(line))


def newly_dead(known: Codex, after: Codex) -> list[Entry]:
    """Return those who are dead in a codex and were not before."""
    before = {entry.name for entry in known.dead}
    return [entry for entry in after.dead if entry.name not in before]


def living_no_longer(memory: Iterable[str], old: Collection[str], known: Codex, after: Codex) -> list[str]:
    """Return the sentences of a memory, of which some are `old`, that tell as of the living of somebody who is dead now.

    Of whoever dies in a passage its own sentences may tell in the present what they did before, and that they died: only how
    they live is told of the living.
    """
    died = newly_dead(known, after)
    names = {entry.name: after.called_alone(entry) for entry in after.dead}

    def tells(line: str) -> bool:
        if line in old:
            return any(tells_of_the_living(line, names[entry.name]) for entry in died)
        return any(
            (tells_how_they_live if entry in died else tells_of_the_living)(line, names[entry.name])
            for entry in after.dead
        )

    return [line for line in memory if tells(line)]


def _is_no_longer(told: Change, now: Change | None) -> bool:
    """Return whether what a sentence tells of somebody, that they are dead or gone, is over by a change of their status."""
    return now is not None and told.get("aspect") == "status" and (now["do"] == "end" or told["value"] != now["value"])


def _tells_otherwise(line: str, moved: Change, *, changes_hands: bool) -> bool:
    """Return whether a sentence tells who has a thing, or where it is, as a change says no longer."""
    thing, holder = (moved["entry"],), moved["value"] if moved.get("aspect") == "holder" else ""
    if changes_hands and tells_of_other_holder(line, thing, holder):
        return True
    return tells_where_it_is(line, thing) and line != moved.get("text")
