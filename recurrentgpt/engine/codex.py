"""The codex of one story, corrected by its author, and what the writer is told of it.

What an author says of a passage (somebody is alive, a thing is lost) is a corrected version of that passage's commit, upon which
the later ones are kept; what is true of the whole branch (entries of their own, names, pins) stands with the brief in the
corrections of the branch. Both are taken back by `undo`, and a fork that left before sees neither. At an older passage that the
story is gone back to, what is true of the whole branch still holds.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast, get_args

from recurrentgpt.engine.edits import check_name
from recurrentgpt.engine.known_people import may_be_known
from recurrentgpt.engine.reader import find_entry
from recurrentgpt.engine.rebase import Over, commit_on_branch, correct_and_keep, without_sentences
from recurrentgpt.engine.refs import Ref
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.written_from import PromptPart, as_written, is_kept, written_from
from recurrentgpt.memory.codex import changed, sentence_of
from recurrentgpt.memory.corrections import Overlay, read_overlay
from recurrentgpt.nodes.codex_changes import MOST_CLAUSE_WORDS, MOST_NAME_WORDS, MOST_SENTENCE_WORDS
from recurrentgpt.nodes.codex_statuses import STATUSES_OF
from recurrentgpt.nodes.outdated_memory import outdated_sentences
from recurrentgpt.nodes.prompt_values import memory_lines
from recurrentgpt.nodes.restored_state import restored
from recurrentgpt.nodes.retrieve import retrieve
from recurrentgpt.prose.sentences import limit_words
from recurrentgpt.schema.codex import Aspect, Change, Codex, Contradiction, Entry, Kind, Line, Operation
from recurrentgpt.schema.errors import BadAnswer, StoryError
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import character_names

MOST_SAID = 2000
"""Changes by the author that one branch may carry: each correction writes them all."""

_ASPECT_OF = {"dead": "status", "absent": "status", "holder": "holder", "pronouns": "pronouns"}


class StoryCodex:
    """What is true of the people and things of one story, and the author's word on it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def written_from(self, at: Ref | None = None, *, truth: bool = True) -> list[PromptPart]:
        """Return what the writer of a passage (default: the newest) was told: its whole turns, and what they were made of.

        Without `truth`, what the brief and `engine.hidden_entries` keep from readers is left out of them.

        See `engine.written_from`. Raises StoryError where no plan was written from.
        """
        session = self._session
        commit = await as_written(session.log, await session.commit_at(at))
        for_reader = None if truth else await session.codex_at(at)
        written = partial(written_from, session.log, session.context, commit, for_reader=for_reader)
        if is_kept(commit):
            return await written()
        # A commit from before these were kept: the search is made again.
        record, runtime = await session.log.record(session.id), session.runtime()
        state = await restored(session.log, record, commit, retake=True, overlay=commit.get("overlay", ""))
        found = await retrieve(state, runtime)
        return await written(found["recalled"], found["entries"])

    async def edit(self, name: str, aspect: Aspect, value: str, at: Ref | None = None, *, end: bool = False) -> Entry:
        """Set what is true of an entry after a passage (default: the newest), or with `end` what is no longer, and return it.

        It holds on this branch from there, and the later passages stay as they are. Raises BadAnswer for an aspect or a value
        that cannot be, StoryError for a name that no entry answers to, and for a passage of another branch.
        """
        if aspect not in get_args(Aspect):
            also = " `codex --rename` gives it another name." if str(aspect) == "name" else ""
            raise BadAnswer(f"An entry has no {aspect!r}; it has {', '.join(get_args(Aspect))}.{also}")
        text = check_name(aspect, value, MOST_SENTENCE_WORDS)
        if not text and not end:
            raise BadAnswer(f"The {aspect} needs some words.")
        session = self._session
        async with session.writing():
            commit, overlay, later = await commit_on_branch(session, at)
            codex = await self._session.codex_at(commit["id"], overlay)
            entry = find_entry(codex, name)
            if aspect == "status" and not end and text not in STATUSES_OF[entry.kind]:
                raise BadAnswer(_no_status(entry, text))
            if aspect == "holder" and text.casefold() == entry.name.casefold():
                raise BadAnswer(f"{entry.name} is in somebody's hands, and not in its own: name who has it.")
            if aspect == "holder" and entry.kind == "person" and not end:
                raise BadAnswer(f"Nobody has {entry.name}, who is a person: say of the thing that {entry.name} has it.")
            if aspect == "holder" and end and (holder := codex.meant(text)) is not None:
                text = holder.name  # as the line has it
            change = _said(entry.name, entry.kind, "end" if end else "set", text, aspect)
            over, forgotten = _over(entry, [change]), _forgotten(commit, [change], codex)
            if end and not over:
                raise BadAnswer(_nothing_to_end(entry, aspect, text))
            of_branch = end and any(not line.passage for line in over)
            said = await self._with_said(overlay, [change]) if of_branch else overlay
            changes = dict[str, object]()
            if not end or any(line.passage for line in over):
                told = await self._as_passages_name_it(entry, change, commit["id"]) if end else [change]
                changes = {"codex": [*commit.get("codex", []), *told]}
            corrected = await correct_and_keep(session, commit, changes, said, later, over, forgotten)
            return find_entry(await session.codex_at(corrected["id"], corrected.get("overlay", "")), entry.name)

    async def add(self, name: str, kind: Kind, facts: Sequence[str] = (), keys: Sequence[str] = ()) -> Entry:
        """Add an entry of the author's own to this branch, or more to one that is there, and return it.

        `keys` bring it to the writer, beside its name. Raises BadAnswer for texts that no prompt should carry, and where nothing
        is said of an entry that is there.
        """
        name = _check_name_of(kind, name)
        if not name or kind not in get_args(Kind):
            raise BadAnswer(f"An entry has a name, and is one of {', '.join(get_args(Kind))}.")
        facts = [check_name("fact", fact, MOST_SENTENCE_WORDS) for fact in facts]
        if not all(facts):
            raise BadAnswer("A fact needs some words.")
        lines = [_said(name, kind, "set", fact, "fact") for fact in facts]
        lines += [_said(name, kind, "key", check_name("key", key, MOST_NAME_WORDS)) for key in keys]
        known = (await self._session.codex_at(None)).find(name, kind, whole=True)
        if known is not None and not lines:
            raise BadAnswer(f"{known.name} is an entry already, as a {known.kind}: give a fact or a key to add to it.")
        await self._say(lines or [_said(name, kind, "alias", name)])
        return (await self._session.codex(name))[0]

    async def alias(self, name: str, alias: str) -> Entry:
        """Let an entry answer to another name or a role too, and return it; raises BadAnswer where another entry does."""
        alias, codex = check_name("name", alias, MOST_NAME_WORDS), await self._session.codex_at(None)
        _check_is_free(codex, alias, find_entry(codex, name))
        return await self._flag(name, "alias", alias)

    async def rename(self, name: str, new: str) -> Entry:
        """Give an entry another name, as which it is told from now on, and return it; it answers to the old one, too.

        Raises BadAnswer for a name that another entry answers to, and for one that no entry can have.
        """
        codex = await self._session.codex_at(None)
        entry = find_entry(codex, name)
        new = _check_name_of(entry.kind, new)
        if not new or new == entry.name:
            raise BadAnswer(f"{entry.name} needs another name to be renamed.")
        _check_is_free(codex, new, entry)
        return await self._flag(name, "rename", new)

    async def merge(self, name: str, other: str) -> Entry:
        """Make one entry of two that are the same, under the first one's name, and return it.

        Raises BadAnswer where both names are of one entry, and of a person with what is none.
        """
        codex = await self._session.codex_at(None)
        entry, same = find_entry(codex, name), find_entry(codex, other)
        if entry is same:
            raise BadAnswer(
                f"{name} and {other} are one entry already, {entry.name}: rename it if that is not its name, or name "
                "another one to merge with it."
            )
        if entry.kind != same.kind and "person" in (entry.kind, same.kind):
            raise BadAnswer(
                f"{entry.name} is a {entry.kind} and {same.name} is a {same.kind}, which are not one: if one of them was noted "
                "as what it is not, remove it, and give the other one its name as an alias."
            )
        return await self._flag(name, "merge", same.name)

    async def pin(self, name: str, *, pinned: bool = True) -> Entry:
        """Tell the writer of an entry always, or only where it is named, and return it."""
        return await self._flag(name, "pin" if pinned else "unpin")

    async def hide(self, name: str, *, hidden: bool = True) -> Entry:
        """Hide an entry and what names it from readers, or show it again, and return it; the writer is told it as before."""
        return await self._flag(name, "hide" if hidden else "show")

    async def remove(self, name: str) -> None:
        """Take an entry out of the codex of this branch; it is back where a later passage tells of it anew, with that alone."""
        entry = find_entry(await self._session.codex_at(None), name)
        await self._say([_said(entry.name, entry.kind, "remove")])

    async def import_lorebook(
        self, path: str | Path, *, on_left_out: Callable[[Mapping[str, Sequence[str]]], None] = lambda left_out: None
    ) -> list[str]:
        """Add the entries of a lorebook of SillyTavern, NovelAI or a character card, and return their names; raises BookError.

        In the place of `{{char}}` stands the name of the first of the story's people, in a story to play of the second, and the
        first in that of `{{user}}`. `on_left_out` is told what was left out, by kind, with the entry's name
        each time, and as `guessed` which entries are things for want of better: `tell_left_out` says it in words. What is told of
        somebody whom the story knows is put to their entry, also under a name of more or fewer words (but no second first name)
        or with a title that they may have; "the mayor", or a Mrs Cole of whom nothing says that she is, is an entry of its own.
        """
        from recurrentgpt.books.readers.lorebook import read_lorebook

        codex = await self._session.codex_at(None)

        def known(name: str) -> Kind | None:
            entry = codex.find(name)
            return entry.kind if entry is not None and entry.kind not in ("promise", "question") else None

        people = character_names(await self._session.brief())
        whose = ("user", "char") if self._session.context.mode == "fiction" else ("char",)
        in_places = dict(zip(whose, people, strict=False))
        read, left_out = await asyncio.to_thread(read_lorebook, Path(path), in_places, known)
        found = _of_known_people(codex, read)
        await self._say([{**change, "author": True} for change in found])
        on_left_out(left_out)
        return list(dict.fromkeys(change["entry"] for change in found))

    async def accept(self, number: int = 1, at: Ref | None = None) -> Contradiction:
        """Say that a contradiction of a passage, counted from 1, is meant so: the entry says from there what the passage says.

        The later passages stay as they are, but for contradictions to what is over now. Raises StoryError where there is none of
        this number, and for a passage of another branch.
        """
        session = self._session
        async with session.writing():
            commit, overlay, later = await commit_on_branch(session, at)
            found = commit.get("contradictions", [])
            if not 1 <= number <= len(found):
                known = f"{len(found)} contradiction{'' if len(found) == 1 else 's'}"
                raise StoryError(f"Passage {commit['step']} has {known}; number {number} is none of them.")
            meant = found[number - 1]
            told = _as_meant(meant)
            codex = await session.codex_at(commit["id"], overlay)
            entry = codex.find(meant["entry"])
            changes = {
                "codex": [*commit.get("codex", []), *told],
                "contradictions": [one for one in found if one is not meant],
            }
            # What the author said or the brief says lies where no passage can end it.
            ended = [] if meant["passage"] else [change for change in told if change["do"] == "end"]
            corrections = await self._with_said(overlay, ended) if ended else overlay
            over = _over(entry, told) if entry else []
            forgotten = _forgotten(commit, told, codex)
            await correct_and_keep(session, commit, changes, corrections, later, over, forgotten)
        return meant

    async def _as_passages_name_it(self, entry: Entry, ended: Change, at: str) -> list[Change]:
        """Return what ends lines of an entry as changes of each entry that the author has made one: passages know no merge."""
        of_passages = await self._session.codex_at(at, "")
        names = dict.fromkeys([entry.name, *entry.aliases, *entry.former])
        known = {one.name: one for name in names if (one := of_passages.find(name, entry.kind, whole=True))}
        # Whoever has a thing may have had another name.
        had = {name: one.value("holder") for name, one in known.items() if ended.get("aspect") == "holder"}
        changes = [
            cast(Change, {**ended, "entry": name, **({"value": had[name]} if had.get(name) else {})}) for name in known
        ]
        said = {_of_passage(line) for line in _ended(entry, [ended])}
        # The only line of one of them that has these words may not be the only one of all.
        over = [{_of_passage(line) for line in _ended(known[change["entry"]], [change])} for change in changes]
        return [change for change, lines in zip(changes, over, strict=True) if lines and lines <= said] or [ended]

    async def _with_said(self, overlay: str, changes: Sequence[Change]) -> Overlay:
        """Return the corrections of a branch with changes of the author's put to those that they hold."""
        corrected = await read_overlay(self._session.log, self._session.id, overlay)
        return {**corrected, "codex": [*corrected.get("codex", []), *changes]}

    async def _flag(self, name: str, do: Operation, value: str = "") -> Entry:
        entry = find_entry(await self._session.codex_at(None), name)
        await self._say([_said(entry.name, entry.kind, do, value)])
        return (await self._session.codex(value if do == "rename" else entry.name))[0]

    async def _say(self, changes: Sequence[Change]) -> None:
        """Put changes of the author's to those of the head's branch."""
        session = self._session
        async with session.writing():
            head, overlay = await session.commit_and_overlay(None)
            # The fold lets go of what passages have said of it, the corrections of the branch of all else and in every take;
            # and of one entry, or under a new name, what later passages set and end.
            folded = [change for change in changes if change["do"] in ("remove", "rename", "merge")]
            since = [
                {**change, "value": str(head["step"])} if change["do"] == "remove" else change for change in changes
            ]
            corrected = await self._with_said(overlay, cast("list[Change]", since))
            if (count := len(corrected["codex"])) > MOST_SAID:
                raise BadAnswer(f"An author's codex has at most {MOST_SAID:,} lines; with these it has {count:,}.")
            also = {"codex": [*head.get("codex", []), *folded]} if folded else {}
            forgotten = _forgotten(head, changes, await session.codex_at(head["id"], overlay))
            await session.append_correction(head, {**without_sentences(head, forgotten(head)), **also}, corrected)


