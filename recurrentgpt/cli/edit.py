"""`edit` and its like: another text for a passage, the memory, a plan, a summary or the brief."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from recurrentgpt.cli.console import note, print_json
from recurrentgpt.cli.texts import keep_draft, new_text
from recurrentgpt.cli.work import confirmed, reading, said, writing
from recurrentgpt.schema.errors import BadAnswer, SettingsError, StoryError

if TYPE_CHECKING:
    from recurrentgpt.cli.session import Session
    from recurrentgpt.engine.passage import Passage
    from recurrentgpt.schema.state import Brief
    from recurrentgpt.story import Story

SAME = "Nothing was changed: it is the same text."


def edit_passage(
    name: str, ref: str | None, text: str | None, file: str | None, settings: dict[str, Any],
    *, replay: bool, yes: bool, json: bool,
) -> None:  # fmt: skip
    """Give a passage another text."""
    with reading(name) as story:
        # The id, as a step means another passage once the head has moved.
        passage, id = story.passage(ref), story.id
        if not passage.step:
            raise StoryError("The opening has no passage to edit; edit the memory, the plans or the brief instead.")
    new = new_text(passage.text, "passage", text, file)
    if new is None:
        note(SAME)
        return
    with writing(id, settings, json=json) as session:
        draft = keep_draft(id, new) if text is None and file is None else None
        again = ["edit", id, passage.id]
        if draft:
            again += ["--file", str(draft)]
        elif text is not None:
            again += [f"--text={text}"]
        else:
            again += ["--file", str(file)]
        session.again = [*again, *(["--replay"] if replay else []), *said(settings)]
        if replay and not _worth_it(session, passage.id, yes=yes):
            note("Nothing was changed." + (f" Your text is in {draft}." if draft else ""))
            return
        if replay:
            session.again = ["edit", id, "--resume", *said(settings)]
        _rewrite(session, passage.id, new, replay=replay)
        if draft:
            draft.unlink(missing_ok=True)


def _rewrite(session: Session, ref: str, text: str, *, replay: bool) -> None:
    session.work(session.story.edit_passage(ref, text, replay=replay))
    if not session.json:
        _told(session, session.story.passage(ref), text)


def _told(session: Session, old: Passage, text: str) -> None:
    """Say that a passage is edited, how to take it back, and what the edit does not reach."""
    from recurrentgpt.nodes.small.reply_patterns import first_name

    story, words = session.story, set(re.findall(r"\w+", text))
    session.screen.remark(f"Passage {old.step} is edited. Take it back: recurrentgpt undo {story.id}")
    names = [name for person in story.brief["characters"] if (name := person.partition(":")[0].strip())]
    gone = [name for name in names if not words & set(name.split()) and first_name(name) in old.text]
    still = f"still tells of {', '.join(gone)}" if gone else "is as it was"
    session.screen.remark(f"The brief, which is in every prompt, {still}: recurrentgpt edit-brief {story.id}")


def _worth_it(session: Session, ref: str, *, yes: bool) -> bool:
    """Say what a replay costs, and ask."""
    from recurrentgpt.cli.session import duration

    cost = session.story.replay_cost(ref)
    if session.json:
        print_json({"event": "cost", **cost.as_json()})
    tokens = cost.input_tokens + cost.output_tokens
    what = "1 passage" if cost.passages == 1 else f"{cost.passages:,} passages"
    session.screen.remark(
        f"The memory is rewritten after {what}: about {cost.calls:,} calls, {tokens:,} tokens, {duration(cost.seconds)}.",
        style="",
    )
    return confirmed("Go on?", yes=yes)


def pending(
    name: str, ref: str | None, text: str | None, file: str | None, settings: dict[str, Any],
    *, resume: bool, drop: bool, json: bool,
) -> None:  # fmt: skip
    """Go on with a replay that was interrupted, or forget it."""
    if resume and drop:
        raise SettingsError("A replay is either gone on with (--resume) or forgotten (--drop).")
    if ref is not None or text is not None or file is not None:
        raise SettingsError("The replay knows its passage and its text: leave both out.")
    if drop:
        with reading(name) as story:
            if story.pending_replay is None:
                raise StoryError("No replay of this story is unfinished.")
            story.drop_replay()
            note("Forgotten. The story stands where it stood before the edit.")
        return
    with writing(name, settings, json=json) as session:
        session.again = ["edit", session.story.id, "--resume", *said(settings)]
        unfinished = session.story.pending_replay
        session.work(session.story.resume_replay())
        if unfinished and not session.json:
            _told(session, session.story.passage(unfinished.ref), unfinished.text)


def edit_memory(name: str, at: str | None, text: str | None, file: str | None, *, json: bool) -> None:
    """Edit the short-term memory."""
    with reading(name) as story:
        passage = story.passage(at)
        new = new_text(passage.short_term_memory, "memory", text, file)
        memory = passage.short_term_memory if new is None else story.edit_memory(new, passage.id)
        if json:
            print_json({"story": story.id, "step": passage.step, "short_term_memory": memory})
        else:
            note(SAME if new is None else f"The memory after passage {passage.step} is saved. {_standing(story)}")


def edit_plan(name: str, number: int, at: str | None, text: str | None, file: str | None, *, json: bool) -> None:
    """Edit one of the plans."""
    with reading(name) as story:
        passage = story.passage(at)
        plans = passage.plans
        if number > len(plans):
            there = f"they are numbered 1 to {len(plans)}" if plans else "there are none here"
            raise BadAnswer(f"There is no plan {number}; {there}.")
        new = new_text(plans[number - 1], "plan", text, file)
        plans = plans if new is None else story.edit_plan(number, new, passage.id)
        if json:
            print_json({"story": story.id, "step": passage.step, "plans": plans})
        else:
            note(SAME if new is None else f"{_standing(story)} Choose it: recurrentgpt choose {story.id} {number}")


def edit_summary(name: str, ref: str, text: str | None, file: str | None, *, json: bool) -> None:
    """Edit what the long-term memory holds of a passage."""
    with reading(name) as story:
        passage = story.passage(ref)
        new = new_text(passage.summary, "summary", text, file)
        summary = passage.summary if new is None else story.edit_summary(passage.id, new)
        if json:
            print_json({"story": story.id, "step": passage.step, "summary": summary})
        else:
            note(SAME if new is None else f"The summary of passage {passage.step} is saved. {_standing(story)}")


def edit_brief(name: str, text: str | None, file: str | None, *, json: bool) -> None:
    """Edit what is in every prompt."""
    with reading(name) as story:
        brief = story.brief
        new = new_text(written(brief), "brief", text, file)
        if new is not None:
            brief = story.edit_brief(**parsed(new))
        if json:
            print_json({"story": story.id, "brief": brief})
        else:
            note(SAME if new is None else f"The brief is saved; what is written from here has it. {_standing(story)}")


def _standing(story: Story) -> str:
    """Say where a correction put the story: on a corrected version, before which nothing is corrected."""
    at = story.passage()
    where = f"passage {at.step}" if at.step else "the opening"
    return f"You are at {where} ({at.id[:8]}), which has the correction, and so has all that follows it."


def written(brief: Brief) -> str:
    """Return a brief as a text to edit."""
    parts = [("Genre", [brief["genre"]]), ("Premise", [brief["premise"]])]
    parts += [("Characters", brief["characters"]), ("Outline", brief["outline"])]
    return "\n\n".join("\n".join([f"# {heading}", *lines]) for heading, lines in parts)


def parsed(text: str) -> dict[str, Any]:
    """Return the parts of a brief that a text holds; raise SettingsError where it has no headings."""
    parts: dict[str, list[str]] = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"#+\s*(\w+):?\s*", line):
            name = heading[1].casefold()
            if name not in ("genre", "premise", "characters", "outline"):
                raise SettingsError(
                    f"The brief has no part {heading[1]!r}: there are Genre, Premise, Characters, Outline."
                )
            parts[name] = []
        elif line.strip():
            if not parts:
                raise SettingsError("The brief begins with a heading: # Genre, # Premise, # Characters or # Outline.")
            parts[list(parts)[-1]].append(line.strip().removeprefix("- "))
    lines = ("genre", "premise")
    return {name: " ".join(found) if name in lines else found for name, found in parts.items()}
