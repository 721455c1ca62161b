"""What the tests of the long-term memory share."""

from collections.abc import Callable
from typing import Any

import pytest

from recurrentgpt.memory.story_log import Commit, commit_id, now
from recurrentgpt.models.calls import total_usage


@pytest.fixture
def commit() -> Callable[..., Commit]:
    """Give a maker of commits."""

    def make(story: str, parent: Commit | None, passage: str, **fields: Any) -> Commit:
        before, plan = parent["id"] if parent else "", fields.pop("plan", "A plan.")
        return Commit(
            **{
                "id": commit_id(story, before, plan, passage),
                "story": story,
                "parent": before,
                "amends": "",
                "step": parent["step"] + 1 if parent else 0,
                "plan": plan,
                "plan_author": "model",
                "passage": passage,
                "author": "model",
                "summary": passage.split(".")[0] + "." if passage else "",
                "short_term_memory": "Mira has a lamp.",
                "rationale": {"dropped": [], "added": []},
                "candidate_plans": ["One.", "Two."],
                "recalled": [],
                "usage": total_usage([]),
                "created": now(),
                **fields,
            }
        )

    return make
