"""Print prose as it is read: at a terminal broken at words, elsewhere as it is."""

from __future__ import annotations

from recurrentgpt.cli.terminal.console import console, emit, print_text, visible


def print_passage(text: str) -> None:
    """Print prose; at a terminal, broken at words."""
    screen = console(stderr=False)
    if not screen.is_terminal:
        print_text(text)
        return
    from recurrentgpt.cli.terminal.screen import WIDEST, Italics
    from recurrentgpt.cli.terminal.wrapping import wrap

    lines, last = wrap(visible(text), min(screen.width - 1, WIDEST))
    shown = [*lines, last] if screen.is_dumb_terminal else map(Italics().line, [*lines, last])
    emit("\n".join(shown) + "\n")
