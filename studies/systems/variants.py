"""What each variant does otherwise than recurrentgpt: it forgets on one of the two ways, or does all in one call."""

from __future__ import annotations

from typing import Any, ClassVar

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field, create_model

from recurrentgpt.errors import PromptError
from recurrentgpt.graph.state import MEMORY_SENTENCES, MEMORY_WORDS, Added, Dropped, Rationale
from recurrentgpt.memory.forgetting import forget
from recurrentgpt.models.calls import ask
from recurrentgpt.nodes.conversation import FULL_REPLY_TOKENS, memory_lines, write_turns, written_turns
from recurrentgpt.nodes.patterns import letters, sentences_pattern
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.gate import ProseGate
from recurrentgpt.prose.sentences import count_words, language_code
from recurrentgpt.studies.context import Pace
from recurrentgpt.studies.faults import StudyError
from recurrentgpt.studies.surroundings import StudyRun, warmth
from recurrentgpt.studies.systems.recurrent import ends, next_pace

REPLY_TOKENS = FULL_REPLY_TOKENS
FEWEST_WORDS = 0.5
"""Share of the fewest words with which the passage of a single call may stand; it cannot be continued."""


async def recall_nothing(state: Any, run: StudyRun) -> dict[str, Any]:
    """Return an empty recall: the long-term memory is written and never read."""
    return {"recalled": [], "status": "writing"}


async def no_memory(state: Any, run: StudyRun) -> dict[str, Any]:
    """Leave the opening without a short-term memory."""
    return {"short_term_memory": ""}


class SummaryReply(BaseModel):
    """One sentence that stands for a passage in the archive."""

    summary: str = Field(min_length=1)


async def summarise(state: Any, run: StudyRun) -> dict[str, Any]:
    """Return the passage's summary for the long-term memory, and no short-term memory."""
    model = await run.model("memory")
    prompts = run.prompts(model)
    asked = HumanMessage(run.own("no_short_term_memory").fill("summary"))
    turns = [*written_turns(state, run, prompts), asked]
    seed = run.seed(state, "update_memory")
    reply = await ask(model, turns, SummaryReply, max_tokens=REPLY_TOKENS, seed=seed, meter=run.meter)
    nothing = Rationale(dropped=[], added=[])
    return {"short_term_memory": "", "rationale": nothing, "summary": " ".join(reply.summary.split())}


class WithoutMemory(Prompts):
    """The engine's templates without the places that speak of a short-term memory.

    They are cut out of the engine's own, so that a variant never differs in anything else; a template in which such a place
    is not found is an error, and not a variant that says what it was to leave out.
    """

    CUTS: ClassVar[dict[str, list[tuple[str, str]]]] = {
        "full/system": [
            (
                ", one passage at a time. Between passages you keep\na short-term memory of the story and a plan for what "
                "comes next.",
                ", one passage at a time.",
            )
        ],
        "full/write": [
            (
                "Short-term memory, what has happened so far:\n"
                '{{ memory | join("\\n") if memory else "(nothing yet)" }}\n',
                "",
            ),
            ("Stay true to the memory and the earlier passages.", "Stay true to the earlier passages."),
        ],
        "full/choose": [('The short-term memory is now:\n{{ memory | join("\\n") }}\n\n', "")],
    }

    @classmethod
    def of(cls, prompts: Prompts) -> WithoutMemory:
        """Return templates that replace `prompts`."""
        return cls(prompts.tier, prompts.directory, mode=prompts.mode)

    def _template(self, name: str) -> tuple[str, str]:
        where, source = super()._template(name)
        for old, new in self.CUTS.get(f"{self.tier}/{name}", []):
            if old not in source:
                raise PromptError(
                    f"Prompt template {where} no longer says where the short-term memory is told: no_short_term_memory "
                    "cannot take it out; adapt recurrentgpt.studies.systems.variants."
                )
            source = source.replace(old, new)
        return where, source


