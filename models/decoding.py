"""How the small tier samples: constants for each kind of call, and the grammar that gives a scene its form.

The fields travel in the body of a chat completion and are llama.cpp's; a server that does not know them ignores or
refuses them, so only the embedded server and others that are known to be llama.cpp get them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FULL_REPLY_TOKENS = 4000
"""Token limit of a capable model's structured replies: generous, since many of them think first."""


@dataclass(frozen=True)
class Decoding:
    """Sampling of one kind of call."""

    temperature: float
    max_tokens: int
    """Tokens of the longest reply; for prose see `prose_tokens`."""
    sampling: dict[str, Any] = field(default_factory=dict)
    """llama.cpp's own fields."""


def sampled(decoding: Decoding) -> Mapping[str, Any]:
    """Return the keyword arguments that make a small model's call sample as `decoding` says."""
    return {
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "sampling": decoding.sampling,
    }


# Both stop loops, also those in which a word changes. They have to be weak: they count full stops like any other token, and at a
# frequency penalty of 0.25 sentences no longer end.
_WEAK_PENALTIES = {"presence_penalty": 0.35, "frequency_penalty": 0.06, "repeat_last_n": 320}

WRITE = Decoding(
    temperature=0.9,
    max_tokens=800,
    sampling={
        # A 1.5B model has a long tail of nonsense; min-p cuts it relative to the best token, so that a warm temperature is safe.
        "min_p": 0.08,
        "top_k": 0,
        "top_p": 1.0,
        **_WEAK_PENALTIES,
    },
)
"""Prose: warm, never twice the same."""

WRITE_TAUGHT = Decoding(
    temperature=0.6,
    max_tokens=800,
    sampling={"min_p": 0.1, "top_k": 0, "top_p": 0.95, **_WEAK_PENALTIES},
)
"""Prose of a model that wears an adapter: it has learnt to end its sentences. It needs no form."""

FACTS = Decoding(temperature=0.3, max_tokens=320, sampling={"min_p": 0.1, "top_k": 0, "top_p": 1.0})
"""Notes on a passage: cold, for they must be true."""

PLANS = Decoding(
    temperature=0.9,
    max_tokens=480,
    sampling={"min_p": 0.08, "top_k": 0, "top_p": 1.0},
)
"""Plans: warm."""

PLANS_TAUGHT = Decoding(
    temperature=0.7, max_tokens=420, sampling={"min_p": 0.08, "top_k": 0, "top_p": 0.95, "repeat_last_n": 0}
)
"""Founding and plans of a model that wears an adapter: it was taught them."""

OPEN = Decoding(temperature=0.9, max_tokens=900, sampling={"min_p": 0.06, "top_k": 0, "top_p": 1.0})
"""The founding of a story: warm, for nothing has to be kept yet."""

CHOOSE = Decoding(temperature=0.6, max_tokens=320, sampling={"min_p": 0.1, "top_k": 0, "top_p": 1.0})
"""The simulator's choice."""


def prose_tokens(max_words: int) -> int:
    """Return the token limit of a passage: English needs about 1.35 tokens a word, other languages up to twice that."""
    return int(max_words * 2) + 60


# One letter is one paragraph: A speech that names its speaker, B a named person's act, D the same at a time of day,
# N narration, T talk. A, B and D force a verb in the past, and the whole scene stays in the tense of its first paragraph. They
# open with somebody of the plan, for a scene that opens with the weather goes on without the plan.
_OPENINGS = ("A", "B", "D", "AT", "B", "AN", "D")
_BODIES = ("TTN", "NTT", "TNT", "NTTT", "TTTN")
_ENDINGS = ("T", "N", "NT", "TN")
_LENGTH = {"A": 22, "B": 36, "D": 38, "N": 36, "T": 16}
"""Words that the embedded model puts into a paragraph of each kind, on average."""

