"""`edit` and its like: another text for a passage, the memory, a plan, a summary or the brief."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from recurrentgpt.cli.commands.options import (
    GROUP,
    HELP,
    RUN_OPTIONS,
    At,
    File,
    Json,
    JsonObject,
    MaybePassageRef,
    PassageRef,
    StoryName,
    Text,
    Truth,
    Yes,
    with_settings,
)
from recurrentgpt.cli.commands.story_context import as_options, confirmed, opening, writing
from recurrentgpt.cli.terminal import prompt
from recurrentgpt.cli.terminal.console import console, note, print_json
from recurrentgpt.cli.terminal.prose import print_passage
from recurrentgpt.cli.terminal.settings_input import Settings
from recurrentgpt.cli.terminal.text_input import TextInput, save_draft
from recurrentgpt.prose.sentences import UNSPACED, limit_words
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError
from recurrentgpt.schema.parts import Rework

if TYPE_CHECKING:
    from pathlib import Path

    from recurrentgpt.cli.terminal.renderer import Renderer
    from recurrentgpt.schema.state import Brief, Usage
    from recurrentgpt.story import Passage, Story

_PARTS = ("genre", "premise", "synopsis", "voice", "characters", "outline", "truth", "clues")
_LISTS = ("characters", "outline", "clues")
_HIDDEN = ("truth", "clues")
"""Parts of a brief that are kept from the reader."""

_SAME = "Nothing was changed: it is the same text."


class _PassageByDefault(TyperGroup):
    """A group in which `edit STORY` is `edit passage STORY`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in that was left out."""
        if args and args[0] not in (*self.commands, *HELP):
            args = ["passage", *args]
        return super().parse_args(ctx, args)


edit = typer.Typer(cls=_PassageByDefault, **GROUP)


@edit.callback()
def _edit() -> None:
    """Edit a passage, the memory, a plan, a summary or the brief.

    \b
    Examples:
      recurrentgpt edit 3f2a 4                  the fourth passage, as `edit passage 3f2a 4`
      recurrentgpt edit memory 3f2a
      recurrentgpt edit plan 3f2a 2 --text "They turn back before the bridge."
      recurrentgpt edit brief 3f2a --file brief.md
      recurrentgpt edit part 3f2a 4 "The door was open." --how expand
    """


def deprecated(command: Callable[..., None], name: str) -> Callable[..., None]:
    """Return a command under its former name, which says how it is called now; it goes with 0.3.0."""

    @functools.wraps(command)
    def run(*given: Any, **named: Any) -> None:
        note(f"`recurrentgpt {name.replace(' ', '-')}` is `recurrentgpt {name}` now, and goes with 0.3.0.")
        command(*given, **named)

    return run


@edit.command("passage")
@with_settings(RUN_OPTIONS)
def edit_passage(
    story: StoryName,
    passage: MaybePassageRef = None,
    text: Text = None,
    file: File = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Keep the later passages word for word on top of the edit.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a replay that was interrupted.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Give up a replay that was interrupted.")] = False,
    yes: Yes = False,
    json: Json = False,
    *,
    settings: Settings,
) -> None:
    """Give a passage another text; the memory follows.

    \b
    Examples:
      recurrentgpt edit 3f2a 4                          in your editor ($VISUAL or $EDITOR)
      recurrentgpt edit 3f2a 4 --file chapter.txt
      recurrentgpt edit 3f2a 4 --file chapter.txt --replay
      recurrentgpt edit 3f2a --resume                   go on with a replay that was interrupted

    The story goes on from the edited passage; the old one and what followed it stay in the log, and `undo` goes back to
    them. With --replay the later passages are kept, and the memory is rewritten after each: what that costs is shown first.
    """
    if resume or drop:
        if resume and drop:
            raise SettingsError("A replay is either gone on with (--resume) or given up (--drop).")
        if passage is not None or text is not None or file is not None:
            raise SettingsError("The replay knows its passage and its text: leave both out.")
        if drop:
            _drop_replay(story)
        else:
            _resume_replay(story, settings, json=json)
        return
    source = TextInput(text, file)
    with opening(story) as opened:
        # The id, as a step means another passage once the head has moved.
        old, id = opened.passage(passage), opened.id
        if not old.step:
            raise StoryError("The opening has no passage to edit; edit the memory, the plans or the brief instead.")
    new = source.replacing(old.text, "passage")
    if new is None:
        note(_SAME)
        return
    with writing(id, settings, json=json) as renderer:
        draft = save_draft(id, new) if source.typed else None
        given = ["--file", str(draft)] if draft else source.as_options()
        again = ["edit", id, old.id, *given, *(["--replay"] if replay else [])]
        _put_in_place(renderer, old.id, new, draft, again, settings, replay=replay, yes=yes)


def _put_in_place(
    renderer: Renderer,
    ref: str,
    text: str,
    draft: Path | None,
    again: list[str],
    settings: Settings,
    *,
    replay: bool,
    yes: bool,
    paid: Usage | None = None,
) -> None:
    """Give a passage its new text; `draft` is a file that keeps what was typed until that is done, `again` does it anew."""
    id, options = renderer.story.id, as_options(settings)
    renderer.again = [*again, *options]
    if replay:
        if not _replay_is_wanted(renderer, ref, yes=yes):
            note("Nothing was changed." + (f" Your text is in {draft}." if draft else ""))
            return
        renderer.again = ["edit", id, "--resume", *options]
    renderer.work(cast("Story", renderer.story).edit_passage(ref, text, replay=replay, paid=paid))
    _tell_edited(renderer, renderer.story.passage(ref), text)
    if draft:
        draft.unlink(missing_ok=True)


@edit.command("part")
@with_settings(RUN_OPTIONS)
def edit_part(
    story: StoryName,
    passage: PassageRef,
    part: Annotated[
        str,
        typer.Argument(
            metavar="WORDS", help="Words of the passage, or the first and the last of them: `She ... home.`"
        ),
    ],
    how: Annotated[Rework, typer.Option("--how", help="What becomes of them.")] = "rewrite",
    replay: Annotated[
        bool, typer.Option("--replay", help="Keep the later passages word for word on top of the edit.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take what the model writes, without asking.")] = False,
    json: Json = False,
    *,
    settings: Settings,
) -> None:
    """Have the model put a part of a passage in other words, and take them or not.

    \b
    Examples:
      recurrentgpt edit part 3f2a 4 "The door was open." --how expand
      recurrentgpt edit part 3f2a 4 "She ... the stairs." --how shorten
      recurrentgpt edit part 3f2a 4 "The door was open." | tee other-words.txt     only shows them

    What is taken is an edit: the memory follows, and `undo` goes back. Where nobody can be asked, nothing is changed without
    --yes.
    """
    from recurrentgpt.cli.terminal.word_changes import marked_up
    from recurrentgpt.engine.diff import changes
    from recurrentgpt.infrastructure.telemetry import counting
    from recurrentgpt.models.calls import total_usage
    from recurrentgpt.prose.emphasis import uncut

    with opening(story) as opened:
        old, id = opened.passage(passage), opened.id
    found = uncut(old.text, slice(*_place(old.text, part)))
    start, stop = found.start, found.stop
    paid: list[Usage] = []
    with writing(id, settings, json=json) as renderer:
        with counting(paid.append):
            new = cast("Story", renderer.story).rework(old.id, start, stop, how)
        spent = total_usage(paid)
        renderer.usage = total_usage([renderer.usage, spent])
        if json:
            print_json({"event": "suggestion", "step": old.step, "text": new})
        else:
            print_passage(new)
            renderer.screen.remark(marked_up(changes(old.text[start:stop], new)), style="")
        if not yes and not prompt.at_terminal():
            note("Nothing was changed: --yes takes these words.")
            return
        if not confirmed("Take it?", yes=yes):
            note("Nothing was changed.")
            return
        text = old.text[:start] + new + old.text[stop:]
        draft = save_draft(id, text)
        again = ["edit", id, old.id, "--file", str(draft), *(["--replay"] if replay else [])]
        _put_in_place(renderer, old.id, text, draft, again, settings, replay=replay, yes=yes, paid=spent)


def _place(text: str, part: str) -> tuple[int, int]:
    """Return where a part of a text begins and ends; raise BadAnswer where it stands there not once."""
    first, _, last = (" ".join(words.split()) for words in re.sub("…", "...", part).partition("..."))
    pattern = r"[\s\S]*?".join(_whole_words(words) for words in (first, last) if words)
    found = list(re.finditer(pattern, text)) if pattern else []
    if len(found) != 1:
        meant = limit_words(part, 12)
        if not found:
            raise BadAnswer(f"“{meant}” is not in the passage: copy whole words of it.")
        raise BadAnswer(
            f"“{meant}” is {len(found)} times in the passage: name some words more, so that only one is meant."
        )
    return found[0].span()


def _whole_words(words: str) -> str:
    """Return a pattern for words of a text, whatever space is between them, that begins and ends in no word's middle."""
    letter = rf"[^\W{UNSPACED}]"
    begins = rf"(?<!{letter})" if re.match(letter, words) else ""
    ends = rf"(?!{letter})" if re.search(rf"{letter}\Z", words) else ""
    return begins + r"\s+".join(map(re.escape, words.split())) + ends