async def step(state: Any, run: StudyRun) -> dict[str, Any]:
    """Write passage, memory and plans in one call, as the paper's one prompt does."""
    now = next_pace(state, run)
    number = state["step"] + 1
    run.paced(now, number)
    model, settings = await run.model("writer"), run.settings
    memory, previous = state["short_term_memory"], state["passage"]
    count = settings.plans
    asked = run.own("single_call").fill(
        "step",
        min_words=now.least,
        max_words=now.most,
        plans=count,
        most_sentences=MEMORY_SENTENCES,
        most_words=MEMORY_WORDS,
    )
    *before, last = write_turns(state, run, run.prompts(model), step=number, memory=memory, previous=previous)
    turns = [*before, HumanMessage(f"{_without_request(str(last.text))}\n\n{asked}")]
    schema = _schema(run.context.language if model.tier == "small" else "", now, count)
    fewest = FEWEST_WORDS * now.least

    def check(reply: Any) -> str | None:
        words = count_words(reply.passage)
        return None if words >= fewest else f"passage has {words} words; at least {now.least} are asked for."

    seed = run.seed(state, "step")
    reply = await ask(
        model,
        turns,
        schema,
        max_tokens=REPLY_TOKENS,
        seed=seed,
        meter=run.meter,
        check=check,
        insist=False,
        **warmth(model, run),
    )
    passage = _fit(reply.passage, now.most, run)
    if not passage:
        raise StudyError(f"{model.name} wrote no sentence that a story may hold at step {number}: run the plan again.")
    lines = [line for sentence in reply.short_term_memory if (line := " ".join(sentence.split()))]
    kept, over = forget(lines, lambda all: [0.0] * len(all), most_sentences=MEMORY_SENTENCES, most_words=MEMORY_WORDS)
    old, why = memory_lines(memory), " ".join(reply.rationale.split())
    dropped = [Dropped(sentence=line, why=why) for line in old if line not in lines]
    after = {**state, "passage": passage}
    done = now.left == 1 and ends(after, run)
    return {
        "passage": passage,
        "author": "model",
        "step": number,
        "previous_passage": previous,
        "previous_memory": memory,
        "summary": " ".join(reply.summary.split()),
        "short_term_memory": "\n".join(kept),
        "rationale": Rationale(
            dropped=dropped + [Dropped(sentence=item["sentence"], why=item["why"]) for item in over],
            added=[Added(sentence=line, why=why) for line in kept if line not in old],
        ),
        "candidate_plans": [] if done else [" ".join(plan.split()) for plan in reply.plans],
        "pace": [now.least, now.most, now.left],
        "endings": state["endings"] + (now.left == 1),
        "status": "finished" if done else "writing",
    }


def _schema(language: str, pace: Pace, plans: int) -> Any:
    """Return the form of a step's reply; with a `language`, also of each text in it, as the engine holds a small model to."""

    def held(pattern: str) -> Any:
        return {"type": "string", "pattern": pattern} if language else {}

    a_sentence = held(sentences_pattern(language, 1, 1))
    plan = held(sentences_pattern(language, 2, 3))
    return create_model(
        "Step",
        passage=(str, Field(min_length=1, json_schema_extra=held(_prose(language, pace)))),
        summary=(str, Field(min_length=1, json_schema_extra=a_sentence)),
        rationale=(str, Field(json_schema_extra=held(sentences_pattern(language, 1, 3)))),
        short_term_memory=(list[str], Field(min_length=1, json_schema_extra=a_sentence and {"items": a_sentence})),
        plans=(list[str], Field(min_length=plans, max_length=plans, json_schema_extra=plan and {"items": plan})),
    )


def _prose(language: str, pace: Pace) -> str:
    """Return the pattern of a passage of about so many words: without it a small model writes two sentences."""
    fewest, most = pace.least // 16, pace.most // 14
    if language_code(language) in ("zh", "ja"):
        return sentences_pattern(language, fewest, most)
    # An optional mark is a class: llama.cpp cannot read one of several bytes that stands alone before a question mark.
    sentence = f"[{letters(language)}“][{letters(language)}0-9 ,;'’“”—-]{{15,170}}[.!?][”]?"
    return f"^{sentence}( {sentence}){{{fewest},{most}}}$"


def _fit(text: str, most: int, run: StudyRun) -> str:
    """Return the passage as far as it is fit to read, cut to its length."""
    gate = ProseGate(min_words=20, max_words=max(40, most), language=run.context.language, finale=True)
    gate.feed(text)
    gate.close()
    return gate.finish()


def _without_request(text: str) -> str:
    """Return the engine's prompt of a passage up to its request, which asks for the passage alone."""
    for mark in ("\nWrite the next passage", "\nWrite the next scene"):
        at = text.rfind(mark)
        if at > 0:
            return text[:at].rstrip() + _plan_of(text, at)
    raise PromptError("Prompt template write.md no longer asks to write the next passage: adapt single_call to it.")


def _plan_of(text: str, at: int) -> str:
    """Return the plan where a template tells it behind the request, as the small tier's does."""
    request, _, plan = text[at:].partition(" words: ")
    return f"\n\nThe plan for the next passage: {plan.strip()}" if plan and "\n" not in request.strip() else ""