def _of_known_people(codex: Codex, changes: Sequence[Change]) -> list[Change]:
    """Return changes, as theirs those of people who are known by another form of the name: of Captain Cole, who is Bastian.

    What is wrongly parted can be merged, and an alias lasts: no title that may be another's and no second first name is theirs.
    """
    new = dict.fromkeys(change["entry"] for change in changes if change["kind"] == "person")
    found = {name: codex.meant(name, "person") for name in new if " " in name and not codex.by_short_name(name)}
    people = {*new, *(one.name for one in codex.entries.values() if one.kind == "person")}
    others = {
        name: entry.name
        for name, entry in found.items()
        if entry is not None and may_be_known(entry, name, people - {name, entry.name})
    }
    # Of an Anna, Anna Reed and Anna Cole are not both.
    often = Counter(others.values())
    same = {name: known for name, known in others.items() if often[known] == 1 and codex.find(name) is None}
    theirs: list[Change] = [{**change, "entry": same.get(change["entry"], change["entry"])} for change in changes]
    return theirs + [_said(known, "person", "alias", name) for name, known in same.items()]


def _check_name_of(kind: Kind, name: str) -> str:
    """Return a name as long as a passage may name an entry of a kind, or nothing could be added to it; raise BadAnswer."""
    return check_name("name", name, MOST_CLAUSE_WORDS if kind in ("promise", "question") else MOST_NAME_WORDS)


