"""What each variant does otherwise than recurrentgpt: it forgets on one of the two ways, or does all in one call."""

from __future__ import annotations

from typing import Any, ClassVar

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field, create_model

from recurrentgpt.memory.forgetting import forget
from recurrentgpt.models.calls import ask
from recurrentgpt.models.decoding import FACTS, FULL_REPLY_TOKENS, WRITE
from recurrentgpt.nodes.prompt_messages import prose_sampling, write_turns, written_turns
from recurrentgpt.nodes.prompt_values import memory_lines, plan_length
from recurrentgpt.nodes.retrieve import retrieve
from recurrentgpt.nodes.runtime import Update
from recurrentgpt.nodes.small.reply_patterns import letters, sentences_pattern
from recurrentgpt.nodes.write import written
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.gate import ProseGate
from recurrentgpt.prose.sentences import language_code
from recurrentgpt.schema.errors import ModelReplyError, PromptError
from recurrentgpt.schema.state import MEMORY_SENTENCES, MEMORY_WORDS, Added, Dropped, Rationale
from recurrentgpt.studies.baselines.recurrent import ends, next_pace, paced_write
from recurrentgpt.studies.baselines.runtime import StudyRun
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.baselines.write_prose import (
    as_said,
    fill_form,
    require_prose,
    unusable,
    without_repetition,
)
from recurrentgpt.studies.study_context import Pace

_TRUE = "Stay true to the memory{% if previous %} and the earlier passages{% endif %}."


async def recall_unread(state: Any, run: StudyRun) -> Update:
    """Return an empty recall: what the long-term memory finds is for the gate against copies, and no prompt has it."""
    found = await retrieve(state, run)
    return {"recalled": [], "unread": found["recalled"], "status": "writing"}


async def write_unread(state: Any, run: StudyRun) -> Update:
    """Write the next passage with the gate that recurrentgpt has: it watches what would be recalled, which no prompt shows."""
    return await paced_write({**state, "recalled": state["unread"]}, run)


async def recall_passages(state: Any, run: StudyRun) -> Update:
    """Return what is recalled of earlier passages, and nothing of the codex."""
    return {**await retrieve(state, run), "entries": []}


class SummaryReply(BaseModel):
    """One sentence that stands for a passage in the log."""

    summary: str = Field(min_length=1)


async def summarise(state: Any, run: StudyRun) -> Update:
    """Return the passage's summary for the long-term memory, and no short-term memory."""
    model = await run.model("memory")
    asked = HumanMessage(run.own("no_short_term_memory").fill("summary"))
    turns = [*await written_turns(state, run, model), asked]
    seed = run.seed(state, "update_memory")
    reply = await fill_form(run, model, turns, SummaryReply, seed, decoding=FACTS)
    nothing = Rationale(dropped=[], added=[])
    return {"short_term_memory": "", "rationale": nothing, "summary": " ".join(reply.summary.split())}


class Reduced(Prompts):
    """The engine's templates without the places that speak of what a variant has not.

    They are cut out of the engine's own, so that a variant never differs in anything else; a template in which such a place
    is not found is an error, and not a variant that says what it was to leave out.
    """

    CUTS: ClassVar[dict[str, list[tuple[str, str]]]]
    """By tier and name of a template, what is cut and what takes its place."""

    @classmethod
    def of(cls, prompts: Prompts) -> Prompts:
        """Return templates that replace `prompts`."""
        return cls(prompts.tier, prompts.directory, mode=prompts.mode)

    def _template(self, name: str) -> tuple[str, str]:
        where, source = super()._template(name)
        for old, new in self.CUTS.get(f"{self.tier}/{name}", []):
            if old not in source:
                raise PromptError(
                    f"Prompt template {where} no longer says {old.strip()[:40]!r}: a variant that has no such memory cannot "
                    "take it out; adapt recurrentgpt.studies.baselines.variants."
                )
            source = source.replace(old, new)
        return where, source


class WithoutShortTerm(Reduced):
    """The templates of no_short_term_memory."""

    CUTS: ClassVar[dict[str, list[tuple[str, str]]]] = {
        "full/system": [
            (
                ", one passage at a time. Between passages you keep\na short-term memory of the story and a plan for what "
                "comes next.",
                ", one passage at a time.",
            )
        ],
        "full/open": [
            (
                "- short_term_memory: what a reader would know on the first page, three to eight sentences, names and "
                "facts rather than mood\n",
                "",
            )
        ],
        "full/write": [
            (
                "Short-term memory, what has happened so far:\n"
                "{% for line in memory %}\n{{ loop.index }}. {{ line }}\n{% else %}\n(nothing yet)\n{% endfor %}\n",
                "",
            ),
            (_TRUE, "{% if previous %}Stay true to the earlier passages.{% endif %}"),
        ],
        "full/choose": [
            ('{% if memory %}\nThe short-term memory is now:\n{{ memory | join("\\n") }}\n\n{% endif %}\n', "")
        ],
    }


