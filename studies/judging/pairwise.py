"""Compare novels by model judges: blind, in both orders, one criterion per call, quotes before the verdict.

A judge whose two verdicts on a pair disagree has said that it is a tie. Before it is believed at all it has to tell stories from
corrupted copies of themselves.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Literal

from langchain_core.messages import HumanMessage
from pydantic import BaseModel

from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.models.decoding import FULL_REPLY_TOKENS
from recurrentgpt.models.roles import ResolvedModel
from recurrentgpt.prompts import Prompts
from recurrentgpt.prose.sentences import UNSPACED, segments, sentences
from recurrentgpt.schema.errors import ModelReplyError
from recurrentgpt.studies.baselines.runtime import PROMPTS
from recurrentgpt.studies.recording.jsonl import Row
from recurrentgpt.studies.runs.costs import CORRUPTED_NOVELS, CORRUPTION_KINDS
from recurrentgpt.studies.runs.families import known_family
from recurrentgpt.studies.runs.folder import VERDICT, RunFolder
from recurrentgpt.studies.runs.plan import Judge, Plan
from recurrentgpt.studies.runs.schemas import NovelRecord

QUESTIONS = {
    "interesting": "which is more interesting to read, so that one wants to know how it goes on?",
    "fun": "which would be more fun to have a hand in, as its writer or its player?",
    "control": "in which does more happen of what was chosen, which stands in brackets before a passage?",
    "coherent": "which is more coherent, with events that follow from each other and people and facts that stay the same?",
}
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
"""Where words have no spaces between them, each character is one."""
STRANGERS = ("Halloway", "Brandreth")
"""Whom a story of one person takes them for, in a copy that is to be worse."""
LEAST_QUOTED = 4
"""Words in a row that a quote holds: fewer prove nothing, since any text has them."""
_ELLIPSIS = re.compile(r"\.\.\.|…|\[|\]")
QUALIFIED = 0.95
FEWEST = 3
"""Judges that a comparison should have."""

Side = Literal["A", "B", "tie"]


class JudgeReply(BaseModel, title="Reply"):
    """A judge's reply; quotes come first, so that the verdict follows from the text."""

    quotes_a: list[str]
    quotes_b: list[str]
    verdict: Side


WRONG = ("flip", "tie", "contrary", "spoilt")
"""How a judge gets a pair wrong: its verdict follows the order, is a tie, is for the worse text both times, or quotes badly."""


@dataclass(frozen=True)
class Verdicts:
    """What a judge says of two texts in both orders; A is the text that it is shown first."""

    there: JudgeReply
    """The first text shown as A."""
    back: JudgeReply
    """The first text shown as B."""

    @property
    def preference(self) -> float:
        """Return 1 where the first text is preferred in both orders, 0 where the second is, and one half for all else."""
        return consolidate(self.there.verdict, self.back.verdict)

    @property
    def how(self) -> str:
        """Return which of `WRONG` it is where the first text should have won in both orders."""
        both = (self.there.verdict, self.back.verdict)
        return "tie" if "tie" in both else "flip" if both[0] == both[1] else "contrary"

    def row(self) -> Row:
        """Return what `verdicts.jsonl` keeps: a judge that calls a tie and one that follows the order look alike otherwise."""
        both = (self.there, self.back)
        return {
            "preference": self.preference,
            "orders": [reply.verdict for reply in both],
            "quotes": [{"a": reply.quotes_a, "b": reply.quotes_b} for reply in both],
        }


Prefer = Callable[[str, str, str, str], Awaitable[Verdicts]]
"""Given a criterion, the premise and two texts, what a judge says of them."""


@dataclass(frozen=True)
class Pair:
    """Two novels of one premise."""

    unit: str
    first: str
    second: str
    """Names of the systems."""


