"""`stories`, `show`, `memory` and `recall`: read what was written."""

from __future__ import annotations

from typing import Any

from recurrentgpt.cli.console import console, counted, note, one_line, print_json, print_table, print_text
from recurrentgpt.cli.work import reading
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.library import Library
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.state import Usage
from recurrentgpt.story import Passage, Story


def list_stories(*, everything: bool, json: bool) -> None:
    """Print one line for each story."""
    with Library.open() as library:
        found = library.stories(archived=everything)
        hidden = 0 if everything or found else len(library.stories(archived=True))
    if json:
        for summary in found:
            print_json(dict(vars(summary)))
        return
    if not found:
        note(
            f"No story is listed, and {hidden:,} archived: `recurrentgpt stories --all` lists them."
            if hidden
            else "There are no stories yet. Begin one: recurrentgpt write --genre mystery"
        )
        return
    rows = [
        (
            summary.story,
            summary.title + (" (archived)" if summary.archived else ""),
            summary.genre,
            str(summary.step),
            summary.updated[:16].replace("T", " "),
        )
        for summary in found
    ]
    print_table(("Story", "Title", "Genre", "Passages", "Written (UTC)"), rows, whole=(0, 3, 4))


def show_story(name: str, at: str | None, *, remote: str | None, json: bool) -> None:
    """Print a story along the head's branch, or up to any other passage."""
    with reading(name, remote) as story:
        if remote and at is not None:
            from recurrentgpt.cli.on_server import named

            at = named(story, at)
        title, passages = story.title, story.passages(at)
        head, usage = (story.head, story.usage) if at is None else (story.resolve(at), story.usage_at(at))
        whole = story.whole_usage
        names: dict[str, list[str]] = {}
        for branch, place in story.names().items():
            names.setdefault(place, []).append(branch)
    if json:
        shown = [{**_fields(passage), "names": names.get(passage.id, [])} for passage in passages]
        print_json({"story": story.id, "title": title, "head": head, "passages": shown, "usage": usage, "whole": whole})
        return
    screen = console(stderr=False)
    headings = [
        " · ".join([str(passage.step), *map(one_line, names.get(passage.id, [])), _cost(passage.usage)])
        for passage in passages
    ]
    total = f"{counted(len(passages), 'passage')} · {_cost(usage)}"
    if whole != usage:
        total += f"\nWith its other branches: {_cost(whole)}"
    if not screen.is_terminal:
        parts = [one_line(title)]
        for heading, passage in zip(headings, passages, strict=True):
            parts += [heading, passage.text]
        print_text("\n\n".join([*parts, total]))
        return
    from rich.padding import Padding
    from rich.text import Text

    from recurrentgpt.cli.screen import WIDEST, wrap

    screen.print(Text(one_line(title), style="bold"))
    for heading, passage in zip(headings, passages, strict=True):
        screen.print(Padding(Text(heading, style="dim"), (1, 0)))
        lines, last = wrap(passage.text, min(screen.width - 1, WIDEST))
        print_text("\n".join([*lines, last]))
    screen.print(Padding(Text(total, style="dim"), (1, 0, 0, 0)))


def _cost(usage: Usage) -> str:
    """Return what something cost: calls, tokens, and money where the person keeps prices."""
    from recurrentgpt.models.prices import price

    calls, tokens = usage["calls"], usage["input_tokens"] + usage["output_tokens"]
    parts = [counted(calls, "call"), f"{tokens:,} tokens"]
    return " · ".join([*parts, *([paid] if (paid := price(usage)) else [])])


def _fields(passage: Passage) -> dict[str, Any]:
    names = ("id", "parent", "step", "plan", "text", "summary", "short_term_memory", "author", "usage")
    return {name: getattr(passage, name) for name in names}


def show_memory(name: str, *, remote: str | None, json: bool) -> None:
    """Print the short-term memory after the newest passage, why it changed, and what was recalled for that passage."""
    with reading(name, remote) as story:
        chronicle = story.engine.log
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


def recall(name: str, query: str, k: int, *, json: bool) -> None:
    """Print the passages that are nearest in meaning to a query."""
    from recurrentgpt.cli.screen import Screen

    with Screen() as screen, Library.open() as library:
        story = Story.open(name, library=library)
        screen.doing("searching")
        found = story.search(query, k)
        screen.rest()
    for hit in found:
        if json:
            print_json(dict(vars(hit)))
            continue
        said = one_line(hit.piece)
        summary = "" if one_line(hit.summary) in said else f"\n   {one_line(hit.summary)}"
        print_text(
            f"{hit.step:>2}  {hit.score:.2f}  {hit.id}{summary}\n   {said[:300]}{'...' if len(said) > 300 else ''}"
        )
    if not found and not json:
        note("Nothing is written yet to search in.")
