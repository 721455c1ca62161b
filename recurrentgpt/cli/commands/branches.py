"""`tree`, `goto`, `undo`, `redo`, `name` and `diff`: look at the branches of a story, and move between them."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from recurrentgpt.cli.commands.options import (
    JsonObject,
    MaybePassageRef,
    PassageRef,
    Remote,
    StoryName,
    complete_branches,
)
from recurrentgpt.cli.commands.story_context import command_for, opening, reading
from recurrentgpt.cli.terminal.console import (
    console,
    counted,
    emit,
    note,
    one_line,
    print_json,
    print_lines,
    print_text,
    visible,
)
from recurrentgpt.schema.errors import SettingsError, StorageError, StoryNotFound

if TYPE_CHECKING:
    from rich.text import Text

    from recurrentgpt.engine.diff import Diff
    from recurrentgpt.engine.passage import Passage
    from recurrentgpt.story_protocol import StoryProtocol
    from recurrentgpt.story_reader import ReadOnlyStory

Count = Annotated[int, typer.Argument(metavar="N", min=1, help="How many steps.")]


def tree(
    story: StoryName,
    everything: Annotated[bool, typer.Option("--all", help="Draw every branch, however many there are.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid flow chart.")] = False,
    remote: Remote = None,
    json: JsonObject = False,
) -> None:
    """Draw all branches of a story.

    Each line is a branch: where it left another, its steps, its words, its newest passage, its names, and what it tells.

    \b
    Examples:
      recurrentgpt tree 3f2a
      recurrentgpt tree 3f2a --mermaid > tree.mmd
      recurrentgpt tree 3f2a --json | jq -r '.branches[] | select(.is_head) | .tip'
    """
    if mermaid and json:
        raise SettingsError("A tree is printed as --json or as --mermaid, not as both.")
    from recurrentgpt.cli.terminal.tree_drawing import draw_tree
    from recurrentgpt.story_reader import ReadOnlyStory

    with _open_to_read(story, remote) as opened:
        tree, pending = opened.tree(), opened.pending_replay
        if json:
            print_json(tree.as_json())
            return
        if mermaid:
            emit(tree.mermaid())
            return
        lines = draw_tree(tree, everything=everything)
        contents = {}
        if isinstance(opened, ReadOnlyStory) and not everything:
            contents = _contents(opened, (line.passage for line in lines))
        screen = console(stderr=False)
        if not screen.is_terminal:
            drawn = [f"{line.stem}{line.text}{contents.get(line.passage, '')}" for line in lines]
            print_text("\n".join([one_line(tree.title), *drawn]))
        else:
            from rich.text import Text

            screen.print(Text(one_line(tree.title), style="bold"))
            for line in lines:
                rows = line.rows(screen.width)
                for number, (stem, shown) in enumerate(rows, 1):
                    told = contents.get(line.passage, "") if number == len(rows) else ""
                    text = Text.assemble((stem, "dim"), (shown, "bold" if line.head else ""), (told, "dim"))
                    # Said to `print`, which joins texts and forgets what one of them says of its own wrapping.
                    screen.print(text, no_wrap=True, overflow="ellipsis")
        if left_out := 0 if everything else sum(branch.superseded for branch in tree.branches):
            note(f"Without {counted(left_out, 'older version')}: --all draws all.")
        if pending:
            note(
                f"An edit of passage {pending.step} is unfinished ({pending.done} of {pending.total} passages). Go on: "
                f"recurrentgpt edit {opened.id} --resume; or give it up: recurrentgpt edit {opened.id} --drop"
            )


def goto(story: StoryName, passage: PassageRef, remote: Remote = None, json: JsonObject = False) -> None:
    """Go to another passage or branch, to write on from there.

    \b
    Examples:
      recurrentgpt goto 3f2a 3                 the third passage of this branch
      recurrentgpt goto 3f2a 9c81              the passage whose id begins with 9c81
      recurrentgpt goto 3f2a "the dark ending" the branch of that name

    Nothing is deleted: `recurrentgpt tree` shows the way back. At an older passage of this branch, what was corrected for the
    whole branch (brief, codex, earlier summaries, chapters) still holds; another branch has its own.
    """
    _move(story, lambda opened: opened.goto(passage), remote=remote, json=json)


def undo(story: StoryName, steps: Count = 1, json: JsonObject = False) -> None:
    """Take back the newest passage, or the newest edit.

    \b
    Examples:
      recurrentgpt undo 3f2a
      recurrentgpt undo 3f2a 2

    What was corrected for the whole branch (brief, codex, earlier summaries, chapters) holds until that edit itself is taken
    back.
    """

    def back(opened: StoryProtocol) -> Passage:
        before = None
        # Undo leads away from a passage that is lost or damaged, too.
        with contextlib.suppress(StorageError):
            before = opened.passage()
        now = opened.undo(steps)
        if before is not None and not json:
            taken = _taken_back(before, now, _first_changed(opened, before, now))
            note(f"Taken back: {taken}. `recurrentgpt redo {opened.id}` does it again.")
        return now

    _move(story, back, json=json)


def redo(story: StoryName, steps: Count = 1, json: JsonObject = False) -> None:
    """Do again what was undone last.

    \b
    Example:
      recurrentgpt redo 3f2a
    """
    _move(story, lambda opened: opened.redo(steps), json=json)


def name(
    story: StoryName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name.", autocompletion=complete_branches)],
    passage: MaybePassageRef = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the name away; the passages stay.")] = False,
) -> None:
    """Name a branch, to find it again.

    \b
    Examples:
      recurrentgpt name 3f2a "the dark ending"
      recurrentgpt name 3f2a before-the-storm 4
      recurrentgpt name 3f2a before-the-storm --remove

    `goto` takes a name, and the name goes along as the branch grows.
    """
    if remove and passage is not None:
        raise SettingsError("A name is taken away wherever it is: leave the passage out.")
    with opening(story) as opened:
        if remove:
            opened.remove_name(name)
            note(f"No branch is called {one_line(name)!r} any more.")
            return
        was = {known.casefold(): at for known, at in opened.names().items()}.get(name.strip().casefold())
        given = opened.name_branch(name, passage)
        now = opened.passage(given)
        print_lines(f"{given}: {_where(now)}")
        if was and was != now.id:
            old = opened.passage(was)
            note(f"It was the name of passage {old.step} ({was}), which has it no more.")


def diff(
    story: StoryName,
    a: Annotated[str, typer.Argument(metavar="A", help="A passage, as for `goto`.", autocompletion=complete_branches)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", autocompletion=complete_branches)],
    json: JsonObject = False,
) -> None:
    """Show what differs between two passages, word by word.

    \b
    Examples:
      recurrentgpt diff 3f2a 9c81 77ab
      recurrentgpt diff 3f2a "the dark ending" 4

    [-What A has alone-] and {+what B has alone+}; then what the memories after them do not share.
    """
    with reading(story) as opened:
        found = opened.diff(a, b)
    if json:
        print_json(found.as_json())
        return
    text = _marked_up(found)
    if sys.stdout.isatty():
        console(stderr=False).print(text, end="", soft_wrap=False)
    else:
        emit(text.plain)


def _open_to_read(name: str, remote: str | None) -> AbstractContextManager[ReadOnlyStory | StoryProtocol]:
    """Open a story to be looked at, here or on a server."""
    return reading(name) if remote is None else _remote(name, remote)


def _remote(name: str, remote: str) -> AbstractContextManager[StoryProtocol]:
    from recurrentgpt.cli.commands.remote import opened

    return opened(remote, name, {}, {})


def _contents(story: ReadOnlyStory, passages: Iterable[str]) -> dict[str, str]:
    """Return what a branch's first passage tells: its plan, or its own words where the plan does not tell it apart."""
    found = story.passages_of([passage for passage in passages if passage])
    plans = Counter(passage.plan for passage in found)
    texts = {
        passage.id: passage.text if passage.author == "edited" or plans[passage.plan] > 1 else passage.plan
        for passage in found
    }
    return {id: f" · {textwrap.shorten(one_line(text), 80, placeholder=' ...')}" for id, text in texts.items() if text}


