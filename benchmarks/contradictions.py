"""Measure what rules, and a judge, find of contradictions: `python -m benchmarks.contradictions [BOOK.txt ...]`.

The texts of `studies.measures.planted_contradictions` contradict themselves in one known sentence each, or seem to and do not;
they are read as the studies read a novel, from the text alone. Prints JSON, of those that the rules were made for, of those that
they were mended on, and of those that nobody had in view: by kind, how many of how many are found, the share of all, how many
innocent texts there are and which sentences are accused that contradict nothing. Of each book, a text file such as Project
Gutenberg has them, cut into passages of 350 words: its words, its contradictions per 10,000, and the sentences, for a reader to
judge.

With `--judge-model` a capable model is asked, too, as the engine asks one of the role `judge`: once for each text, of the passage
that contradicts and of no other, with the lines of the codex before it. These are what the rules read in the passages before
(`rules`), and, for what a capable model would have noted, the sentences of those passages themselves (`sentences`). Texts are
asked about in no order that tells their kind. Replies are kept in the file of `--save`, and what it holds is not asked again.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from recurrentgpt.models.calls import Meter
from recurrentgpt.models.roles import ResolvedModel, resolve_model
from recurrentgpt.nodes.continuity_judge import Question
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import count_words, sentences
from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.schema.codex import Codex, Entry, Line
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import ModelError, RecurrentGPTError
from recurrentgpt.studies.measures.entities import names_of
from recurrentgpt.studies.measures.long_range import long_range
from recurrentgpt.studies.measures.planted_contradictions import INNOCENT, PARTS, THEN, PlantedText, planted_texts

PASSAGE_WORDS = 350
_OF_THE_BOOK = re.compile(r"(?:\*\*\* ?START[^\n]*\n)(.*?)(?:\*\*\* ?END|\Z)", re.DOTALL)
_THING = re.compile(r"\b(?i:the|an?|his|her|their|its) ([a-z]+)(?: ([a-z]+))?")
_LEANS = re.compile(r"\b(?:he|she|they|it|him|her|them|his|their|its)\b", re.IGNORECASE)
"""What a sentence has that means somebody or something named before it."""


def planted(texts: Iterable[PlantedText]) -> dict[str, Any]:
    """Return what the rules accuse texts of, counted."""
    return counted((text, long_range(text.passages).contradictions) for text in texts)


def counted(accusations: Iterable[tuple[PlantedText, Sequence[str]]]) -> dict[str, Any]:
    """Return how many texts of each kind are found to contradict themselves where they do, and who is accused beside them."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    accused, innocent = list[str](), 0
    for text, told in accusations:
        own = [said for said in told if _is_planted(said, text)]
        accused += [said for said in told if said not in own or text.kind == INNOCENT]
        if text.kind == INNOCENT:
            innocent += 1
        else:
            found[text.kind].append(bool(own))
    both = [hit for hits in found.values() for hit in hits]
    return {
        "found": {kind: f"{sum(hits)} of {len(hits)}" for kind, hits in found.items()},
        "share": round(sum(both) / max(1, len(both)), 3),
        "innocent": innocent,
        "accused": accused,
    }


def _is_planted(said: str, text: PlantedText) -> bool:
    """Return whether a sentence is the planted one; of looks, rules tell in words of their own what they found."""
    words, then, whole = (" ".join(tokens(told)) for told in (said, text.then, "\n".join(text.passages)))
    return words in then or then in words or (text.kind == "looks" and words not in whole)


def judged(
    texts: Sequence[PlantedText],
    judge: ResolvedModel,
    notes: Sequence[str] = ("rules", "sentences"),
    save: Path | None = None,
    parallel: int = 8,
) -> dict[str, Any]:
    """Return what the rules find, what a judge finds who is shown a codex of `notes`, and what both find together."""
    prompts = Prompts(judge.templates, mode=Context().mode)
    read = [long_range(text.passages) for text in texts]
    rules = [found.contradictions for found in read]
    result = {"rules": counted(zip(texts, rules, strict=True))}
    for kind in notes:
        codices = [
            found.before[THEN] if kind == "rules" else told_codex(text.passages[:THEN])
            for text, found in zip(texts, read, strict=True)
        ]
        questions = [
            Question.about(text.passages[THEN], codex, prompts) for text, codex in zip(texts, codices, strict=True)
        ]
        known = _saved(save)
        answers = asyncio.run(_answers([one for one in questions if one], judge, known, save, parallel))
        told = [answers.get(question.prompt, []) if question else [] for question in questions]
        both = [[*ruled, *(said for said in own if said not in ruled)] for ruled, own in zip(rules, told, strict=True)]
        prompts_sent = [question.prompt for question in questions if question]
        result[f"judge, {kind}"] = counted(zip(texts, told, strict=True)) | {
            "asked": len(prompts_sent),
            "unanswered": sum(prompt not in answers for prompt in prompts_sent),
        }
        result[f"rules and judge, {kind}"] = counted(zip(texts, both, strict=True))
    return result


