"""What stands in a chat before the first message of its user: a character's card and greeting, as SillyTavern sends them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from recurrentgpt.nodes.human.answers import LONG_WORD
from recurrentgpt.nodes.human.phrases import is_no_premise
from recurrentgpt.nodes.open_story import MOST_WORDS
from recurrentgpt.prose.model_text import visible_line
from recurrentgpt.prose.sentences import count_words, limit_words

LABELS = 12
"""Words that say in a premise which of its parts is what."""


_ASSISTANT = re.compile(
    r"\W*(?:system:\s*|today is [^.]*\.\s*)*you(?: are|['’]re) (?:an?|the) (?:[\w-]+,? ){0,6}?assistant\b",
    re.IGNORECASE,
)
_PLAYS = re.compile(r"\bplay(?:s|ing)?\b(?: the)? (?:role|part|character)|\brole-?play|\{\{", re.IGNORECASE)
_SPEECH = re.compile(r"[\"“][^\"”]*[\"”]")
_ASKS_FOR_A_STORY = re.compile(
    r"\b(?:what|which)\b[^.!?]{0,60}\b(?:(?:shall|should|would|can|could|may) (?:we|i|you)\b[^.!?]{0,60}\bwrite"
    r"|(?:story|tale)\b[^.!?]{0,60}\b(?:would you like|do you want|(?:shall|should|can) (?:we|i)|about))\b[^.!?]{0,60}\?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class OpeningScene:
    """A character's card and greeting; both empty where a chat begins with its user."""

    card: str = ""
    greeting: str = ""

    def premise(self, said: str) -> str:
        """Return the premise of a story that begins here with the user's words, with as much of the scene as fits beside them."""
        if not self.greeting:
            return said
        left = max(0, MOST_WORDS["premise"] - LABELS - count_words(said))
        greeting = _limited(self.greeting, left // 2)
        card = _limited(self.card, left - count_words(greeting))
        parts = (("Character card", card), ("Opening scene", greeting), ("First words of the reader", said))
        return " ".join(f"{label}: {text}" for label, text in parts if text)


def opening_scene(messages: Iterable[tuple[str, str]]) -> OpeningScene:
    """Return the scene of a chat of (role, text).

    Instructions alone make none: only a chat that begins with the other side's words is one with a character. Nor do the hello
    of a client without a card, or of an assistant, and a question for what to write.
    """
    before = [(role, visible_line(text)) for role, text in takewhile(lambda message: message[0] != "user", messages)]
    greeting = " ".join(text for role, text in before if role == "assistant" and text)
    # An answer of this endpoint that stands first was left over from a longer chat.
    if not greeting or greeting.startswith("Nothing was written") or is_no_premise(greeting):
        return OpeningScene()
    told = (text for role, text in before if role in ("system", "developer"))
    # In brackets stand a front end's own headings: [Start a new Chat].
    card = " ".join(text for text in told if text and not _is_heading(text))
    if not card or _is_of_an_assistant(card) or _ASKS_FOR_A_STORY.search(_SPEECH.sub("", greeting)):
        return OpeningScene()
    return OpeningScene(card, greeting)


def _is_of_an_assistant(card: str) -> bool:
    return bool(_ASSISTANT.match(card)) and not _PLAYS.search(card)


def _is_heading(text: str) -> bool:
    return text.startswith("[") and text.endswith("]") and count_words(text) <= 5


def _limited(text: str, most: int) -> str:
    return limit_words(text[: most * LONG_WORD], most)
