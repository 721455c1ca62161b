"""What of a passage in the making is shown, and how lines are broken."""

from __future__ import annotations

import io
import signal

import pytest
from rich.console import Console

from recurrentgpt.cli.terminal.console import visible
from recurrentgpt.cli.terminal.passage_printer import PassagePrinter
from recurrentgpt.cli.terminal.screen import Screen, wrap

SENTENCES = [f"Sentence number {number} tells of one more small thing. " for number in range(30)]
TEXTS = ["the lamp went out and nobody saw it " * 3, "她打开了门然后走了出去" * 5, "🌉 bridge of glass " * 6]


def _printer() -> PassagePrinter:
    return PassagePrinter(min_words=60, language="English")


def test_only_settled_text_is_shown():
    printer = _printer()
    assert printer.write("The lamp went out. And th", 19).text == "The lamp went out."
    assert printer.write("en it rained.", 19).text == ""
    assert printer.shown == "The lamp went out."
    assert printer.words == 8


def test_what_is_retracted_is_never_shown():
    printer = _printer()
    assert printer.write("The lamp went out. Sure, here is", 19).text == "The lamp went out."
    printer.retract(18)
    assert printer.write(" It rained.", 29) == (" It rained.", "")
    assert printer.finish("The lamp went out. It rained.") == ("", "")


@pytest.mark.parametrize("dropped", [0, 1, 2, 3])
def test_closing_sentences_may_be_left_out(dropped):
    printer, shown = _printer(), ""
    for number, sentence in enumerate(SENTENCES, 1):
        shown += printer.write(sentence, sum(map(len, SENTENCES[:number]))).text
    assert len(shown.split()) > 150
    final = "".join(SENTENCES[: len(SENTENCES) - dropped]).strip()
    rest, remark = printer.finish(final)
    assert not remark
    assert shown + rest == final


def test_white_space_is_that_of_the_finished_passage():
    printer = _printer()
    prose = "A line that is no verse, because it goes on for more than a line of verse does."
    text = f"{prose}\nAnother  line.\n\n\nA third line. "
    shown = printer.write(text, len(text)).text
    assert shown == f"{prose}\n\nAnother line.\n\nA third line."


def test_lines_of_verse_stay_lines_also_where_that_shows_late():
    printer, text = _printer(), "A pound and a pound,\nThe pan goes down."
    assert printer.write(text, len(text)).text == "A pound and a pound,\n\nThe pan goes down."
    assert printer.finish(f"{text}\n\nThey ran.") == ("\n\nThey ran.", "")
    again = _printer()
    assert again.write(f"They sang.\n\n{text}", 999).text == f"They sang.\n\n{text}"


def test_a_passage_that_is_asked_for_again_is_shown_again_with_the_reason():
    printer = _printer()
    printer.write("The lamp went out. ", 19)
    printer.retract(0, "It held what the author has banned: lamp.")
    assert printer.write("The l", 0) == ("", "")
    text, remark = printer.write("ight went out.", 19)
    assert text == "The light went out."
    assert remark.startswith("(It held what the author has banned: lamp. What was shown of this passage above does not")
    assert printer.finish("The light went out. It rained.") == (" It rained.", "")


def test_what_comes_out_the_same_is_not_shown_twice():
    printer = _printer()
    printer.write("The lamp went out. ", 19)
    printer.begin_again("The model was cut off.")
    assert printer.sentences == "The lamp went out.", "it stands until there is more"
    assert printer.write("The lamp went out. It rained.", 29) == (" It rained.", "")


@pytest.mark.parametrize("last", ["Nobody saw it.", ""])
def test_a_passage_that_turned_out_otherwise_is_shown_from_that_paragraph_on(last):
    printer = _printer()
    first, second = "The lamp went out.", "It rained. Somebody came in and would not say from where."
    printer.write(f"{first}\n\n{second}", 200)
    text, remark = printer.finish(f"{first}\n\nIt rained. {last}".strip())
    assert text == f"It rained. {last}".strip()
    assert "From “It rained.” on, this stands in the place of what was shown above" in remark


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


@pytest.mark.parametrize("moment", ["set_live", "clear_live"])
def test_ctrl_c_while_the_status_is_drawn_or_taken_away_breaks_nothing(monkeypatch, moment):
    done = getattr(Console, moment)

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        return done(*given)

    screen = Screen()
    screen.remarks, screen.animated = Console(file=io.StringIO(), force_terminal=True), True
    monkeypatch.setattr(Console, moment, interrupted)

    def draw():
        screen.doing("writing")
        screen.rest()

    with pytest.raises(KeyboardInterrupt):
        draw()
    monkeypatch.undo()
    draw()
