"""Save the words of a passage that was stopped: as if the model had ended there, with memory and plans made from them."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from recurrentgpt.engine.session import pending
from recurrentgpt.infrastructure.background_loop import acall
from recurrentgpt.prose.sentences import segments
from recurrentgpt.schema.events import Event
from recurrentgpt.schema.state import State
from recurrentgpt.story import Story


@dataclass(frozen=True)
class Draft:
    """The words of a passage in the making, and where it is to stand."""

    text: str
    plan: str
    after: str
    """Id of the passage before it; empty where the story is not opened yet."""
    step: int
    head: str
    """Where the story stood meanwhile: another head makes the draft history."""

    @property
    def whole_sentences(self) -> str:
        """The words up to the last sentence that ended."""
        parts = segments(self.text)
        while parts and not re.search(r"[.!?…。!?]['\"”’»)\]]*\s*$", parts[-1]):
            parts = parts[:-1]
        return "".join(parts).strip()

    @property
    def key(self) -> str:
        """The name of these words in requests: it changes with them."""
        return hashlib.sha256(f"{self.after} {self.text}".encode()).hexdigest()[:16]


class DraftEvent(TypedDict):
    """The passage that is written from here on."""

    event: Literal["draft"]
    draft: Draft


@dataclass(frozen=True)
class Edit:
    """The text of an edit that was asked for."""

    at: str
    """Id of the passage."""
    text: str
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    """Its name in requests; asked for once more it has another one."""


async def write_draft(story: Story, draft: Draft) -> AsyncGenerator[Event]:
    """Make the draft's whole sentences the next passage, and yield what happens while memory and plans are made."""
    config: RunnableConfig = {"configurable": {"thread_id": story.id}}
    graph = story.engine.graph

    async def stand_behind_write(**more: str) -> bool:
        """Put the thread behind `write`, if it stands before that in this passage."""
        snapshot = await graph.aget_state(config)
        values = cast(State, snapshot.values)
        # Behind it the passage and the memory in the state are no more those that come before this one.
        if pending(snapshot) not in (["retrieve"], ["write"]) or values.get("head") != draft.after:
            return False
        written: dict[str, Any] = {
            "passage": draft.whole_sentences,
            "author": "model",
            "step": draft.step,
            "plan": draft.plan or values.get("plan", ""),
            "next_plan": "",
            "previous_passage": values.get("passage", ""),
            "previous_memory": values.get("short_term_memory", ""),
            "status": "writing",
            "digests": {},
            **more,
        }
        await graph.aupdate_state(config, written, as_node="write")
        return True

    if draft.head != draft.after or not await acall(stand_behind_write):
        # Another take stands elsewhere in the log, and a thread may be gone: the choice is made again from the log.
        before, taken = await story.apassage(draft.after), await story.apassage(draft.head)
        number = before.plans.index(draft.plan) + 1 if draft.plan in before.plans else None
        chosen = taken.plan_author if taken.plan == draft.plan else "model" if number else "human"
        await story.achoose(number or {"action": "write", "plan": draft.plan}, at=draft.after)
        await acall(lambda: stand_behind_write(plan_author=chosen))
    async with aclosing(cast("AsyncGenerator[Event]", story.astream(1))) as events:
        async for event in events:
            yield event
