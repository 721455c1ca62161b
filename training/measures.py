"""What can be told of a scene by rules: whether it carries out its plan in order, and the faults that small models have.

Rules are blunt: `plan_carried_out` compares words, not sense, and is worth something only as a mean over many scenes, with and
without an adapter. Readers judge the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from training.product import is_balanced, sentences, words

ENOUGH = 0.5
"""Share of a clause's words that one place of the scene has to hold for the clause to count as carried out."""
PLACE = 3
"""Sentences that make one place."""

_CLAUSE = re.compile(
    r"(?<=[.!?;])\s+|,\s+(?:and|but|so|because|while)\s+|\s+(?:and|but)\s+(?=\w+s\b)|,\s+(?=[A-Z][a-z]+ \w+s\b)"
)
_QUOTED = re.compile(r'"[^"]*"?')
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|St)\.")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")

CLICHES = (
    "a sense of",
    "couldn't help but",
    "could not help but",
    "sent shivers",
    "shiver down",
    "little did",
    "felt relieved",
    "sigh of relief",
    "heart pounded",
    "heart raced",
    "heart began to beat",
    "knew that she had to",
    "knew that he had to",
    "knew she had to",
    "knew he had to",
    "for the first time in",
    "a mix of",
    "the weight of",
    "hung in the air",
    "would never be the same",
    "only time would tell",
    "determined to",
    "i'm sorry, but i can't",
    "as an ai",
)
"""What the bare model ends its scenes with."""

_COMMON = frozenset({
    "a", "an", "the", "and", "or", "but", "so", "if", "as", "at", "by", "for", "from", "in", "into", "of", "off", "on", "onto",
    "out", "over", "to", "under", "up", "with", "without", "through", "about", "after", "again", "all", "also", "any", "back",
    "because", "before", "behind", "beside", "between", "down", "during", "each", "every", "first", "her", "here", "him", "his",
    "how", "i", "it", "its", "just", "last", "like", "me", "more", "most", "my", "near", "no", "not", "now", "one", "only",
    "other", "our", "own", "she", "he", "same", "some", "than", "that", "their", "them", "then", "there", "these", "they",
    "this", "those", "three", "too", "two", "until", "us", "very", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "why", "will", "would", "you", "your", "is", "are", "be", "been", "being", "am", "has", "have",
    "had", "do", "does", "did", "done", "can", "could", "may", "might", "must", "shall", "should", "get", "gets", "got", "go",
    "goes", "went", "come", "comes", "came",
    "somebody", "nobody", "everybody", "anybody", "something", "nothing", "everything", "anything",
})  # fmt: skip

_CALENDAR = frozenset({
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "may",
    "june", "july", "august", "september", "october", "november", "december", "christmas", "easter", "god", "english",
})  # fmt: skip

_PAST = {
    "says": "said", "finds": "found", "gives": "gave", "takes": "took", "sees": "saw", "goes": "went", "comes": "came",
    "tells": "told", "gets": "got", "makes": "made", "puts": "put", "brings": "brought", "holds": "held", "keeps": "kept",
    "leaves": "left", "lets": "let", "loses": "lost", "meets": "met", "pays": "paid", "reads": "read", "rides": "rode",
    "rings": "rang", "rises": "rose", "runs": "ran", "sells": "sold", "sends": "sent", "sets": "set", "shows": "showed",
    "shuts": "shut", "sings": "sang", "sits": "sat", "sleeps": "slept", "speaks": "spoke", "stands": "stood",
    "steals": "stole", "swims": "swam", "swears": "swore", "teaches": "taught", "tears": "tore", "thinks": "thought",
    "throws": "threw", "understands": "understood", "wakes": "woke", "wears": "wore", "wins": "won", "writes": "wrote",
    "breaks": "broke", "buys": "bought", "catches": "caught", "chooses": "chose", "cuts": "cut", "digs": "dug",
    "draws": "drew", "drinks": "drank", "drives": "drove", "eats": "ate", "falls": "fell", "feeds": "fed", "feels": "felt",
    "fights": "fought", "flies": "flew", "forgets": "forgot", "freezes": "froze", "hangs": "hung", "hears": "heard",
    "hides": "hid", "hits": "hit", "knows": "knew", "lays": "laid", "leads": "led", "lends": "lent", "lies": "lay",
    "lights": "lit", "begins": "began", "bites": "bit", "blows": "blew", "builds": "built", "burns": "burnt",
    "becomes": "became", "binds": "bound", "sinks": "sank", "slides": "slid", "spends": "spent", "splits": "split",
    "springs": "sprang", "sticks": "stuck", "strikes": "struck", "sweeps": "swept", "swings": "swung", "grows": "grew",
    "bends": "bent", "creeps": "crept", "deals": "dealt", "kneels": "knelt", "leans": "leant", "shakes": "shook",
}  # fmt: skip

