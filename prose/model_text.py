"""What a model says as a person may see it and a later prompt may repeat it: the one gate for its text that is no prose."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

# A class of characters for a pattern: overrides, embeddings and isolates of direction, marks without width, soft hyphens, the
# invisible alphabet of tags. They show a reader other words than a model reads, and no story needs them.
HIDDEN = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{HIDDEN}]")
# Joiners and marks of direction shape Arabic and Indic words and join emoji; between plain letters they only hide something.
_STRAY_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c-\u200f\u061c]|[\u200c-\u200f\u061c](?![^\x00-\x7f])")
_THINKING = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad)"
_CHANNEL = r"<\|channel\|>\s*"
THOUGHTS = tuple(
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (rf"<{_THINKING}(?:\s[^<>]{{0,200}})?>", rf"</{_THINKING}\s*>"),
        (r"\[think\]", r"\[/think\]"),
        ("◁think(?:ing)?▷", "◁/think(?:ing)?▷"),
        (_CHANNEL + "(?:analysis|commentary)", _CHANNEL + "final"),
        (r"<\|channel>\s*thought", r"<channel\|>"),
        ("<seed:think>", "</seed:think>"),
    )
)
"""How reasoning begins and ends in the text of a reply, as models and servers mark it."""
THOUGHT_END = re.compile("|".join(closing.pattern for _, closing in THOUGHTS), re.IGNORECASE)
PERHAPS_A_THOUGHT = re.compile(
    rf"(?:</?(?:seed:)?[a-z]{{0,10}}|<{_THINKING}\s[^<>]{{0,200}}|</{_THINKING}\s+|\[/?[a-z]{{0,8}}|◁/?[a-z]{{0,8}}"
    r"|<channel\||<\|[a-z]{0,8}(?:\||\|?>\s{0,9}[a-z]{0,10})?)$",
    re.IGNORECASE,
)
"""What may go on as a mark of reasoning at the end of a text."""
CHANNEL_MARK = re.compile(
    r"<\|channel\|>\s*final|<\|start\|>\s*assistant|<\|(?:message|constrain|end|return)\|>", re.IGNORECASE
)
"""What is left of a reply in channels whose reasoning was taken out."""
_THOUGHT = re.compile(
    "|".join(f"{opening.pattern}.*?(?:{closing.pattern}|\\Z)" for opening, closing in THOUGHTS),
    re.IGNORECASE | re.DOTALL,
)
_ROLE = re.compile(
    r"<\|[^|\n]{0,40}\|>|<[｜][^｜\n]{0,40}[｜]>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|<\|channel>|<channel\|>"
    r"|</?seed:think>|#{2,} ?(?:Instruction|Response|System|Input)s?\b:?|^[^\S\n]*(?:Assistant|User|System|Human) ?:",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(
    r"<\|[^|\n]{0,40}\|>|<[｜][^｜\n]{0,40}[｜]>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|"
    + "|".join(mark.pattern for marks in THOUGHTS for mark in marks),
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][a-z0-9-]*(?:\s[^<>\n]*)?/?>|<!--[^<]*-->", re.IGNORECASE | re.DOTALL)
_ORDER = re.compile(
    r"\b(?:(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|system)\b.{0,40}"
    r"\b(?:instructions?|prompts?|messages?|rules)|as an AI (?:language )?(?:model|assistant)"
    r"|(?:reveal|print|repeat|output)\b.{0,30}\bsystem prompt)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?\n])")
_HALF = re.compile("[\ud800-\udfff]")
_CONTROL_KINDS = ("Cc", "Cs", "Co", "Cn")


def control_character(text: str) -> str | None:
    """Return the first character that no text should hold and some databases refuse, or None."""
    return next((c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t\r"), None)


def visible_text(text: str) -> str:
    """Return text without what nobody sees: controls but newline and tab, halves of letters, marks that hide or turn words."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = _plain_line_ends(_INVISIBLE.sub("", text))
    kept = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _CONTROL_KINDS)
    return without_stray_joiners(kept)


def _plain_line_ends(text: str) -> str:
    """Return text without the line ends of Unicode's own, which split a line of JSON for some readers."""
    return text.replace("\u2028", "\n").replace("\u2029", "\n")


def without_stray_joiners(text: str) -> str:
    """Return text without the joiners and marks of direction that shape nothing where they stand."""
    return _STRAY_JOINER.sub("", text)


def visible_line(text: str) -> str:
    """Return text in one line, without what nobody sees."""
    return " ".join(visible_text(text).split())


@dataclass
class LeftOut:
    """What the gate took out of texts."""

    orders: set[str] = field(default_factory=set)
    """Sentences that tell a model what to do, each once in however many texts it stood."""
    marked: set[str] = field(default_factory=set)
    """Texts that held marks of chats, reasoning or tags."""
    hidden: set[str] = field(default_factory=set)
    """Texts that held what nobody sees."""
    emptied: set[str] = field(default_factory=set)
    """Texts of which nothing is left."""

    def counts(self) -> dict[str, int]:
        """Return how many there are of each kind."""
        return {kind: len(found) for kind, found in vars(self).items()}


def model_text(text: str, left_out: LeftOut | None = None) -> str:
    """Return what a model said without the marks of chats, reasoning, tags, orders to a model, and what nobody sees.

    A text of nothing else is empty then. What was taken out is noted in `left_out`.
    """
    left_out, given = left_out or LeftOut(), text
    if (text := visible_text(text)) != given:
        left_out.hidden.add(given)
    while (cleaned := _TAG.sub("", _ROLE.sub("", _THOUGHT.sub("", text)))) != text:
        # What is taken out may bring two halves of another one together.
        text = re.sub(r"(?<=\S) {2,}(?=\S)", " ", cleaned).strip()
        left_out.marked.add(given)
    if _ORDER.search(text):
        parts = _SENTENCE.split(text)
        orders = {part for part in parts if _ORDER.search(part)}
        left_out.orders |= {order.strip() for order in orders}
        text = "".join(part for part in parts if part not in orders).strip()
    if given.strip() and not text.strip():
        left_out.emptied.add(given)
    return text


def after_thoughts(reply: str) -> str:
    """Return a whole reply from where its last reasoning ended."""
    ended = [mark.end() for mark in THOUGHT_END.finditer(reply)]
    return reply[ended[-1] :] if ended else reply


def without_turns(text: str) -> str:
    """Return a reply that is shown back to its model, without marks that begin another turn where a server reads them.

    Something is left always: some endpoints refuse an empty turn.
    """
    while (cleaned := _ROLE.sub("", text)) != text:
        text = cleaned
    return text if text.strip() else "..."


def without_tokens(text: str) -> str:
    """Return a prompt without what a chat model or its server would take for where a turn or its reasoning begins or ends."""
    while (cleaned := _TOKEN.sub("", text)) != text:
        text = cleaned
    return text


class VisibleStream:
    """Take from a stream what nobody sees, and join letters that come in two halves."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """Return the visible part of the next piece; the first half of a letter waits for the second."""
        piece, self._half = self._half + piece, ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        if _HALF.search(piece):
            piece = piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        return _INVISIBLE.sub("", _plain_line_ends(piece.replace("\r\n", "\n")))