def told_codex(passages: Sequence[str]) -> Codex:
    """Return a codex in which every sentence of some passages is a line of all that it names, in the words of the text.

    A sentence that names nobody and says `he` or `it` is told with the one before it in its paragraph.
    """
    names = names_of("\n\n".join(passages))
    lines: defaultdict[str, list[Line]] = defaultdict(list)
    for step, passage in enumerate(passages, start=1):
        for paragraph in filter(None, passage.split("\n")):
            before = ""
            for sentence in sentences(paragraph):
                own = set(re.findall(r"\w+", sentence))
                leans = before and _LEANS.search(sentence) and own.isdisjoint(names)
                told = f"{before} {sentence}" if leans else sentence
                words = set(re.findall(r"\w+", told))
                things = [match.expand(form) for match in _THING.finditer(told) for form in (r"\1", r"\1 \2")]
                for name in dict.fromkeys([*(name for name in names if name in words), *map(str.strip, things)]):
                    lines[name].append(Line("fact", "", told, sentence, "", step))
                before = told
    return Codex({name.casefold(): Entry(name, "thing", tuple(told)) for name, told in lines.items()})


def _saved(save: Path | None) -> dict[str, list[str]]:
    """Return the sentences that a judge accused in earlier runs, by what it was asked."""
    kept = save.read_text(encoding="utf-8").splitlines() if save and save.exists() else []
    return {row["asked"]: row["accused"] for row in map(json.loads, kept)}


async def _answers(
    questions: Iterable[Question], judge: ResolvedModel, known: dict[str, list[str]], save: Path | None, parallel: int
) -> Mapping[str, list[str]]:
    """Return the sentences that a judge accuses, by prompt; without those prompts to which it gave no usable answer."""
    at_once, answers = asyncio.Semaphore(parallel), dict[str, list[str]]()

    async def answer(question: Question) -> None:
        key = hashlib.sha256(f"{judge.name}\n{question.prompt}".encode()).hexdigest()
        if key not in known:
            try:
                async with at_once:
                    told = await question.asked(judge, seed=0, meter=Meter())
            except ModelError as error:
                print(error, file=sys.stderr)
                return
            known[key] = [one["said"] for one in told]
            if save:
                with save.open("a", encoding="utf-8") as file:
                    file.write(
                        json.dumps({"asked": key, "accused": known[key], "found": told}, ensure_ascii=False) + "\n"
                    )
        answers[question.prompt] = known[key]

    await asyncio.gather(*map(answer, questions))
    return answers


def book(text: str) -> dict[str, Any]:
    """Return what the rules accuse in a book that people wrote."""
    if match := _OF_THE_BOOK.search(text):
        text = match[1]
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.replace("\r", ""))]
    passages: list[list[str]] = [[]]
    for paragraph in filter(None, paragraphs):
        if sum(map(count_words, passages[-1])) >= PASSAGE_WORDS:
            passages.append([])
        passages[-1].append(paragraph)
    words = count_words(" ".join(paragraphs))
    told = long_range(["\n\n".join(passage) for passage in passages]).contradictions
    return {"words": words, "per 10,000": round(10_000 * len(told) / max(1, words), 2), "sentences": told}


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append", help="all of them without one")
    parser.add_argument("--limit", type=int, help="most texts of a part, of all kinds")
    parser.add_argument("--judge-model", help="a capable model to ask, too")
    parser.add_argument("--judge-url", help="where it is asked; OPENAI_BASE_URL without one")
    parser.add_argument("--notes", choices=("rules", "sentences"), action="append", help="both without one")
    parser.add_argument("--save", type=Path, help="file of the judge's replies")
    parser.add_argument("--parallel", type=int, default=8, help="calls at once")
    parser.add_argument("--timeout", type=float, default=Context().timeout, help="seconds to wait for a reply")
    given = parser.parse_args()
    measure: Callable[[Sequence[PlantedText]], dict[str, Any]] = planted
    if given.judge_model:
        context = Context(models={"judge": given.judge_model}, base_url=given.judge_url, timeout=given.timeout)
        try:
            judge = resolve_model("judge", context)
        except RecurrentGPTError as error:
            parser.error(str(error))
        if judge.tier == "small":
            parser.error(f"{judge.name} is a small model, and the engine asks none as a judge.")
        notes = given.notes or ["rules", "sentences"]
        measure = partial(judged, judge=judge, notes=notes, save=given.save, parallel=given.parallel)
    elif given.judge_url:
        parser.error("--judge-url needs --judge-model.")
    texts = list(planted_texts())
    random.Random(0).shuffle(texts)
    found = {
        part: measure([text for text in texts if text.part == part][: given.limit]) for part in given.part or PARTS
    }
    found |= {path.name: book(path.read_text(encoding="utf-8", errors="replace")) for path in given.books}
    print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
