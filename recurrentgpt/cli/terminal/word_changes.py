"""What differs between two texts, word by word, in signs that are readable without colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from recurrentgpt.cli.terminal.console import visible

if TYPE_CHECKING:
    from recurrentgpt.engine.diff import TextChange


def marked_up(changes: Iterable[TextChange]) -> Text:
    """Return a text with [-what only the first has-] and {+what only the second has+}."""
    text = Text()
    for change in changes:
        if change.kind == "same":
            text.append(visible(change.after))
            continue
        for words, left, right, style in ((change.before, "[-", "-]", "red"), (change.after, "{+", "+}", "green")):
            if words:
                stripped = words.rstrip()
                text.append(f"{left}{visible(stripped)}{right}", style=style)
                text.append(words[len(stripped) :])
    return text
