"""What people type when they are asked for a plan, and mean no plan by: a number in a phrase, a word for an action, a yes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from recurrentgpt.schema.choice import ACTIONS, PLAN_ACTIONS, Action
from recurrentgpt.schema.errors import BadAnswer

LONGEST_PHRASE = 60
"""Characters; whatever is longer is a plan."""

NO_WORDS = "A plan of your own needs some words."
HELP = (
    "Answer with a number from 1 to {0} to choose a plan, with a plan of your own in a sentence, or with: another take, new "
    "plans, simulator, end."
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGITS = r"[+-]?[0-9]{1,9}"
_NOUN = "plan|option|choice|number|no\\.|nr\\.?"
_NUMBER = re.compile(
    rf"(?:the )?(?:(?P<noun>{_NOUN}) ?)?#? ?"
    rf"(?:(?P<digits>{_DIGITS})(?:st|nd|rd|th)?|(?P<word>{'|'.join(_ORDINALS + _CARDINALS)}))"
    rf"(?: (?P<after>{_NOUN}|one))?"
)
_I_CHOOSE = re.compile(
    r"(?:(?:i|we)(?: would|['’]d|['’]ll| will)? (?:like|choose|pick|take|select|prefer|want|go with|go for)"
    r"|let['’]?s (?:choose|pick|take|go with|go for|do)|choose|pick|take|select|go with|go for) "
)
_SEVERAL = re.compile(
    rf"(?:{_DIGITS}|{'|'.join(_CARDINALS)})(?: ?(?:[,;/&+.-]|and|or) ?(?:{_DIGITS}|{'|'.join(_CARDINALS)}))+"
    "|both|all|(?:both|all)(?: of them| three| plans)"
)
_POLITE = re.compile(r"^(?:please |(?:ok|okay|yes|then|and),? (?=\w+ ))|,? (?:please|then)$")
_AROUND = " .,:;!?()[]{}<>\"'“”‘’`*_~"
_MARKED = re.compile(r"#?(?P<number>[0-9]{1,2}) ?(?P<mark>[.):–-]?) +(?P<plan>\S.*)", re.DOTALL)
"""A plan with the number that stands before it in the list."""

NO = ("no", "n", "nope", "nah", "no way", "no thanks", "none", "none of them", "none of these")

_NAMES: dict[str, Action] = {action.replace("_", " "): action for action in ACTIONS if action not in PLAN_ACTIONS}
_SAID: dict[Action, str] = {
    "another_take": "retry, retake, again, try again, try it again, once more, write it again",
    "new_plans": "new plan, more plans, other plans, different plans, new options, more options, other options",
    "simulator": "you choose, you decide, you pick, surprise me, up to you, simulate, autopilot",
    "end": "end it, end it here, end story, end the story, finish the story",
}
_ACTIONS = _NAMES | {phrase: action for action, phrases in _SAID.items() for phrase in phrases.split(", ")}
_ASKED_BACK = {
    phrase: question
    for phrases, question in (
        (
            "stop, stop it, stop here, quit, quit the game, exit, bye, finish, finish it, the end",
            "Did you mean to end the story? Answer `end`; to go on another day, leave it as it is: it is kept. "
            "To write it as a plan, say it in a sentence.",
        ),
        (
            ", ".join(NO),
            "Did you mean other plans? Answer `new plans`, or say in a sentence what happens instead.",
        ),
        (
            "another, another one, other, different, more, new, something else, regenerate, regen, reroll, redo, rewrite",
            "Did you mean this passage once more, or other plans for the next one? Answer `another take` or `new plans`.",
        ),
        (
            "any, anything, whatever, either, random, i don't care, you",
            "Did you mean that somebody else chooses? Answer `simulator`, or say in a sentence what happens next.",
        ),
    )
    for phrase in phrases.split(", ")
}
_YES = frozenset(
    ("yes", "y", "ok", "okay", "k", "sure", "sure thing", "fine", "yep", "yeah", "yup", "good", "great", "cool", "do it")
)  # fmt: skip
_NO_ANSWER = frozenset(
    ("help", "help me", "h", "hi", "hello", "hey", "thanks", "thank you", "test", "hm", "hmm", "huh", "what", "why", "who", "how",
     "undo", "back", "cancel", "skip", "pass", "save", "load", "menu", "memory", "show memory", "edit", "write", "choose", "null",
     "nil", "undefined", "true", "false", "nan", "ii", "iii", "iv")
)  # fmt: skip


def typed_number(text: str) -> int | None:
    """Return the number that a text is, as people write one: 2, 2., #2, (2), plan 2, the second one; None where it is none."""
    found = _NUMBER.fullmatch(_POLITE.sub("", _bare(text))) if len(text) <= LONGEST_PHRASE else None
    return _number(found) if found else None