def _move(name: str, step: Callable[[StoryProtocol], Passage], *, json: bool, remote: str | None = None) -> None:
    """Move where the story stands, and tell where that is now."""
    with opening(name) if remote is None else _remote(name, remote) as story:
        passage = step(story)
        if json:
            print_json({"story": story.id, "head": passage.id, "step": passage.step, "text": passage.text})
            return
        print_lines(_where(passage))
        on = f"{story.id} --remote {remote}" if remote else f"{story.id}; the plans: recurrentgpt choose {story.id}"
        note(f"Go on from here: recurrentgpt {command_for(story)} {on}")


def _first_changed(story: StoryProtocol, before: Passage, now: Passage) -> int:
    """Return the number of the first passage that is another one where the story stands now; its own where none is."""
    # Undo leads away from a link that is lost, too.
    with contextlib.suppress(StorageError, StoryNotFound):
        passages = story.tree()
        paths = zip(passages.path(before.id), passages.path(now.id), strict=False)
        return next((passages.nodes[other].step for one, other in paths if one != other), now.step)
    return now.step


def _taken_back(before: Passage, now: Passage, changed: int) -> str:
    """Return what was undone between where the story stood and where it stands now, where `changed` is the first other one."""
    if now.step < before.step:
        first = now.step + 1
        return f"passage {first}" if first == before.step else f"passages {first} to {before.step}"
    if changed < now.step:
        return f"what was changed of passage {changed}{' and after it' if before.step > changed else ''}"
    edited = [
        name
        for name, is_same in (
            ("text", before.text == now.text),
            ("memory", before.short_term_memory == now.short_term_memory),
            ("plans", before.plans == now.plans),
            ("summary", before.summary == now.summary),
        )
        if not is_same
    ]
    if now.step > before.step or not edited:
        return "the last correction of the branch"
    return f"what was edited of the {' and '.join(edited)} of passage {now.step}"


def _where(passage: Passage) -> str:
    """Return one line that tells which passage this is."""
    if not passage.step:
        return f"The opening ({passage.id}); nothing is written yet on this branch."
    text = one_line(passage.text)
    return f"Passage {passage.step} ({passage.id}): {text[:97] + '...' if len(text) > 100 else text}"


def _marked_up(found: Diff) -> Text:
    """Return what differs between two passages: in plan, text and memory."""
    from rich.text import Text

    from recurrentgpt.cli.terminal.word_changes import marked_up

    text = Text()
    for label, passage in (("A", found.a), ("B", found.b)):
        text.append(f"{label}  passage {passage.step} ({passage.id})\n", style="bold")
    if any(change.kind != "same" for change in found.plan):
        text.append("\nPlan\n", style="bold").append(marked_up(found.plan)).append("\n")
    text.append("\nText\n", style="bold")
    same = all(change.kind == "same" for change in found.text)
    text.append("The same, word for word." if same else marked_up(found.text)).append("\n")
    changes = [("- ", "red", line) for line in found.memory_dropped]
    changes += [("+ ", "green", line) for line in found.memory_added]
    if changes:
        text.append("\nMemory\n", style="bold")
        for sign, style, line in changes:
            text.append(f"{sign}{visible(line)}\n", style=style)
    return text
