"""What the prompts of a story are filled with, beside its state: its settings, its log, its templates and its chance.

Neither a graph nor a model is needed for that: what was sent can be told of a story that is only read.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.log_rows import text_digest
from recurrentgpt.models.roles import DescribedModel, ResolvedModel
from recurrentgpt.prompts import Prompts
from recurrentgpt.schema.context import Context

if TYPE_CHECKING:
    from recurrentgpt.schema.state import State


def sent_as(templates: str, turns: Sequence[str]) -> str:
    """Return what a commit keeps of the prompt for its passage: the folder of its templates, and a digest of its turns."""
    return f"{templates} {text_digest(chr(0).join(turns))}"


@dataclass
class PromptRuntime:
    """The surroundings in which a prompt is filled."""

    context: Context
    log: LogReader

    def prompts(self, model: ResolvedModel | DescribedModel) -> Prompts:
        """Return the templates that suit a model; raise PromptError where somebody's own cannot be used."""
        if self.context.prompts:
            from recurrentgpt.prompts.check import check_once

            check_once(self.context.prompts)
        return Prompts(model.templates, self.context.prompts, mode=self.context.mode)

    def chance(self, state: State, *purpose: object) -> random.Random:
        """Return a random generator that depends on the story's seed and on `purpose`, and on nothing else."""
        seed = state.get("story", "") if self.context.seed is None else self.context.seed
        return random.Random("/".join(map(str, (seed, *purpose))))