@edit.command("memory")
def edit_memory(
    story: StoryName, at: At = None, text: Text = None, file: File = None, json: JsonObject = False
) -> None:
    """Edit the short-term memory, one sentence a line.

    \b
    Examples:
      recurrentgpt edit memory 3f2a
      recurrentgpt memory 3f2a --json | jq -r .short_term_memory | recurrentgpt edit memory 3f2a --file -

    After an older passage (--at) the story goes on from there: what followed stays in the log, and `undo` goes back to it.
    """
    with opening(story) as opened:
        passage, stood = opened.passage(at), opened.passage()
        new = TextInput(text, file).replacing(passage.short_term_memory, "memory")
        memory = passage.short_term_memory if new is None else opened.edit_memory(new, passage.id)
        if json:
            print_json({"story": opened.id, "step": passage.step, "short_term_memory": memory})
        else:
            note(
                _SAME
                if new is None
                else f"The memory after passage {passage.step} is saved. {_standing(opened, stood)}"
            )


@edit.command("plan")
def edit_plan(
    story: StoryName,
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="Its number.")],
    at: At = None,
    text: Text = None,
    file: File = None,
    json: JsonObject = False,
) -> None:
    """Edit one of the plans that wait for a choice.

    \b
    Example:
      recurrentgpt edit plan 3f2a 2 --text "They turn back before the bridge."

    After an older passage (--at) the story goes on from there: what followed stays in the log, and `undo` goes back to it.
    """
    with opening(story) as opened:
        passage, stood = opened.passage(at), opened.passage()
        plans = passage.plans
        if number > len(plans):
            there = f"they are numbered 1 to {len(plans)}" if plans else "there are none here"
            raise BadAnswer(f"There is no plan {number}; {there}.")
        new = TextInput(text, file).replacing(plans[number - 1], "plan")
        plans = plans if new is None else opened.edit_plan(number, new, passage.id)
        if json:
            print_json({"story": opened.id, "step": passage.step, "plans": plans})
        else:
            note(
                _SAME
                if new is None
                else f"{_standing(opened, stood)} Choose it: recurrentgpt choose {opened.id} {number}"
            )


