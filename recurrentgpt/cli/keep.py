"""`rename`, `archive`, `unarchive`, `erase`, `set` and `show --settings`: what a story is called, and how it is told."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from recurrentgpt.cli.console import counted, note, one_line, print_json, print_table
from recurrentgpt.cli.work import confirmed, reading
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from recurrentgpt.story import Story


def rename(name: str, title: str) -> None:
    """Give a story another title."""
    with reading(name) as story:
        note(f"{story.id} is now called {one_line(story.rename(title))!r}.")


def archive(name: str, *, back: bool = False) -> None:
    """Put a story away, or back."""
    with reading(name) as story:
        title = one_line(story.title)
        if back:
            story.unarchive()
            note(f"{title!r} ({story.id}) is in the list of stories again.")
        else:
            story.archive()
            note(f"{title!r} ({story.id}) is put away. Bring it back: recurrentgpt unarchive {story.id}")


def erase(name: str, *, yes: bool) -> None:
    """Delete a story for ever, after asking."""
    with reading(name) as story:
        title, passages = one_line(story.title), sum(node.step > 0 for node in story.tree().nodes.values())
        what = f"{title!r} ({story.id}), {counted(passages, 'passage')} on all its branches"
        if not confirmed(f"Erase {what}, for ever?", yes=yes):
            note("Nothing was erased.")
            return
        engine = story.engine
        call(lambda: engine.erase(story.id))
        note(f"{title!r} ({story.id}) is erased.")


def set_settings(name: str, pairs: list[str], *, json: bool) -> None:
    """Change settings of a story, and print what they are then."""
    if not pairs:
        raise SettingsError("Say what to set, as NAME=VALUE; `recurrentgpt show STORY --settings` lists what there is.")
    changes = _changes(pairs)
    with reading(name) as story:
        before = story.settings
        after = story.change_settings(**changes)
        # Somebody at a terminal wants to see what has changed, a program all that holds.
        print_settings(story, after if json else {name: after[name] for name in changes}, json=json)
        if not json and before == after:
            note("It was so already; nothing was changed.")


def _changes(pairs: list[str]) -> dict[str, Any]:
    import dataclasses

    from recurrentgpt.schema.context import STORY_SETTINGS, Context

    usual = {item.name: item.default for item in dataclasses.fields(Context)}
    changes: dict[str, Any] = {}
    for pair in pairs:
        given, equals, value = pair.partition("=")
        name = given.strip().replace("-", "_")
        if not equals:
            raise SettingsError(f"{pair!r} is not NAME=VALUE, for example pace=slow.")
        if name not in STORY_SETTINGS:
            near = difflib.get_close_matches(name, STORY_SETTINGS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(STORY_SETTINGS)}."
            raise SettingsError(f"A story has no setting {given.strip()!r}; {hint}")
        changes[name] = value if value.strip() else usual[name]
    return changes


def show_settings(name: str, *, remote: str | None, json: bool) -> None:
    """Print how a story is told."""
    with reading(name, remote) as story:
        print_settings(story, story.settings, json=json)


def print_settings(story: Story, settings: dict[str, Any], *, json: bool) -> None:
    """Print settings with what each of them does."""
    import dataclasses

    from recurrentgpt.schema.context import Context

    if json:
        print_json({"story": story.id, "settings": settings})
        return
    told = {item.name: item.metadata["description"] for item in dataclasses.fields(Context)}
    rows = [(name, _shown(value), told.get(name, "")) for name, value in settings.items()]
    print_table(("Setting", "Value", "What it does"), rows)


def _shown(value: Any) -> str:
    if value in ("", None):
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
