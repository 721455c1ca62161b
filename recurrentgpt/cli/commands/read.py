"""`stories`, `show`, `memory` and `recall`: read what was written."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recurrentgpt.cli.commands.options import JsonLines, JsonObject, Remote, StoryName, Truth, at_option
from recurrentgpt.cli.commands.story_context import reading, tell_of_the_last
from recurrentgpt.cli.terminal.console import (
    complain,
    console,
    counted,
    note,
    one_line,
    print_json,
    print_lines,
    print_table,
    print_text,
)
from recurrentgpt.cli.terminal.prose import print_passage
from recurrentgpt.prose.shared_runs import place_of
from recurrentgpt.schema.errors import StorageError

if TYPE_CHECKING:
    from recurrentgpt.engine.passage import Passage
    from recurrentgpt.schema.parts import Usage
    from recurrentgpt.story_list import StorySummary
    from recurrentgpt.story_reader import ReadOnlyStory


def stories(
    everything: Annotated[bool, typer.Option("--all", help="List the archived too.")] = False,
    remote: Remote = None,
    json: JsonLines = False,
) -> None:
    """List the stories, the one written last at the end.

    \b
    Examples:
      recurrentgpt stories
      recurrentgpt stories --all
      recurrentgpt stories --json | jq -r .title
    """
    if remote is not None:
        from recurrentgpt.cli.commands.remote import list_stories

        list_stories(remote, json=json)
        return
    from recurrentgpt.story_list import DAMAGED

    known = _summaries()
    found = [summary for summary in known if everything or not summary.archived]
    hidden = 0 if found else len(known)
    if json:
        for summary in found:
            print_json(dict(vars(summary)))
    elif not found:
        note(
            f"No story is listed, and {hidden:,} archived: `recurrentgpt stories --all` lists them."
            if hidden
            else "There are no stories yet. Begin one: recurrentgpt write --genre mystery"
        )
    else:
        rows = [
            (
                summary.story,
                summary.title + " (archived)" * summary.archived + " (damaged)" * (summary.status == DAMAGED),
                summary.genre,
                str(summary.step),
                summary.updated[:16].replace("T", " "),
            )
            for summary in found
        ]
        print_table(("Story", "Title", "Genre", "Passages", "Written (UTC)"), rows, uncut=(0, 3, 4), spare=(2, 4, 3))
    if lost := [summary.story for summary in found if summary.status == DAMAGED]:
        which = f"Story {lost[0]} is" if len(lost) == 1 else f"Stories {', '.join(lost)} are"
        raise StorageError(
            f"{which} damaged on the disk: `recurrentgpt check` says what is whole, and with --repair saves it."
        )


def _summaries() -> list[StorySummary]:
    from recurrentgpt.infrastructure import settings

    if not settings.resolve("database_url").value:
        from recurrentgpt.checkpoints.sqlite_faults import STORIES
        from recurrentgpt.story_list import read_summaries

        return read_summaries(settings.home() / STORIES, archived=True)
    from recurrentgpt.library import Library

    with Library.open() as library:
        return library.stories(archived=True)


def show(
    story: StoryName,
    at: Annotated[str | None, at_option("Read the branch up to here.")] = None,
    settings: Annotated[bool, typer.Option("--settings", help="Print how the story is told instead.")] = False,
    remote: Remote = None,
    json: JsonObject = False,
) -> None:
    """Print a story, and what each passage cost.

    \b
    Examples:
      recurrentgpt show "The Lantern Keeper" | less
      recurrentgpt show 3f2a --at "the dark ending"
      recurrentgpt show 3f2a --settings
      recurrentgpt show 3f2a --json | jq -r '.passages[-1].text'
      recurrentgpt show 3f2a --json | jq -r '.plans[], .codex[].name'

    Prices are told where the file prices.toml in your data folder (`recurrentgpt config path`) says what a million tokens
    cost: currency, input, cached_input and output.
    """
    if settings:
        from recurrentgpt.cli.commands.manage import print_settings

        if at is not None:
            raise typer.BadParameter("The settings are those of the whole story: leave --at out.", param_hint="--at")
        with reading(story, remote) as opened:
            print_settings(opened.id, opened.settings, json=json)
        return
    with reading(story, remote) as opened:
        if remote and at is not None:
            from recurrentgpt.cli.commands.remote import id_in_copy

            at = id_in_copy(opened.tree(), at)
        id, title, lost = opened.id, opened.title, opened.record.get("lost", [])
        try:
            passages = opened.passages(at)
        except StorageError as error:
            _print_whole(opened, at, str(error), json=json)
            if json:
                complain(str(error))
                raise typer.Exit(1) from error  # the one object says it already
            raise
        newest = opened.passage(at)
        entries: list[dict[str, Any]] = []
        if json:
            from recurrentgpt.engine.hidden_entries import Readers, of_entries

            readers = Readers(of_entries(opened.codex(None, at)), plays=opened.settings["mode"] == "fiction")
            entries = [dataclasses.asdict(entry) for entry in readers.entries()]
        head, usage = (opened.head, opened.usage) if at is None else (opened.resolve(at), opened.usage_at(at))
        whole = opened.whole_usage
        names: dict[str, list[str]] = {}
        for branch, place in opened.names().items():
            names.setdefault(place, []).append(branch)
    if json:
        shown = [{**_fields(passage), "names": names.get(passage.id, [])} for passage in passages]
        told = {"story": id, "title": title, "head": head, "passages": shown, "plans": newest.plans, "codex": entries}
        print_json({**told, "usage": usage, "whole": whole})
        return
    total = f"{counted(len(passages), 'passage')} · {_cost(usage)}"
    if lost:
        which = f"Passage {lost[0]} was" if len(lost) == 1 else f"Passages {', '.join(map(str, lost))} were"
        total += f"\n{which} lost to damage; what follows is numbered anew."
    if whole["calls"] != usage["calls"]:
        total += f"\nWith its other branches: {_cost(whole)}"
    _print_story(title, [(_heading(passage, names), *_marked(passage)) for passage in passages], total)


def memory(
    story: StoryName,
    at: Annotated[str | None, at_option("After this passage.")] = None,
    remote: Remote = None,
    json: JsonObject = False,
) -> None:
    """Print what a story remembers, and why.

    That is its short-term memory, what a passage (the newest) added and dropped, and which passages were recalled for it.

    \b
    Examples:
      recurrentgpt memory 3f2a
      recurrentgpt memory 3f2a --at 4
      recurrentgpt memory 3f2a --json | jq -r .short_term_memory
    """
    with reading(story, remote) as opened:
        if remote and at is not None:
            from recurrentgpt.cli.commands.remote import id_in_copy

            at = id_in_copy(opened.tree(), at)
        passage = opened.passage(at)
        earlier = opened.passages_of([entry["id"] for entry in passage.recalled])
        tell_of_the_last(opened, at)
    if json:
        print_json(
            {
                "story": opened.id,
                "step": passage.step,
                "short_term_memory": passage.short_term_memory,
                "dropped": passage.rationale["dropped"],
                "added": passage.rationale["added"],
                "recalled": passage.recalled,
            }
        )
        return
    print_lines("\n".join(_memory_lines(passage, earlier)))


def brief(story: StoryName, truth: Truth = False, json: JsonObject = False) -> None:
    """Print what every prompt of a story holds: its premise, characters and outline.

    \b
    Examples:
      recurrentgpt brief 3f2a
      recurrentgpt brief 3f2a > brief.md; recurrentgpt edit brief 3f2a --file brief.md
    """
    from recurrentgpt.cli.commands.edit import brief_as_text, shown_parts

    with reading(story) as opened:
        kept = opened.brief
    if json:
        print_json({"story": opened.id, "brief": shown_parts(kept, truth=truth)})
    else:
        print_text(brief_as_text(kept, truth=truth))


def recall(
    story: StoryName,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in words of its meaning.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, metavar="N", help="Most passages to find.")] = 5,
    truth: Annotated[bool, typer.Option("--truth", help="Tell what was noted of hidden entries, too.")] = False,
    json: JsonLines = False,
) -> None:
    """Search a story by meaning, best first.

    \b
    Examples:
      recurrentgpt recall 3f2a "who has the key?"
      recurrentgpt recall 3f2a "a storm at sea" -k 3 --json | jq -r .summary

    What a later passage has changed is left out: `codex STORY NAME` has the history of an entry. So is what was noted of entries
    that are hidden from readers, or names them, and in a story to play what somebody does not know.
    """
    from recurrentgpt.cli.terminal.screen import Screen

    with Screen() as screen, reading(story) as opened:
        screen.doing("searching")
        found = opened.search(query, k, truth=truth)
        screen.rest()
    for hit in found:
        if json:
            print_json(dict(vars(hit)))
            continue
        piece = one_line(hit.piece)
        summary = "" if one_line(hit.summary) in piece else f"\n   {one_line(hit.summary)}"
        print_lines(
            f"{hit.step:>2}  {hit.score:.2f}  {hit.id}{summary}\n   {piece[:300]}{'...' if len(piece) > 300 else ''}"
        )
    if not found and not json:
        note("Nothing is written yet to search in.")


def _print_whole(story: ReadOnlyStory, at: str | None, fault: str, *, json: bool) -> None:
    """Print every passage that is whole, and in the place of another that it is damaged."""
    found = story.whole_passages(at)
    if json:
        told = [_fields(one) if one else {"id": key, "step": step, "damaged": True} for step, key, one in found]
        print_json({"event": "error", "message": fault, "story": story.id, "title": story.title, "passages": told})
        return
    lost = "Passage {} is damaged: `recurrentgpt check --repair` saves what is whole."
    shown = [
        (_heading(one, {}), *_marked(one)) if one else (str(step), lost.format(step), "") for step, _, one in found
    ]
    _print_story(story.title, shown, f"{counted(sum(one is not None for *_, one in found), 'passage')} whole")


def _print_story(title: str, passages: list[tuple[str, str, str]], total: str) -> None:
    """Print passages, each with its heading, and below it what is noted of it."""
    screen = console(stderr=False)
    if not screen.is_terminal:
        parts = [part for passage in passages for part in passage if part]
        print_text("\n\n".join([one_line(title), *parts, total]))
        return
    from rich.padding import Padding
    from rich.text import Text

    screen.print(Text(one_line(title), style="bold"))
    for heading, text, noted in passages:
        screen.print(Padding(Text(heading, style="dim"), (1, 0)))
        print_passage(text)
        if noted:
            print_lines(f"\n{noted}")
    screen.print(Padding(Text(total, style="dim"), (1, 0, 0, 0)))


def _heading(passage: Passage, names: dict[str, list[str]]) -> str:
    return " · ".join([str(passage.step), *map(one_line, names.get(passage.id, [])), _cost(passage.usage)])


def _marked(passage: Passage) -> tuple[str, str]:
    """Return a passage with a number behind each sentence that contradicts the codex, and by that number what it contradicts."""
    text, noted, places = passage.text, list[str](), list[tuple[int, int]]()
    for number, one in enumerate(passage.contradictions, 1):
        earlier = one["rests_on"] if one["rests_on"] != one["holds"] else ""
        where = f"passage {one['step']}" if one["step"] else "the author, or the brief"
        noted += [
            f"[{number}] It says: {one_line(one['said'])}",
            f"    But: {one_line(one['holds'])}",
            f"    From {where}{': ' * bool(earlier)}{one_line(earlier)}",
        ]
        if place := place_of(one["said"], text):
            places.append((place[1], number))
    for end, number in sorted(places, reverse=True):
        text = f"{text[:end]} [{number}]{text[end:]}"
    return text, "\n".join(noted)


def _cost(usage: Usage) -> str:
    """Return what something cost: calls, tokens, and money where the person keeps prices."""
    from recurrentgpt.models.prices import price

    calls, tokens = usage["calls"], usage["input_tokens"] + usage["output_tokens"]
    parts = [counted(calls, "call"), f"{tokens:,} tokens"]
    return " · ".join([*parts, *([paid] if (paid := price(usage)) else [])])


def _fields(passage: Passage) -> dict[str, Any]:
    names = (
        "id",
        "parent",
        "step",
        "plan",
        "plans",
        "text",
        "summary",
        "short_term_memory",
        "author",
        "usage",
        "unreached",
        "contradictions",
    )
    return {name: getattr(passage, name) for name in names}


def _memory_lines(passage: Passage, earlier: list[Passage]) -> list[str]:
    lines = [f"Short-term memory after passage {passage.step}", ""]
    lines += [f"  {number:>2}  {line}" for number, line in enumerate(passage.short_term_memory.splitlines(), 1)]
    for heading, sentences in (("Added", passage.rationale["added"]), ("Dropped", passage.rationale["dropped"])):
        if sentences:
            lines += ["", heading, ""]
            lines += [
                f"  - {entry['sentence']}" + (f" ({entry['why']})" if entry["why"] else "") for entry in sentences
            ]
    if passage.unreached:
        lines += ["", "Of its plan not reached", "", f"  - {passage.unreached}"]
    if earlier:
        lines += ["", "Recalled from the long-term memory", ""]
        for entry, told in zip(passage.recalled, earlier, strict=True):
            what = told.summary or told.text
            lines.append(f"  - passage {entry['step']} ({entry['score']:.2f}): {one_line(what)}")
    return lines
