"""How much of the story was recalled: whether the long-term memory had to choose at all."""

from __future__ import annotations

from statistics import mean

from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.runs.schemas import NovelRecord


def _compute(novel: NovelRecord, system: System) -> dict[str, float | None]:
    recalled = [set(passage.get("recalled", ())) for passage in novel["passages"]]
    if not any(recalled):
        return dict.fromkeys(MEASURE.columns)
    # The last passage is in the prompt as it is, and is not searched for.
    left_out = [len(found) < max(0, earlier - 1) for earlier, found in enumerate(recalled)]
    return {"recalled": round(mean(map(len, recalled)), 3), "something_left_out": round(mean(left_out), 4)}


MEASURE = Measure(
    name="recalled passages",
    description="What the long-term memory brought: `recalled` are the earlier passages that it put into the prompts of a step, "
    "the last one aside, which is there anyway, and `something left out` is the share of steps in which there were others that "
    "it did not choose. Where that is near 0 it brought all that there was, and nothing is learnt of its choice. What a system "
    "does not have is left blank.",
    columns=("recalled", "something_left_out"),
    compute=_compute,
)
