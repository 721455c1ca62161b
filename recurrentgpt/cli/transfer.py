"""`import`, `export` and `prompts`: what comes in from files and goes out to them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recurrentgpt.cli.console import counted, emit, note, one_line, print_json, print_text, unwritable
from recurrentgpt.cli.work import at_work, confirmed, reading, said
from recurrentgpt.schema.errors import SettingsError, StorageError

if TYPE_CHECKING:
    from recurrentgpt.library import Library
    from recurrentgpt.schema.events import Event
    from recurrentgpt.story import Story


def bring_in(
    file: Path, settings: dict[str, Any], wishes: dict[str, str], *, fast: bool, preview: bool, yes: bool, json: bool
) -> None:
    """Make a story of a file; `wishes` are its genre, its title, and which copy it is."""
    path = file.expanduser()
    if path.suffix.casefold() == ".json":
        if fast or preview or any(wishes.values()) or settings:
            raise SettingsError("A story comes back from JSON as it was: leave the other options out.")
        _restore(path, json=json)
        return
    if not _previewed(path, settings, wishes["copy"], fast=fast, only=preview, yes=yes, json=json) or preview:
        return
    events: Iterator[Event] = iter(())

    def begin(library: Library) -> Story:
        nonlocal events
        from recurrentgpt.story import Story

        found = library.import_book(path, fast=fast, **wishes, **settings)
        # The story has its id from the book, and says it first.
        first = next(found)
        assert first["event"] == "story"
        events = _again(first, found)
        return Story.open(first["story"], library=library)

    with at_work(begin, json=json, command="write") as session:
        told = {name: value for name, value in wishes.items() if value}
        session.again = ["import", str(file), *(["--fast"] if fast else []), "--yes", *said({**told, **settings})]
        session.work(events)


def _again(first: Event, rest: Iterator[Event]) -> Iterator[Event]:
    yield first
    yield from rest


def _previewed(
    path: Path, settings: dict[str, Any], copy: str, *, fast: bool, only: bool, yes: bool, json: bool
) -> bool:
    """Show what an import would make and cost, and ask where that is something."""
    from recurrentgpt.cli.screen import Screen
    from recurrentgpt.library import Library

    lengths = {name: settings[name] for name in ("min_words", "max_words") if name in settings}
    with Screen() as screen, Library.open() as library:
        screen.doing(f"reading {one_line(path.name)}")
        found = library.import_preview(path, copy=copy, **lengths)
        known = next((story for story in library.stories(archived=True) if story.story == found.story), None)
        screen.rest()
    if json:
        print_json({"event": "preview", **found.as_json()})
    else:
        author = f" by {one_line(found.author)}" if found.author else ""
        tell = print_text if only else note
        tell(f"{one_line(found.title)}{author} ({found.language}; --language says another)")
        tell(", ".join(counted(getattr(found, f"{what}s"), what) for what in ("chapter", "passage", "word")))
        tell(f"It begins: {one_line(found.first)}")
        if found.encoding:
            tell(f"It seems to be written in {found.encoding}. Where that reads wrongly, save the file as UTF-8.")
        tokens = found.input_tokens + found.output_tokens
        price = (
            "No model is asked."
            if fast
            else f"About {found.calls:,} calls and {tokens:,} tokens; --fast asks no model."
        )
        if known:
            price = (
                f"It is here already, as {one_line(known.title)} ({known.story}); what is missing of it is imported."
            )
            price += " --copy NAME makes another story of it."
        tell(price)
    return only or fast or confirmed("Import it?", yes=yes)


def _restore(path: Path, *, json: bool) -> None:
    from recurrentgpt.library import Library

    with Library.open() as library:
        story = library.restore(path)
        tree = story.tree()
        count = sum(1 for node in tree.nodes.values() if node.step)
        if json:
            print_json({"event": "story", "story": story.id, "title": story.title})
            print_json({"event": "restored", "story": story.id, "passages": count, "branches": len(tree.branches)})
            return
        print_text(story.id)
        note(
            f"{one_line(story.title)} is here: {count:,} passages, on all branches. Go on: recurrentgpt write {story.id}"
        )


def take_out(name: str, output: str, format: str | None, *, every: int, force: bool, remote: str | None = None) -> None:
    """Write a story to a file, a folder or standard output."""
    kind = (format or "").casefold().lstrip(".") or None
    if kind is not None and kind not in _formats():
        raise SettingsError(f"There is no format {format!r}; the formats are {', '.join(_formats())}.")
    if remote and (kind or Path(output).suffix.casefold()).endswith("json"):
        raise SettingsError(
            "JSON holds the whole log, which a server keeps to itself: export a book, such as .epub or .md."
        )
    with reading(name, remote) as story:
        if output == "-":
            _to_standard_output(story, kind or "md", every)
            return
        path = _place(story, Path(output).expanduser(), kind)
        if path.exists() and not force:
            _may_replace(path)
            force = True
        note(f"Wrote {story.export(path, kind, force=force, every=every)}.")


def _place(story: Story, path: Path, kind: str | None) -> Path:
    """Return the file to write: in a folder, one that is named after the story."""
    from recurrentgpt.books.file_names import safe_name

    if path.is_dir():
        return path / f"{safe_name(story.title)}.{kind or 'md'}"
    if kind is None and path.suffix.casefold().lstrip(".") not in _formats():
        what = (
            f"{path.suffix!r} is no format that a story can be written in"
            if path.suffix
            else "The name has no extension"
        )
        raise SettingsError(f"{what}: end it with .{', .'.join(_formats())}, or name one with --format.")
    return path


def _formats() -> list[str]:
    from recurrentgpt.books.writers import export_formats

    return [*(extension.lstrip(".") for extension in export_formats()), "json"]


def _may_replace(path: Path) -> None:
    from recurrentgpt.cli import prompt

    if prompt.at_terminal() and confirmed(f"{path} exists. Replace it?", yes=False):
        return
    raise StorageError(f"{path} exists; choose another file, or replace it with --force.")


def _to_standard_output(story: Story, kind: str, every: int) -> None:
    if kind in ("epub", "docx") and sys.stdout.isatty():
        raise SettingsError(f"A terminal cannot show {kind.upper()}: give a file with -o, or send it into one with >.")
    with tempfile.TemporaryDirectory(prefix="recurrentgpt-") as folder:
        content = story.export(Path(folder) / f"story.{kind}", kind, every=every).read_bytes()
    binary = getattr(sys.stdout, "buffer", None)
    if kind not in ("epub", "docx") or binary is None:
        emit(content.decode("utf-8", "replace"))
        return
    try:
        binary.write(content)
        binary.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(error) from error


def export_prompts(folder: Path) -> None:
    """Copy every template into a folder."""
    from recurrentgpt.prompts.check import export

    files = export(folder.expanduser())
    note(f"Wrote {len(files)} templates to {folder}. Use them: recurrentgpt write --prompts {folder}")


def check_prompts(folder: Path) -> int:
    """Print what is wrong with the templates in a folder; return the exit code."""
    from recurrentgpt.prompts.check import problems

    found = list(problems(folder.expanduser()))
    for problem in found:
        print_text(problem)
    if not found:
        note(f"The templates in {folder} will do.")
    return int(bool(found))
