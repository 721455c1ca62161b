"""What a node of a study is given: an engine's run whose models are recorded or replayed, and templates of its own.

The engine's verbs work in here unchanged, so that every system is built of the same calls, prompts and guards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import Path
from typing import Any

from recurrentgpt.models.calls import total_usage
from recurrentgpt.models.roles import DescribedModel, ResolvedModel, Role
from recurrentgpt.nodes.runtime import Node, StoryRuntime, Update
from recurrentgpt.prompts import Prompts
from recurrentgpt.schema.state import Usage
from recurrentgpt.studies.errors import StudyError
from recurrentgpt.studies.recording.recording_models import record_model, replay_model
from recurrentgpt.studies.recording.store_recorder import StoreRecorder
from recurrentgpt.studies.study_context import Pace, StudyContext

PROMPTS = Path(str(resources.files("recurrentgpt.studies"))) / "prompts"

StudyVerb = Callable[[Any, Any], Awaitable[Update]]


@dataclasses.dataclass
class StudyRun(StoryRuntime):
    """The surroundings of one node call of a study."""

    story: str = ""
    step: int = 0
    templates: Callable[[Prompts], Prompts] | None = None
    """What a variant makes of the engine's templates."""

    @property
    def settings(self) -> StudyContext:
        """The novel's own settings."""
        if not isinstance(self.context, StudyContext):
            raise StudyError("The graphs of a study are run with a StudyContext: pass context=StudyContext(...).")
        return self.context

    async def model(self, role: Role) -> ResolvedModel:
        """Return the chat model of a role, recorded or replayed where the study asks for it."""
        if self.settings.recording is not None:
            return replay_model(self.settings.recording, role, self.step)
        model, recorder = await super().model(role), self.settings.recorder
        if recorder is None and self.settings.record != "no":
            with_prompts = self.settings.record == "prompts"
            recorder = await StoreRecorder.open(self.log, self.story, prompts=with_prompts)
        return model if recorder is None else record_model(model, recorder, role, self.step)

    def prompts(self, model: ResolvedModel | DescribedModel) -> Prompts:
        """Return the engine's templates that suit a model, as the variant has them."""
        prompts = super().prompts(model)
        return prompts if self.templates is None else self.templates(prompts)

    def own(self, system: str) -> Prompts:
        """Return the templates of a study's system; one tier serves all models."""
        return Prompts("any", PROMPTS, mode=system)

    def paced(self, pace: Pace, step: int) -> None:
        """Hold the engine's next passage, number `step`, to a pace."""
        self._change(min_words=pace.least, max_words=pace.most, last_step=step - 1 + pace.left)

    def forget_past(self) -> None:
        """Leave the lines of all earlier passages out of the engine's prompts."""
        self._change(past_tokens=0)

    def _change(self, **settings: Any) -> None:
        self.context = dataclasses.replace(self.context, **settings)


def _spent(name: str, state: Any, run: StudyRun) -> dict[str, Usage]:
    """Return what a node has spent since the last passage was kept: DOC drafts again where it leaves drafts behind."""
    if not run.meter.calls:
        return {}
    before = state.get("usage", {}).get(name)
    return {name: total_usage([before, run.meter.usage] if before else [run.meter.usage])}


class StudyNode(Node):
    """A verb of a study as LangGraph takes it; `templates` says what a variant makes of the engine's."""

    surroundings = StudyRun

    def __init__(
        self, verb: StudyVerb, *, name: str = "", templates: Callable[[Prompts], Prompts] | None = None
    ) -> None:
        super().__init__(verb, name)
        self._templates = templates

    async def work(self, state: Any, runtime: Any) -> Update:
        """Run the verb and return its update with what the novel has spent on it."""
        runtime.templates, runtime.story, runtime.step = self._templates, state.get("story", ""), state.get("step", 0)
        runtime.emit({"event": "stage", "node": self.name})
        update = await (self.pass_plan_on(state, runtime) if "written_plan" in state else self.verb(state, runtime))
        return {**update, "usage": {**update.get("usage", {}), **_spent(self.name, state, runtime)}}


study_node = StudyNode
