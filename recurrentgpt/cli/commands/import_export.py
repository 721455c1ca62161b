"""`import`, `export` and `prompts`: what comes in from files and goes out to them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recurrentgpt.cli.commands.options import (
    GROUP,
    RUN_OPTIONS,
    STORY_OPTIONS,
    BookGenre,
    Json,
    Remote,
    StoryName,
    Title,
    Yes,
    complete_formats,
    stored_settings,
    with_settings,
)
from recurrentgpt.cli.commands.story_context import as_options, command_for, confirmed, in_library, reading, rendering
from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import counted, emit, note, one_line, print_json, print_text, unwritable
from recurrentgpt.cli.terminal.settings_input import Settings
from recurrentgpt.schema.errors import SettingsError, StorageError

if TYPE_CHECKING:
    from recurrentgpt.library import Library
    from recurrentgpt.schema.events import Event
    from recurrentgpt.story import Story
    from recurrentgpt.story_reader import ReadOnlyStory

prompts = typer.Typer(**GROUP)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of templates.")]


_BOOK_OPTIONS = STORY_OPTIONS | {
    "language": Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Language of the book; where none is given, the one that its file names or its words tell. One that is stored "
            "is for stories that begin, not for books.",
        ),
    ]
}


@with_settings(_BOOK_OPTIONS | RUN_OPTIONS)
def import_file(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A book (.txt .md .docx .epub), or a story exported as .json.")
    ],
    fast: Annotated[
        bool,
        typer.Option(
            "--fast", help="Ask no model: summaries are sentences of the book, the codex what rules read of it."
        ),
    ] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Say what would be imported, and leave.")] = False,
    copy: Annotated[
        str, typer.Option("--copy", metavar="NAME", help="Another story of a book or an export that is here already.")
    ] = "",
    genre: BookGenre = None,
    title: Title = None,
    yes: Yes = False,
    json: Json = False,
    *,
    settings: Settings,
) -> None:
    """Make a story of a book, or restore an export.

    \b
    Examples:
      recurrentgpt import dracula.epub                 shows what there is and what it costs, then asks
      recurrentgpt import dracula.epub --fast          minutes instead of hours; no model is asked
      recurrentgpt import notes.docx --genre fantasy --title "The Long Way" --yes
      recurrentgpt import novel.json                   every passage of every branch, as it was
      recurrentgpt import novel.json --copy old        beside the story, which went on since

    The book is split into passages, and a summary and the memory are made for each; then the story goes on like any other.
    Interrupted, the same command goes on where it stopped; a book that is here already is not read again.

    With --fast the codex has the people and places that an English book names, and what its text says outright: who is dead,
    away or back, who has a thing, another name. It leaves out what only a model reads: who somebody is, how they look, what they
    do not know, open questions, and all that is told between the lines; of books in other languages it has the names alone. Set
    what matters with `recurrentgpt codex STORY NAME --set`.
    """
    path = file.expanduser()
    wishes = {"genre": genre or "", "title": title or "", "copy": copy}
    if path.suffix.casefold() == ".json":
        if fast or preview or genre or title or settings:
            raise SettingsError("A story comes back from JSON as it was: leave the options other than --copy out.")
        _restore(path, copy=copy, json=json)
        return
    of_the_book = ("language", "author")
    stored = {name: value for name, value in stored_settings(new=True).items() if name not in of_the_book}
    settings = {**stored, **settings}
    _tell_preview(path, settings, copy=copy, fast=fast, only=preview, json=json)
    if preview or not (fast or confirmed("Import it?", yes=yes)):
        return
    events: Iterator[Event] = iter(())

    def begin(library: Library) -> Story:
        nonlocal events
        from recurrentgpt.story import Story

        found = library.import_book(path, fast=fast, **wishes, **settings)
        # The story has its id from the book, and says it first.
        first = next(found)
        assert first["event"] == "story"
        events = _with_first(first, found)
        return Story.open(first["story"], library=library)

    with rendering(in_library(begin), json=json, command="write") as renderer:
        given = {name: value for name, value in wishes.items() if value}
        options = [*(["--fast"] if fast else []), "--yes", *as_options(given | settings)]
        renderer.again = ["import", str(file), *options]
        renderer.work(events)


def export(
    story: StoryName,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write, or a folder; - is standard output.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="md, txt, epub, docx, html, play-html or json. [default: by the file's name]",
            autocompletion=complete_formats,
        ),
    ] = None,
    every: Annotated[
        int, typer.Option("--every", min=1, metavar="N", help="Passages of a chapter, where no plan begins one.")
    ] = 8,
    author: Annotated[
        str | None,
        typer.Option("--author", metavar="NAME", help="Another author than the story's own.", show_default=False),
    ] = None,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Typographic quotation marks, as the language prints them.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    remote: Remote = None,
) -> None:
    """Write a story to a file: a book, or JSON with all of it.

    \b
    Examples:
      recurrentgpt export 3f2a -o novel.epub
      recurrentgpt export 3f2a -o novel.docx --every 5
      recurrentgpt export 3f2a -o ~/books --format html     named after its title
      recurrentgpt export 3f2a -o game.html --format play-html
      recurrentgpt export 3f2a -o backup.json               `recurrentgpt import` restores it
      recurrentgpt export 3f2a -o - | less

    A chapter begins where a plan says "Chapter: ..." and gives its title, else after every N passages. The author is the
    story's: `recurrentgpt set 3f2a author="Ada King"`. Where a story was played, who the player is stands before the first
    passage, and before each later one what they did.

    `play-html` is one page to play offline: at each place its reader chooses among the plans that were written, on all branches.
    """
    kind = (format or "").casefold().lstrip(".") or None
    if kind is not None and kind not in _formats():
        raise SettingsError(f"There is no format {format!r}; the formats are {', '.join(_formats())}.")
    if remote and (kind or Path(output).suffix.casefold()).endswith("json"):
        raise SettingsError(
            "JSON holds the whole log, which a server keeps to itself: export a book, such as .epub or .md."
        )
    with reading(story, remote) as opened:
        if output == "-":
            _to_standard_output(opened, kind or "md", every, author, quotes)
            return
        path = _file_to_write(opened, Path(output).expanduser(), kind)
        if path.exists() and not force:
            _may_replace(path)
            force = True
        note(f"Wrote {opened.export(path, kind, force=force, every=every, author=author, quotes=quotes)}.")


@prompts.callback()
def _prompts() -> None:
    """Copy and check the templates of all prompts.

    \b
    Examples:
      recurrentgpt prompts export my-prompts
      recurrentgpt prompts check my-prompts
      recurrentgpt write --prompts my-prompts
    """


@prompts.command("export")
def prompts_export(folder: Folder) -> None:
    """Copy every template into a folder, to change there; files are never overwritten.

    \b
    Example:
      recurrentgpt prompts export my-prompts
    """
    from recurrentgpt.prompts.check import export as export_templates

    files = export_templates(folder.expanduser())
    note(f"Wrote {len(files)} templates to {folder}. Use them: recurrentgpt write --prompts {folder}")


@prompts.command("check")
def prompts_check(folder: Folder) -> None:
    """Say what is wrong with the templates in a folder; exits with 1 where something is.

    \b
    Example:
      recurrentgpt prompts check my-prompts
    """
    from recurrentgpt.prompts.check import problems

    found = list(problems(folder.expanduser()))
    for problem in found:
        print_text(problem)
    if not found:
        note(f"The templates in {folder} will do.")
    raise typer.Exit(int(bool(found)))


def _with_first(first: Event, rest: Iterator[Event]) -> Iterator[Event]:
    yield first
    yield from rest


def _tell_preview(path: Path, settings: Settings, *, copy: str, fast: bool, only: bool, json: bool) -> None:
    """Say what an import would make and cost; that is what was asked for, where it is the `only` thing."""
    from recurrentgpt.cli.terminal.screen import Screen
    from recurrentgpt.library import Library

    given = {name: settings[name] for name in ("min_words", "max_words", "language", "author") if name in settings}
    with Screen() as screen, Library.open() as library:
        screen.doing(f"reading {one_line(path.name)}")
        found = library.import_preview(path, copy=copy, **given)
        known = next((story for story in library.stories(archived=True) if story.story == found.story), None)
        screen.rest()
    if json:
        print_json({"event": "preview", **found.as_json()})
        return
    author = f" by {one_line(found.author)}" if found.author else ""
    tell = print_text if only else note
    language = {
        "settings": found.language,
        "file": f"{found.language}; --language says another",
        "words": f"{found.language}, by its words; --language says another",
        "nowhere": f"{found.language}, for its words do not tell the language; --language does",
    }
    tell(f"{one_line(found.title)}{author} ({language[found.language_from]})")
    tell(", ".join(counted(getattr(found, f"{what}s"), what) for what in ("chapter", "passage", "word")))
    tell(f"It begins: {one_line(found.first)}")
    if found.encoding:
        tell(f"It seems to be written in {found.encoding}. Where that reads wrongly, save the file as UTF-8.")
    if known:
        tell(
            f"It is here already, as {one_line(known.title)} ({known.story}); what is missing of it is imported. "
            "--copy NAME makes another story of it."
        )
    elif fast:
        tell("No model is asked: the codex will hold names, deaths and what else rules read, and leave out the rest.")
    else:
        tokens = found.input_tokens + found.output_tokens
        tell(f"About {found.calls:,} calls and {tokens:,} tokens; --fast asks no model.")


def _restore(path: Path, *, copy: str, json: bool) -> None:
    from recurrentgpt.engine.story_export import tell_left_out
    from recurrentgpt.library import Library

    with Library.open() as library:
        left_out: dict[str, int] = {}
        story = library.restore(path, copy=copy, on_left_out=left_out.update)
        tree = story.tree()
        count = sum(1 for node in tree.nodes.values() if node.step)
        if json:
            print_json({"event": "story", "story": story.id, "title": story.title})
            print_json(
                {
                    "event": "restored",
                    "story": story.id,
                    "passages": count,
                    "branches": len(tree.branches),
                    "left_out": left_out,
                }
            )
            return
        print_text(story.id)
        where = f"{one_line(story.title)} is here: {counted(count, 'passage')}, on all branches."
        note(f"{where} Go on: recurrentgpt {command_for(story)} {story.id}")
        if told := tell_left_out(left_out):
            note(told)


def _file_to_write(story: ReadOnlyStory, path: Path, kind: str | None) -> Path:
    """Return the file to write: in a folder, one that is named after the story."""
    from recurrentgpt.books.file_names import safe_name
    from recurrentgpt.books.writers import file_suffix

    if path.is_dir():
        kind = kind or "md"
        return path / f"{safe_name(story.title)}{'.json' if kind == 'json' else file_suffix(kind)}"
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
    if prompt.at_terminal() and confirmed(f"{path} exists. Replace it?", yes=False):
        return
    raise StorageError(f"{path} exists; choose another file, or replace it with --force.")


def _to_standard_output(story: ReadOnlyStory, kind: str, every: int, author: str | None, quotes: bool) -> None:
    if kind in ("epub", "docx") and sys.stdout.isatty():
        raise SettingsError(f"A terminal cannot show {kind.upper()}: give a file with -o, or send it into one with >.")
    with tempfile.TemporaryDirectory(prefix="recurrentgpt-") as folder:
        path = Path(folder) / f"story.{kind}"
        content = story.export(path, kind, every=every, author=author, quotes=quotes).read_bytes()
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
