"""Load prompt templates strictly: an unknown template, a missing variable or bad syntax is one clear error.

Templates are Jinja2 in a sandbox, because a reader may bring their own (`directory`), and a template that
somebody else wrote must not be able to run code.
"""

from __future__ import annotations

import json
import re
import secrets
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any, Literal

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, UndefinedError, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.filters import do_round, make_attrgetter
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from recurrentgpt.schema.errors import PromptError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

# What fills a template may hold a line like a turn's; only the template's own lines become marks, which nobody can guess.
_MARK = f"=== {secrets.token_hex(8)} "
_TURN = re.compile(r"^=== (user|assistant)[ \t]*$", re.MULTILINE)
LONGEST_PROMPT = 400_000
"""Characters of a filled template; a story's own texts are bounded far below that."""

BOTH = "both"
"""The packaged folder of what every mode asks in the same words; a folder that somebody brings has it in each mode's own."""

MOST_TURNS = 50_000
"""Turns of all loops, calls, and things in lists, in one filling of a template."""
MOST_SECONDS = 2
"""Seconds of computing in one filling: a thousandth of one is usual."""

_FILTERS = frozenset({
    *("abs", "attr", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "groupby", "int"),
    *("items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace"),
    *("reverse", "safe", "select", "selectattr", "sort", "string", "striptags", "title", "trim", "truncate", "unique"),
    *("upper", "wordcount"),
})  # fmt: skip
"""What of Jinja's filters makes nothing that is much longer than what it is given."""

_METHODS = frozenset({
    *("capitalize", "casefold", "count", "endswith", "find", "get", "index", "isalnum", "isalpha", "isdecimal", "isdigit"),
    *("islower", "isnumeric", "isspace", "istitle", "isupper", "items", "keys", "lower", "lstrip", "partition", "removeprefix"),
    *("removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip"),
    *("swapcase", "title", "upper", "values"),
})  # fmt: skip
"""What of the methods of texts, lists and dictionaries does so."""

_IN_TURNS = " in turns"
"""The filter that each loop's values go through; no template can name it."""

_turns: ContextVar[Iterator[int]] = ContextVar("_turns")
"""The turns that are left to the filling at hand."""


