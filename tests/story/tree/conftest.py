"""What the tests of a story's tree share."""

from collections.abc import Callable

import pytest

from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.memory.story_log import Commit
from recurrentgpt.story import Story
from recurrentgpt.testing import ScriptedChatModel


@pytest.fixture
def written(begin: Callable[..., Story]) -> Callable[..., Story]:
    """Give a maker of stories of some passages."""

    def make(passages: int, **settings: object) -> Story:
        story = begin(**settings)
        list(story.stream(passages))
        return story

    return make


@pytest.fixture
def prompts(model: ScriptedChatModel) -> Callable[..., list[str]]:
    """Give the whole prompts of all calls from number `beginning` on."""

    def found(beginning: int = 0) -> list[str]:
        return ["\n".join(str(message.text) for message in call) for call in model.calls[beginning:]]

    return found


@pytest.fixture
def log() -> Callable[[Story], dict[str, Commit]]:
    """Give a reader of every commit that a story ever made, by id."""

    def read(story: Story) -> dict[str, Commit]:
        async def all_of_them() -> list[Commit]:
            log = story.engine.log
            return await log.get_many(story.id, list(await log.links(story.id)))

        return {commit["id"]: commit for commit in call(all_of_them)}

    return read
