"""One story read from its log alone: what it says, what it remembers, where it branches, and what is true in it.

Neither a graph nor a checkpoint is needed for that, and nothing of LangGraph is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recurrentgpt.engine.diff import Diff
from recurrentgpt.engine.passage import Passage
from recurrentgpt.engine.refs import NOTHING_WRITTEN, Ref, is_along_passages, resolve, taken_back
from recurrentgpt.engine.snapshot import PendingReplay
from recurrentgpt.engine.tree import Tree
from recurrentgpt.memory.codex import changed, codex_at
from recurrentgpt.memory.corrections import in_force, read_overlay, with_summary
from recurrentgpt.memory.log_reader import LogReader, path_to
from recurrentgpt.memory.row_shapes import damage
from recurrentgpt.models.meter import total_usage
from recurrentgpt.prose.model_text import visible_text
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import ONE_EACH, Change, Codex, Entry, Line
from recurrentgpt.schema.context import SETTINGS, STORY_SETTINGS
from recurrentgpt.schema.errors import EntryNotFound, StorageError, StoryError, StoryNotFound
from recurrentgpt.schema.log import AheadTally, Commit, ReplayRow, StoryRecord
from recurrentgpt.schema.names import OF_ANYBODY, called_as, form_of, is_by_marriage, key_of, parts_of
from recurrentgpt.schema.outline import mark_turns
from recurrentgpt.schema.parts import Brief, Usage

MOST_LIKE = 8
"""Entries that are offered in the place of one that nothing answers to."""


@dataclass(frozen=True)
class HistoryLine:
    """What one passage changed in an entry."""

    passage: str
    step: int
    change: Change


class StoryReader:
    """Read one story from its log."""

    def __init__(self, log: LogReader, story: str) -> None:
        self._log, self.id = log, story

    @property
    def log(self) -> LogReader:
        """The story log."""
        return self._log

    async def record(self) -> StoryRecord:
        """Return what the story is and was begun with: title, genre, premise, brief; `brief` has what was edited since."""
        return await self.log.record(self.id)

    async def title(self) -> str:
        """Return the story's title."""
        return (await self.record())["title"]

    async def settings(self) -> Mapping[str, object]:
        """Return what the story keeps of how it is told: the fields of `Context` that hold when it is opened again."""
        kept = (await self.record())["settings"]
        return {name: kept.get(name, SETTINGS[name].default) for name in STORY_SETTINGS}

    async def brief(self) -> Brief:
        """Return what is pinned in every prompt of this branch, its turns and clues marked as they stand."""
        record, head = await self.record(), await self.head_commit()
        overlay = await read_overlay(self.log, self.id, await in_force(self.log, head))
        brief = overlay.get("brief", record["brief"])
        marked: Brief = {
            **brief,
            "title": record["title"],
            "outline": mark_turns(brief["outline"], head.get("turns", [])),
        }
        if "clues" in brief:
            marked["clues"] = mark_turns(brief["clues"], head.get("clues", []))
        return marked

    # Passages

    async def head(self) -> str:
        """Return the id of the newest passage on this branch, or of the opening; empty before the story is opened."""
        head = await self.log.head(self.id)
        return head["head"] if head else ""

    async def passage(self, ref: Ref | None = None) -> Passage:
        """Return one passage (default: the newest), of whichever branch; the opening is step 0 and has no text."""
        commit = await self.commit_at(ref)
        for at in (await self.head_commit(), commit):
            summaries = (await read_overlay(self.log, self.id, await in_force(self.log, at)))["summaries"]
            if commit["id"] in summaries:
                return Passage.of(with_summary(commit, summaries))
        return Passage.of(commit)

    async def passages(self, at: Ref | None = None) -> list[Passage]:
        """Return the passages from the first to any place, by default the head, with the summaries that stand there."""
        if not (commits := await self.commits(at)):
            return []
        summaries = (await read_overlay(self.log, self.id, await in_force(self.log, commits[-1])))["summaries"]
        return [Passage.of(with_summary(commit, summaries)) for commit in commits if commit["step"]]

    async def whole_passages(self, at: Ref | None = None) -> list[tuple[int, str, Passage | None]]:
        """Return the step and id of each passage up to any place, by default the head, and the passage where it is whole.

        Each is read alone, so that one that is damaged hides no other.
        """
        found: list[tuple[int, str, Passage | None]] = []
        links = await self.log.links(self.id)
        for key in path_to(await self.head() if at is None else await self.resolve(at), links):
            if links[key]["step"]:
                commit = await self.if_whole(key)
                found.append((links[key]["step"], key, Passage.of(commit) if commit else None))
        return found

    async def passages_of(self, ids: Sequence[str]) -> list[Passage]:
        """Return the passages of these ids, of whichever branches, in the order asked for."""
        return [Passage.of(commit) for commit in await self.log.get_many(self.id, ids)]

    async def usage(self) -> Usage:
        """Return what all passages of this branch have cost."""
        return await self.usage_at()

    async def usage_at(self, at: Ref | None = None) -> Usage:
        """Return what all passages up to any place (default: the newest) have cost, corrections and new plans included."""
        found = commits = await self.commits(at)
        while commits := await self.log.get_many(self.id, [commit["amends"] for commit in commits if commit["amends"]]):
            found = found + commits
        return total_usage([commit["usage"] for commit in found])

    async def whole_usage(self) -> Usage:
        """Return what the story has cost on all its branches, with what was written ahead and not chosen."""
        ids = list(await self.log.links(self.id))
        try:
            commits = await self.log.get_many(self.id, ids)
        except (StoryError, StorageError, ValueError):
            # A damaged passage of another branch hides nothing of this one.
            commits = [commit for id in ids if (commit := await self.if_whole(id))]
        return total_usage([*(commit["usage"] for commit in commits), (await self.ahead_tally())["usage"]])

    async def if_whole(self, id: str) -> Commit | None:
        """Return a commit, or None for one that is lost or damaged."""
        try:
            return await self.log.get(self.id, id)
        except (StoryError, StorageError, ValueError):
            return None

    async def ahead_tally(self) -> AheadTally:
        """Return how many choices were made while passages were written ahead, how many were ready, and what the rest cost."""
        nothing = AheadTally(choices=0, ready=0, usage=total_usage([]))
        return await self.log.row_of(AheadTally, "ahead", self.id) or nothing

    # The tree

    async def tree(self) -> Tree:
        """Return all passages and branches, where each left, and which holds the head."""
        record, head = await self.record(), await self.head()
        links, names = await self.log.links(self.id), await self.names()
        return Tree(self.id, record["title"], head, links.values(), names)

    async def resolve(self, ref: Ref) -> str:
        """Return the id of the passage that `ref` means: an id, the beginning of one, a step of this branch, or a branch's name.

        Raises StoryNotFound for none and for several.
        """
        return await resolve(self.log, self.id, ref)

    async def names(self) -> dict[str, str]:
        """Return which passage each name of a branch stands at."""
        return await self.log.names(self.id)

    async def diff(self, a: Ref, b: Ref) -> Diff:
        """Return what differs between two passages in plan, words, sentences and memory."""
        return Diff.of(await self.passage(a), await self.passage(b), str((await self.settings())["language"]))

    async def pending_replay(self) -> PendingReplay | None:
        """Return the replay that was interrupted, if there is one."""
        row = await self.log.row_of(ReplayRow, "replays", self.id)
        return None if row is None else PendingReplay(**row)

    # The codex

    async def codex(self, name: str | None = None, at: Ref | None = None) -> list[Entry]:
        """Return the entries as of a passage (default: the newest), the pinned first, or the one that answers to `name`.

        Raises StoryError where none or several do.
        """
        codex = await self.codex_at(at)
        if name is not None:
            return [find_entry(codex, name)]
        return sorted(codex.entries.values(), key=lambda entry: not entry.pinned)

    async def codex_history(self, name: str, at: Ref | None = None) -> list[HistoryLine]:
        """Return what the passages up to a place and the author changed in an entry, the oldest first.

        What a passage ended without a word of it is told, too: where somebody was who died in it, who had what it lost.
        """
        codex = await self.codex_at(at)
        entry = find_entry(codex, name)
        called = {known.casefold() for known in (entry.name, *entry.aliases, *entry.former)}
        commits, head = await self.commits(at), await self.commits()
        # What holds for the whole branch may have been said at a later passage of it.
        later = (
            head[len(commits) :]
            if [one["id"] for one in head[: len(commits)]] == [one["id"] for one in commits]
            else []
        )
        said = await self._said_at([*commits, *later], (await self.commit_and_overlay(at))[1])
        told, known = list[tuple[Commit, list[Change]]](), Codex()
        for commit in commits:
            of_branch = said.get(commit["id"], [])
            # A new name or a merge is in the passage, too, and told once.
            noted = [change for change in commit.get("codex", []) if change not in of_branch]
            # The codex of these alone, which is soon folded; somebody's death ends what is told of others.
            own = [one for one in noted if one["entry"].casefold() in called or one.get("value") in ("dead", "alive")]
            before, known = known, changed(known, own, commit["id"], commit["step"])
            told.append((commit, [*noted, *_implied(before, known, called, noted), *of_branch]))
        return [
            HistoryLine(commit["id"], commit["step"], change)
            for commit, changes in (*told, *((commit, said.get(commit["id"], [])) for commit in later))
            for change in changes
            if change["entry"].casefold() in called or codex.find(change["entry"]) is entry
            # That there is somebody changes nothing of them.
            if change["do"] != "alias" or change.get("value") != change["entry"]
        ]

    async def _said_at(self, commits: Sequence[Commit], overlay: str) -> dict[str, list[Change]]:
        """Return what the author says of the whole branch, by the newest passage when that was said."""
        in_force = (await read_overlay(self.log, self.id, overlay)).get("codex", [])
        found, before, seen = dict[str, list[Change]](), 0, ""
        for commit in commits:
            if before == len(in_force) or (now := commit.get("overlay", "")) == seen:
                continue
            seen = now
            known = (await read_overlay(self.log, self.id, now)).get("codex", [])
            # The corrections of another way begin with the same ones at most.
            if known[before:] and known == in_force[: len(known)]:
                found[commit["id"]] = known[before:]
                before = len(known)
        if commits and in_force[before:]:
            found.setdefault(commits[-1]["id"], []).extend(in_force[before:])
        return found

    async def codex_at(self, at: Ref | None, overlay: str | None = None) -> Codex:
        """Return the whole codex as of a passage, with the corrections in force there unless others are given."""
        commit, now = await self.commit_and_overlay(at)
        return await codex_at(self.log, self.id, commit["id"], now if overlay is None else overlay, await self.brief())

    # Commits

    async def head_commit(self) -> Commit:
        """Return the newest commit; raise StoryNotFound before the story is opened."""
        head = await self.head()
        if not head:
            raise StoryNotFound(NOTHING_WRITTEN)
        if (commit := await self.log.find(self.id, head)) is None:
            raise damage(self.id)
        return commit

    async def commit_at(self, ref: Ref | None) -> Commit:
        """Return the commit that a reference names; the head for None."""
        if ref is None:
            return await self.head_commit()
        return await self.log.get(self.id, await resolve(self.log, self.id, ref))

    async def commit_and_overlay(self, ref: Ref | None) -> tuple[Commit, str]:
        """Return the commit that a reference names, and the corrections that are in force for what is begun there.

        A passage that the head's own branch goes through is worked on with the corrections of the head: what was set right
        further on holds, and so it does for the passages behind the one that was gone back to. Another branch has its own.
        """
        commit, now = await self.commit_at(ref), await in_force(self.log, await self.head_commit())
        own = commit.get("overlay", "")
        return commit, now if own == now or await self._is_of_branch(commit["id"], now) else own

    async def _is_of_branch(self, key: str, now: str) -> bool:
        """Return whether `now`, the corrections in force at the head, holds for a passage too."""
        stands = await self.log.head(self.id)
        if stands is None or key in await self.log.path(self.id, stands["head"]):
            return True
        tip = stands.get("undone", "")
        if not tip or key not in await self.log.path(self.id, tip):
            return False
        if now == (await self.log.get(self.id, tip)).get("overlay", ""):
            return True
        # Some correction was taken back: what lies behind it has its own.
        links = await self.log.links(self.id)
        way = taken_back(key, stands["head"], links)
        return way is not None and is_along_passages([*way, stands["head"]], links)

    async def commits(self, ref: Ref | None = None) -> list[Commit]:
        """Return the commits from the opening to a passage, by default the head."""
        head = await self.head() if ref is None else await resolve(self.log, self.id, ref)
        return await self.log.get_many(self.id, await self.log.path(self.id, head))


