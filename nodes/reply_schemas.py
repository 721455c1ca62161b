"""What the small tier's structured calls reply: one pydantic model per call, whose JSON Schema constrains the decoding.

The patterns are in the schema only and not validated again: a server that honours schemas keeps them, and where none
does, the code behind trims what it gets. A pattern shapes more than an alphabet: it allows exactly one sentence to a
fact and two or three to a plan, which no instruction gets from a small model.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model

from recurrentgpt.nodes.small.plot_moves import Move
from recurrentgpt.nodes.small.reply_patterns import (
    DRIVES,
    LATIN,
    LONGEST,
    first_name,
    is_english,
    literal,
    phrase_pattern,
    plan_patterns,
    sentences_pattern,
    who_pattern,
    whole,
    words_pattern,
)
from recurrentgpt.nodes.small.seed_ideas import woman
from recurrentgpt.prose.shared_runs import overlap


def _text(pattern: str, **extra: Any) -> Any:
    return Annotated[str, Field(json_schema_extra={"pattern": pattern, **extra})]


def _list(item: Any, count: int) -> Any:
    # In the schema only: a list of another length is still a reply.
    return Annotated[list[item], Field(json_schema_extra={"minItems": count, "maxItems": count})]


def _between(item: Any, fewest: int, most: int) -> Any:
    return Annotated[list[item], Field(json_schema_extra={"minItems": fewest, "maxItems": most})]


_ONE_NUMBER = re.compile(r"(?!\s*[-−])\D*(\d+)\D*")


def _number_in(said: Any) -> Any:
    """Return the number in a text that holds one, as in "Plan 2"; anything else as it is."""
    found = _ONE_NUMBER.fullmatch(said) if isinstance(said, str) else None
    return int(found[1]) if found and len(found[1]) < 4 else said


_Number = Annotated[int, BeforeValidator(_number_in)]


def plan_of(entry: object) -> object:
    """Return an entry of a list of plans, or of an object in its place the plan alone, without its kind, title or reason."""
    texts = _texts(entry)
    return texts.get("plan") or texts.get("text") or max(texts.values(), key=len, default=entry)


def joined_texts(entry: object) -> object:
    """Return an entry of a list, or of an object in its place all texts in one: a name first, and who that is."""
    texts = _texts(entry)
    name = texts.pop("name", "") or (texts.pop(next(iter(texts))) if texts else "")
    return ": ".join(filter(None, [name, ", ".join(texts.values())])) or entry


def _texts(entry: object) -> dict[str, str]:
    """Return the texts of an object that holds nothing but texts and numbers; none of another one."""
    if not isinstance(entry, dict) or not all(isinstance(value, str | float | int | None) for value in entry.values()):
        return {}
    return {name: value for name, value in entry.items() if isinstance(value, str) and value}


class _Reply(BaseModel):
    """Parse one reply; keys beyond the schema are ignored, the schema itself forbids them."""

    model_config = ConfigDict(populate_by_name=True, json_schema_extra={"additionalProperties": False})


class Person(_Reply):
    """Introduce one main character."""

    name: str
    who: str


class OpeningReply(_Reply):
    """Found a story: what the brief holds, and the first plans."""

    title: str
    premise: str
    characters: list[Person]
    outline: list[str]
    plans: list[str]


class DealtReply(_Reply):
    """Found a story on a beginning and people that were dealt: the sentence after the beginning, and who each one is."""

    title: str
    want: str
    people: list[str]
    outline: list[str]
    plans: list[str]

    def opening(self, names: Sequence[str], beginning: str) -> OpeningReply:
        """Return the whole opening, with what was dealt."""
        people = [Person(name=name, who=who) for name, who in zip(names, self.people, strict=False)]
        premise = f"{beginning}. {self.want}"
        return OpeningReply(
            title=self.title, premise=premise, characters=people, outline=self.outline, plans=self.plans
        )


class SettingReply(_Reply):
    """Found a story: its world and its people."""

    title: str
    premise: str
    characters: list[Person]
    outline: list[str]


class TaughtReply(SettingReply):
    """Found a story as a model was taught to: with the plan of its first scene."""

    plan: str


class PlayReply(SettingReply):
    """Found a story to play: its world, and whom the reader may be; `readers` is left out where that is known."""

    readers: list[str] = []


class FactsReply(_Reply):
    """Note what one passage made true."""

    summary: str
    facts: list[str]


class PlansReply(_Reply):
    """Propose the next scene once for each move dealt; the fields are the names of the moves."""

    def in_order(self) -> list[str]:
        """Return the plans in the order of the moves."""
        return [whole(str(getattr(self, name))) for name in type(self).model_fields]


class ChoiceReply(_Reply, title="Choice"):
    """Choose a plan by its number from 1, give the reason first, and revise the plan."""

    why: str
    index: _Number
    plan: str


def opening_reply(language: str, plans: int = 3) -> type[OpeningReply]:
    """Return the OpeningReply of a story that nothing has been dealt for."""
    sentence = _text(sentences_pattern(language, 1, 1))
    return create_model(
        "Opening",
        __base__=OpeningReply,
        title=(_text(phrase_pattern(language, 3, 40)), ...),
        premise=(_text(sentences_pattern(language, 2, 3)), ...),
        outline=(_list(sentence, 2), ...),
        # The key tells the model what kind of plans: called plans, they tell the whole story to its end.
        plans=(_list(_text(sentences_pattern(language, 2, 3)), plans), Field(alias="first_scenes")),
    )


def dealt_reply(names: Sequence[str], moves: Sequence[Move]) -> type[DealtReply]:
    """Return the DealtReply of an English story whose people (`names`) and first scenes (`moves`) were dealt.

    It says again nothing that was dealt: each word costs the newcomer who waits for the first passage 40 ms.
    """
    part = words_pattern(4, 18)
    people = [
        {"type": "string", "pattern": f"^{who_pattern(drive)}$"} for _, drive in zip(names, itertools.cycle(DRIVES))
    ]
    scenes = [{"type": "string", "pattern": pattern} for pattern in plan_patterns(moves, names, brief=True)]
    return create_model(
        "Dealt",
        __base__=DealtReply,
        title=(_text(phrase_pattern("English", 3, 40)), ...),
        want=(_text(f"^{'She' if woman(names[0]) else 'He'} wants to {part}, but {part}\\.$"), ...),
        people=(_exactly(list[str], people), ...),
        outline=(_list(_text(f"^[A-Z]{words_pattern(4, 18)}\\.$"), 2), ...),
        plans=(_exactly(list[str], scenes), Field(alias="first_scenes")),
    )


def taught_reply(names: Sequence[str] = ()) -> type[TaughtReply]:
    """Return the TaughtReply of a model that was taught to found a story, with the people whose `names` were dealt."""
    sentence, who = _text(sentences_pattern("English", 1, 1, LONGEST, titles=True)), words_pattern(2, 25)
    person = create_model("Person", __base__=Person, who=(_text(f"^{who}$"), ...))
    people: Any = _between(person, 2, 4)
    if names:
        people = _exactly(list[Person], [_object({"name": literal(name), "who": who}) for name in names])
    return create_model(
        "Founded",
        __base__=TaughtReply,
        title=(_text(phrase_pattern("English", 3, 40)), ...),
        premise=(_text(sentences_pattern("English", 1, 3, titles=True)), ...),
        characters=(people, ...),
        outline=(_between(sentence, 3, 5), ...),
        plan=(_text(sentences_pattern("English", 1, 3, LONGEST, titles=True)), ...),
    )


def play_reply(
    language: str, names: Sequence[str] = (), readers: Sequence[str] = (), count: int = 0
) -> type[PlayReply]:
    """Return the PlayReply of a story to play, with `count` people whom the reader may be.

    Where they have been dealt (`names` of the others, `readers` as "Lena Hale, a map engraver"), the reply is bound to them.
    """
    who: Any = _text(sentences_pattern(language, 2, 3))
    people: Any = list[Person]
    choices: Any = _list(who, count)
    if names and is_english(language):
        people = _introduced(names)
    if readers and is_english(language):
        inside = f"[{LATIN}0-9 ,;'’—-]{{15,160}}"
        patterns = [f"^You are {literal(reader)}\\. You {inside}\\.$" for reader in readers]
        choices = _exactly(list[str], [{"type": "string", "pattern": pattern} for pattern in patterns])
    fields: dict[str, Any] = {
        "title": (_text(phrase_pattern(language, 3, 40)), ...),
        "premise": (_text(sentences_pattern(language, 2, 3)), ...),
        "characters": (people, ...),
        "outline": (_list(_text(sentences_pattern(language, 1, 1)), 3), ...),
    }
    if count:
        fields["readers"] = (choices, ...)
    return create_model("Setting", __base__=PlayReply, **fields)


def facts_reply(
    language: str, count: int = 3, people: Sequence[str] = (), others: Sequence[str] = (), *, taught: bool = False
) -> type[FactsReply]:
    """Return the FactsReply of one summary and `count` facts, a sentence each.

    With `people` (their names), every sentence in English begins with one of them, with one of the `others`
    in the passage or with an article: a note that begins with "he" means nothing two scenes later.
    """
    summary = fact = sentences_pattern(language, 1, 1, titles=taught)
    if people and is_english(language):
        subjects = "|".join(
            [
                *dict.fromkeys([*(literal(first_name(name)) for name in people), *map(literal, others)]),
                "The",
                "A",
                *(["Your"] if "You" in people else []),
            ]
        )
        summary, fact = (f"^({subjects}) {pattern.split(']', 1)[1]}" for pattern in (summary, fact))
    return create_model(
        "Facts", __base__=FactsReply, summary=(_text(summary), ...), facts=(_list(_text(fact), count), ...)
    )


def plans_reply(
    moves: Sequence[Move], language: str, people: Sequence[str] = (), step: int = 0, *, taught: bool = False
) -> type[PlansReply]:
    """Return the PlansReply with one field for each of `moves`, each of two or three sentences; of one to three if `taught`.

    No list, for its second item repeats its first.

    With `people` (their names), every plan in English begins with one of them, another one for each plan, and with a verb
    of its move; where the first of them is You, with that.
    """
    patterns = [sentences_pattern(language, 1 if taught else 2, 3, LONGEST, titles=taught)] * len(moves)
    if people and is_english(language):
        patterns = plan_patterns(moves, people, step)
    fields: dict[str, Any] = {
        move["name"]: (_text(pattern), ...) for move, pattern in zip(moves, patterns, strict=True)
    }
    return create_model("Plans", __base__=PlansReply, **fields)


def choice_reply(count: int, language: str, people: Sequence[str] = (), *, taught: bool = False) -> type[ChoiceReply]:
    """Return the ChoiceReply among `count` plans; with `people`, the revised plan begins with one of them.

    It has two or three sentences; one to three if `taught`.
    """
    index = Annotated[_Number, Field(json_schema_extra={"enum": list(range(1, count + 1))})]
    plan = sentences_pattern(language, 1 if taught else 2, 3, titles=taught)
    if people and is_english(language):
        subjects = people[:1] if people[0] == "You" else people
        plan = (
            f"^({'|'.join(literal(first_name(name)) for name in subjects)}) {plan.removeprefix('^').split(']', 1)[1]}"
        )
    return create_model(
        "Choice",
        __base__=ChoiceReply,
        why=(_text(sentences_pattern(language, 1, 1, titles=taught)), ...),
        index=(index, ...),
        plan=(_text(plan), ...),
    )


def revised(choice: ChoiceReply, plans: Sequence[str]) -> str:
    """Return the plan to write from: the revision, if it revises the plan that was chosen, else that plan as it was.

    A small model chooses the second plan, gives its reasons, and then copies out the first.
    """
    chosen = plans[choice.index - 1]
    likeness = [overlap(plan, choice.plan) for plan in plans]
    faithful = choice.plan.strip() and likeness[choice.index - 1] == max(likeness)
    return choice.plan if faithful else chosen


def _introduced(names: Sequence[str]) -> Any:
    """Return the list of exactly these people, each with what they are and what drives them."""
    return _exactly(
        list[Person],
        [
            _object({"name": literal(name), "who": who_pattern(drive)})
            for name, drive in zip(names, itertools.cycle(DRIVES), strict=False)
        ],
    )


def _object(patterns: dict[str, str]) -> dict[str, Any]:
    properties = {key: {"type": "string", "pattern": f"^{pattern}$"} for key, pattern in patterns.items()}
    return {"type": "object", "properties": properties, "required": list(patterns), "additionalProperties": False}


def _exactly(kind: Any, items: list[dict[str, Any]]) -> Any:
    schema = {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    return Annotated[kind, WithJsonSchema(schema)]
