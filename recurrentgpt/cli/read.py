"""`stories`, `show`, `memory` and `export`: read what was written."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from recurrentgpt.cli.console import console, note, one_line, print_json, print_table, print_text
from recurrentgpt.errors import SettingsError, StorageError
from recurrentgpt.library import Library
from recurrentgpt.loop import call
from recurrentgpt.memory.chronicle import Commit
from recurrentgpt.story import Passage, Story


def list_stories(*, json: bool) -> None:
    """Print one line for each story."""
    with Library.open() as library:
        found = library.stories()
    if json:
        for summary in found:
            print_json(dict(vars(summary)))
        return
    if not found:
        note("There are no stories yet. Begin one: recurrentgpt write --genre mystery")
        return
    rows = [
        (summary.story, summary.title, summary.genre, str(summary.step), summary.updated[:16].replace("T", " "))
        for summary in found
    ]
    print_table(("Story", "Title", "Genre", "Passages", "Written (UTC)"), rows, whole=(0, 3, 4))


def show_story(name: str, *, json: bool) -> None:
    """Print a story along its newest branch."""
    with Library.open() as library:
        story = Story.open(name, library=library)
        title, head, passages = story.title, story.head, story.passages()
    if json:
        shown = [_fields(passage) for passage in passages]
        print_json({"story": story.id, "title": title, "head": head, "passages": shown})
        return
    screen = console(stderr=False)
    parts = [one_line(title)]
    for passage in passages:
        parts += [f"{passage.step}", passage.text]
    if not screen.is_terminal:
        print_text("\n\n".join(parts))
        return
    from rich.padding import Padding
    from rich.text import Text

    from recurrentgpt.cli.screen import WIDEST, wrap

    screen.print(Text(parts[0], style="bold"))
    for passage in passages:
        screen.print(Padding(Text(str(passage.step), style="dim"), (1, 0)))
        lines, last = wrap(passage.text, min(screen.width - 1, WIDEST))
        print_text("\n".join([*lines, last]))


def _fields(passage: Passage) -> dict[str, Any]:
    names = ("id", "parent", "step", "plan", "text", "summary", "short_term_memory")
    return {name: getattr(passage, name) for name in names}


def show_memory(name: str, *, json: bool) -> None:
    """Print the short-term memory after the newest passage, why it changed, and what was recalled for that passage."""
    with Library.open() as library:
        story = Story.open(name, library=library)
        chronicle = library.chronicle
        commit = call(lambda: chronicle.get(story.id, story_head)) if (story_head := story.head) else None
        recalled = commit["recalled"] if commit else []
        earlier = call(lambda: chronicle.get_many(story.id, [entry["id"] for entry in recalled]))
    assert commit is not None  # a story is found by its record, and that is written with its first commit
    if json:
        print_json(
            {
                "story": story.id,
                "step": commit["step"],
                "short_term_memory": commit["short_term_memory"],
                "dropped": commit["rationale"]["dropped"],
                "added": commit["rationale"]["added"],
                "recalled": recalled,
            }
        )
        return
    print_text("\n".join(_memory_lines(commit, earlier)))


def _memory_lines(commit: Commit, earlier: list[Commit]) -> list[str]:
    lines = [f"Short-term memory after passage {commit['step']}", ""]
    lines += [f"  {number:>2}  {line}" for number, line in enumerate(commit["short_term_memory"].splitlines(), 1)]
    for heading, sentences in (("Added", commit["rationale"]["added"]), ("Dropped", commit["rationale"]["dropped"])):
        if sentences:
            lines += ["", heading, ""]
            lines += [
                f"  - {entry['sentence']}" + (f" ({entry['why']})" if entry["why"] else "") for entry in sentences
            ]
    if earlier:
        lines += ["", "Recalled from the long-term memory", ""]
        for entry, passage in zip(commit["recalled"], earlier, strict=True):
            what = passage["summary"] or passage["passage"]
            lines.append(f"  - passage {entry['step']} ({entry['score']:.2f}): {one_line(what)}")
    return lines


def export_story(name: str, output: str, *, force: bool) -> None:
    """Write a story as Markdown."""
    if output != "-" and Path(output).expanduser().is_dir():
        raise SettingsError(f"{output} is a folder; name a file.")
    if output != "-" and Path(output).expanduser().exists() and not force:
        raise SettingsError(f"{output} exists; choose another file, or replace it with --force.")
    with Library.open() as library:
        story = Story.open(name, library=library)
        text = markdown(story.title, [passage.text for passage in story.passages()])
    if output == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    path = Path(output).expanduser()
    # Written beside it and moved: whoever has an older export keeps it until the new one is whole.
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True) if partial.parent.is_dir() else None
        raise StorageError(f"{output} cannot be written: {error.strerror or error}.") from error
    note(f"Wrote {output}.")


def markdown(title: str, passages: list[str]) -> str:
    """Return a story as Markdown in which every character of the text means itself."""
    return "\n\n".join(["# " + _escaped(one_line(title)), *(_escaped(text) for text in passages)]) + "\n"


_INLINE = re.compile(r"([\\`*_\[\]<])")
_BLOCK = re.compile(r"^(\s*)([#>+\-=~|]|\d+(?=[.)]))", re.MULTILINE)


def _escaped(text: str) -> str:
    text = _INLINE.sub(r"\\\1", text)
    return _BLOCK.sub(lambda found: found[1] + (f"{found[2]}\\" if found[2].isdigit() else f"\\{found[2]}"), text)
