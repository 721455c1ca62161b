"""What of a passage in the making is shown, and how lines are broken."""

from __future__ import annotations

import pytest

from recurrentgpt.cli.terminal.console import visible
from recurrentgpt.cli.terminal.passage_printer import PassagePrinter
from recurrentgpt.cli.terminal.screen import wrap

SENTENCES = [f"Sentence number {number} tells of one more small thing. " for number in range(30)]
TEXTS = ["the lamp went out and nobody saw it " * 3, "她打开了门然后走了出去" * 5, "🌉 bridge of glass " * 6]


def _printer() -> PassagePrinter:
    return PassagePrinter(min_words=60, language="English")


def test_only_settled_text_is_shown():
    printer = _printer()
    assert printer.write("The lamp went out. And th", 19) == "The lamp went out."
    assert printer.write("en it rained.", 19) == ""
    assert printer.shown == "The lamp went out."
    assert printer.words == 8


def test_what_is_retracted_is_never_shown():
    printer = _printer()
    assert printer.write("The lamp went out. Sure, here is", 19) == "The lamp went out."
    printer.buffer.retract(18)
    assert printer.write(" It rained.", 29) == " It rained."
    assert printer.finish("The lamp went out. It rained.") == ("", True)


@pytest.mark.parametrize("dropped", [0, 1, 2, 3])
def test_closing_sentences_may_be_left_out(dropped):
    printer, shown = _printer(), ""
    for number, sentence in enumerate(SENTENCES, 1):
        shown += printer.write(sentence, sum(map(len, SENTENCES[:number])))
    assert len(shown.split()) > 150
    final = "".join(SENTENCES[: len(SENTENCES) - dropped]).strip()
    rest, kept = printer.finish(final)
    assert kept
    assert shown + rest == final


def test_white_space_is_that_of_the_finished_passage():
    printer = _printer()
    text = "One  line.\nAnother line.\n\n\nA third line. "
    shown = printer.write(text, len(text))
    assert shown == "One line.\n\nAnother line.\n\nA third line."


def test_a_passage_that_turned_out_otherwise_is_noticed():
    printer = _printer()
    printer.write("The lamp went out. ", 19)
    assert printer.finish("Another text.") == ("", False)


@pytest.mark.parametrize("width", [8, 20, 79])
@pytest.mark.parametrize(
    "text", ["the lamp went out and nobody saw it " * 3, "她打开了门然后走了出去" * 5, "🌉 bridge of glass " * 6]
)
def test_lines_fit_and_nothing_is_lost(text, width):
    from rich.cells import cell_len

    lines, rest = wrap(text, width)
    assert all(cell_len(line) <= width for line in [*lines, rest])
    assert "".join("".join([*lines, rest]).split()) == "".join(text.split())


def test_pieces_wrap_like_the_whole():
    text = "the lamp went out and nobody saw it at all until morning came"
    whole, last = wrap(text, 20)
    lines, line = [], ""
    for at in range(0, len(text), 7):
        more, line = wrap(line + text[at : at + 7], 20)
        lines += more
    assert (lines, line) == (whole, last)


def test_control_characters_are_not_visible():
    assert visible("a\x1b[31mred\x07\tb\r\nc\x9b") == "a[31mred\tb\nc"
    assert visible("שלום 🌉 [bold]") == "שלום 🌉 [bold]"
