"""Write events.md from the types of schema/events.py: `python -m docs.events`. A test keeps it fresh."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

from recurrentgpt.schema import events, log, parts

PAGE = Path(__file__).with_name("events.md")

HEAD = """\
# Events

What happens while a story is written, as plain JSON objects. `Story.stream`, `begin`, `keep`, `go_on`, `retry`, `replan`,
`edit_passage` and `resume_replay` yield them, so does `Library.import_book`, and `recurrentgpt write --json` prints them, one
a line. `event` says which kind it is: writing yields all but `replay` and `import`, which an edit with replay and an import add;
`recurrentgpt.Event` is the union of all kinds for a type checker. This page is made from
`schema/events.py` by `python -m docs.events`.

The command line prints `story`, `passage`, `memory`, `plans`, `replay`, `import` and `done`; there `story` has no genre,
`plans` no reason, and `done` counts all that the command did. It adds kinds of its own: `cost` before an edit with replay,
`suggestion` with `step` and `text` where `edit part` has new words for a part, `preview` before an import, `restored` after one
from JSON, and `error` with a `message` where it fails.
"""


def list_kinds() -> dict[str, Any]:
    """Return the type of every kind of event by its name."""
    return {get_args(get_type_hints(kind)["event"])[0]: kind for kind in get_args(events.Event)}


def draw() -> str:
    """Return the page: the kinds of events, then what their fields are made of."""
    fields = {name: rows for module in (log, parts, events) for name, rows in _fields(module).items()}
    kinds = list_kinds()
    shapes = " ".join(shape for kind in kinds.values() for _, shape, _ in fields[kind.__name__])
    held = [vars(events)[name] for name in fields if name in re.findall(r"\w+", shapes)]
    sections = [_section(name, kind, fields[kind.__name__]) for name, kind in kinds.items()]
    sections += [_section(kind.__name__, kind, fields[kind.__name__]) for kind in held]
    return "\n".join([HEAD, *sections])


def _section(name: str, kind: type, fields: list[tuple[str, str, str]]) -> str:
    rows = [f"| `{field}` | `{shape}` | {text} |" for field, shape, text in fields]
    table = ["| Field | Type | |", "| --- | --- | --- |", *(row.replace(" | None`", "` or null") for row in rows)]
    return "\n".join([f"## {name}", "", inspect.getdoc(kind) or "", "", *table]) + "\n"


def _fields(module: ModuleType) -> dict[str, list[tuple[str, str, str]]]:
    """Return name, type and description of the fields of each class, in their order; `event` is left out."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        rows = found.setdefault(node.name, [])
        for line in node.body[1:]:
            match line:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=shape) if name != "event":
                    rows.append((name, ast.unparse(shape), ""))
                case ast.Expr(value=ast.Constant(value=str(text))):
                    rows[-1] = (*rows[-1][:2], " ".join(text.split()))
    return found


if __name__ == "__main__":
    PAGE.write_text(draw(), encoding="utf-8")