@edit.command("summary")
def edit_summary(
    story: StoryName, passage: PassageRef, text: Text = None, file: File = None, json: JsonObject = False
) -> None:
    """Edit what the long-term memory holds of a passage.

    \b
    Example:
      recurrentgpt edit summary 3f2a 4 --text "Mira hides the key below the ninth stair."

    On this branch it is recalled so from now on.
    """
    with opening(story) as opened:
        found = opened.passage(passage)
        new = TextInput(text, file).replacing(found.summary, "summary")
        summary = found.summary if new is None else opened.edit_summary(found.id, new)
        if json:
            print_json({"story": opened.id, "step": found.step, "summary": summary})
        else:
            if new is not None:
                _compare(found.summary, summary)
            note(_SAME if new is None else f"The summary of passage {found.step} is saved. {_standing(opened)}")


@edit.command("brief")
def edit_brief(
    story: StoryName,
    text: Text = None,
    file: File = None,
    truth: Truth = False,
    json: JsonObject = False,
) -> None:
    """Edit the premise, characters and outline in every prompt.

    \b
    Examples:
      recurrentgpt edit brief 3f2a
      recurrentgpt edit brief 3f2a --file brief.md
      recurrentgpt edit brief 3f2a --truth              with the truth behind the story and its clues

    It is a text with the headings # Genre, # Premise, # Synopsis, # Voice, # Characters, # Outline, # Truth and # Clues; what is
    left out stays as it was. A turn of the outline begins with [under way] or [done] where it is no longer to come, a clue that
    was given with [done].
    """
    with opening(story) as opened:
        brief = opened.brief
        new = TextInput(text, file).replacing(brief_as_text(brief, truth=truth), "brief")
        if new is not None:
            brief = opened.edit_brief(**_parts_of_brief(new))
        if json:
            shown = shown_parts(brief, truth=truth)
            print_json({"story": opened.id, "brief": shown})
        else:
            note(_SAME if new is None else f"The brief is saved; what is written from here has it. {_standing(opened)}")


