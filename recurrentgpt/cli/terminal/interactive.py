"""`recurrentgpt write -i`: after each passage, ask what happens next."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import one_line
from recurrentgpt.cli.terminal.memory_editor import edit_memory, refuse_empty
from recurrentgpt.cli.terminal.story_editor import (
    change_note,
    change_settings,
    choose_take,
    edit_passage,
    name_branch,
)
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError

if TYPE_CHECKING:
    from recurrentgpt.cli.terminal.renderer import Renderer

KEYS = {
    "e": "edit a plan, then write from it (`e 2` for the second)",
    "w": "write your own plan; a sentence without any key does the same",
    "a": "another take of this passage, from the same plan",
    "m": "show the short-term memory, and edit it",
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
}
_KEY_AND_NUMBER = re.compile(r"([esuyk])\s+(\d{1,4})")
_KEY_AND_TEXT = re.compile(r"(w|g|goto|n|b|o)\s+(\S.*)", re.DOTALL)


@dataclass(frozen=True)
class TypedInput:
    """What was typed: a key of `KEYS` or `1` for a choice, and what came with it."""

    key: str
    number: int | None = None
    text: str = ""


def understand(line: str, plans: int) -> TypedInput:
    """Return what a line means; raise BadAnswer with the reason when it means nothing."""
    from recurrentgpt.prose.sentences import count_words

    text = line.strip()
    word = _WORDS.get(text.casefold(), text.casefold())
    if word in KEYS:
        return TypedInput(word)
    if text.isascii() and text.lstrip("+-").isdigit():
        number = int(text[:9])
        if not 1 <= number <= plans:
            raise BadAnswer(f"There is no plan {number}; they are numbered 1 to {plans}.")
        return TypedInput("1", number)
    if found := _KEY_AND_NUMBER.fullmatch(text.casefold()):
        return TypedInput(found[1], int(found[2]))
    if found := _KEY_AND_TEXT.fullmatch(text):
        return TypedInput(found[1][0], text=found[2])
    if count_words(text) > 1 or (not text.isascii() and len(text) > 3):
        return TypedInput("w", text=text)
    if not text:
        raise BadAnswer("Type a number, a key, or a plan in your own words; ? shows the keys.")
    raise BadAnswer(
        f"{one_line(text)[:40]!r} is neither a key nor a plan: a plan takes more than one word; ? shows the keys."
    )


Turn = Callable[["Renderer", int | None], int | None]
"""Let somebody act until there is something to write; return how many passages, or None to leave."""


def converse(
    renderer: Renderer,
    steps: int | None,
    turn: Turn | None = None,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Write passage by passage, asking before each, until somebody leaves or `steps` passages are written.

    All writing is done inside what `around` returns.
    """
    ending, budget = renderer.story.context.ending, renderer.story.context.budget_tokens
    left = steps
    if renderer.waits:
        remind(renderer)
    while left is None or left > 0:
        count, before = 1, renderer.steps
        if renderer.waits:
            answered = (turn or _turn)(renderer, left)
            if answered is None:
                return
            # What was written in the turn itself, another take, counts for nothing.
            count, before = answered, renderer.steps
        # One passage is a bounded run of its own, and only the last of them may end the story.
        last = left is not None and left <= count
        unspent = budget and max(budget - renderer.tokens, 1)
        renderer.story.context = dataclasses.replace(
            renderer.story.context, ending=ending and last, budget_tokens=unspent
        )
        write(renderer, count, around)
        if renderer.stopped:
            return
        left = None if left is None else left - (renderer.steps - before)