def _check_is_free(codex: Codex, name: str, entry: Entry) -> None:
    """Raise BadAnswer for a name that another entry than this one answers to."""
    held = codex.meant(name)
    if held is not None and held is not entry:
        raise BadAnswer(f"{name} is {held.name} already: merge the two if they are one, or choose another name.")


def _no_status(entry: Entry, status: str) -> str:
    *some, last = STATUSES_OF[entry.kind]
    return f"The status of a {entry.kind} is {', '.join(some)} or {last}; {status[:40]!r} is none of them."


def _of_passage(line: Line) -> tuple[str, ...]:
    """Return what a line is, under whatever name it tells of who has a thing."""
    return (
        (line.passage, line.aspect) if line.aspect == "holder" else (line.passage, line.aspect, line.value, line.text)
    )


def _nothing_to_end(entry: Entry, aspect: Aspect, value: str) -> str:
    known = [line.value or line.text for line in entry.lines if line.aspect == aspect]
    says = f"it says {', '.join(map(repr, known))}" if known else f"it says nothing of its {aspect}"
    return f"There is no {aspect} {value!r} of {entry.name} to end in the codex: {says}."


def _over(entry: Entry, changes: Sequence[Change]) -> list[Over]:
    """Return the lines of an entry that changes take back or replace, as contradictions name them."""
    return [Over(entry.name, sentence_of(entry, line), line.passage) for line in _ended(entry, changes)]