class WithoutLongTerm(Reduced):
    """The templates of no_long_term_memory, which has the memory and the previous passage to stay true to, and no recall."""

    CUTS: ClassVar[dict[str, list[tuple[str, str]]]] = {
        "full/write": [
            (_TRUE, "Stay true to the memory{% if previous %} and the previous passage{% endif %}."),
            (
                "{% if summaries %}\n\nThe story so far, a line for each passage:\n{% for entry in summaries %}\n"
                "{{ entry.step }}. {{ entry.summary }}\n{% endfor %}\n{% endif %}\n",
                "",
            ),
            ("{% if earlier %}\n\nThe passage before the previous one:\n{{ earlier }}\n{% endif %}\n", ""),
        ]
    }

    def _template(self, name: str) -> tuple[str, str]:
        where, source = super()._template(name)
        return where, f"{{% set recalled = [] %}}\n{source}" if name == "write" else source


async def step(state: Any, run: StudyRun) -> Update:
    """Write passage, memory and plans in one call, as the paper's one prompt does."""
    now = next_pace(state, run)
    run.paced(now, state["step"] + 1)
    model, settings = await run.model("writer"), run.settings
    memory, count = state["short_term_memory"], settings.plans
    asked = run.own("single_call").fill(
        "step",
        min_words=now.least,
        max_words=now.most,
        plans=count,
        plan_length=plan_length(run.context),
        pace=run.context.pace,
        most_sentences=MEMORY_SENTENCES,
        most_words=MEMORY_WORDS,
    )
    *before, last = await write_turns(state, run, model)
    turns = [*before, HumanMessage(f"{_without_request(str(last.text))}\n\n{asked}")]
    language = run.context.language if model.tier == "small" else ""
    shaped = settings.guards == "own"

    async def told(*purpose: object, bounded: bool = False) -> Any:
        return await ask(
            model,
            turns,
            _schema(language, now, count, shaped=shaped, bounded=bounded),
            max_tokens=FULL_REPLY_TOKENS,
            seed=run.seed(state, "step", *purpose),
            meter=run.meter,
            # It cannot be continued as the other systems' passages are: what cannot be used is written once more.
            check=lambda reply: unusable(_fit(reply.passage, now, run), now.least, run, field="passage"),
            insist=shaped,
            **prose_sampling(model, run.context, WRITE),
        )

    try:
        reply = await told()
    except ModelReplyError:
        # A small model repeats the last sentence of its memory up to the token limit, where nothing ends the list.
        run.meter.resamples += 1
        reply = await told("again", bounded=True)
    passage = require_prose(await without_repetition(_fit(reply.passage, now, run), state, run, now.least), run)
    lines = [line for sentence in reply.short_term_memory if (line := " ".join(sentence.split()))]
    kept, over = forget(lines, lambda all: [0.0] * len(all), most_sentences=MEMORY_SENTENCES, most_words=MEMORY_WORDS)
    old, why = memory_lines(memory), " ".join(reply.rationale.split())
    dropped = [Dropped(sentence=line, why=why) for line in old if line not in lines]
    after = {**state, "passage": passage}
    done = now.left == 1 and ends(after, run)
    return {
        **written(state, passage, state["plan"], []),
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


def _schema(language: str, pace: Pace, plans: int, *, shaped: bool, bounded: bool) -> Any:
    """Return the form of a step's reply; with a `language`, also of each text in it, as the engine holds a small model to.

    The passage has a form where it is `shaped`: nothing but its own guards holds the prose of a system to a grammar. Where it
    is `bounded`, the list of the memory has an end.
    """

    def held(pattern: str) -> Any:
        return {"type": "string", "pattern": pattern} if language else {}

    a_sentence = held(sentences_pattern(language, 1, 1))
    plan = held(sentences_pattern(language, 2, 3))
    memory: Any = ({"maxItems": MEMORY_SENTENCES} if bounded else {}) | (a_sentence and {"items": a_sentence})
    return create_model(
        "Step",
        passage=(str, Field(min_length=1, json_schema_extra=held(_prose(language, pace)) if shaped else {})),
        summary=(str, Field(min_length=1, json_schema_extra=a_sentence)),
        rationale=(str, Field(json_schema_extra=held(sentences_pattern(language, 1, 3)))),
        short_term_memory=(list[str], Field(min_length=1, json_schema_extra=memory)),
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


def _fit(text: str, pace: Pace, run: StudyRun) -> str:
    """Return the passage cut to its length; with guards, as far as it is fit to read."""
    if run.settings.guards == "none":
        return as_said(text, pace.most, run)
    gate = ProseGate(min_words=20, max_words=max(40, pace.most), language=run.context.language)
    gate.feed(strip_markup(text, run.context.language))
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
