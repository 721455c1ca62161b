"""`recurrentgpt write -i`: after each passage, ask what happens next."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import one_line, visible
from recurrentgpt.cli.terminal.interrupts import DraftDropped, Ended, UserLeaves
from recurrentgpt.cli.terminal.keys import (
    EDITING,
    KEYS,
    WORDS,
    TypedInput,
    ask_name,
    ask_words,
    plan_number,
    refuse_empty,
    understand,
)
from recurrentgpt.cli.terminal.memory_editor import edit_memory
from recurrentgpt.cli.terminal.settings_input import setting_words, spell_options
from recurrentgpt.cli.terminal.story_editor import (
    change_note,
    change_settings,
    choose_take,
    edit_passage,
    name_branch,
)
from recurrentgpt.schema.context import STORY_SETTINGS
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError
from recurrentgpt.schema.parts import character_names

if TYPE_CHECKING:
    from recurrentgpt.cli.terminal.renderer import Renderer
    from recurrentgpt.engine.passage import Passage

T = TypeVar("T")

HumanTurn = Callable[["Renderer", int | None], int | None]
"""Let somebody act until there is something to write; return how many passages, or None to leave."""


def converse(
    renderer: Renderer,
    steps: int | None,
    turn: HumanTurn | None = None,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Write passage by passage, asking before each, until somebody leaves or `steps` passages are written.

    All writing is done inside what `around` returns.
    """
    ending = renderer.story.context.ending
    left = steps
    if ending and steps is not None:
        # From its first passage on it knows its length.
        renderer.story.end_at(renderer.step + steps)
    if renderer.waits and not renderer.steps:
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
        renderer.story.context = renderer.story.context.changed(ending=ending and last, budget_tokens=renderer.unspent)
        write(renderer, count, around)
        if renderer.stopped:
            return
        left = None if left is None else left - (renderer.steps - before)