def _ended(entry: Entry, changes: Sequence[Change]) -> list[Line]:
    """Return the lines of an entry that changes take back or replace."""
    left = changed(Codex({entry.name.casefold(): entry}), changes).find(entry.name)
    says = {sentence_of(left, line) for line in left.true_lines} if left else set[str]()
    return [line for line in entry.true_lines if sentence_of(entry, line) not in says]


def _forgotten(corrected: Commit, changes: Sequence[Change], codex: Codex) -> Callable[[Commit], list[str]]:
    """Return what tells which sentences of a commit's memory the author's word on a passage makes untrue.

    It is asked of that passage and then of the later ones, in their order, until one of them says something else itself.
    """
    after = changed(codex, changes, corrected["id"], corrected["step"])
    about, is_over = set(map(_about, changes)), False

    def forgotten(commit: Commit) -> list[str]:
        nonlocal is_over
        is_later = commit["id"] != corrected["id"]
        is_over = is_over or (is_later and not about.isdisjoint(map(_about, commit.get("codex", []))))
        memory = [] if is_over else memory_lines(commit["short_term_memory"])
        return outdated_sentences(memory, changes, codex, after, step=corrected["step"])

    return forgotten


def _about(change: Change) -> tuple[str, str, str]:
    """Return what a change is about: of facts an entry has many."""
    aspect = change.get("aspect", "")
    return change["entry"].casefold(), aspect, change.get("text", "") if aspect == "fact" else ""


