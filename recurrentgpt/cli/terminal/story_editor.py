"""Change a story in the middle of an interactive run: its settings, the newest passage, which take of it counts, its names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import one_line, visible
from recurrentgpt.cli.terminal.keys import ask_name, ask_words, refuse_empty
from recurrentgpt.cli.terminal.settings_input import parse_settings, setting_rows, setting_words
from recurrentgpt.cli.terminal.text_input import save_draft
from recurrentgpt.schema.context import STORY_SETTINGS
from recurrentgpt.schema.errors import BadAnswer

if TYPE_CHECKING:
    from recurrentgpt.cli.terminal.renderer import Renderer

_NEXT_PAIR = re.compile(r"\s+(?=[\w-]+=)")


def change_settings(renderer: Renderer, text: str) -> None:
    """Change settings of the story, given as NAME=VALUE; show all and ask where none is given."""
    story = renderer.story
    if not text:
        rows = [f"  {name:<14} {value:<12} {what}" for name, value, what in setting_rows(story.settings)]
        renderer.screen.remark("\n".join(rows), style="", cut=True)
        question = "Change which? [NAME=VALUE, Enter: none] "
        text = prompt.ask(question, words=lambda _, begun: [word for word, _ in setting_words(STORY_SETTINGS, begun)])
        text = text or refuse_empty()
    changed = parse_settings(_NEXT_PAIR.split(text))
    kept = story.change_settings(**changed)
    for name, value, _ in setting_rows({name: kept[name] for name in changed}):
        renderer.screen.remark(f"{name} is {value} from the next passage on.")


def change_note(renderer: Renderer, text: str) -> None:
    """Change the author's note; an empty answer takes it away."""
    note = text or ask_words("Note: ", str(renderer.story.settings["note"]), required=False)
    renderer.story.change_settings(note=note)
    renderer.screen.remark("The note stands last in the next prompts." if note else "There is no note now.")


def edit_passage(renderer: Renderer) -> None:
    """Give the newest passage another text."""
    story, old = renderer.story, renderer.story.passage()
    if not old.step:
        raise BadAnswer("There is no passage yet to edit.")
    new = prompt.edit(old.text, "passage") or refuse_empty() if prompt.editor() else ask_words("Passage: ", old.text)
    draft = save_draft(story.id, new)
    renderer.work(story.edit_passage(old.id, new))
    draft.unlink(missing_ok=True)
    renderer.screen.remark(f"Passage {old.step} is edited.")


def choose_take(renderer: Renderer, text: str) -> None:
    """Go to another take of the newest passage, by its number in the list, which is shown where none is given."""
    tree = renderer.story.tree()
    here = tree.nodes[tree.head]
    takes = [node.id for node in tree.nodes.values() if node.step and node.parent == here.parent]
    if len(takes) < 2:
        raise BadAnswer("There is one take of this passage.")
    if not text:
        for number, take in enumerate(takes, 1):
            mark, first = "*" if take == here.id else " ", one_line(renderer.story.passage(take).text)
            renderer.screen.remark(f"{mark}{number:>3}  {tree.nodes[take].words} words  {first}", style="", cut=True)
        text = prompt.ask(f"Go on from which? [1-{len(takes)}, Enter: as it is] ") or refuse_empty()
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
    if not 1 <= number <= len(takes):
        raise BadAnswer(f"The takes are numbered 1 to {len(takes)}; nothing was changed.")
    renderer.story.goto(takes[number - 1])


def name_branch(renderer: Renderer, text: str) -> None:
    """Give the branch a name, by which it can be gone back to."""
    name = renderer.story.name_branch(text or ask_name("Which name? "))
    renderer.screen.remark(f"This branch is now called {visible(name)!r}.")
