"""How much a text repeats itself: runs of words, compressibility, variety of words. It tells repetition, never coherence.

Counts grow with length, so texts are compared on windows of equal length.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from statistics import mean

from recurrentgpt.prose.shared_runs import tokens
from recurrentgpt.studies.baselines.system import System
from recurrentgpt.studies.measures.measure import Measure
from recurrentgpt.studies.runs.schemas import NovelRecord

BAND_WORDS = 6000
COMPARED_WORDS = 1000
"""Words from the beginning on which novels of different lengths are compared."""
HUMAN_BAND = {
    "repeated_4grams": (0.002, 0.015),
    "zlib_ratio": (2.37, 2.56),
    "mtld": (84.0, 134.0),
    "distinct_2": (0.87, 0.93),
}
"""Of 40 windows of 6,000 words of four classics; distinct_2 of windows of 1,000."""

MTLD_FACTOR = 0.72
DISTINCT_WORDS = 1000


@dataclass(frozen=True)
class Repetition:
    """What is repeated in one text."""

    words: int
    repeated_4grams: float
    """Share of runs of four words that came before in the text."""
    zlib_ratio: float
    """Bytes of the text over bytes compressed; higher is more repetitive."""
    mtld: float
    """Mean length of runs that keep a type-token ratio of 0.72 (McCarthy and Jarvis 2010)."""
    distinct_2: float
    """Share of different word pairs in windows of 1,000 words, on average."""


def repetition(text: str) -> Repetition:
    """Return what is repeated in `text`; of a text without words, zeros."""
    words = tokens(text)
    raw = text.encode("utf-8", "replace")
    ratio = len(raw) / len(zlib.compress(raw, 9)) if raw else 0.0
    return Repetition(len(words), _repeated(words, 4), ratio, mtld(words), _distinct(words))


def curve(text: str, every: int = 500) -> list[tuple[int, float]]:
    """Return the share of repeated 4-grams of the first 500 words, of the first 1,000, and so on: words against share."""
    words = tokens(text)
    runs = list(zip(*(words[start:] for start in range(4)), strict=False))
    found, seen, at = [], set(), 0
    for end in [*range(every, len(words), every), len(words)] if words else []:
        count = max(0, end - 3)
        seen.update(runs[at:count])
        at = count
        found.append((end, 1 - len(seen) / count if count else 0.0))
    return found


def mtld(words: list[str]) -> float:
    """Return the measure of textual lexical diversity, the mean of both directions; 0 for no words."""
    return mean([_one_way(words), _one_way(words[::-1])]) if words else 0.0


def in_band(found: Repetition) -> dict[str, bool] | None:
    """Return which measures lie in the human band; None for a text that is not about as long as the band's windows."""
    if not 0.9 * BAND_WORDS <= found.words <= 1.1 * BAND_WORDS:
        return None
    return {name: low <= getattr(found, name) <= high for name, (low, high) in HUMAN_BAND.items()}


def _repeated(words: list[str], n: int) -> float:
    total = len(words) - n + 1
    if total < 1:
        return 0.0
    return 1 - len({tuple(words[at : at + n]) for at in range(total)}) / total


def _distinct(words: list[str]) -> float:
    windows = [words[at : at + DISTINCT_WORDS] for at in range(0, len(words), DISTINCT_WORDS)]
    whole = [window for window in windows if len(window) == DISTINCT_WORDS] or windows[:1]
    return mean(1 - _repeated(window, 2) for window in whole) if whole else 0.0


def _one_way(words: list[str]) -> float:
    factors, kinds, start = 0.0, set[str](), 0
    for at, word in enumerate(words):
        kinds.add(word)
        ratio = len(kinds) / (at - start + 1)
        if ratio <= MTLD_FACTOR:
            factors += 1
            kinds, start = set(), at + 1
    if start < len(words):
        ratio = len(kinds) / (len(words) - start)
        factors += (1 - ratio) / (1 - MTLD_FACTOR)
    return len(words) / factors if factors else float(len(words))


def _compute(novel: NovelRecord, system: System) -> dict[str, float | None]:
    found = repetition(novel["text"])
    band = in_band(found)
    values: dict[str, float | None] = {
        name: round(value, 5) for name, value in asdict(found).items() if name != "words"
    }
    words = tokens(novel["text"])[:COMPARED_WORDS]
    first = round(_repeated(words, 4), 5) if len(words) == COMPARED_WORDS else None
    if found.words < DISTINCT_WORDS:
        values["distinct_2"] = None
    in_human_band = None if band is None else sum(band.values())
    return {**values, "repeated_4grams_of_1000": first, "in_human_band": in_human_band}


MEASURE = Measure(
    name="repetition",
    description="Repetition: four classics have in windows of 6,000 words a share of .002 to .015 of repeated 4-grams, a zlib "
    "ratio of 2.37-2.56 and an MTLD of 84-134 (the mean length of a run of words of which 72 % or more are different), and "
    "0.87-0.93 of different word pairs in windows of 1,000, `distinct 2`. `in human band` counts how many of the four lie there; "
    "only novels of that length have it: shorter texts repeat less, and longer ones more, so that "
    f"systems of different `words` compare by the first {COMPARED_WORDS:,} words alone, `repeated 4grams of 1000`. Shorter "
    "novels have neither. These detect repetition, never coherence.",
    columns=(*HUMAN_BAND, "repeated_4grams_of_1000", "in_human_band"),
    compute=_compute,
)
