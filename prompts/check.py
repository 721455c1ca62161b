"""Check templates that somebody brings before any of them reaches a model, and copy out the packaged ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import TemplateSyntaxError, meta, nodes

from recurrentgpt.prompts.loader import BOTH, ENVIRONMENT, last_turn, render
from recurrentgpt.schema.errors import PromptError
from recurrentgpt.schema.state import Brief

VOICE = frozenset({"language", "person", "tense", "pace", "style", "note", "banned", "examples"})
"""What every template is given of how the story is told."""

_LENGTH = {"min_words", "max_words", "last_step", "plan_length"}
_STEP = VOICE | _LENGTH | {"brief", "step", "finale", "invite", "turns", "clues", "due", "unreached", "goes_on"}

GIVEN = {
    "system": VOICE | {"brief"},
    "open": VOICE
    | _LENGTH
    | {"genre", "premise", "title", "player", "memory", "plans", "names", "spark", "moves", "readers"},
    "write": _STEP | {"memory", "summaries", "recalled", "entries", "earlier", "previous", "ending", "plan", "slips"},
    "continue": frozenset({"words"}),
    "rewrite": frozenset({"reason", "min_words", "max_words"}),
    "rework": VOICE | {"brief", "memory", "before", "selection", "after", "how", "words"},
    "update_memory": _STEP | {"memory", "limit", "held"},
    "repair_memory": frozenset({"memory", "problem", "parts"}),
    "summary": _STEP,
    "codex": frozenset({"open", "looks", "facts", "known", "slips"}),
    "contradictions": frozenset({"lines", "passage"}),
    "voice": frozenset({"language", "passage"}),
    "facts": _STEP | {"passage"},
    "propose_plans": _STEP | {"memory", "plans"},
    "plans": _STEP | {"memory", "passage", "moves", "coming"},
    "choose": _STEP | {"memory", "plans"},
}
"""What each template may name."""

NEEDED = {
    "open": {"genre"},
    "write": {"plan", "memory"},
    "facts": {"passage"},
    "plans": {"passage", "moves"},
    "propose_plans": {"plans"},
    "choose": {"plans"},
    "rewrite": {"reason"},
    "rework": {"selection", "how"},
    "repair_memory": {"memory", "problem"},
    "contradictions": {"lines", "passage"},
    "voice": {"passage"},
}
"""What a template cannot do without."""

MODES = ("fiction", "novel")

MOST_BYTES = 1_000_000
"""Longest template that is read."""

CONVERSED = "storyteller"
"""The folder whose calls go on from the conversation that wrote the passage, so that none tells it again."""


def packaged() -> dict[str, str]:
    """Return every packaged template by its place, for example `novel/full/write.md`."""
    found = {
        f"{mode}/{tier.name}/{file.name}": file.read_text(encoding="utf-8")
        for mode in MODES
        for folder in (BOTH, mode)
        for tier in resources.files(__package__).joinpath(folder).iterdir()
        for file in tier.iterdir()
    }
    return dict(sorted(found.items()))


def export(folder: Path) -> list[Path]:
    """Copy every packaged template into `folder` and return the files; raise PromptError where one is in the way."""
    files = {folder / place: text for place, text in packaged().items()}
    if there := next((path for path in files if path.exists()), None):
        raise PromptError(f"{there} exists, and templates of yours are never overwritten: name another folder.")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PromptError(f"The templates cannot be written to {folder} ({error.strerror}).") from error
    return list(files)


def check(folder: Path) -> None:
    """Raise PromptError with the first thing that is wrong with the templates in `folder`."""
    if (problem := next(problems(folder), None)) is not None:
        raise PromptError(problem)


@lru_cache(maxsize=64)
def check_once(folder: str) -> None:
    """Check like `check`; a folder that was found good is not read again by this process."""
    check(Path(folder).expanduser())


def problems(folder: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with the templates in `folder`."""
    known = packaged()
    try:
        found = sorted(path for path in folder.rglob("*.md")) if folder.is_dir() else None
    except OSError as error:
        yield f"The folder {folder} cannot be read ({error.strerror})."
        return
    if found is None:
        yield f"There is no folder {folder}; `recurrentgpt prompts export {folder}` makes one."
        return
    places = {path.relative_to(folder).as_posix(): path for path in found}
    if not set(places) & set(known):
        yield f"{folder} holds no template, for example {next(iter(known))}; `recurrentgpt prompts export` makes all of them."
    for place, path in places.items():
        if place in known:
            yield from _problems(place, path)
        elif place.split("/")[0] in MODES:
            yield f"{place} replaces no template; the templates there are {_siblings(place, known)}."


