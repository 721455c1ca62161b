"""`tree`, `goto`, `undo`, `redo`, `name` and `diff`: look at the branches of a story, and move."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, cast

from recurrentgpt.cli.console import console, emit, note, one_line, print_json, print_text, visible
from recurrentgpt.cli.work import reading
from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from recurrentgpt.engine.diff import Change, Diff
    from recurrentgpt.story import Passage, Story


def show_tree(name: str, *, everything: bool, mermaid: bool, remote: str | None, json: bool) -> None:
    """Print all branches."""
    if mermaid and json:
        raise SettingsError("A tree is printed as --json or as --mermaid, not as both.")
    from recurrentgpt.cli.draw import drawn

    with _opened(name, remote) as story:
        tree, pending = story.tree(), story.pending_replay
        if json:
            print_json(tree.as_json())
            return
        if mermaid:
            emit(tree.mermaid())
            return
        lines = drawn(tree, everything=everything)
        known = {} if everything or remote else _known_by(story, [line.passage for line in lines])
        screen = console(stderr=False)
        if not screen.is_terminal:
            told = [f"{line.stem}{line.text}{_told(known, line.passage)}" for line in lines]
            print_text("\n".join([one_line(tree.title), *told]))
        else:
            from rich.text import Text

            screen.print(Text(one_line(tree.title), style="bold"))
            for line in lines:
                text = Text(no_wrap=True, overflow="ellipsis", end="")
                text.append(line.stem, style="dim")
                text.append(line.text, style="bold" if line.head else "")
                text.append(_told(known, line.passage), style="dim")
                screen.print(text)
                emit("\n")
        if pending:
            note(
                f"An edit of passage {pending.step} is unfinished ({pending.done} of {pending.total} passages). Go on: "
                f"recurrentgpt edit {story.id} --resume; or forget it: recurrentgpt edit {story.id} --drop"
            )


def _opened(name: str, remote: str | None) -> AbstractContextManager[Story]:
    """Open a story to be looked at or moved in, here or on a server."""
    if remote is None:
        return reading(name)
    from recurrentgpt.cli.on_server import opened

    return cast("AbstractContextManager[Story]", opened(remote, name, {}, {}))


def _known_by(story: Story, passages: list[str]) -> dict[str, str]:
    """Return what the first passage of each branch is known by: its plan, or its own words where that does not tell it apart."""
    from recurrentgpt.infrastructure.background_loop import call

    wanted = [passage for passage in passages if passage]
    found = call(lambda: story.engine.log.get_many(story.id, wanted))
    plans = Counter(commit["plan"] for commit in found)
    return {
        commit["id"]: one_line(
            commit["passage"] if commit["author"] == "edited" or plans[commit["plan"]] > 1 else commit["plan"]
        )
        for commit in found
    }


def _told(known: dict[str, str], passage: str) -> str:
    text = known.get(passage, "")
    return f" · {textwrap.shorten(text, 80, placeholder=' ...')}" if text else ""


def move(name: str, step: Callable[[Story], Passage], *, json: bool, remote: str | None = None) -> None:
    """Move where the story stands, and tell where that is now."""
    with _opened(name, remote) as story:
        passage = step(story)
        if json:
            print_json({"story": story.id, "head": passage.id, "step": passage.step, "text": passage.text})
            return
        print_text(where(passage))
        on = f"{story.id} --remote {remote}" if remote else f"{story.id}; the plans: recurrentgpt choose {story.id}"
        note(f"Go on from here: recurrentgpt write {on}")


def where(passage: Passage) -> str:
    """Return one line that tells which passage this is."""
    if not passage.step:
        return f"The opening ({passage.id}); nothing is written yet on this branch."
    text = one_line(passage.text)
    return f"Passage {passage.step} ({passage.id}): {text[:97] + '...' if len(text) > 100 else text}"


def name(story: str, name: str, passage: str | None, *, remove: bool) -> None:
    """Give a branch a name or take it away."""
    if remove and passage is not None:
        raise SettingsError("A name is taken away wherever it is: leave the passage out.")
    with reading(story) as opened:
        if remove:
            opened.remove_name(name)
            note(f"No branch is called {one_line(name)!r} any more.")
            return
        was = {known.casefold(): at for known, at in opened.names().items()}.get(name.strip().casefold())
        given = opened.name_branch(name, passage)
        now = opened.passage(given)
        print_text(f"{given}: {where(now)}")
        if was and was != now.id:
            old = opened.passage(was)
            note(f"It was the name of passage {old.step} ({was}), which has it no more.")


def show_diff(name: str, a: str, b: str, *, json: bool) -> None:
    """Print what differs between two passages."""
    with reading(name) as story:
        found = story.diff(a, b)
    if json:
        print_json(found.as_json())
        return
    _print_diff(found)


def _print_diff(found: Diff) -> None:
    screen = console(stderr=False)
    from rich.text import Text

    def marked(changes: list[Change]) -> Text:
        text = Text()
        for change in changes:
            if change.kind == "same":
                text.append(visible(change.after))
                continue
            for words, left, right, style in ((change.before, "[-", "-]", "red"), (change.after, "{+", "+}", "green")):
                if words:
                    bare = words.rstrip()
                    text.append(f"{left}{visible(bare)}{right}", style=style)
                    text.append(words[len(bare) :])
        return text

    text = Text()
    for label, passage in (("A", found.a), ("B", found.b)):
        text.append(f"{label}  passage {passage.step} ({passage.id})\n", style="bold")
    if any(change.kind != "same" for change in found.plan):
        text.append("\nPlan\n", style="bold").append(marked(found.plan)).append("\n")
    text.append("\nText\n", style="bold")
    same = all(change.kind == "same" for change in found.text)
    text.append("The same, word for word." if same else marked(found.text)).append("\n")
    changes = [("- ", "red", line) for line in found.memory_dropped]
    changes += [("+ ", "green", line) for line in found.memory_added]
    if changes:
        text.append("\nMemory\n", style="bold")
        for sign, style, line in changes:
            text.append(f"{sign}{visible(line)}\n", style=style)
    if sys.stdout.isatty():
        screen.print(text, end="", soft_wrap=False)
    else:
        emit(text.plain)
