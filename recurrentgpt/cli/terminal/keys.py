"""What is typed between two passages of `write -i`: keys, numbers, plans; and words for a question below that one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import one_line
from recurrentgpt.cli.terminal.settings_input import nearest_option, option_name
from recurrentgpt.schema.context import STORY_SETTINGS
from recurrentgpt.schema.errors import BadAnswer

KEYS = {
    "e": "edit a plan, then write from it (`e 2` for the second)",
    "w": "write your own plan; a sentence without any key does the same",
    "a": "another take of this passage, from the same plan",
    "m": "show the short-term memory, and edit it",
    "l": "look at this passage again (`l 3` for the last three)",
    "s": "let the simulator choose for a while (`s 5` for five passages)",
    "r": "other plans",
    "u": "undo the newest passage or edit (`u 2` for two)",
    "y": "redo what was undone (`y 2` for two)",
    "k": "the takes of this passage: list them, or go on from another (`k 2`)",
    "p": "edit this passage; the memory follows",
    "n": "the author's note, which stands last in every prompt (`n The dog must live.`)",
    "o": "options of the story: list them, or change some (`o pace=slow max-words=600`)",
    "b": "name this branch (`b the dark ending`)",
    "t": "show the tree of all branches",
    "g": "go to another passage or branch (`g 3`, `g NAME`), and write on from there",
    "q": "save and leave",
    "?": "this help",
}
EDITING = "  Tab completes names and commands; Alt-Enter begins another line; the arrows bring back earlier answers."
WORDS = {
    "edit": "e",
    "write": "w",
    "another": "a",
    "take": "a",
    "memory": "m",
    "simulator": "s",
    "replan": "r",
    "plans": "r",
    "look": "l",
    "read": "l",
    "quit": "q",
    "exit": "q",
    "help": "?",
    "h": "?",
    "undo": "u",
    "redo": "y",
    "takes": "k",
    "passage": "p",
    "note": "n",
    "options": "o",
    "settings": "o",
    "set": "o",
    "name": "b",
    "tree": "t",
    "goto": "g",
    "retry": "a",
    "choices": "r",
    "auto": "s",
    "save": "b",
    "load": "g",
}
"""Words for keys, among them those that `play` has after a slash."""

_NUMBER = re.compile(r"([+-]?[0-9]+)[.)]?")
_KEY_AND_NUMBER = re.compile(r"([a-z]+)\s+(\d{1,4})")
_KEY_AND_TEXT = re.compile(r"(w|g|goto|n|b|o)\s+(\S.*)", re.DOTALL)
_KEYS_THAT_ARE_WORDS = {"pl": "w"}
"""By the code of a language, the key before a text that is also a word there: "w lesie" is Polish for "in the forest"."""
_OPTIONS = [option_name(name) for name in STORY_SETTINGS]
_COMMAND = re.compile(r"/\s*([a-z?]*)\s*(.*)", re.DOTALL | re.IGNORECASE)
_TAKE_NUMBERS, _TAKE_TEXT = "elsuyk", "wgnbo"


@dataclass(frozen=True)
class TypedInput:
    """What was typed: a key of `KEYS` or `1` for a choice, and what came with it."""

    key: str
    number: int | None = None
    text: str = ""


def understand(line: str, plans: int, language: str = "English") -> TypedInput:
    """Return what a line means in a story of this language; raise BadAnswer with the reason when it means nothing."""
    from recurrentgpt.prose.sentences import count_words, language_code

    text = line.strip()
    if found := _COMMAND.fullmatch(text):
        return _command(found[1].casefold(), found[2].strip())
    word = WORDS.get(text.casefold(), text.casefold())
    if word in KEYS:
        return TypedInput(word)
    if (number := plan_number(text)) is not None:
        if not 1 <= number <= plans:
            raise BadAnswer(f"There is no plan {number}; they are numbered 1 to {plans}.")
        return TypedInput("1", number)
    if reply := _with_number(text.casefold()):
        return reply
    if found := _KEY_AND_TEXT.fullmatch(text):
        if _KEYS_THAT_ARE_WORDS.get(language_code(language)) == found[1]:
            return TypedInput("w", text=text)
        # In half a dozen languages "o" is a word, so what follows the key has to look like a setting.
        if found[1] != "o" or _looks_like_setting(found[2].split()[0], language):
            return TypedInput(found[1][0], text=found[2])
    first, *others = text.split() or [""]
    if len(others) == 1 and (first.casefold() in KEYS or first.casefold() in WORDS or first.isdigit()):
        # A slip of the fingers must not become a passage that is paid for.
        typed = one_line(text)[:40]
        write = f"/w {typed}" if language_code(language) in _KEYS_THAT_ARE_WORDS else f"w {typed}"
        raise BadAnswer(f"{typed!r} begins like a key, and is none; ? shows the keys. If it is your plan: {write}")
    if count_words(text) > 1 or (not text.isascii() and len(text) > 3):
        return TypedInput("w", text=text)
    if not text:
        raise BadAnswer("Type a number, a key, or a plan in your own words; ? shows the keys.")
    raise BadAnswer(
        f"{one_line(text)[:40]!r} is neither a key nor a plan: a plan takes more than one word; ? shows the keys."
    )


def _looks_like_setting(word: str, language: str) -> bool:
    """Tell whether a word is `name=value` or the name of a setting, also a misspelt one, which is to be told and not written.

    Where plans are not in English, a name of one word does not count: "o plano" is Portuguese, and "pace" Italian for peace.
    """
    if "=" in word:
        return True
    if not language.strip().casefold().startswith("en"):
        return "-" in word and word in _OPTIONS
    # More like one than a hint has to be: what is none is a plan.
    return bool(nearest_option(word, _OPTIONS, likeness=0.75))


def _command(word: str, rest: str) -> TypedInput:
    """Return what a word behind a slash means, which is never a plan."""
    key = WORDS.get(word, word)
    if key not in KEYS:
        raise no_command(word, WORDS, "? shows the keys.")
    if not rest:
        return TypedInput(key)
    if key in _TAKE_TEXT:
        return TypedInput(key, text=rest)
    if reply := _with_number(f"{word} {rest}"):
        return reply
    raise BadAnswer(
        f"/{word} is followed by {'a number, or by ' if key in _TAKE_NUMBERS else ''}nothing; ? shows the keys."
    )


def no_command(word: str, known: Iterable[str], otherwise: str) -> BadAnswer:
    """Return the error that names the command nearest to a word behind a slash, or says what shows them all."""
    near = difflib.get_close_matches(word, known, n=1)
    return BadAnswer(f"There is no command /{word}; " + (f"did you mean /{near[0]}?" if near else otherwise))


def _with_number(text: str) -> TypedInput | None:
    found = _KEY_AND_NUMBER.fullmatch(text)
    key = WORDS.get(found[1], found[1]) if found else ""
    return TypedInput(key, int(found[2])) if found and key in _TAKE_NUMBERS else None


def ask_words(question: str, prefill: str = "", *, required: bool = True) -> str:
    """Return words for a story; raise BadAnswer for a key or a command, which was meant for another question.

    An empty answer, too, is refused unless nothing is `required`.
    """
    answer = prompt.ask(question, prefill)
    _refuse_command(answer, answer.casefold())
    return answer or (refuse_empty() if required else "")


def ask_name(question: str, known: Iterable[str] = ()) -> str:
    """Return a name; raise BadAnswer as `ask_words` does, but not for a name that is `known`, nor for "Save" or "Undo 2".

    Commands are shown in small letters, and a name that is given a capital is meant as one.
    """
    answer = prompt.ask(question)
    if answer.casefold() not in {name.casefold() for name in known}:
        _refuse_command(answer, answer if len(answer) > 1 else answer.casefold())
    return answer or refuse_empty()


def _refuse_command(answer: str, typed: str) -> None:
    """Raise BadAnswer where what was `typed` is a key or a command."""
    if (answer.startswith("/") and "\n" not in answer) or typed in KEYS or typed in WORDS or _with_number(typed):
        raise BadAnswer(
            f"{one_line(answer)[:40]!r} is a command and was not taken for the answer, so nothing was changed: give it again now."
        )


def refuse_empty() -> str:
    """Raise BadAnswer: an answer that was left empty changes nothing."""
    raise BadAnswer("Nothing was changed.")


def plan_number(text: str) -> int | None:
    """Return the number that an answer is, as `2`, `2.` or `2)`; None where it is none."""
    found = _NUMBER.fullmatch(text)
    return int(found[1][:9]) if found else None