_PRESENT = frozenset(_PAST) - {"lets", "sets", "puts", "reads", "shuts", "cuts", "hits", "splits", "lies", "burns", "lights"} | {
    "is", "are", "has", "looks", "asks", "walks", "turns", "opens", "closes", "pulls", "pushes", "nods", "smiles", "stops",
    "starts", "stares", "replies", "answers", "whispers", "shouts", "reaches", "watches", "waits", "steps", "wants", "needs",
}  # fmt: skip
_WITH_PARTICIPLES = frozenset({"is", "are", "am", "be", "been", "being", "has", "have"})
"""Behind these "kept" is no past: "it is kept", "you have kept"."""
_PAST_FORMS = frozenset(_PAST.values()) | {"was", "were", "had", "did"}


@dataclass(frozen=True)
class Measures:
    """The figures of one scene."""

    words: int
    plan: float
    """Share of the plan's clauses that are carried out, in order."""
    retold: float
    """Share of the scene's runs of three words that are the plan's own, whatever their tense: a plan told again is no scene."""
    wrong_tense: float
    """Share of the narrated verbs that are in another tense than the mode's, 0 to 1, of those that the rule knows."""
    repeated: float
    """Share of the 4-grams that were there before."""
    distinct: float
    """Share of different 2-grams."""
    joined: int
    """Words that are two words run together."""
    unclosed: int
    """Paragraphs in which a quotation does not close."""
    cliches: int
    new_names: int
    """People or places that the context does not know."""


def measure(passage: str, *, mode: str, plan: str, context: Iterable[str], known: Collection[str]) -> Measures:
    """Return the figures of `passage`; `context` is all that the writer was told, `known` the words that are no joined ones."""
    tokens = [word.casefold() for word in words(passage)]
    present = present_share(passage)
    return Measures(
        words=len(tokens),
        plan=plan_carried_out(plan, passage),
        retold=retold(plan, passage),
        wrong_tense=present if mode == "novel" else 1 - present,
        repeated=repeated(tokens, 4),
        distinct=1 - repeated(tokens, 2),
        joined=len(joined_words(passage, known)),
        unclosed=sum(not is_balanced(paragraph) for paragraph in passage.split("\n\n")),
        cliches=len(cliches(passage)),
        new_names=len(new_names(passage, context)),
    )