def _sample(template: str) -> dict[str, Any]:
    """Return a value for each variable of a template, of the shape that a story gives it."""
    text = "Mira finds a map of the river."
    brief = Brief(title="The Ferry", genre="mystery", premise=text, characters=["Mira: a mapmaker"], outline=[text])
    brief |= {"synopsis": text, "truth": text, "clues": [text], "voice": text}
    shapes: dict[str, Any] = {
        "brief": brief,
        "examples": True,
        "finale": "",
        "goes_on": False,
        "parts": ["add"],
        "invite": False,
        "memory": [text],
        "moves": [{"name": "danger", "instruction": text, "verbs": ["runs from"]}],
        "limit": {"sentences": 18, "words": 450},
        "held": {"sentences": 17, "words": 300},
        "open": ["Who has the map?"],
        "plans": [text, text] if template == "choose" else 3,
        "names": ["Mira Holm"],
        "readers": ["Lena Hale, a map engraver"],
        "summaries": [{"step": 1, "summary": text}],
        "entries": [{"name": "Mira", "lines": [text]}],
        "lines": [text],
        "recalled": [{"id": "0" * 24, "step": 1, "score": 0.5, "summary": text, "piece": text, "quoted": True}],
    }
    numbers = {"min_words": 200, "max_words": 400, "step": 2, "last_step": 9, "due": 1, "words": 100}
    if template == "open":
        shapes["memory"] = text
    return {name: shapes.get(name, numbers.get(name, text)) for name in GIVEN[template]}


def _siblings(place: str, known: dict[str, str]) -> str:
    folder = place.rpartition("/")[0]
    near = [other for other in known if other.rpartition("/")[0] == folder] or list(known)
    return ", ".join(near)


def _misnamed(parsed: nodes.Template, given: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for every part that a template names of a variable and that this has not, wherever it stands."""
    shapes = {name: value for name, value in given.items() if isinstance(value, dict)}
    for loop in parsed.find_all(nodes.For):
        if isinstance(loop.target, nodes.Name):
            listed = given.get(loop.iter.name) if isinstance(loop.iter, nodes.Name) else None
            entry = listed[0] if isinstance(listed, list) and isinstance(listed[0], dict) else {}
            # One name for the entries of two lists, which differ, is left to the filling.
            shapes[loop.target.name] = entry if shapes.get(loop.target.name, entry) == entry else {}
    for name in parsed.find_all(nodes.Name):
        if name.ctx == "store" and name.name in given:
            shapes.pop(name.name, None)
    for found in parsed.find_all((nodes.Getattr, nodes.Getitem)):
        part = found.attr if isinstance(found, nodes.Getattr) else getattr(getattr(found, "arg", None), "value", None)
        variable = getattr(getattr(found, "node", None), "name", "")
        shape = shapes.get(variable)
        if shape and isinstance(part, str) and part not in shape and not hasattr(dict, part):
            known = ", ".join(sorted(shape))
            named = f"{variable}.{part}" if isinstance(found, nodes.Getattr) else f"{variable}[{part!r}]"
            yield f"line {found.lineno} uses {named}, which is not given here; there is {known}."


def _problems(place: str, path: Path) -> Iterator[str]:
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            yield f"{place} is no text of at most {MOST_BYTES:,} bytes."
            return
        source = path.read_text(encoding="utf-8")
        parsed = ENVIRONMENT.parse(source)
        used = meta.find_undeclared_variables(parsed)
    except TemplateSyntaxError as error:
        yield f"{place}, line {error.lineno}: {error.message}"
        return
    except RecursionError:
        yield f"{place} is nested too deep."
        return
    except UnicodeDecodeError:
        yield f"{place} is not a text in UTF-8."
        return
    except OSError as error:
        yield f"{place} cannot be read ({error.strerror})."
        return
    name = path.stem
    for variable in sorted(used - GIVEN[name]):
        yield f"{place} names {variable}, which it is not given; it may name {', '.join(sorted(GIVEN[name]))}."
    told = {"passage"} if place.split("/")[1] == CONVERSED else set[str]()
    for variable in sorted(NEEDED.get(name, set()) - used - told):
        yield f"{place} does not name {variable}, without which it cannot do its work."
    if used <= GIVEN[name]:
        # Also in branches that the sample does not take.
        if misnamed := next(_misnamed(parsed, _sample(name)), None):
            yield f"{place}, {misnamed}"
            return
        try:
            render(place, source, _sample(name))
        except PromptError as error:
            yield str(error)
        except RecursionError:
            yield f"{place} is nested too deep."
    if last_turn(source) == "assistant":
        yield f"{place} ends with a turn of the assistant; the last turn has to be the user's."
