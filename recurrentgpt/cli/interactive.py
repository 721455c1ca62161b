"""`recurrentgpt write -i`: after each passage, ask what happens next."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recurrentgpt.cli import prompt
from recurrentgpt.cli.console import one_line, visible
from recurrentgpt.errors import BadAnswer
from recurrentgpt.loop import call
from recurrentgpt.prose.sentences import count_words

if TYPE_CHECKING:
    from recurrentgpt.cli.session import Session

KEYS = {
    "e": "edit a plan, then write from it (`e 2` for the second)",
    "w": "write your own plan; a sentence without any key does the same",
    "a": "another take of this passage, from the same plan",
    "m": "show the short-term memory, and edit it",
    "s": "let the simulator choose for a while (`s 5` for five passages)",
    "r": "other plans",
    "q": "save and leave",
    "?": "this help",
}
_WORDS = {
    "edit": "e",
    "write": "w",
    "another": "a",
    "take": "a",
    "memory": "m",
    "simulator": "s",
    "replan": "r",
    "plans": "r",
    "quit": "q",
    "exit": "q",
    "help": "?",
    "h": "?",
}
_KEY_AND_NUMBER = re.compile(r"([es])\s+(\d{1,4})")
_KEY_AND_TEXT = re.compile(r"w\s+(\S.*)", re.DOTALL)


@dataclass(frozen=True)
class Reply:
    """What was typed: a key of `KEYS` or `1` for a choice, and what came with it."""

    key: str
    number: int | None = None
    text: str = ""


def understand(line: str, plans: int) -> Reply:
    """Return what a line means; raise BadAnswer with the reason when it means nothing."""
    text = line.strip()
    word = _WORDS.get(text.casefold(), text.casefold())
    if word in KEYS:
        return Reply(word)
    if text.isascii() and text.lstrip("+-").isdigit():
        number = int(text[:9])
        if not 1 <= number <= plans:
            raise BadAnswer(f"There is no plan {number}; they are numbered 1 to {plans}.")
        return Reply("1", number)
    if found := _KEY_AND_NUMBER.fullmatch(text.casefold()):
        return Reply(found[1], int(found[2]))
    if found := _KEY_AND_TEXT.fullmatch(text):
        return Reply("w", text=found[1])
    if count_words(text) > 1 or (not text.isascii() and len(text) > 3):
        return Reply("w", text=text)
    if not text:
        raise BadAnswer("Type a number, a key, or a plan in your own words; ? shows the keys.")
    raise BadAnswer(
        f"{one_line(text)[:40]!r} is neither a key nor a plan: a plan takes more than one word; ? shows the keys."
    )


def converse(session: Session, steps: int | None) -> None:
    """Write passage by passage, asking before each, until somebody leaves or `steps` passages are written."""
    ending = session.story.context.ending
    left = steps
    if session.step and not session.plan:
        _remind(session)
    while left is None or left > 0:
        count = 1
        if session.step and not session.plan:
            answered = _turn(session, left)
            if answered is None:
                return
            count = answered
        # One passage is a bounded run of its own, and only the last of them may end the story.
        last = left is not None and left <= count
        session.story.context = dataclasses.replace(session.story.context, ending=ending and last)
        session.write(count)
        left = None if left is None else left - count


def _remind(session: Session) -> None:
    """Show how the newest passage ends to somebody who comes back to it."""
    if session.json:
        return
    story, log = session.story, session.story.library.chronicle
    head = story.head
    passage = call(lambda: log.get(story.id, head))["passage"]
    if passage:
        session.screen.remark(f"\n{session.step}  … {one_line(passage.splitlines()[-1])}")


def _turn(session: Session, left: int | None) -> int | None:
    """Let the person act until a plan is chosen; return how many passages to write, None to leave."""
    _show_plans(session)
    plans = len(session.story.plans)
    while True:
        try:
            reply = understand(prompt.ask(f"Next? [1-{plans}, e, w, a, m, s, r, q, ?] "), plans)
            count = _act(session, reply)
        except BadAnswer as problem:
            session.screen.remark(str(problem), style="yellow")
            continue
        except EOFError:
            return None
        if reply.key == "q":
            return None
        if count:
            return count if left is None else min(count, left)
        if reply.key in ("a", "r"):
            _show_plans(session)
            plans = len(session.story.plans)


def _act(session: Session, reply: Reply) -> int:
    """Do what was asked; return how many passages to write now, 0 for none."""
    story = session.story
    match reply.key:
        case "1":
            session.choose(reply.number)
        case "e":
            number = _which(reply.number, len(story.plans))
            session.choose({"action": "edit", "number": number, "plan": _edited(story.plans[number - 1], "plan")})
        case "w":
            session.choose({"action": "write", "plan": reply.text or prompt.ask("Your plan: ") or _nothing()})
        case "s":
            return _how_many(reply.number)
        case "a":
            session.another_take()
            return 0
        case "r":
            session.new_plans()
            return 0
        case "m":
            _memory(session)
            return 0
        case "?":
            _help(session)
            return 0
        case _:
            return 0
    return 1


def _show_plans(session: Session) -> None:
    if session.json:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold", max_width=96)
    for number, plan in enumerate(session.story.plans, 1):
        table.add_row(Text(str(number), style="bold"), Text(one_line(plan)))
    session.screen.remark("\nWhat happens next?", style="bold")
    session.screen.remark(table, style="")


def _help(session: Session) -> None:
    lines = [
        f"  1-{len(session.story.plans)}  choose that plan",
        *(f"  {key:<3}  {what}" for key, what in KEYS.items()),
    ]
    session.screen.remark("\n".join(lines), style="")


def _which(number: int | None, plans: int) -> int:
    if number is None:
        answer = "1" if plans == 1 else prompt.ask(f"Edit which plan? [1-{plans}] ")
        number = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 10 else 0
    if not 1 <= number <= plans:
        raise BadAnswer(f"The plans are numbered 1 to {plans}; nothing was changed.")
    return number


def _how_many(number: int | None) -> int:
    if number is None:
        answer = prompt.ask("How many passages? [3] ") or "3"
        number = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 5 else 0
    if number < 1:
        raise BadAnswer("The simulator writes a whole number of passages, 1 or more; nothing was changed.")
    return number


def _edited(text: str, about: str) -> str:
    if prompt.editor():
        return prompt.edit(text, about) or _nothing()
    return prompt.ask("Plan: ", prefill=text) or _nothing()


def _nothing() -> str:
    raise BadAnswer("Nothing was changed.")


def _memory(session: Session) -> None:
    """Show the memory and take changes until an empty line; they are saved together."""
    before = session.story.memory
    if prompt.editor():
        _list(session, before.splitlines())
        if not prompt.ask("Edit it? [y/N] ").casefold().startswith("y"):
            return
        edited = prompt.edit(before, "memory") or _nothing()
        _remember(session, edited)
        return
    lines = before.splitlines()
    _list(session, lines)
    try:
        while answer := prompt.ask("Memory [number: edit, + sentence: add, - number: drop, Enter: done] "):
            try:
                _change(lines, answer)
            except BadAnswer as problem:
                session.screen.remark(str(problem), style="yellow")
            else:
                _list(session, lines)
    finally:
        if lines != before.splitlines():
            _remember(session, "\n".join(lines))


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
    elif changed := prompt.ask("Sentence: ", prefill=lines[number - 1]):
        lines[number - 1] = changed


def _list(session: Session, lines: list[str]) -> None:
    numbered = "\n".join(f"{number:>3}  {visible(line)}" for number, line in enumerate(lines, 1))
    session.screen.remark(numbered or "(Nothing is remembered.)", style="")


def _remember(session: Session, text: str) -> None:
    session.story.edit_memory(text)
    session.screen.remark("The memory is saved.")
