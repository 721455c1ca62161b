"""One turn of a person or an agent in a story, answered as at the human's turn of the graph."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from recurrentgpt.engine.refs import Ref
from recurrentgpt.nodes.human.answers import is_played, parse_answer
from recurrentgpt.nodes.human.phrases import LEFT
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.schema.events import Event
from recurrentgpt.story import AsyncStory


class StoryLeft(BadAnswer):
    """Report that whoever answered leaves the story as it stands, and is to be asked no more."""


async def take_turn(story: AsyncStory, raw: object, at: Ref | None = None, *, asked: str = "") -> AsyncGenerator[Event]:
    """Return what follows from an answer to the question what happens next, to be iterated; raise BadAnswer at once.

    The answer is a number, a plan in one's own words, an action such as `another take`, or their fields; it is given after
    the passage `at`, by default the newest; a yes answers the question that was `asked` back before. A plan from which a passage
    was written there already is written once more. Raises StoryLeft for `end`.
    """
    here = await story.passage(at)
    played = is_played(story.context.mode, here.step)
    answer = parse_answer(raw, here.plans, here.short_term_memory, played=played, asked=asked)
    match answer.action:
        case "another_take" if here.step:
            return story.retry(here.id)
        case "another_take":
            raise BadAnswer("There is no passage yet to take again; choose one of the plans, or write your own.")
        case "new_plans":
            return story.replan(here.id)
        case "simulator":
            if at is not None:
                await story.goto(here.id)
            return story.stream(answer.passages or 1)
        case "end":
            raise StoryLeft(LEFT)
        case "choose" | "edit":
            number = None if answer.index is None else answer.index + 1
            fields: dict[str, object] = {"action": answer.action, "number": number, "plan": answer.plan}
        case "write":
            fields = {"action": "write", "plan": answer.plan}
    if answer.memory is not None:
        fields["short_term_memory"] = answer.memory
    elif taken := await _written_from(story, here.id, answer.plan):
        return story.retry(taken)
    await story.choose(fields, here.id)
    return story.stream(1)


async def _written_from(story: AsyncStory, parent: str, plan: str) -> str | None:
    """Return the newest passage after `parent` that was written from this plan, if there is one."""
    log = story.engine.log
    after = [key for key, link in (await log.links(story.id)).items() if link["parent"] == parent]
    taken = [commit for commit in await log.get_many(story.id, after) if commit["plan"] == plan]
    return max(taken, key=lambda commit: commit["created"])["id"] if taken else None
