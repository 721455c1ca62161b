"""Show and edit the short-term memory in the middle of an interactive run."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import visible
from recurrentgpt.cli.terminal.keys import ask_words, refuse_empty
from recurrentgpt.schema.errors import BadAnswer

if TYPE_CHECKING:
    from recurrentgpt.cli.terminal.renderer import Renderer
    from recurrentgpt.engine.passage import Passage


def edit_memory(renderer: Renderer) -> None:
    """Show the memory and take changes until an empty line; they are saved together, and not by Ctrl-C."""
    passage = renderer.story.passage()
    before = passage.short_term_memory
    if prompt.editor():
        _list(renderer, before.splitlines())
        if not prompt.ask("Edit it? [y/N] ").casefold().startswith("y"):
            return
        edited = prompt.edit(before, "memory") or refuse_empty()
        _remember(renderer, passage, edited)
        return
    lines = before.splitlines()
    _list(renderer, lines)
    try:
        while answer := prompt.ask("Memory [number: edit, + sentence: add, - number: drop, Enter: done] "):
            try:
                _change(lines, answer)
            except BadAnswer as problem:
                renderer.screen.remark(str(problem), style="yellow")
            else:
                _list(renderer, lines)
    except EOFError:
        _save(renderer, passage, lines)
        raise
    _save(renderer, passage, lines)


def _save(renderer: Renderer, passage: Passage, lines: list[str]) -> None:
    if lines != passage.short_term_memory.splitlines():
        _remember(renderer, passage, "\n".join(lines))


def _change(lines: list[str], answer: str) -> None:
    """Change the sentences of a memory in place."""
    found = re.fullmatch(r"([+-]?)\s*(.*)", answer, re.DOTALL)
    sign, rest = found.groups() if found else ("", "")
    if sign == "+" and rest:
        lines.append(rest)
        return
    number = int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 10 else 0
    if not 1 <= number <= len(lines):
        raise BadAnswer(f"Type the number of a sentence, 1 to {len(lines)}, or + and a new one.")
    if sign == "-":
        del lines[number - 1]
        return
    # Ctrl-C leaves this sentence as it was, and the others as they were changed.
    with suppress(KeyboardInterrupt):
        lines[number - 1] = ask_words("Sentence: ", lines[number - 1], required=False) or lines[number - 1]


def _list(renderer: Renderer, lines: list[str]) -> None:
    numbered = "\n".join(f"{number:>3}  {visible(line)}" for number, line in enumerate(lines, 1))
    renderer.screen.remark(numbered or "(Nothing is remembered.)", style="")


def _remember(renderer: Renderer, passage: Passage, text: str) -> None:
    # After the passage that was shown: another terminal may have gone on since.
    renderer.story.edit_memory(text, passage.id)
    renderer.screen.remark("The memory is saved.")