def stem(word: str) -> str:
    """Return the form in which a plan in the present tense and a scene in the past are compared."""
    word = word.casefold().removesuffix("'s")
    word = _PAST.get(word, word)
    for ending, least in (("ing", 5), ("ied", 4), ("ies", 4), ("ed", 4), ("es", 4), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least - 1:
            word = word.removesuffix(ending) + ("y" if ending in ("ied", "ies") else "")
            break
    return word.rstrip("e")


def content(text: str) -> set[str]:
    """Return the stems of the words that mean something."""
    return {stem(word) for word in _WORD.findall(text) if word.casefold() not in _COMMON} - {""}


def clauses(plan: str) -> list[str]:
    """Return the things that a plan says will happen, in order; a piece of fewer than two words that mean something is none."""
    # A title's full stop ends no sentence.
    return [
        piece.strip(" ,.") for piece in _CLAUSE.split(_TITLE.sub(r"\1", plan)) if piece and len(content(piece)) >= 2
    ]


def plan_carried_out(plan: str, passage: str) -> float:
    """Return the share of the plan's clauses that the passage carries out in their order, 0 to 1.

    A clause is carried out at the first place, not before that of the clause before it, that holds ENOUGH of its words. The plan
    as a whole is looked for in the way that finds the most clauses.
    """
    wanted = [content(clause) for clause in clauses(plan)]
    if not wanted:
        return 1.0
    lines = [content(sentence) for sentence in sentences(passage)]
    places = [set[str]().union(*lines[at : at + PLACE]) for at in range(len(lines))]
    fits = [[at for at, place in enumerate(places) if len(clause & place) >= ENOUGH * len(clause)] for clause in wanted]
    # The longest run of clauses at places that never go back.
    best = [0] * (len(places) + 1)
    for fit in fits:
        for at in reversed(fit):
            reached = max(best[: at + 1], default=0) + 1
            best[at] = max(best[at], reached)
    return max(best, default=0) / len(wanted)


def retold(plan: str, passage: str) -> float:
    """Return the share of the passage's runs of three words that the plan holds too, whatever their tense, 0 to 1."""
    runs = []
    for text in (plan, passage):
        stems = [stem(word) for word in _WORD.findall(text)]
        runs.append([tuple(stems[at : at + 3]) for at in range(len(stems) - 2)])
    of_plan = set(runs[0])
    return sum(run in of_plan for run in runs[1]) / len(runs[1]) if runs[1] else 0.0


def present_share(passage: str) -> float:
    """Return the share of the present tense among the narrated verbs that the rule knows, 0 to 1."""
    narrated = [word.casefold() for word in _WORD.findall(_QUOTED.sub(" ", passage))]
    present = sum(
        word in _PRESENT or (before == "you" and not _PRESENT.isdisjoint({f"{word}s", f"{word}es"}))
        for before, word in pairwise(["", *narrated])
    )
    past = sum(
        (word in _PAST_FORMS or (word.endswith("ed") and len(word) > 4)) and before not in _WITH_PARTICIPLES
        for before, word in pairwise(["", *narrated])
    )
    return present / (present + past) if present + past else 0.0


def repeated(tokens: Sequence[str], n: int) -> float:
    """Return the share of the n-grams that came before in the same text, 0 to 1."""
    grams = [tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def joined_words(passage: str, known: Collection[str]) -> list[str]:
    """Return the words that nobody knows and that are two known ones run together, for example `takecare`."""
    found = []
    for word in _WORD.findall(passage):
        low = word.casefold()
        if len(low) < 6 or low in known or stem(low) in known or "'" in low or "-" in low or word[0].isupper():
            continue
        if any(low[:at] in known and low[at:] in known for at in range(3, len(low) - 2)):
            found.append(word)
    return found


def cliches(passage: str) -> list[str]:
    """Return the phrases of CLICHES that the passage uses."""
    low = passage.casefold().replace("’", "'")
    return [phrase for phrase in CLICHES if phrase in low]


def new_names(passage: str, context: Iterable[str]) -> list[str]:
    """Return the capitalised words inside sentences that nothing in `context` mentions."""
    told = (
        _CALENDAR | _COMMON | {word.casefold().removesuffix("'s") for text in context for word in _WORD.findall(text)}
    )
    seen = set()
    for match in re.finditer(r"[A-Z][a-z]{2,}", passage):
        before = passage[: match.start()].rstrip(" ")
        # A capital that begins a sentence or a speech says nothing.
        if before and before[-1] not in ".!?\"':\n" and match[0].casefold() not in told:
            seen.add(match[0])
    return sorted(seen)


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of `texts` in lower case, with their stems."""
    low = {word.casefold() for text in texts for word in _WORD.findall(text)}
    return frozenset(low | {stem(word) for word in low})