def _of_surname(codex: Codex, name: str) -> Entry | None:
    """Return the only one of a surname whom somebody can mean who asks: Miss Cole may be who is not known to be she."""
    title, words = form_of(name)
    people = codex.answering(key_of(" ".join(words)), "person") if title and not is_by_marriage(title) else []
    said = called_as(title)
    people = [entry for entry in people if not entry.titles and (not said or entry.pronoun in ("", said))]
    return people[0] if len(people) == 1 else None


def _behind_epithet(codex: Codex, name: str) -> Entry | None:
    """Return who is meant with a word before their name that makes nobody else of them: Old Josiah, of Josiah Pell."""
    word, _, bare = name.partition(" ")
    entry = codex.meant(bare, "person") if word.casefold() in OF_ANYBODY else None
    return entry if entry is not None and word.casefold() in entry.may_be_before else None


def find_entry(codex: Codex, name: str) -> Entry:
    """Return the one entry that answers to a name in whatever form; raise EntryNotFound where none or several do."""
    said = visible_text(name)
    # At a prompt a role has no article.
    entry = codex.meant(said) or codex.meant(f"the {said}") or _of_surname(codex, said) or _behind_epithet(codex, said)
    if entry is not None:
        return entry
    called = key_of(said).removeprefix("the ")
    words = set(called.split())
    like = [one for one in codex.entries.values() if words & set(re.split(r"[ -]", " ".join(one.called)))]
    if len(like) == 1 and called in [key_of(part) for name in like[0].aliases for part in parts_of(name)]:
        return like[0]  # Daniel, of a Dan who is Daniel Penny, too
    shown = [one.name for one in like if not one.hidden]
    if len(shown) == 1:
        raise EntryNotFound(f"The codex has no entry {name[:60]!r}; did you mean {shown[0]}?")
    then = (
        f"it may be {' or '.join(shown[:MOST_LIKE])}."
        if shown
        else "none is like it; add it first, or ask for another."
    )
    raise EntryNotFound(f"The codex has no one entry {name[:60]!r}: {then}")


def _implied(before: Codex, after: Codex, called: Iterable[str], noted: Sequence[Change]) -> Iterator[Change]:
    """Yield the ends of what is true no longer of whoever is called so, after changes that do not say it themselves."""
    changes = [change for change in noted if change["entry"].casefold() in called]
    set_anew = {change.get("aspect") for change in changes if change["do"] == "set"}
    for name in called:
        old = before.entries.get(name)
        new = after.find(old.name, old.kind) if old is not None else None
        if old is None or new is None or old is new:
            continue
        true = {(line.aspect, line.value, line.text) for line in new.true_lines}
        for line in old.lines:
            is_replaced = line.aspect == "look" or (line.aspect in ONE_EACH and line.aspect in set_anew)
            if is_replaced or (line.aspect, line.value, line.text) in true or any(_ends(one, line) for one in changes):
                continue
            yield Change(entry=new.name, kind=new.kind, do="end", aspect=line.aspect, value=line.value, text=line.text)


def _ends(change: Change, line: Line) -> bool:
    """Return whether a change says itself that it ends a line."""
    said = set(tokens(change.get("value") or change.get("text", "")))
    return (
        change["do"] == "end" and change.get("aspect") == line.aspect and said <= set(tokens(line.text or line.value))
    )
