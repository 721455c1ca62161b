"""paper: RecurrentGPT as the paper describes it, one prompt a step, and nothing else.

Into a step go the memory, the last paragraph, the instruction and related paragraphs; out come a paragraph, the rationale, the
memory and three instructions, of which a simulated reader takes one and revises it (arXiv 2305.13304, section 2). There is no
outline, no cast, no grammar and no worked example. Added is only what every system of the comparison has: a length to aim at,
an ending, and with shared guards no repetition.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.graph import END, START
from pydantic import BaseModel, Field, create_model

from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import CHOOSE, FULL_REPLY_TOKENS, WRITE
from recurrentgpt.nodes.prompt_messages import prose_sampling
from recurrentgpt.nodes.prompt_values import memory_lines
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.prose.sentences import limit_words, sentences
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS, Added, Dropped, Rationale
from recurrentgpt.studies.baselines.baseline_state import (
    BaselineState,
    append_passage,
    baseline_graph,
    is_unfinished,
    open_novel,
)
from recurrentgpt.studies.baselines.runtime import PROMPTS, StudyRun, study_node
from recurrentgpt.studies.baselines.system import Builder, Cost, System, linear_cost
from recurrentgpt.studies.baselines.write_prose import (
    LONGEST_PROSE,
    as_said,
    fill_form,
    held,
    require_prose,
    unusable,
    without_repetition,
)
from recurrentgpt.studies.study_context import pace


class PaperState(BaselineState, total=False):
    """The state of paper: the LSTM's of the paper, and the novel's length."""

    short_term_memory: str
    rationale: Rationale
    candidate_plans: list[str]
    recalled: list[dict[str, Any]]
    related: list[str]
    """The paragraphs that were recalled, whole."""


class ReaderChoice(BaseModel, title="Choice"):
    """A simulated reader's instruction for the next paragraph."""

    number: int = Field(ge=1)
    instruction: str = Field(min_length=1)


def paper() -> Builder:
    """Return the graph of paper."""
    return (
        baseline_graph(PaperState)
        .add_node("open", study_node(begin, name="open"))
        .add_sequence([study_node(write), study_node(keep)])
        .add_sequence([study_node(choose), study_node(retrieve)])
        .add_edge(START, "open")
        .add_edge("open", "write")
        .add_conditional_edges("keep", lambda state: "choose" if is_unfinished(state) else END, ["choose", END])
        .add_edge("retrieve", "write")
    )


async def begin(state: Any, run: StudyRun) -> Update:
    """Open the novel with nothing but its genre and premise."""
    empty = {"short_term_memory": "", "candidate_plans": [], "recalled": [], "related": [], "plan": ""}
    return await open_novel(state, run, [], [], **empty)


async def write(state: Any, run: StudyRun) -> Update:
    """Write paragraph, rationale, memory and instructions in one call; the first from the premise alone."""
    now, model = pace(state["words"], run.settings.target_words), await run.model("writer")
    count = run.settings.plans
    about = {
        "genre": state["genre"],
        "language": run.context.language,
        "words": now.aim,
        "plans": count,
        "most_sentences": MEMORY_SENTENCES,
        "most_words": MEMORY_WORDS,
    }
    own = run.own("paper")
    if state["step"]:
        request = own.fill(
            "step",
            memory=state["short_term_memory"],
            paragraph=state["passage"],
            instruction=state["plan"],
            related=state["related"],
            finale=now.finale,
            **about,
        )
    else:
        request = own.fill("begin", premise=state["premise"], **about)
    reply = await ask(
        model,
        [HumanMessage(request)],
        # A small model that loops in its JSON would never come to its end.
        held(_reply_form(count), model, paragraph=LONGEST_PROSE, memory=LONGEST_PROSE),
        max_tokens=FULL_REPLY_TOKENS,
        seed=run.seed(state, "write"),
        meter=run.meter,
        check=lambda reply: unusable(as_said(reply.paragraph, now.most, run), now.least, run, field="paragraph"),
        insist=False,
        **prose_sampling(model, run.context, WRITE),
    )
    old, why = memory_lines(state["short_term_memory"]), " ".join(reply.rationale.split())
    lines = [" ".join(line.split()) for line in sentences(limit_words(reply.memory, MEMORY_WORDS))][:MEMORY_SENTENCES]
    passage = require_prose(as_said(reply.paragraph, now.most, run), run)
    return {
        "passage": await without_repetition(passage, state, run, now.least),
        "short_term_memory": "\n".join(lines),
        "rationale": Rationale(
            dropped=[Dropped(sentence=line, why=why) for line in old if line not in lines],
            added=[Added(sentence=line, why=why) for line in lines if line not in old],
        ),
        "candidate_plans": [" ".join(text.split()) for text in reply.instructions],
    }


def _reply_form(count: int) -> Any:
    instructions: Any = (list[str], Field(min_length=count, max_length=count))
    return create_model(
        "Step",
        paragraph=(str, Field(min_length=1)),
        rationale=(str, ...),
        memory=(str, Field(min_length=1)),
        instructions=instructions,
    )


async def keep(state: Any, run: StudyRun) -> Update:
    """Append the paragraph to the log and its vectors to the long-term memory."""
    last = pace(state["words"], run.settings.target_words).finale == "last"
    return await append_passage(state, run, tail=0, ending=last, searchable=True)


async def choose(state: Any, run: StudyRun) -> Update:
    """Take one of the instructions, as the paper's simulated reader does, and revise it."""
    plans = state["candidate_plans"]
    request = run.own("paper").fill(
        "choose",
        genre=state["genre"],
        memory=state["short_term_memory"],
        paragraph=state["passage"],
        instructions=plans,
    )
    model = await run.model("simulator")
    seed = run.seed(state, "choose")
    reply = await fill_form(run, model, [HumanMessage(request)], ReaderChoice, seed, decoding=CHOOSE)
    return {"plan": " ".join(reply.instruction.split())}


async def retrieve(state: Any, run: StudyRun) -> Update:
    """Read the related paragraphs with the instruction as the query; the last one stands in the prompt anyway."""
    story, head = state["story"], state["head"]
    hits = await run.recall.search(story, head, state["plan"], run.context.top_k, without=head)
    found = await run.log.get_many(story, [hit.id for hit in hits])
    recalled = [{"id": hit.id, "step": hit.step, "score": round(hit.score, 4)} for hit in hits]
    return {"recalled": recalled, "related": [commit["passage"] for commit in found]}


SYSTEM = System(
    name="paper",
    description="the paper's own single prompt and state, with this project's recall",
    build=paper,
    cost=linear_cost(Cost(7, 12000, 2900)),
    prompts=PROMPTS / "paper",
    recurrent=True,
    remembers=True,
    recalls=True,
    watched=True,
)