def typed_action(text: str) -> Action | None:
    """Return the action that a text asks for, as people write one: another take, retry; None where it is none."""
    return _ACTIONS.get(_bare(text))


def names_plan_or_action(text: str) -> bool:
    """Tell whether a text is the number of a plan or the name of an action that sets no plan."""
    return typed_number(text) is not None or _bare(text) in _NAMES


def understand(text: str, plans: Sequence[str]) -> int | Action | None:
    """Return the number of the plan or the action that a text means; None for one that is a plan of its own.

    Raises BadAnswer, which asks back, for what may mean one of several things and is no plan.
    """
    if (number := _listed(text, plans)) is not None:
        return number
    wordless = text.isascii() and not any(map(str.isalpha, text)) and text != "?"
    if len(text) > LONGEST_PHRASE:
        if wordless:
            raise BadAnswer(NO_WORDS)
        return None
    said = _bare(text)
    phrase = _POLITE.sub("", said)
    chooses = _I_CHOOSE.match(phrase)
    if found := _NUMBER.fullmatch(phrase, chooses.end() if chooses else 0):
        number = _number(found)
        plain = found["digits"] or found["noun"] or found["after"] in ("plan", "option", "choice")
        return number if (plain or not chooses) and not text.endswith("?") else _doubtful(number, plans)
    for known in (said, phrase):
        if action := _ACTIONS.get(known):
            return action
        if question := _ASKED_BACK.get(known):
            raise BadAnswer(question)
        if known in _YES:
            return _doubtful(1, plans)
    if re.fullmatch(r"(?:the )?last(?: one| plan| option)?", phrase):
        return _doubtful(len(plans), plans)
    if _SEVERAL.fullmatch(phrase):
        raise BadAnswer("One plan is chosen at a time: answer with one number, or say in a sentence what happens next.")
    named = re.fullmatch(r"(?:plan|option|choice|number) \S+", phrase)
    if (
        phrase in _NO_ANSWER
        or named
        or text == "?"
        or (len(phrase) == 1 and phrase.isascii())
        or re.fullmatch(r"/\w+", text)
    ):
        raise BadAnswer(HELP.format(len(plans)))
    if wordless:
        raise BadAnswer(NO_WORDS)
    near = re.search(r"[1-9]", said) if len(said.split()) <= 2 else None
    if near and int(near[0]) <= len(plans):
        return _doubtful(int(near[0]), plans)
    return None


def refuses(text: str) -> bool:
    """Tell whether a text says no to all plans, and nothing of what shall happen instead."""
    said = _bare(text)
    return (
        said in NO
        or re.search(r"\b(?:any|all|none|neither) of (?:these|them)\b|\bthese (?:plans|options)\b", said) is not None
    )


def is_phrase(text: str, plans: Sequence[str]) -> bool:
    """Tell whether a text is, or may be, something else than a plan of its own."""
    try:
        return understand(text, plans) is not None
    except BadAnswer:
        return True


def without_number(text: str, plans: Sequence[str]) -> str:
    """Return a plan without the number of one of `plans` that it begins with, as a list that was copied has it."""
    marked = _MARKED.fullmatch(text)
    # "2 soldiers enter" and "12: the hour strikes" are sentences.
    listed = marked and marked["mark"] in (".", ")") and 1 <= int(marked["number"]) <= len(plans)
    return marked["plan"] if marked and listed else text


def _listed(text: str, plans: Sequence[str]) -> int | None:
    """Return the number of the plan whose own words a text is, with or without its number."""
    known = [_bare(plan) for plan in plans]
    for said in filter(None, (text, (marked := _MARKED.fullmatch(text)) and marked["plan"])):
        if (words := _bare(said)) and words in known:
            return known.index(words) + 1
    return None


def _bare(text: str) -> str:
    """Return a text in small letters, without the marks around it; digits of every kind and width are 0 to 9."""
    plain = unicodedata.normalize("NFKC", text).replace("\ufe0f", "").replace("\u20e3", "")
    plain = "".join(
        str(digit) if (digit := unicodedata.digit(letter, None)) is not None else letter for letter in plain
    )
    return " ".join(plain.casefold().replace("_", " ").removeprefix("/").split()).strip(_AROUND)


def _number(found: re.Match[str]) -> int:
    if found["digits"]:
        return int(found["digits"])
    return (_ORDINALS if found["word"] in _ORDINALS else _CARDINALS).index(found["word"]) + 1


def _doubtful(number: int, plans: Sequence[str]) -> int:
    """Ask back whether a plan was meant; a number that no plan has is returned, to be refused as such."""
    if not 1 <= number <= len(plans):
        return number
    raise BadAnswer(f"Did you mean plan {number}? Answer {number}, or say in a sentence what happens next.")