_VERBS = (
    "put", "took", "held", "pulled", "pushed", "lifted", "set", "turned", "opened", "closed", "shut", "heard",
    "saw", "found", "counted", "stood", "knelt", "sat", "leaned", "walked", "climbed", "ran", "crossed", "reached",
    "stopped", "waited", "listened", "watched", "read", "tore", "folded", "cut", "tied", "carried", "dropped",
    "threw", "caught", "struck", "wiped", "lit",
)  # fmt: skip
_ACTS = (
    "put", "take", "hold", "pull", "push", "lift", "set", "turn", "open", "close", "shut", "hear", "see", "find", "count",
    "stand", "kneel", "lean", "walk", "climb", "run", "cross", "reach", "stop", "wait", "listen", "watch", "read", "tie",
    "carry", "drop", "throw", "catch", "strike", "wipe", "light",
)  # fmt: skip
"""The same for a story to play, which is told to "you" in the present."""
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏ"


def scene_shape(step: int, seed: int, words: int) -> str:
    """Return the paragraphs of a scene of about `words` words, one letter each; neighbouring steps open and end differently."""
    dealer = random.Random(f"shape {seed} {step}")
    shape = _OPENINGS[(step + seed) % len(_OPENINGS)]
    ending = _ENDINGS[(step + seed) % len(_ENDINGS)]
    while sum(_LENGTH[kind] for kind in shape + ending) < words - 30:
        shape += dealer.choice(_BODIES)
    return shape + ending


def scene_grammar(
    shape: str, names: Sequence[str], step: int = 0, *, going_on: bool = False, played: bool = False
) -> str:
    """Return the GBNF grammar of a scene in English of the given shape.

    It has no word for a heading, a list, a script, a comment, a bracket or a foreign letter, and it makes people talk: of
    its own accord the model sums a scene up in the present tense. What is said or read in the middle of a narration has double
    quotation marks: an apostrophe follows a letter. `names` are the first names that may open it. With
    `going_on` the text continues an accepted one: it may first end the paragraph that is open. `played` is the grammar of
    interactive fiction: the reader acts, as "you" and in the present.
    """
    dealer = random.Random(f"verbs {step}")
    verbs = " | ".join(f'"{verb}"' for verb in sorted(dealer.sample(_ACTS if played else _VERBS, 12)))
    spelt = (re.sub(rf"[^{_LATIN}'’. -]", "", name).strip() for name in names)
    people = " | ".join(f'"{name}"' for name in spelt if name) or "[A-Z] [a-z]+"
    kinds = {"A": "said", "B": "act", "D": "later", "N": "narration", "T": "talk"}
    says = "says asks whispers calls" if played else "said asked whispered called"
    tags = " | ".join(f'" {tag}"' for tag in says.split())
    actor, inside = ('"You"', '"you"') if played else ("name", "name")
    body = r' "\n\n" '.join(kinds[kind] for kind in shape) or '""'
    root = rf'(" " sentence)? "\n\n" {body}' if going_on else body
    return rf"""root ::= {root}
name ::= {people}
c ::= [{_LATIN}0-9,;’ —-] | [{_LATIN}] "'"
start ::= [A-ZÀ-ÖØ-Þ]
sentence ::= start c{{3,170}} [.?!] | start c{{3,90}} ", " quote
more ::= " " sentence
narration ::= sentence more more{{0,3}}
speech ::= start (c | [.?!] " "){{1,170}}
quote ::= "\"" speech [.?!] "\""
verb ::= {tags}
said ::= "\"" speech [,?!] "\" " name verb (" " [a-z] c{{3,90}})? "." more{{0,2}}
act ::= {actor} doing
doing ::= " " ({verbs}) " " c{{5,120}} "." more{{1,3}}
time ::= "At dawn" | "By noon" | "At dusk" | "That night" | "An hour later" | "Before midnight" | "In the morning"
later ::= time ", " {inside} doing
tagged ::= "\"" speech [,?!] "\" " [{_LATIN}] c{{3,120}} "." more? (" " quote)?
talk ::= quote more{{0,2}} | tagged
"""
