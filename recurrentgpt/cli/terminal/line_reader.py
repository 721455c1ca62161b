"""Read an answer at a terminal: edited in several lines, completed with Tab, and taken up again from what was answered before."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle

from recurrentgpt.cli.terminal.interrupts import DraftDropped


class Names(Completer):
    """Complete a whole answer to one of `lines`, and its last word to one of `words`, told what stands before it, and it."""

    def __init__(self, lines: Iterable[str], words: Callable[[str, str], Iterable[str]]) -> None:
        self.lines, self.words = list(lines), words

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return what may stand in the place of what stands before the cursor."""
        typed = document.text_before_cursor
        last = typed.split()[-1] if typed[-1:].strip() else ""
        before = typed[: len(typed) - len(last)]
        for begun, known in ((typed, self.lines if typed else ()), (last, self.words(before, last))):
            for name in known:
                if name.casefold().startswith(begun.casefold()):
                    yield Completion(name, -len(begun))


def read(question: str, prefill: str, lines: Iterable[str], words: Callable[[str, str], Iterable[str]]) -> str:
    """Return what was typed; raise EOFError for Ctrl-D on an empty line, and KeyboardInterrupt for Ctrl-C.

    It is DraftDropped where words stood that are dropped with it.
    """
    session = _session()
    try:
        return session.prompt(question, default=prefill, completer=Names(lines, words))
    except KeyboardInterrupt as stop:
        if session.default_buffer.text.strip() in ("", prefill.strip()):
            raise
        raise DraftDropped from stop


@functools.cache
def _session() -> PromptSession[str]:
    output = create_output()
    if isinstance(output, Vt100_Output):
        # Nothing here needs to know where the cursor stands, and not every terminal answers.
        output.enable_cpr = False
    return PromptSession(
        output=output,
        # In memory: what is typed shall not outlive a story that is erased.
        history=InMemoryHistory(),
        key_bindings=_keys(),
        multiline=True,
        prompt_continuation="  ",
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
        enable_open_in_editor=True,
    )


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        # More keys behind it: a paste, where the terminal does not mark one. Its last line is ended by hand.
        if event.app.key_processor.input_queue:
            event.current_buffer.newline(copy_margin=False)
        else:
            event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return keys
