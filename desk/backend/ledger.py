"""What every call for a story has cost: those whose passages are in the log, and those of work that failed or was stopped."""

from __future__ import annotations

from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.memory.story_log import path_to
from recurrentgpt.models.calls import total_usage, used_tokens
from recurrentgpt.models.meter import usage_left
from recurrentgpt.schema.state import Usage
from recurrentgpt.story import Story

COMMITS_AT_ONCE = 200
"""Commits that are read together, so that a long story does not hold the log for seconds."""


class Ledger:
    """The costs of one story, read from its log, with what calls have cost that no commit holds.

    `uncommitted` may be less than nothing for a while: a step that goes on brings the costs of its earlier calls to its commit.
    """

    def __init__(self, story: Story, uncommitted: Usage | None = None) -> None:
        self._story = story
        self.uncommitted = uncommitted or total_usage([])
        self._read: dict[str, Usage] = {}
        self._counted: list[Usage] = []
        self._known: frozenset[str] | None = None

    async def begin(self) -> None:
        """Count from here on what calls cost, until `settle`."""
        self._counted = []
        self._known = frozenset(await acall(lambda: self._story.engine.log.links(self._story.id)))

    def count(self, usage: Usage) -> None:
        """Count calls; from any thread."""
        self._counted.append(usage)

    async def settle(self) -> None:
        """Keep what the calls since `begin` have cost and no commit holds."""
        _, self.uncommitted = await acall(self._logged)
        self._counted, self._known = [], None

    async def branch(self) -> tuple[Usage, int]:
        """Return what the passages of the head's branch have cost, and how many they are."""
        return await acall(self._branch)

    async def in_all(self) -> Usage:
        """Return what the story has cost on all its branches, with all that no branch shows."""
        logged, uncommitted = await acall(self._logged)
        ahead = await self._story.aahead_tally()
        return _none_below_zero(total_usage([logged, uncommitted, ahead["usage"]]))

    async def left(self, budget: int) -> int | None:
        """Return how many tokens of a budget are left for all branches together; None where there is no limit."""
        return budget - used_tokens(await self.in_all()) if budget else None

    async def _logged(self) -> tuple[Usage, Usage]:
        keys = list(await self._story.engine.log.links(self._story.id))
        logged = await self._total(keys)
        fresh = [] if self._known is None else [key for key in keys if key not in self._known]
        counted = total_usage([self.uncommitted, *self._counted])
        return logged, usage_left(counted, await self._total(fresh))

    async def _branch(self) -> tuple[Usage, int]:
        story, log = self._story.id, self._story.engine.log
        head, links = await log.head(story), await log.links(story)
        wanted: list[str] = path_to(head["head"], links) if head else []
        # A corrected version stands beside the one that was paid for.
        for key in wanted:
            if (amended := links[key]["amends"]) and amended not in wanted:
                wanted.append(amended)
        return await self._total(wanted), head["step"] if head else 0

    async def _total(self, keys: list[str]) -> Usage:
        """Return the costs of commits, of which each is read once: a story of thousands is counted again after every one."""
        missing = [key for key in keys if key not in self._read]
        for first in range(0, len(missing), COMMITS_AT_ONCE):
            for commit in await self._story.engine.log.get_many(
                self._story.id, missing[first : first + COMMITS_AT_ONCE]
            ):
                self._read[commit["id"]] = commit["usage"]
        return total_usage([self._read[key] for key in keys])


def _none_below_zero(usage: Usage) -> Usage:
    return Usage(
        calls=max(0, usage["calls"]),
        input_tokens=max(0, usage["input_tokens"]),
        cached_tokens=max(0, usage["cached_tokens"]),
        output_tokens=max(0, usage["output_tokens"]),
        resamples=max(0, usage["resamples"]),
        seconds=max(0.0, usage["seconds"]),
    )