@dataclass(frozen=True)
class Qualification:
    """How often a judge preferred stories to corrupted copies of them, when asked by one criterion."""

    judge: str
    pairs: int
    right: int
    by_kind: dict[str, float]
    units: tuple[str, ...] = ()
    """Specimens whose corrupted copies it was shown."""
    criterion: str = "coherent"
    """What it was asked; in runs from before each criterion had its own, how coherent they are."""
    wrong: dict[str, int] = field(default_factory=dict)
    """How many pairs it got wrong in each of `WRONG`."""

    @classmethod
    def of(cls, row: Row) -> Qualification:
        """Return the qualification that a row of `qualification.jsonl` holds."""
        of = row.get("criterion", "coherent")
        units, wrong = tuple(row.get("units", ())), row.get("wrong", {})
        return cls(row["judge"], row["pairs"], row["right"], row["by_kind"], units, of, wrong)

    def lacks(self, novels: Iterable[NovelRecord]) -> list[Specimen]:
        """Return the specimens that it is still to be shown corrupted, until it has seen as many as qualify a judge."""
        unseen = (specimen for specimen in specimens(novels) if specimen.id not in self.units)
        return list(islice(unseen, max(0, CORRUPTED_NOVELS - self.pairs // CORRUPTION_KINDS)))

    @property
    def rate(self) -> float:
        """Return the share of pairs that were judged right in both orders."""
        return self.right / self.pairs if self.pairs else 0.0

    @property
    def finished(self) -> bool:
        """Tell whether the judge has been shown as many corrupted copies as qualify one."""
        return self.pairs >= CORRUPTED_NOVELS * CORRUPTION_KINDS

    @property
    def qualified(self) -> bool:
        """Tell whether the judge's verdicts by this criterion are used."""
        return self.finished and self.rate >= QUALIFIED


@dataclass(frozen=True)
class Specimen:
    """A novel that is shown with corrupted copies of itself; of few novels each is corrupted several times, otherwise."""

    novel: NovelRecord
    turn: int

    @property
    def id(self) -> str:
        """Return its name; that of the first turn is the novel's."""
        return f"{self.novel['id']}#{self.turn}" if self.turn else self.novel["id"]


def specimens(novels: Iterable[NovelRecord]) -> Iterator[Specimen]:
    """Yield specimens without an end: all novels that have somebody to exchange, and all again, corrupted otherwise."""
    known = [novel for novel in {novel["id"]: novel for novel in novels}.values() if _exchanged(novel["text"])]
    for turn in count() if known else ():
        for novel in known:
            yield Specimen(novel, turn)


def pairs(folder: RunFolder) -> list[tuple[Pair, NovelRecord, NovelRecord]]:
    """Return the pairs of finished novels that are compared, as the plan has them."""
    plan, by = folder.plan, folder.compared_novels()
    return [
        (Pair(unit, first, second), by[first, unit], by[second, unit])
        for unit in dict.fromkeys(job.unit for job in plan.jobs())
        for first, second in plan.compared()
        if (first, unit) in by and (second, unit) in by
    ]


def corrupted_copies(text: str, seed: str) -> dict[str, str]:
    """Return copies of a story that anybody who reads it finds worse: sentences shuffled, paragraphs twice, names swapped."""
    dealer = random.Random(f"spoilt {seed}")
    parts = text.split("\n\n")
    # Paragraphs stay as long as they were: a copy is to be told by what it says.
    told = [sentences(part) for part in parts]
    lines = [line for part in told for line in part]
    dealer.shuffle(lines)
    dealt = iter(lines)
    shuffled = "\n\n".join(" ".join(islice(dealt, len(part))) for part in told)
    doubled = list(parts)
    for at in sorted(dealer.sample(range(len(parts)), max(1, len(parts) // 3)), reverse=True):
        doubled.insert(dealer.randrange(at + 1, len(doubled) + 1), parts[at])
    return {"shuffled": shuffled, "doubled": "\n\n".join(doubled), "swapped": _swap_names(text, dealer)}


def _swap_names(text: str, dealer: random.Random) -> str:
    """Return the story with two people exchanged in every other sentence or so; itself where there is nobody to exchange."""
    one, other = _exchanged(text) or ("", "")
    either, changed = re.compile(rf"\b({re.escape(one)}|{re.escape(other)})\b"), text
    while one and changed == text:
        changed = "".join(
            either.sub(lambda match: other if match[1] == one else one, piece) if dealer.random() < 0.5 else piece
            for piece in segments(text)
        )
    return changed


def _exchanged(text: str) -> tuple[str, str] | None:
    """Return the two people whom a story names most; of one, and a name that it does not have; of none, "he" and "she"."""
    from recurrentgpt.studies.measures.entities import people_of

    people = people_of(text)
    if not people:
        return ("he", "she") if re.search(r"\b(?:he|she)\b", text) else None
    return people[0], people[1] if len(people) > 1 else next(name for name in STRANGERS if name != people[0])


async def verdict(
    model: ResolvedModel, criterion: str, premise: str, a: str, b: str, *, seed: int, meter: Meter
) -> JudgeReply:
    """Return one verdict on A and B; raise ModelReplyError for a judge that answers nonsense."""
    asked = Prompts("any", PROMPTS, mode="judge").fill(
        "compare", premise=premise, a=a, b=b, question=QUESTIONS.get(criterion, f"which is more {criterion}?")
    )
    return await ask(
        model,
        [HumanMessage(asked)],
        JudgeReply,
        max_tokens=FULL_REPLY_TOKENS,
        temperature=0.0,
        seed=seed,
        meter=meter,
        check=lambda reply: _unproved(reply, a, b),
    )


def _unproved(reply: JudgeReply, a: str, b: str) -> str | None:
    """Return what is wrong with a verdict's quotes: it is worth nothing where each story is not quoted in its own words."""
    sides = (("a", reply.quotes_a, a), ("b", reply.quotes_b, b))
    for side, quotes, text in sides:
        if not any(quote.strip() for quote in quotes):
            return f"quotes_{side} holds no quote: copy one to three short passages of story {side.upper()}."
        if wrong := misquoted(quotes, text, f"story {side.upper()}"):
            return wrong
    return None


def misquoted(quotes: Iterable[str], text: str, called: str) -> str | None:
    """Return what to tell a judge who quotes what is not in a text, or too few words of it to tell; None for proper quotes.

    `called` is what the judge knows the text as.
    """
    plain = _plain(text)
    least = min(LEAST_QUOTED, len(plain.split()))
    for quote in quotes:
        if not quote.strip():
            continue
        # Parts may be left out between the words that are quoted.
        parts = [_plain(piece) for piece in _ELLIPSIS.split(quote)]
        if max(len(part.split()) for part in parts) < least:
            return f"The quote {quote[:60]!r} holds too few words: copy at least {least} words in a row of {called}."
        if not all(part in plain for part in parts):
            return f"The quote {quote[:60]!r} is not in {called}: copy quotes exactly."
    return None


def _plain(text: str) -> str:
    """Return a text's words alone, so that quotation marks, stops, capitals and line ends make no difference."""
    words = _WORD.findall(text.casefold())
    return f" {' '.join(words)} " if words else ""


async def judge_both_orders(
    model: ResolvedModel, criterion: str, premise: str, first: str, second: str, meter: Meter
) -> Verdicts:
    """Return what a judge says of two texts in both orders."""
    there = await verdict(model, criterion, premise, first, second, seed=1, meter=meter)
    back = await verdict(model, criterion, premise, second, first, seed=2, meter=meter)
    return Verdicts(there, back)


def consolidate(there: str, back: str) -> float:
    """Return the preference for the first text from the verdicts of both orders."""
    if (there, back) == ("A", "B"):
        return 1.0
    return 0.0 if (there, back) == ("B", "A") else 0.5


async def qualify(known: Qualification, prefer: Prefer, specimen: Specimen) -> Qualification:
    """Return what is known of a judge with how often it prefers one more story to corrupted copies; nonsense counts as wrong.

    A judge that cannot be reached is not a wrong one: what `prefer` raises of that is raised here.
    """
    right, wrong = dict[str, bool](), Counter(known.wrong)
    novel = specimen.novel
    for kind, copy in corrupted_copies(novel["text"], specimen.id).items():
        try:
            said = await prefer(known.criterion, novel["premise"], novel["text"], copy)
            right[kind] = said.preference == 1.0
            how = said.how
        except ModelReplyError:
            right[kind], how = False, "spoilt"
        wrong[how] += not right[kind]
    shown = known.pairs // CORRUPTION_KINDS
    by_kind = {kind: (known.by_kind.get(kind, 0.0) * shown + told) / (shown + 1) for kind, told in right.items()}
    units = (*known.units, specimen.id)
    pairs, told = known.pairs + len(right), known.right + sum(right.values())
    return Qualification(known.judge, pairs, told, by_kind, units, known.criterion, dict(+wrong))


def counted_judges(folder: RunFolder) -> dict[str, frozenset[str]]:
    """Return the judges whose verdicts count, with the criteria by which they qualified.

    They are of the plan, and not of the generator's own family.
    """
    kin, found = same_family_judges(folder), dict[str, frozenset[str]]()
    for (judge, criterion), one in qualifications(folder).items():
        if one.qualified and judge not in kin:
            found[judge] = found.get(judge, frozenset()) | {criterion}
    return found


def qualifications(folder: RunFolder) -> dict[tuple[str, str], Qualification]:
    """Return how each judge of the plan did by each criterion, by both names; one that was not asked has seen no pairs."""
    known = {(one.judge, one.criterion): one for one in map(Qualification.of, folder.rows("qualification.jsonl"))}
    wanted = [(judge.model, criterion) for judge in folder.plan.judges for criterion in folder.plan.judged_criteria]
    return {key: known.get(key) or Qualification(key[0], 0, 0, {}, criterion=key[1]) for key in wanted}


def same_family_judges(folder: RunFolder, plan: Plan | None = None) -> set[str]:
    """Return the judges that are of the generator's own family, or the generator itself: of the run's plan, or another one."""
    plan = plan or folder.plan
    return kin_judges(plan, _writers(folder, plan))


def _writers(folder: RunFolder, plan: Plan) -> set[str]:
    """Return the models that have written novels of a run and of the plan's rivals, as their manifests know them."""
    runs = [folder, *map(RunFolder, plan.rivals.values())]
    models = [of_role for run in runs if run.exists for of_role in run.manifest.get("models", {}).items()]
    return {name for role, names in models if role != "judge" for name in names}


def kin_judges(plan: Plan, writers: Iterable[str] = ()) -> set[str]:
    """Return the judges of a plan that are of the family of its generator, or of one of `writers`, or such a model itself."""
    models = {plan.model, *writers} - {""}
    kin = {plan.family.strip().casefold(), *map(known_family, models)} - {""}
    return {judge.model for judge in plan.judges if judge.model in models or _family(judge) in kin}


def _family(judge: Judge) -> str:
    return judge.family.strip().casefold() or known_family(judge.model)


def remarks(folder: RunFolder) -> list[str]:
    """Return what a reader must know of the plan's judges, a sentence each; nothing where there are none."""
    plan, found, said = folder.plan, counted_judges(folder), list[str]()
    if not plan.judges:
        return said
    for name in sorted(same_family_judges(folder)):
        said.append(
            f"{name} is of the generator's own family: it is not asked, and what it said is in no figure and test."
        )
    unknown = [judge.model for judge in plan.judges if not _family(judge)]
    writers = {plan.model, *_writers(folder, plan)} - {""}
    # Where the plan says nothing, the name of who wrote tells it.
    if not plan.family.strip() and not (writers and all(map(known_family, writers))):
        unknown = ["the generator", *unknown]
    if unknown:
        of = ", ".join(unknown)
        said.append(f"The plan does not say the `family` of {of}, so that kinship between them cannot be told.")
    if len(found) < FEWEST:
        said.append(
            f"Verdicts of {len(found)} of {len(plan.judges)} judges count: fewer than {FEWEST} are weak evidence."
        )
    families = {_family(judge) for judge in plan.judges if judge.model in found}
    if len(found) > 1 and len(families) == 1 and "" not in families:
        said.append("All judges that count are of one family.")
    return said


def failures(folder: RunFolder) -> list[Row]:
    """Return the last failure of every judge and verdict that has not been mended since."""
    done = {verdict_key(row) for row in folder.rows("verdicts.jsonl")}
    last = {tuple(str(row.get(name)) for name in VERDICT): row for row in folder.rows("judge_failures.jsonl")}
    return [row for key, row in last.items() if row["error"] and key not in done]


def verdict_key(row: Row) -> tuple[str, ...]:
    """Return what a verdict is about, by whom."""
    return tuple(str(row[name]) for name in VERDICT)
