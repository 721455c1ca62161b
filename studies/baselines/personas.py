"""recurrentgpt with somebody at the choice: personas who take plans as they are, change them, or write their own.

Some write a novel with the program; some play the story, and are its main character.

The paper tried its interactive use on people (section 3.3 and 3.4). A persona stands in for one at measured rates, so that what
choices do to a text can be told from what the model does without them. What a persona does at a step is dealt by the novel's
seed; how it does it is a call of the role `simulator`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field, create_model

from recurrentgpt.models.decoding import CHOOSE
from recurrentgpt.nodes.prompt_values import memory_lines
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.schema.choice import choose_plan
from recurrentgpt.schema.state import Choice
from recurrentgpt.studies.baselines.recurrent import recurrentgpt
from recurrentgpt.studies.baselines.recurrent_systems import RECURRENTGPT
from recurrentgpt.studies.baselines.runtime import PROMPTS, StudyRun, StudyVerb
from recurrentgpt.studies.baselines.system import Cost, System, linear_cost
from recurrentgpt.studies.baselines.write_prose import fill_form

PersonaAction = Literal["accept", "edit", "write"]


@dataclass(frozen=True)
class Persona:
    """Somebody who writes with the program, or plays."""

    wish: str
    """What they want, in the words of a prompt."""
    accepts: float
    """Share of steps at which they take a plan as it is."""
    edits: float
    """Share of steps at which they change one; at the others they write their own."""
    plays: bool = False
    """Whether they are the main character of an interactive fiction."""


PERSONAS = {
    "writer_accepts": Persona("You like to be surprised, and take whatever is most interesting.", 1.0, 0.0),
    "writer_edits": Persona("You know your main character well, and want each scene to be theirs.", 0.4, 0.6),
    "writer_insists": Persona("You have a story of your own in mind, and mean to tell that one.", 0.0, 0.2),
    "player_chooses": Persona("You want to see how it goes on.", 1.0, 0.0, plays=True),
    "player_acts": Persona("You want to try what nobody has thought of, and hate to be led.", 0.2, 0.0, plays=True),
}


def chooses(persona: Persona) -> StudyVerb:
    """Return the verb of a persona's choice, in the simulator's place."""

    async def simulator(state: Any, run: StudyRun) -> Update:
        plans = state["candidate_plans"]
        chance = run.chance(state, state["step"], "persona").random()
        action: PersonaAction = (
            "accept" if chance < persona.accepts else "edit" if chance < persona.accepts + persona.edits else "write"
        )
        asked = run.own("personas").fill(
            "choose",
            genre=state["genre"],
            premise=state["premise"],
            wish=persona.wish,
            plays=persona.plays,
            memory=memory_lines(state["short_term_memory"]),
            plans=plans,
            action=action,
        )
        model = await run.model("simulator")
        form = _reply_form(action, len(plans))
        seed = run.seed(state, "simulator")
        reply = await fill_form(run, model, [HumanMessage(asked)], form, seed, decoding=CHOOSE)
        index = None if action == "write" else reply.number - 1
        plan = plans[index] if action == "accept" else " ".join(reply.plan.split())
        return {**choose_plan(plan, "simulator", Choice(index=index, by="simulator", why=""))}

    return simulator


def _reply_form(action: PersonaAction, plans: int) -> type[BaseModel]:
    number: Any = (int, Field(ge=1, le=plans))
    plan: Any = (str, Field(min_length=1))
    fields = {"accept": {"number": number}, "edit": {"number": number, "plan": plan}, "write": {"plan": plan}}
    return create_model("Choice", **fields[action])


def _system(name: str, persona: Persona) -> System:
    rates = (("takes", persona.accepts), ("changes", persona.edits), ("writes", 1 - persona.accepts - persona.edits))
    said = ", ".join(f"{does} {share:.0%}" for does, share in rates if share)
    return replace(
        RECURRENTGPT,
        name=name,
        description=f"recurrentgpt with a simulated {'player' if persona.plays else 'writer'} who of the plans {said}",
        mode="fiction" if persona.plays else "novel",
        build=lambda: recurrentgpt(choose=chooses(persona)),
        cost=linear_cost(Cost(12.3, 18000, 2200)),
        prompts=PROMPTS / "personas",
        plants_facts=False,
    )


SYSTEMS = tuple(_system(name, persona) for name, persona in PERSONAS.items())
