"""recurrentgpt and its ablations as systems of the comparison: each differs from the first in one thing."""

from __future__ import annotations

from dataclasses import replace

from recurrentgpt.nodes.write import MOST_SAMPLES
from recurrentgpt.studies.baselines import opening, recurrent, variants
from recurrentgpt.studies.baselines.runtime import PROMPTS
from recurrentgpt.studies.baselines.system import Cost, System, linear_cost

RECURRENTGPT = System(
    name="recurrentgpt",
    description="this project, the simulator choosing the plans",
    build=recurrent.recurrentgpt,
    cost=linear_cost(Cost(12.3, 19000, 2300)),
    recurrent=True,
    deals_plans=True,
    own_guards=frozenset({"copies", "loops", "scenes", "examples"}),
    own_samples=MOST_SAMPLES,
    watched=True,
    remembers=True,
    recalls=True,
    plants_facts=True,
)

SYSTEMS = (
    RECURRENTGPT,
    replace(
        RECURRENTGPT,
        name="no_short_term_memory",
        description="recurrentgpt without the short-term memory, in prompts and replies",
        build=lambda: recurrent.recurrentgpt(
            opening=opening.open_unremembered,
            remember=variants.summarise,
            templates=variants.WithoutShortTerm.of,
        ),
        cost=linear_cost(Cost(12.3, 17000, 1600)),
        prompts=PROMPTS / "no_short_term_memory",
        remembers=False,
    ),
    replace(
        RECURRENTGPT,
        name="no_long_term_memory",
        description="recurrentgpt that recalls nothing of earlier passages but the last",
        build=lambda: recurrent.recurrentgpt(
            recall=variants.recall_unread, writing=variants.write_unread, templates=variants.WithoutLongTerm.of
        ),
        cost=linear_cost(Cost(12.3, 14500, 2300)),
        recalls=False,
    ),
    replace(
        RECURRENTGPT,
        name="bare",
        description="recurrentgpt without outline, cast, codex and lines of all passages in any prompt of a passage",
        build=lambda: recurrent.recurrentgpt(opening=opening.open_bare, recall=variants.recall_passages, past=False),
        cost=linear_cost(Cost(12.3, 16500, 2300)),
    ),
    replace(
        RECURRENTGPT,
        name="bare_no_short_term_memory",
        description="bare without the short-term memory, in prompts and replies",
        build=lambda: recurrent.recurrentgpt(
            opening=opening.open_bare_unremembered,
            recall=variants.recall_passages,
            remember=variants.summarise,
            templates=variants.WithoutShortTerm.of,
            past=False,
        ),
        cost=linear_cost(Cost(12.3, 14500, 1600)),
        prompts=PROMPTS / "no_short_term_memory",
        remembers=False,
    ),
    replace(
        RECURRENTGPT,
        name="bare_no_long_term_memory",
        description="bare that recalls nothing of earlier passages but the last",
        build=lambda: recurrent.recurrentgpt(
            opening=opening.open_bare,
            recall=variants.recall_unread,
            writing=variants.write_unread,
            templates=variants.WithoutLongTerm.of,
            past=False,
        ),
        cost=linear_cost(Cost(12.3, 13500, 2300)),
        recalls=False,
    ),
    System(
        name="single_call",
        description="passage, memory and plans in one call, with recurrentgpt's outline and cast",
        build=lambda: recurrent.single_call(variants.step),
        cost=linear_cost(Cost(7.2, 11500, 2300)),
        prompts=PROMPTS / "single_call",
        recurrent=True,
        own_guards=frozenset({"loops", "sentences", "examples"}),
        watched=True,
        remembers=True,
        recalls=True,
    ),
)