def write(renderer: Renderer, count: int, around: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
    """Write passages, until somebody stops that to keep what there is, or to choose again."""
    goal = renderer.steps + count

    def work() -> None:
        if renderer.steps < goal:
            renderer.write(goal - renderer.steps)

    stoppable(renderer, work, around, then=work)


def stoppable(
    renderer: Renderer,
    work: Callable[[], None],
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Write; where Ctrl-C stops it, ask whether to keep the whole sentences, throw them away, or go on from them.

    `then` does what is left to do behind the passage that was stopped. Raises KeyboardInterrupt for a second one, and where
    nobody can be asked.
    """

    def go_on() -> None:
        renderer.go_on()
        then()

    while True:
        try:
            with around():
                work()
            return
        except KeyboardInterrupt as stop:
            if isinstance(stop, Ended) or not prompt.at_terminal() or not renderer.exists():
                raise
        match _after_a_stop(renderer):
            case "k":
                work = renderer.keep
            case "t":
                renderer.discard()
                return
            case "g" if renderer.in_the_making:
                work = go_on


def _after_a_stop(renderer: Renderer) -> str:
    """Ask somebody who stopped the writing what now, and return the key: k, t or g; raise UserLeaves to leave."""
    renderer.show_rest()
    renderer.screen.rest()
    offers = {"t": "throw it away and choose again", "g": "begin it again", "q": "leave"}
    about = "What of this passage?" if renderer.unfinished else "What now?"
    if renderer.is_told:
        offers = {"g": "go on", "t": "throw this passage away and choose again", "q": "leave"}
    elif renderer.in_the_making:
        offers = {"k": "keep the whole sentences"} | offers | {"g": "go on from them"}
    elif not renderer.story.keeps_sentences:
        del offers["t"]
    question = f"\nStopped. {about} [{', '.join(f'{key}: {what}' for key, what in offers.items())}] "
    while True:
        try:
            answer = prompt.ask(question).casefold().removeprefix("/")
        except (EOFError, KeyboardInterrupt):
            answer = "q"
        # Nothing but the key or the words that stand beside it: a sentence must not throw a passage away.
        key = next((key for key, what in offers.items() if answer == key or (answer and what.startswith(answer))), "")
        if key == "q" or WORDS.get(answer) == "q":
            raise UserLeaves
        if key:
            return key
        renderer.screen.remark(f"Type {', '.join(offers)}.", style="yellow")


def act_on_answer(renderer: Renderer, ask: Callable[[], str], act: Callable[[str], T]) -> T | None:
    """Ask until `act` takes the answer, and return what it makes of it; None for Ctrl-D.

    The first Ctrl-C goes back to the question, and so does Ctrl-D at one below it. One that drops typed
    words only drops them. Raises KeyboardInterrupt for a second Ctrl-C, and where somebody has left already.
    """
    stopped = False
    while True:
        asked = False
        try:
            renderer.write_ahead()
            answer = ask()
            stopped, asked = False, True
            return act(answer)
        except (BadAnswer, SettingsError, StoryError) as problem:
            renderer.screen.rest()
            renderer.screen.remark(spell_options(str(problem)), style="yellow")
        except EOFError:
            if not asked or not prompt.at_terminal():
                return None
            # It was typed at a question below this one.
            renderer.screen.rest()
            renderer.screen.remark("\nNothing was changed.", style="yellow")
        except KeyboardInterrupt as stop:
            left = stopped and not isinstance(stop, DraftDropped)
            if left or isinstance(stop, (Ended, UserLeaves)) or not prompt.at_terminal():
                raise
            stopped = True
            renderer.screen.rest()
            renderer.screen.remark("\nNothing was changed; Ctrl-C again leaves.", style="yellow")


def went_elsewhere(renderer: Renderer, answer: str) -> bool:
    """Tell whether the story went elsewhere while somebody thought about an answer, and say so; leaving needs no plans."""
    word = answer.casefold().removeprefix("/")
    if WORDS.get(word, word) == "q" or not renderer.moved:
        return False
    step = renderer.story.passage().step
    where = f"after passage {step}" if step else "at its opening"
    renderer.screen.remark(
        f"\nMeanwhile the story was changed elsewhere and stands {where} now, so the answer was not taken.",
        style="yellow",
    )
    stand(renderer)
    return True


def remind(renderer: Renderer) -> None:
    """Show how the passage ends where the story stands, to somebody who comes back to it."""
    if renderer.json:
        return
    passage = renderer.story.passage()
    if passage.text:
        renderer.screen.remark(f"\n{passage.step}  … {one_line(passage.text.splitlines()[-1])}")


def read_again(renderer: Renderer, count: int) -> None:
    """Show the newest passages of the branch again, whole."""
    last = renderer.story.passage().step
    if not last:
        raise BadAnswer("There is no passage yet to read.")
    for step in range(max(1, last - count + 1), last + 1):
        passage = renderer.story.passage(step)
        renderer.screen.remark(f"\n{step}  {one_line(passage.plan)}\n")
        renderer.screen.remark(visible(passage.text), style="")


def show_tree(renderer: Renderer) -> None:
    """Show all branches, apart from the story."""
    from recurrentgpt.cli.terminal.tree_drawing import draw_tree

    screen = renderer.screen
    for line in draw_tree(renderer.story.tree()):
        rows = line.rows(screen.remarks.width) if screen.animated else [(line.stem, line.text)]
        for stem, text in rows:
            screen.remark(stem + text, style="bold" if line.head else "", cut=True)


def _turn(renderer: Renderer, left: int | None) -> int | None:
    """Let the person act until a plan is chosen; return how many passages to write, None to leave."""
    story = renderer.story

    def ask() -> str:
        return prompt.ask(
            f"Next? [{numbers(len(story.plans))}{', '.join(KEYS)}] ",
            lines=[*WORDS, *(f"{word} {name}" for word in ("g", "goto") for name in story.names())],
            words=last_words(renderer),
        )

    def act(answer: str) -> tuple[str, int]:
        if went_elsewhere(renderer, answer):
            return "g", 0
        reply = understand(answer, len(story.plans), story.context.language)
        return reply.key, _act(renderer, reply)

    show_plans(renderer)
    while True:
        key, count = act_on_answer(renderer, ask, act) or ("q", 0)
        if key == "q":
            return None
        if count:
            return count if left is None else min(count, left)
        if key in ("a", "r", "u", "y", "k", "p", "g"):
            show_plans(renderer)


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
            renderer.choose({"action": "write", "plan": reply.text or ask_words("Your plan: ")})
        case "l":
            read_again(renderer, reply.number or 1)
        case "s":
            return _how_many(reply.number)
        case "a":
            stoppable(renderer, renderer.retry)
        case "r":
            renderer.replan()
        case "m":
            edit_memory(renderer)
        case "u":
            undo(renderer, reply.number or 1)
        case "y":
            redo(renderer, reply.number or 1)
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
            story.goto(reply.text or ask_name("Go to which passage? ", story.names()))
            stand(renderer)
        case "?":
            _help(renderer)
    return int(reply.key in ("1", "e", "w"))


def undo(renderer: Renderer, steps: int) -> None:
    """Take back what was done last, and say what that was."""
    was = renderer.story.passage()
    now = renderer.story.undo(steps)
    renderer.screen.remark(f"\nUndone: {_between(now, was)}.", style="")
    stand(renderer)


def redo(renderer: Renderer, steps: int) -> None:
    """Do again what was undone last, and say what that is."""
    was = renderer.story.passage()
    now = renderer.story.redo(steps)
    renderer.screen.remark(f"\nDone again: {_between(was, now)}.", style="")
    stand(renderer)


def _between(earlier: Passage, later: Passage) -> str:
    """Return what makes of one place in a story a later one: passages, or what was changed of the newest."""
    if later.step > earlier.step:
        first = earlier.step + 1
        return f"passage {later.step}" if later.step == first else f"passages {first} to {later.step}"
    changes = {
        "the edit": later.text != earlier.text,
        "the change of the memory": later.short_term_memory != earlier.short_term_memory,
        "the plans": later.plans != earlier.plans,
        "the new summary": later.summary != earlier.summary,
    }
    what = next((name for name, changed in changes.items() if changed), "a correction")
    where = f"passage {later.step}" if later.step else "the opening"
    return f"{what} {'of' if what == 'the edit' else 'after'} {where}"


def stand(renderer: Renderer) -> None:
    """Read where the story stands after a move, and show it."""
    renderer.look()
    remind(renderer)


def last_words(renderer: Renderer) -> Callable[[str, str], list[str]]:
    """Return what the last word of an answer may become: a setting behind the key for those, else a character's name."""
    names = character_names(renderer.story.brief) if prompt.at_terminal() else []
    people = sorted({part for name in names for part in name.split() if part[:1].isupper()})

    def words(before: str, begun: str) -> list[str]:
        key = (before.split() or [""])[0].casefold().removeprefix("/")
        if WORDS.get(key, key) == "o":
            return [word for word, _ in setting_words(STORY_SETTINGS, begun)]
        return people if begun else []

    return words


def numbers(plans: int) -> str:
    """Return how the plans are numbered, for a question."""
    return {0: "", 1: "1, "}.get(plans, f"1-{plans}, ")


def show_plans(renderer: Renderer, question: str = "What happens next?") -> None:
    """Show the plans to choose from."""
    plans = renderer.offer()
    if renderer.json:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold", max_width=96)
    for number, plan in enumerate(plans, 1):
        table.add_row(Text(str(number), style="bold"), Text(one_line(plan)))
    renderer.screen.remark(f"\n{question}", style="bold")
    renderer.screen.remark(table, style="")


def _help(renderer: Renderer) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for key, what in {f"1-{len(renderer.story.plans)}": "choose that plan", **KEYS}.items():
        table.add_row(f"  {key}", Text(what))
    renderer.screen.remark(table, style="")
    renderer.screen.remark(EDITING, style="")


def _which(number: int | None, plans: int) -> int:
    if number is None:
        answer = "1" if plans == 1 else prompt.ask(f"Edit which plan? [1-{plans}] ")
        number = plan_number(answer) or 0
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
    return prompt.edit(text, about) or refuse_empty() if prompt.editor() else ask_words("Plan: ", text)
