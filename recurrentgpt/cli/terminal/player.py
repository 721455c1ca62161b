"""`recurrentgpt play` at work: choices, free actions, and commands that begin with a slash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import one_line
from recurrentgpt.cli.terminal.interactive import (
    act_on_answer,
    converse,
    last_words,
    numbers,
    read_again,
    redo,
    show_plans,
    show_tree,
    stand,
    stoppable,
    undo,
    went_elsewhere,
    write,
)
from recurrentgpt.cli.terminal.keys import EDITING, ask_name, no_command, plan_number
from recurrentgpt.cli.terminal.memory_editor import edit_memory
from recurrentgpt.cli.terminal.story_editor import change_note, change_settings, choose_take, edit_passage
from recurrentgpt.schema.errors import BadAnswer, SettingsError

if TYPE_CHECKING:
    from recurrentgpt.cli.terminal.renderer import Renderer
    from recurrentgpt.story_protocol import StoryProtocol

COMMANDS = {
    "undo": "take back the newest passage (/undo 2 for two)",
    "redo": "do it again (/redo 2 for two)",
    "save": "keep this moment as /save NAME",
    "saves": "list what was saved",
    "load": "go back to what was saved, /load NAME; what was played since stays in the log",
    "retry": "tell the newest passage once more, from the same action",
    "choices": "offer other choices",
    "read": "read this passage again (/read 3 for the last three)",
    "memory": "show what the story remembers, and edit it",
    "takes": "list the takes of this passage, or play on from another (/takes 2)",
    "edit": "give this passage another text; the memory follows",
    "note": "what the story is to keep in mind, /note TEXT",
    "settings": "how the story is told: list that, or change it (/settings pace=slow)",
    "tree": "show everything that was played, branch by branch",
    "auto": "let the simulator play for you (/auto 3 for three passages)",
    "help": "this help",
    "quit": "save and leave",
}
LETTERS = {"q": "quit", "m": "memory", "?": "help"}
"""What `write -i` knows and nobody means as an action; `u` may be up, `s` south, and so on."""

_COMMAND = re.compile(r"/\s*([a-z?]*)\s*(.*)", re.DOTALL | re.IGNORECASE)


def play(renderer: Renderer, auto: int | None) -> None:
    """Play until somebody leaves; with `auto`, let the simulator play so many passages."""
    story = renderer.story
    if story.context.mode != "fiction":
        raise SettingsError(
            f"{one_line(renderer.title)!r} is a novel: go on with `recurrentgpt write -i {story.id}`, or make it a story to play "
            f"with `recurrentgpt set {story.id} mode=fiction`."
        )

    def around() -> AbstractContextManager[None]:
        return _saves_stay(story)

    if auto:
        write(renderer, auto, around)
        return
    if not renderer.exists():
        stoppable(renderer, renderer.begin)
        renderer.look()
    converse(renderer, None, _turn, around)


def understand(line: str, choices: int) -> tuple[str, str]:
    """Return the command that a line is and what it says: `choose` a number, `act` in these words, or one of `COMMANDS`.

    Raises BadAnswer with the reason where it means nothing.
    """
    text = line.strip()
    if not text:
        raise BadAnswer("Type the number of a choice, or what you do in your own words; /help shows the commands.")
    if text.casefold() in LETTERS:
        return LETTERS[text.casefold()], ""
    if found := _COMMAND.fullmatch(text):
        word, rest = found[1].casefold(), found[2].strip()
        command = LETTERS.get(word, word)
        if command in COMMANDS:
            return command, rest
        raise no_command(word, COMMANDS, "/help shows them.")
    if (number := plan_number(text)) is not None:
        if not 1 <= number <= choices:
            raise BadAnswer(f"There is no choice {number}; they are numbered 1 to {choices}.")
        return "choose", str(number)
    if len(text) == 1 and text.isascii():
        raise BadAnswer(f"{text!r} alone is too short for an action: say what you do, or type /help.")
    return "act", text


def _turn(renderer: Renderer, left: int | None) -> int | None:
    """Let the reader act until there is a passage to write; return how many, None to leave."""
    story = renderer.story

    def ask() -> str:
        return prompt.ask(
            f"You? [{numbers(len(story.plans))}your own words, /help] ",
            lines=[*(f"/{command}" for command in COMMANDS), *(f"/load {name}" for name in story.names())],
            words=last_words(renderer),
        )

    def act(answer: str) -> tuple[str, int]:
        if went_elsewhere(renderer, answer):
            return "load", 0
        command, rest = understand(answer, len(story.plans))
        with nullcontext() if command in ("save", "quit") else _saves_stay(story):
            return command, _do(renderer, command, rest)

    _offer(renderer)
    while True:
        command, count = act_on_answer(renderer, ask, act) or ("quit", 0)
        if command == "quit":
            return None
        if count:
            return count
        if command in ("undo", "redo", "load", "retry", "choices", "takes", "edit"):
            _offer(renderer)


def _offer(renderer: Renderer) -> None:
    show_plans(renderer, "What do you do?" if renderer.step else "Who are you?")


def _do(renderer: Renderer, command: str, rest: str) -> int:
    """Do what was typed; return how many passages to write now."""
    story = renderer.story
    match command:
        case "choose":
            renderer.choose(int(rest))
            return 1
        case "act":
            renderer.choose({"action": "write", "plan": rest})
            return 1
        case "auto":
            return _number(rest)
        case "undo":
            undo(renderer, _number(rest))
        case "redo":
            redo(renderer, _number(rest))
        case "save":
            name = story.name_branch(rest or ask_name("Save under which name? "))
            renderer.screen.remark(f"Saved as {name}.")
        case "saves":
            _list_saves(renderer)
        case "load":
            _load(renderer, rest)
        case "retry":
            stoppable(renderer, renderer.retry)
        case "choices":
            renderer.replan()
        case "read":
            read_again(renderer, _number(rest))
        case "memory":
            edit_memory(renderer)
        case "takes":
            choose_take(renderer, rest)
            stand(renderer)
        case "edit":
            edit_passage(renderer)
        case "note":
            change_note(renderer, rest)
        case "settings":
            change_settings(renderer, rest)
        case "tree":
            show_tree(renderer)
        case "help":
            _help(renderer)
    return 0


def _load(renderer: Renderer, name: str) -> None:
    names = {known.casefold(): known for known in renderer.story.names()}
    name = name or ask_name("Load what? ", names)
    if name.casefold() not in names:
        listed = f"there are {', '.join(names.values())}" if names else "/save NAME saves this moment"
        raise BadAnswer(f"Nothing was saved as {name[:60]!r}; {listed}.")
    renderer.story.goto(name)
    stand(renderer)


def _list_saves(renderer: Renderer) -> None:
    tree = renderer.story.tree()
    lines = [f"  {name}  (passage {tree.nodes[at].step})" for name, at in sorted(tree.names.items())]
    renderer.screen.remark("\n".join(lines) or "Nothing was saved yet; /save NAME saves this moment.", style="")


def _number(text: str) -> int:
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and len(text) < 5 and int(text)):
        raise BadAnswer(f"{text[:40]!r} is no number of passages; leave it out for one.")
    return int(text)


def _help(renderer: Renderer) -> None:
    own = "Type the number of a choice, or what you do in your own words: I bribe the guard."
    lines = [own, *(f"  /{command:<9} {what}" for command, what in COMMANDS.items()), EDITING]
    renderer.screen.remark("\n".join(lines), style="")


@contextmanager
def _saves_stay(story: StoryProtocol) -> Iterator[None]:
    """Keep what was saved where it is: the name of a branch would go along with whoever plays on from there."""
    there = story.names() if story.head else {}
    try:
        yield
    finally:
        for name, moved in (story.names() if there else {}).items():
            if there.get(name, moved) != moved:
                story.name_branch(name, there[name])