def write(renderer: Renderer, count: int, around: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
    """Write passages, until somebody stops that to keep what there is, or to choose again."""
    goal = renderer.steps + count
    stoppable(renderer, lambda: renderer.write(goal - renderer.steps), around)


def stoppable(
    renderer: Renderer, work: Callable[[], None], around: Callable[[], AbstractContextManager[None]] = nullcontext
) -> None:
    """Write; where Ctrl-C stops it, ask whether to keep the whole sentences, throw them away, or go on.

    Raises KeyboardInterrupt for a second one, and where nobody can be asked.
    """
    while True:
        try:
            with around():
                work()
            return
        except KeyboardInterrupt as stop:
            if isinstance(stop, prompt.Ended) or not prompt.at_terminal() or not renderer.exists():
                raise
        match _after_a_stop(renderer):
            case "k":
                work = renderer.keep
            case "t":
                renderer.discard()
                return


def _after_a_stop(renderer: Renderer) -> str:
    """Ask somebody who stopped the writing what now, and return the key: k, t or g; raise KeyboardInterrupt to leave."""
    renderer.screen.rest()
    offers = {"t": "throw it away and choose again", "g": "go on", "q": "leave"}
    if renderer.in_the_making:
        offers = {"k": "keep the whole sentences"} | offers
    question = f"\nStopped. What of this passage? [{', '.join(f'{key}: {what}' for key, what in offers.items())}] "
    while True:
        try:
            answer = prompt.ask(question).casefold()[:1]
        except EOFError:
            answer = "q"
        if answer == "q":
            raise KeyboardInterrupt
        if answer in offers:
            return answer
        renderer.screen.remark(f"Type {', '.join(offers)}.", style="yellow")


def interrupted(renderer: Renderer, stop: KeyboardInterrupt, *, again: bool) -> None:
    """Go back to the question after Ctrl-C; a second one (`again`), and one that no terminal sent, leaves."""
    if again or isinstance(stop, prompt.Ended) or not prompt.at_terminal():
        raise stop
    renderer.screen.rest()
    renderer.screen.remark("\nNothing was changed; Ctrl-C again leaves.", style="yellow")


def remind(renderer: Renderer) -> None:
    """Show how the passage ends where the story stands, to somebody who comes back to it."""
    if renderer.json:
        return
    passage = renderer.story.passage()
    if passage.text:
        renderer.screen.remark(f"\n{passage.step}  … {one_line(passage.text.splitlines()[-1])}")


def show_tree(renderer: Renderer) -> None:
    """Show all branches, apart from the story."""
    from recurrentgpt.cli.terminal.tree_drawing import draw_tree

    for line in draw_tree(renderer.story.tree()):
        renderer.screen.remark(line.stem + line.text, style="bold" if line.head else "", cut=True)


def _turn(renderer: Renderer, left: int | None) -> int | None:
    """Let the person act until a plan is chosen; return how many passages to write, None to leave."""
    show_plans(renderer)
    plans, stopped = len(renderer.story.plans), False
    while True:
        try:
            answer = prompt.ask(
                f"Next? [{numbers(plans)}{', '.join(KEYS)}] ",
                lines=[*_WORDS, *(f"{word} {name}" for word in ("g", "goto") for name in renderer.story.names())],
                words=people(renderer),
            )
            reply = understand(answer, plans)
            count = _act(renderer, reply)
        except (BadAnswer, SettingsError, StoryError) as problem:
            renderer.screen.rest()
            renderer.screen.remark(str(problem), style="yellow")
            continue
        except EOFError:
            return None
        except KeyboardInterrupt as stop:
            interrupted(renderer, stop, again=stopped)
            stopped = True
            continue
        stopped = False
        if reply.key == "q":
            return None
        if count:
            return count if left is None else min(count, left)
        if reply.key in ("a", "r", "u", "y", "k", "p", "g"):
            show_plans(renderer)
            plans = len(renderer.story.plans)


def _act(renderer: Renderer, reply: TypedInput) -> int:
    """Do what was asked; return how many passages to write now, 0 for none."""
    story = renderer.story
    match reply.key:
        case "1":
            renderer.choose(reply.number)
        case "e":
            number = _which(reply.number, len(story.plans))
            renderer.choose({"action": "edit", "number": number, "plan": _edited(story.plans[number - 1], "plan")})
        case "w":
            renderer.choose({"action": "write", "plan": reply.text or prompt.ask("Your plan: ") or refuse_empty()})
        case "s":
            return _how_many(reply.number)
        case "a":
            stoppable(renderer, renderer.retry)
        case "r":
            renderer.replan()
        case "m":
            edit_memory(renderer)
        case "u":
            story.undo(reply.number or 1)
            stand(renderer)
        case "y":
            story.redo(reply.number or 1)
            stand(renderer)
        case "k":
            choose_take(renderer, str(reply.number or ""))
            stand(renderer)
        case "p":
            edit_passage(renderer)
        case "n":
            change_note(renderer, reply.text)
        case "o":
            change_settings(renderer, reply.text)
        case "b":
            name_branch(renderer, reply.text)
        case "t":
            show_tree(renderer)
        case "g":
            story.goto(reply.text or prompt.ask("Go to which passage? ") or refuse_empty())
            stand(renderer)
        case "?":
            _help(renderer)
    return int(reply.key in ("1", "e", "w"))


def stand(renderer: Renderer) -> None:
    """Read where the story stands after a move, and show it."""
    renderer.look()
    remind(renderer)


def people(renderer: Renderer) -> list[str]:
    """Return the names of the characters, each by itself, to complete an answer with."""
    characters = renderer.story.brief["characters"] if prompt.at_terminal() else []
    return sorted({name for person in characters for name in person.partition(":")[0].split() if name[:1].isupper()})


def numbers(plans: int) -> str:
    """Return how the plans are numbered, for a question."""
    return {0: "", 1: "1, "}.get(plans, f"1-{plans}, ")


def show_plans(renderer: Renderer, question: str = "What happens next?") -> None:
    """Show the plans to choose from."""
    renderer.offer()
    if renderer.json:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold", max_width=96)
    for number, plan in enumerate(renderer.story.plans, 1):
        table.add_row(Text(str(number), style="bold"), Text(one_line(plan)))
    renderer.screen.remark(f"\n{question}", style="bold")
    renderer.screen.remark(table, style="")


def _help(renderer: Renderer) -> None:
    lines = [
        f"  1-{len(renderer.story.plans)}  choose that plan",
        *(f"  {key:<3}  {what}" for key, what in KEYS.items()),
        EDITING,
    ]
    renderer.screen.remark("\n".join(lines), style="")


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
        return prompt.edit(text, about) or refuse_empty()
    return prompt.ask("Plan: ", prefill=text) or refuse_empty()