def _as_meant(meant: Contradiction) -> list[Change]:
    """Return what changes in an entry where a passage is meant as it stands."""
    about, rule = (meant["entry"], meant["kind"]), meant["rule"]
    if rule == "renamed":
        changes = [_said(*about, "alias", meant["value"])]
    elif rule == "judge":
        over = {**_said(*about, "end", "", meant.get("aspect", "fact")), "text": meant["holds"]}
        changes = [cast(Change, over), _said(*about, "set", meant["value"] or _of_entry(meant), "fact")]
    elif rule == "lost":
        # Of a thing that is found no word says how it is: the passage does.
        was = next((status for status in ("lost", "destroyed") if status in meant["holds"].split(".")[0].split()), "")
        changes = [_said(*about, "end", was, "status"), _said(*about, "set", _of_entry(meant), "fact")]
    else:
        changes = [_said(*about, "set", meant["value"], cast(Aspect, _ASPECT_OF[rule]))]
    return [{**change, "rests_on": meant["said"]} for change in changes]


def _of_entry(meant: Contradiction) -> str:
    """Return what a passage says against an entry as a sentence that names the entry."""
    named = Codex({"": Entry(meant["entry"], meant["kind"])}).named_in(meant["said"])
    return limit_words(meant["said"] if named else f"{meant['entry']}: {meant['said']}", MOST_SENTENCE_WORDS)


def _said(name: str, kind: Kind, do: Operation, value: str = "", aspect: Aspect | None = None) -> Change:
    change = Change(entry=name, kind=kind, do=do, author=True)
    if aspect is not None:
        change["aspect"] = aspect
    if value:
        change["text" if aspect == "fact" else "value"] = value
    return change