def _compare(before: str, after: str) -> None:
    """Print a text as it is now, with what that changed."""
    from recurrentgpt.cli.terminal.word_changes import marked_up
    from recurrentgpt.engine.diff import changes

    screen = console(stderr=False)
    screen.print(marked_up(changes(before, after)), soft_wrap=not screen.is_terminal)


def _drop_replay(name: str) -> None:
    with opening(name) as story:
        if story.pending_replay is None:
            raise StoryError("No replay of this story is unfinished.")
        story.drop_replay()
        note("Forgotten. The story stands where it stood before the edit.")


def _resume_replay(name: str, settings: Settings, *, json: bool) -> None:
    with writing(name, settings, json=json) as renderer:
        story = renderer.story
        renderer.again = ["edit", story.id, "--resume", *as_options(settings)]
        unfinished = story.pending_replay
        renderer.work(story.resume_replay())
        if unfinished:
            _tell_edited(renderer, story.passage(unfinished.ref), unfinished.text)


def _tell_edited(renderer: Renderer, old: Passage, text: str) -> None:
    """Say that a passage is edited, how to take it back, and what the edit does not reach."""
    from recurrentgpt.nodes.small.reply_patterns import first_name
    from recurrentgpt.schema.parts import character_names

    if renderer.json:
        return
    story, words = renderer.story, set(re.findall(r"\w+", text))
    renderer.screen.remark(f"Passage {old.step} is edited. Take it back: recurrentgpt undo {story.id}")
    gone = [
        name for name in character_names(story.brief) if not words & set(name.split()) and first_name(name) in old.text
    ]
    still = f"still tells of {', '.join(gone)}" if gone else "is as it was"
    renderer.screen.remark(f"The brief, which is in every prompt, {still}: recurrentgpt edit brief {story.id}")


def _replay_is_wanted(renderer: Renderer, ref: str, *, yes: bool) -> bool:
    """Say what a replay costs, and ask."""
    from recurrentgpt.cli.terminal.renderer import duration

    cost = renderer.story.replay_cost(ref)
    if renderer.json:
        print_json({"event": "cost", **cost.as_json()})
    tokens = cost.input_tokens + cost.output_tokens
    what = "1 passage" if cost.passages == 1 else f"{cost.passages:,} passages"
    renderer.screen.remark(
        f"The memory is rewritten after {what}: about {cost.calls:,} calls, {tokens:,} tokens, {duration(cost.seconds)}.",
        style="",
    )
    return confirmed("Go on?", yes=yes)


def _standing(story: Story, stood: Passage | None = None) -> str:
    """Say where a correction put the story: on a corrected version, before which nothing is corrected.

    `stood` is where the story was before; what is left behind by going further back is told of.
    """
    at = story.passage()
    where = f"passage {at.step}" if at.step else "the opening"
    told = f"You are at {where} ({at.id[:8]}), which has the correction, and so has all that follows it."
    if stood is None or stood.step <= at.step:
        return told
    return (
        f"{told} What followed up to passage {stood.step} stays in the log: `recurrentgpt undo {story.id}` goes back."
    )


def shown_parts(brief: Brief, *, truth: bool) -> dict[str, object]:
    """Return the parts of a brief; what is kept from the reader with `truth` alone."""
    return {part: value for part, value in brief.items() if truth or part not in _HIDDEN}


def brief_as_text(brief: Brief, *, truth: bool) -> str:
    """Return a brief as a text to edit, a heading above each part; what is kept from the reader with `truth` alone."""
    found = {part: brief.get(part, []) for part in _PARTS if truth or part not in _HIDDEN}
    parts = {part: [value] if isinstance(value, str) else value for part, value in found.items()}
    shown = {part: lines for part, lines in parts.items() if lines or part in brief}
    return "\n\n".join("\n".join([f"# {part.capitalize()}", *lines]) for part, lines in shown.items())  # type: ignore[misc]


def _parts_of_brief(text: str) -> dict[str, Any]:
    """Return the parts of a brief that a text holds; raise SettingsError where it has no headings."""
    parts: dict[str, list[str]] = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"#+\s*(\w+):?\s*", line):
            name = heading[1].casefold()
            if name not in _PARTS:
                known = ", ".join(part.capitalize() for part in _PARTS)
                raise SettingsError(f"The brief has no part {heading[1]!r}: there are {known}.")
            parts[name] = []
        elif line.strip():
            if not parts:
                raise SettingsError("The brief begins with a heading: # Genre, # Premise, # Characters or # Outline.")
            parts[list(parts)[-1]].append(line.strip().removeprefix("- "))
    return {name: found if name in _LISTS else " ".join(found) for name, found in parts.items()}
