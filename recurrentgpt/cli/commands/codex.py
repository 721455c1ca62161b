"""`codex` and `context`: what is true of the people and things of a story, and what the writer of a passage is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from recurrentgpt.cli.commands.options import (
    JsonObject,
    MaybePassageRef,
    Remote,
    StoryName,
    Truth,
    at_option,
    complete_entries,
)
from recurrentgpt.cli.commands.story_context import opening, reading, tell_of_the_last
from recurrentgpt.cli.terminal.console import note, one_line, print_json, print_lines, print_table
from recurrentgpt.schema.errors import EntryNotFound, SettingsError, StoryError

if TYPE_CHECKING:
    from recurrentgpt.engine.hidden_entries import Readers
    from recurrentgpt.engine.reader import HistoryLine
    from recurrentgpt.schema.codex import Aspect, Entry, Kind
    from recurrentgpt.story import Story
    from recurrentgpt.story_reader import ReadOnlyStory


def codex(
    story: StoryName,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="One entry, by any of its names. [default: all]", autocompletion=complete_entries
        ),
    ] = None,
    at: Annotated[
        str | None, at_option("As of which passage; with --set, --end and --meant, from which passage on.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="ASPECT=TEXT",
            help="Say what is true after the passage: status, place, holder, look, role, pronouns, unaware or fact.",
        ),
    ] = None,
    end: Annotated[
        list[str] | None, typer.Option(metavar="ASPECT=TEXT", help="Say what is true no longer after the passage.")
    ] = None,
    add: Annotated[
        str | None, typer.Option(metavar="KIND", help="Add it as person, place, thing, promise or question.")
    ] = None,
    fact: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="With --add: what is true of it.")] = None,
    key: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="With --add: a word that brings it to the writer.")
    ] = None,
    alias: Annotated[str | None, typer.Option(metavar="NAME", help="Let it answer to this name too.")] = None,
    rename: Annotated[
        str | None, typer.Option(metavar="NEW", help="Give it another name; it answers to the old one, too.")
    ] = None,
    merge: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Make one entry of it and another one.", autocompletion=complete_entries),
    ] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Tell the writer of it always.")] = None,
    hide: Annotated[
        bool | None, typer.Option("--hide/--unhide", help="Show readers neither it nor lines that name it.")
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take it out of the codex, until a later passage tells of it.")
    ] = False,
    lorebook: Annotated[
        str | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="Add a lorebook of SillyTavern or NovelAI, or of a character card (JSON), and say what is left out.",
        ),
    ] = None,
    meant: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Contradiction N of the passage is meant so: change the entry."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show what is hidden from readers too.")] = False,
    remote: Remote = None,
    json: JsonObject = False,
) -> None:
    """Print or correct what is true of the people and things of a story.

    \b
    Examples:
      recurrentgpt codex 3f2a
      recurrentgpt codex 3f2a Mira --at 7                 as of passage 7, and what made it so
      recurrentgpt codex 3f2a Mira --set status=alive --set "place=in the tower"
      recurrentgpt codex 3f2a "The Ferryman" --add person --fact "He takes no coin." --key river
      recurrentgpt codex 3f2a Mira --merge "the miller's daughter"
      recurrentgpt codex 3f2a "Fetch Pip" --rename Pip
      recurrentgpt codex 3f2a --import lorebook.json
      recurrentgpt codex 3f2a --meant 1                   the first contradiction that `show` prints is meant so

    What --set, --end and --meant correct holds on this branch from the passage on, and the later passages stay as they are; it
    goes when the text of that passage itself is edited. All else holds for the whole branch. `undo` takes it back. A look that is
    set takes the place of all others.
    """
    of_branch: dict[str, object] = {"--add": add, "--alias": alias, "--rename": rename}
    of_branch |= {"--merge": merge, "--import": lorebook}
    of_branch |= {
        "--pin" if pin else "--unpin": pin,
        "--hide" if hide else "--unhide": hide,
        "--remove": remove or None,
    }
    given = [option for option, value in of_branch.items() if value is not None]
    changes = bool(given) or any(value is not None for value in (set_, end, meant))
    if add is None and (fact or key):
        raise SettingsError(
            '--fact and --key go with --add KIND, also for an entry that is there; or say --set "fact=...".'
        )
    if changes and remote is not None:
        raise SettingsError("On a server the codex is read only: leave --remote out.")
    if changes and name is None and lorebook is None and meant is None:
        raise SettingsError("Which entry is meant? Name it after the story.")
    if given and at is not None:
        raise SettingsError(f"{given[0]} holds for the whole branch, and not from a passage on: leave --at out.")
    if not changes:
        with _how_to_add(), reading(story, remote) as read:
            entries, history = _entries(read, name, at, everything=everything)
            kept = _kept(read, at)
            tell_of_the_last(read, at)
    else:
        from recurrentgpt.books.readers.lorebook import tell_left_out

        with _how_to_add(), opening(story) as opened, _told_what_is_forgotten(opened):
            if lorebook is not None:
                left_out: dict[str, Sequence[str]] = {}
                added = opened.import_lorebook(lorebook, on_left_out=left_out.update)
                note(f"Added: {', '.join(map(one_line, added))}.")
                if lacking := tell_left_out(left_out):
                    note(lacking)
            if meant is not None:
                note(f"So it is: {one_line(opened.accept_contradiction(meant, at)['said'])}")
                at = _same_step(opened, at)
            if name is None:
                return
            if add is not None:
                opened.add_entry(name, cast("Kind", add), fact or (), key or ())
            for text, ends in [*((text, False) for text in set_ or ()), *((text, True) for text in end or ())]:
                aspect, _, value = text.partition("=")
                opened.edit_entry(name, cast("Aspect", aspect.strip()), value.strip(), at, end=ends)
                at = _same_step(opened, at)
            _flagged(opened, name, alias, merge, rename, pin=pin, hide=hide)
            if remove:
                taken = opened.codex(name)[0]
                opened.remove_entry(name)
                note(f"{one_line(name)} is no entry any more.")
                _tell_of_brief(opened, taken)
                return
            entries, history = _entries(opened, name, at, everything=True)
            kept = _kept(opened, at)
    held = _belongings(kept, everything=everything)
    if json:
        told = [dataclasses.asdict(entry) for entry in entries]
        print_json({"entries": told, **({"history": [vars(line) for line in history]} if name is not None else {})})
    elif name is not None:
        print_lines("\n".join(_entry_lines(entries[0], history, kept, held.get(entries[0].name, ""))))
    elif entries:
        print_table(
            ("Entry", "Kind", "Status", "What is true"),
            [_row(entry, held.get(entry.name, "")) for entry in entries],
            uncut=(0, 1, 2),
        )
    else:
        note("The codex is empty: it fills while the story is written.")


@contextmanager
def _how_to_add() -> Iterator[None]:
    """Say of an entry that is not there which option adds it."""
    try:
        yield
    except EntryNotFound as error:
        raise EntryNotFound(f"{error} `--add person`, or another kind, makes an entry of your own.") from error


@contextmanager
def _told_what_is_forgotten(opened: Story) -> Iterator[None]:
    """Say which sentences leave the memory with what changes meanwhile."""
    before = opened.memory.splitlines()
    yield
    left = opened.memory.splitlines()
    for line in before:
        if line not in left:
            note(f"No longer in the memory: {one_line(line)}")


def context(
    story: StoryName,
    passage: MaybePassageRef = None,
    text: Annotated[bool, typer.Option("--text", help="Print the prompt itself.")] = False,
    truth: Truth = False,
    json: JsonObject = False,
) -> None:
    """Print what the writer of a passage was told, part by part.

    \b
    Examples:
      recurrentgpt context 3f2a            of the newest passage
      recurrentgpt context 3f2a 7 --text
      recurrentgpt context 3f2a 7 --text --truth     with what is kept from the reader

    First each whole turn, then the parts of the last one under the headings that the prompt gives them: they add up to that
    turn. What was recalled is kept; the rest is put together again, with the templates of the tier that wrote it and the brief of
    then. Where the turns are not word for word what was sent, the first line says so. Tokens are counted by words, 100 words
    being about 135.
    """
    with reading(story) as kept:
        parts = kept.written_from(passage, truth=truth)
    if parts is None:
        # A passage from before it was kept what was recalled for it, which is searched again.
        with opening(story, read_only=True) as opened:
            parts = opened.written_from(passage, truth=truth)
    if json:
        print_json({"parts": [{**vars(part), "tokens": part.tokens} for part in parts]})
    elif text:
        from recurrentgpt.engine.written_from import CHANGED

        shown = [part for part in parts if part.whole or part.name == CHANGED]
        print_lines("\n\n".join(f"[{part.name}]\n{part.text}" for part in shown))
    else:
        rows = [(part.name, f"{part.tokens:,}", one_line(part.text)) for part in parts]
        print_table(("Part", "Tokens", "Text"), rows, uncut=(0, 1))


def _entries(
    story: Story | ReadOnlyStory, name: str | None, at: str | None, *, everything: bool
) -> tuple[list[Entry], list[HistoryLine]]:
    """Return the entries as of a passage, or the one of this name with its history; without `everything`, as readers know them.

    Who asks for one by its name is the author, but where the story is played.
    """
    found, history = story.codex(name, at), story.codex_history(name, at) if name is not None else []
    plays = story.settings["mode"] == "fiction"
    if everything or (name is not None and not plays):
        return found, history
    readers = _kept(story, at)
    told = readers.entries()
    if name is None:
        return told, []
    shown = [entry for entry in told if entry.name == found[0].name]
    if not shown:
        raise StoryError(f"{found[0].name} is hidden from whoever plays: --all shows it.")
    return shown, [line for line in history if not readers.is_kept_change(line.change)]


def _kept(story: Story | ReadOnlyStory, at: str | None) -> Readers:
    """Return what tells which lines the author keeps from readers."""
    from recurrentgpt.engine.hidden_entries import Readers, of_entries

    return Readers(of_entries(story.codex(None, at)), plays=story.settings["mode"] == "fiction")


def _same_step(opened: Story, at: str | None) -> str | None:
    """Return what means the corrected version of a passage that was just corrected: its id names the old one."""
    return None if at is None else str(opened.passage(at).step)


def _flagged(
    opened: Story,
    name: str,
    alias: str | None,
    merge: str | None,
    rename: str | None,
    *,
    pin: bool | None,
    hide: bool | None,
) -> None:
    if alias is not None:
        opened.alias_entry(name, alias)
    if merge is not None:
        opened.merge_entries(name, merge)
    if rename is not None:
        opened.rename_entry(name, rename)
    if pin is not None:
        opened.pin_entry(name, pinned=pin)
    if hide is not None:
        opened.hide_entry(name, hidden=hide)


def _tell_of_brief(story: Story, taken: Entry) -> None:
    """Say where the brief still has somebody who was taken out of the codex."""
    from recurrentgpt.schema.parts import character_names

    if set(character_names(story.brief)) & set(taken.own_names):
        note(
            f"The brief, which is in every prompt, still tells of {one_line(taken.name)}: recurrentgpt edit brief {story.id}"
        )


def _belongings(readers: Readers, *, everything: bool) -> dict[str, str]:
    """Return what each entry has, by its name, with `everything` also what is hidden from readers."""
    told = readers.codex.entries.values() if everything else readers.entries()
    names = {one.name for one in told}
    held = {who: [one.name for one in things if one.name in names] for who, things in readers.codex.held_by.items()}
    return {who: ", ".join(map(one_line, things)) for who, things in held.items()}


def _row(entry: Entry, held: str) -> tuple[str, str, str, str]:
    from recurrentgpt.memory.codex import sentence_of

    marks = "".join(f" ({mark})" for mark, is_so in (("pinned", entry.pinned), ("hidden", entry.hidden)) if is_so)
    lines = [line for line in reversed(entry.lines) if line.aspect != "pronouns" and not entry.is_former(line)]
    told = [sentence_of(entry, line) for line in lines]
    told += [f"has {held}"] if held else []
    # The row begins with the name.
    texts = [text.removeprefix(f"{entry.name}: ") for text in dict.fromkeys(told)]
    said = " ".join(text if text.endswith((".", "!", "?")) else f"{text};" for text in texts).removesuffix(";")
    return one_line(entry.name) + marks, entry.kind, one_line(entry.value("status")), one_line(said)


_HIDDEN, _FORMER = " (hidden from readers)", " (no longer)"


def _entry_lines(entry: Entry, history: list[HistoryLine], readers: Readers, held: str) -> list[str]:
    """Return an entry, each line with the passage and the sentence that it rests on, and what became of it.

    Of an entry that is hidden itself its first line says so.
    """
    from recurrentgpt.memory.codex import sentence_of

    marks = [entry.kind, *(["pinned"] if entry.pinned else []), *(["hidden"] if entry.hidden else [])]
    lines = [f"{one_line(entry.name)} ({', '.join(marks)})"]
    also = tuple(name for name in entry.aliases if name != entry.name)
    for what, names in (("Also", also), ("Once", entry.former), ("Keys", entry.keys)):
        lines += [f"{what}: {', '.join(map(one_line, names))}"] if names else []
    lines += [f"Has: {held}"] if held else []
    for line in entry.lines:
        where = f"passage {line.step}" if line.step else "the author, or the brief"
        where = f"the author, at {where}" if line.step and line.by_author else where
        # The sentence that pronouns are known from may hold none of them.
        said = sentence_of(entry, dataclasses.replace(line, text="") if line.aspect == "pronouns" else line)
        hidden = _HIDDEN if not entry.hidden and readers.is_kept(entry, line) else ""
        former = _FORMER if entry.is_former(line) else ""
        lines += ["", f"  {line.aspect}: {one_line(said)}{former}{hidden}", f"      {where}"]
        if line.rests_on and line.rests_on != said:
            lines[-1] += f": {one_line(line.rests_on)}"
    if history:
        lines += ["", "History", ""]
    for row in history:
        hidden = _HIDDEN if not entry.hidden and readers.is_kept_change(row.change) else ""
        lines.append(f"  {row.step:>3}  {one_line(_told(cast('dict[str, Any]', row.change)))}{hidden}")
    return lines


_DONE = {
    "alias": "also called",
    "merge": "made one with",
    "rename": "named anew:",
    "key": "brought by the word",
    "pin": "pinned",
    "unpin": "pinned no longer",
    "hide": "hidden from readers",
    "show": "hidden no longer",
    "remove": "taken out",
}


def _told(change: dict[str, Any]) -> str:
    # What is taken out is numbered by its passage.
    what = (change.get("value") or change.get("text", "")) if change["do"] != "remove" else ""
    by = " (the author)" if change.get("author") else ""
    done = _DONE.get(change["do"])
    if done is None:
        return f"{change['do']} {change.get('aspect', '')}: {what}{by}"
    return f"{done} {what}".rstrip() + by