class _Generator(CodeGenerator):
    """Have texts, lists and dictionaries bounded wherever a template puts some together."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concat(map(str, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write(")))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self._weighed(super().visit_List, node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self._weighed(super().visit_Dict, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        if node.ctx == "load":
            self._weighed(super().visit_Tuple, node, frame)
        else:  # names that are given something
            super().visit_Tuple(node, frame)

    def _weighed(self, visit: Callable[[Any, Frame], None], node: nodes.Node, frame: Frame) -> None:
        self.write("environment.weighed(")
        visit(node, frame)
        self.write(")")


class _Bounded(ImmutableSandboxedEnvironment):
    """A sandbox in which nothing takes minutes or gigabytes: what is put together, or done again, has an end."""

    code_generator_class = _Generator
    intercepted_binops = frozenset(["**", "*", "%", "<<", "+"])

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Put texts together; raise SecurityError where that would be huge."""
        return _join("", parts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Tell whether a template may see an attribute; texts and numbers, which most are, lead nowhere."""
        return (type(value) in (str, int) and not attr.startswith("_")) or super().is_safe_attribute(obj, attr, value)

    @staticmethod
    def weighed(value: Any) -> Any:
        """Return what a template put together; raise SecurityError where all that it holds, level by level, is huge."""
        _weigh(value)
        return value

    def call(self, context: Any, called: Any, /, *values: Any, **named: Any) -> Any:
        """Call a macro, or a method that makes nothing huge; raise SecurityError for another."""
        _take_turn()
        if called is dict:
            return self.weighed(dict(*values, **named))
        if isinstance(called, BuiltinMethodType) and isinstance(text := called.__self__, str) and not named:
            if called.__name__ == "join":
                return _join(text, *values)
            if called.__name__ == "replace":
                return _replaced(text, *values)
        # The sandbox has its own `format`, which minds what is formatted and not how wide.
        name = getattr(called, "__name__", "")
        if (isinstance(called, BuiltinMethodType) or name in ("format", "format_map")) and name not in _METHODS:
            raise SecurityError(f"{name}() is nothing that a prompt calls")
        return super().call(context, called, *values, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return the result of an operation; raise SecurityError where that would be huge."""
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if operator == "**" and not (numbers and abs(left) <= 1_000 and abs(right) <= 10):
            raise SecurityError("a power that large is no part of a prompt")
        if operator == "*" and not (numbers and abs(left) < 10**12 and abs(right) < 10**12):
            sized = [len(side) for side in (left, right) if hasattr(side, "__len__")]
            times = [side for side in (left, right) if isinstance(side, int)]
            if len(sized) != 1 or len(times) != 1 or sized[0] * times[0] > LONGEST_PROMPT:
                raise SecurityError("a product that large is no part of a prompt")
        if operator == "%" and isinstance(left, str):
            if re.search(r"\d{4}|\*", left):
                raise SecurityError("a format that wide is no part of a prompt")
            if len(left) + left.count("%") * _weigh(right) > LONGEST_PROMPT:
                raise SecurityError(f"it makes more than {LONGEST_PROMPT:,} characters")
        if operator == "+" and hasattr(left, "__len__") and len(left) + len(right) > LONGEST_PROMPT:
            raise SecurityError("a sum that long is no part of a prompt")
        result = super().call_binop(context, operator, left, right)
        return result if operator == "%" else self.weighed(result)


def _take_turn() -> None:
    if next(_turns.get(), None) is None:
        raise SecurityError(
            f"it loops, calls and lists more than {MOST_TURNS:,} times, or for more than {MOST_SECONDS} seconds"
        )


def _allowance() -> Iterator[int]:
    """Yield a turn for as long as a filling has some left, and has not computed for too long."""
    ends = time.thread_time() + MOST_SECONDS
    for turn in range(MOST_TURNS):
        if turn % 64 == 63 and time.thread_time() > ends:  # the clock takes longer than most turns
            return
        yield turn


def _weigh(value: Any) -> int:
    """Return the characters of a value and all that it holds, a turn for each; raise SecurityError where they are too many.

    What holds itself twice, level upon level, is a few letters of a template, and fills the memory when it is shown.
    """
    weight, waiting = 0, [value]
    while waiting:
        held = waiting.pop()
        if isinstance(held, str):
            weight += len(held)
        elif isinstance(held, Mapping):
            _take_turn()
            waiting += [*held.keys(), *held.values()]
        elif isinstance(held, list | tuple | set | frozenset):
            _take_turn()
            for _ in held:
                _take_turn()
            waiting += held
        if weight > LONGEST_PROMPT:
            raise SecurityError(f"it makes more than {LONGEST_PROMPT:,} characters")
    return weight


class _Namespace(Namespace):
    """A template's own names, which show nothing of what they hold."""

    def __repr__(self) -> str:
        return "<namespace>"


def _in_turns(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values of a loop, each as a turn of the filling."""
    for value in values:
        _take_turn()
        yield value


def _join(between: str, parts: Iterable[Any]) -> str:
    texts, length = [], 0
    for part in parts:
        texts.append(str(part))
        length += len(texts[-1]) + len(between)
        if length > LONGEST_PROMPT:
            raise SecurityError(f"it makes more than {LONGEST_PROMPT:,} characters")
    return between.join(texts)


def _joined(values: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    """Do as Jinja's `join` does, within bounds."""
    return _join(str(d), values if attribute is None else map(make_attrgetter(ENVIRONMENT, attribute), values))


def _replaced(text: Any, old: Any, new: Any, count: int = -1) -> str:
    """Do as Jinja's `replace` does, within bounds."""
    old, new = str(old), str(new)
    if len(str(text)) + str(text).count(old) * len(new) > LONGEST_PROMPT:
        raise SecurityError(f"it makes more than {LONGEST_PROMPT:,} characters")
    return str(text).replace(old, new, count)


def _summed(values: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
    """Do as Jinja's `sum` does, of numbers alone: it would put lists together without a bound."""
    found = [start, *(values if attribute is None else map(make_attrgetter(ENVIRONMENT, attribute), values))]
    if not all(isinstance(value, int | float) for value in found):
        raise SecurityError("a sum that is not of numbers is no part of a prompt")
    return sum(found)


def _rounded(value: float, precision: int = 0, method: Literal["common", "ceil", "floor"] = "common") -> float:
    """Round as Jinja's `round` does, to as many places as a number has."""
    return do_round(value, max(-15, min(15, precision)), method)


def _as_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, in plain letters."""
    _weigh(value)
    return _join("", [json.dumps(value, ensure_ascii=False, indent=None if indent is None else max(0, min(8, indent)))])


def _indented(text: Any, width: int = 4, first: bool = False) -> str:
    """Indent the lines of a text, all but the first and the empty ones, by so many spaces."""
    space = " " * max(0, min(40, width))
    lines = _join("", [text]).split("\n")
    return _join("\n", [space + line if line and (at or first) else line for at, line in enumerate(lines)])


ENVIRONMENT = _Bounded(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False, autoescape=False
)
# Nothing of a prompt needs the others, and a few letters of them fill the memory.
ENVIRONMENT.filters = {name: ENVIRONMENT.filters[name] for name in _FILTERS}
ENVIRONMENT.filters.update(
    join=_joined,
    replace=_replaced,
    sum=_summed,
    round=_rounded,
    tojson=_as_json,
    indent=_indented,
    **{_IN_TURNS: _in_turns},
)
ENVIRONMENT.globals = {"dict": dict, "namespace": _Namespace}


class Prompts:
    """Fill the templates of one tier (`small`, `full`) of one mode, a folder of templates.

    A template that exists in `directory` (same relative path) replaces the packaged one.
    """

    def __init__(self, tier: str, directory: str | Path | None = None, *, mode: str = "novel") -> None:
        self.mode, self.tier, self.directory = mode, tier, directory

    def fill(self, name: str, **variables: Any) -> str:
        """Return template `name` filled with `variables`; raise PromptError where they do not fit."""
        where, source = self._template(name)
        return render(where, source, variables)

    def turns(self, name: str, **variables: Any) -> list[BaseMessage]:
        """Return template `name` filled as the turns of a conversation; see `texts`.

        The assistant's turns are marked as examples: up to the last of them a prompt is the same in every call of its kind.
        """
        from langchain_core.messages import AIMessage, HumanMessage

        return [
            AIMessage(text, example=True) if role == "ai" else HumanMessage(text)
            for role, text in self.texts(name, **variables)
        ]

    def texts(self, name: str, **variables: Any) -> list[tuple[Literal["human", "ai"], str]]:
        """Return template `name` filled as who says what in a conversation.

        A turn begins with a line `=== user` or `=== assistant`; a template without such lines is one turn of the user.
        """
        where, source = self._template(name)
        filled = render(where, _TURN.sub(lambda match: _MARK + match[1], source), variables)
        first, *rest = filled.split(_MARK)
        found: list[tuple[Literal["human", "ai"], str]] = [("human", first.strip())] if first.strip() else []
        for turn in rest:
            role, _, text = turn.partition("\n")
            found.append(("ai" if role.strip() == "assistant" else "human", text.strip()))
        return found

    def source(self, name: str) -> str:
        """Return template `name` as it is written; raise PromptError where there is none."""
        return self._template(name)[1]

    def _template(self, name: str) -> tuple[str, str]:
        where = f"{self.mode}/{self.tier}/{name}.md"
        return where, _source(where, str(self.directory) if self.directory else None)


def last_turn(source: str) -> str:
    """Return whose turn a template ends with: `user` or `assistant`."""
    return str((_TURN.findall(source) or ["user"])[-1])


def render(where: str, source: str, variables: Mapping[str, Any]) -> str:
    """Return a template filled with variables; raise PromptError, which says where, for one that does not fit or end."""
    turns = _turns.set(_allowance())
    try:
        return _join("", _compiled(source).generate(variables)).strip()
    except UndefinedError as error:
        what = _missing(source, error.message or "")
        raise PromptError(f"Prompt template {where} uses {what}, which is not given here: take it out.") from error
    except (TemplateSyntaxError, SecurityError) as error:
        raise PromptError(
            f"Prompt template {where} cannot be used: {str(error).rstrip('.')}. Correct it and try again."
        ) from error
    except (ArithmeticError, AssertionError, TypeError, ValueError, LookupError, RecursionError, MemoryError) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
        at = f" at line {lines[-1]}" if lines else ""
        raise PromptError(
            f"Prompt template {where} cannot be used: what it asks for{at} does not fit the values that are given. Correct it "
            "and try again."
        ) from error
    finally:
        _turns.reset(turns)


def _missing(source: str, message: str) -> str:
    """Return what a template names that is not there, as the template writes it."""
    name = re.search(r"(?:has no (?:attribute|element) )?'?([\w-]+)'?(?: is undefined)?$", message)
    if name is None:
        return "a variable"
    written = re.search(rf"[A-Za-z_][\w.]*(?:\.{re.escape(name[1])}\b|\[[\"']?{re.escape(name[1])}[\"']?\])", source)
    return written[0] if written else name[1]


@lru_cache(maxsize=256)
def _compiled(source: str) -> Template:
    tree = ENVIRONMENT.parse(source)
    macros = {macro.name: macro for macro in tree.find_all(nodes.Macro)}
    called = {
        call.node.name
        for macro in macros.values()
        for call in macro.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name)
    }
    if called & macros.keys():
        raise SecurityError("a macro of a prompt calls no other one")
    if any(loop.recursive for loop in tree.find_all(nodes.For)):
        raise SecurityError("a loop of a prompt does not call itself")
    if any(inner.find(nodes.For) for outer in tree.find_all(nodes.For) for inner in outer.find_all(nodes.For)):
        raise SecurityError("loops stand at most two deep in a prompt")
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _IN_TURNS, [], [], None, None, lineno=loop.lineno)
    return ENVIRONMENT.from_string(tree)


@lru_cache(maxsize=256)
def _source(where: str, directory: str | None) -> str:
    if directory is not None and (override := Path(directory) / where).is_file():
        return override.read_text(encoding="utf-8")
    mode, *place = where.split("/")
    for folder in (mode, BOTH):
        if (packaged := resources.files(__package__).joinpath(folder, *place)).is_file():
            return packaged.read_text(encoding="utf-8")
    raise PromptError(f"There is no prompt template {where}.")
