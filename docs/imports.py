"""Draw which folder imports which into architecture.md: `python -m docs.imports`. A test keeps it fresh, and the arrows right.

Every import counts: those inside functions, those for type checkers only, and those by name with `import_module`.
"""

from __future__ import annotations

import ast
import gc
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"

ROOMS = (
    "schema",
    "infrastructure",
    "prose",
    "books",
    "books/readers",
    "books/writers",
    "prompts",
    "models/embedded",
    "models",
    "memory",
    "nodes/small",
    "nodes/human",
    "nodes",
    "graph",
    "checkpoints",
    "recurrentgpt/engine",
    "recurrentgpt",
    "recurrentgpt/remote",
    "desk/backend",
    "desk/routes",
    "desk",
    "studies",
    "studies/recording",
    "studies/baselines",
    "studies/runs",
    "studies/measures",
    "studies/judging",
    "studies/report",
    "studies/server",
    "recurrentgpt/cli/terminal",
    "recurrentgpt/cli/commands",
    "recurrentgpt/cli",
    "recurrentgpt/__main__.py",
)
"""Every folder from the floor up: each may import what stands before it, so a folder stands above those inside it that it is
built of. One file stands apart from its folder: Python asks for `__main__.py` there, and the command line is above it."""

_PICTURE = re.compile(r"(?<=<!-- imports -->\n).*(?=<!-- /imports -->)", re.DOTALL)


def find_modules() -> dict[str, Path]:
    """Return the file of every module of the package, by the name that it is imported by."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for package, folder in project["tool"]["setuptools"]["package-dir"].items():
        for path in sorted((ROOT / folder).glob("*.py")):
            found[package if path.stem == "__init__" else f"{package}.{path.stem}"] = path
    return found


def read_imports(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return which modules each one imports, wherever in its file it does."""
    return {name: set(_imported(name, path, modules)) - {name} for name, path in modules.items()}


def _imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    tree = parse(path)
    by_name = any(isinstance(node, ast.Name) and node.id == "import_module" for node in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = ".".join(
                    [*package.split(".")[: len(package.split(".")) - node.level + 1], *filter(None, [source])]
                )
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                if inner in modules or source in modules:
                    yield inner if inner in modules else source
        elif by_name and isinstance(node, ast.Constant) and node.value in modules:
            yield node.value
        elif by_name and isinstance(node, ast.JoinedStr) and ast.unparse(node.values[0]) == "'.'":
            # A module of the same folder, named by an expression: it may be any of them.
            yield from (other for other in modules if other.rpartition(".")[0] == package)


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a file; Python 3.11 fails to make one when garbage is collected meanwhile."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()


def find_room(path: Path, rooms: tuple[str, ...] = ROOMS) -> str:
    """Return which of `ROOMS` a file is in: the one that names the most of its path."""
    place = path.relative_to(ROOT)
    return max((room for room in rooms if place.is_relative_to(room)), key=len)


def find_circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return every group of names that import one another in a circle, by Tarjan's strongly connected components."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for other in sorted(imports[name]):
            if other not in index:
                visit(other)
            if other in stack:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == index[name]:
            circle = [stack.pop()]
            while circle[-1] != name:
                circle.append(stack.pop())
            if len(circle) > 1:
                circles.append(sorted(circle))

    for name in sorted(imports):
        if name not in index:
            visit(name)
    return circles


def import_rooms(modules: Mapping[str, Path], imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return which other rooms each room imports, from the floor up."""
    rooms = {name: find_room(path) for name, path in modules.items()}
    found: dict[str, set[str]] = {room: set() for room in ROOMS if room in rooms.values()}
    for name, others in imports.items():
        found[rooms[name]] |= {rooms[other] for other in others} - {rooms[name]}
    return found


def find_arrows_up(rooms: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """Return each pair of rooms whose first imports the second, which stands above it."""
    return {
        (room, other) for room, others in rooms.items() for other in others if ROOMS.index(other) > ROOMS.index(room)
    }


def draw() -> str:
    """Return the page with its picture and its table as the code is now."""
    modules = find_modules()
    rooms = import_rooms(modules, read_imports(modules))
    up = find_arrows_up(rooms)
    down = {room: {other for other in others if (room, other) not in up} for room, others in rooms.items()}
    lines = ["```mermaid", "flowchart BT"]
    for room, others in rooms.items():
        # What is reached through another room needs no arrow of its own: the picture stays readable.
        through = set().union(*(_reach(down, other) - {other} for other in down[room]))
        lines += [f"  {_quoted(room)} --> {_quoted(other)}" for other in sorted(others - through, key=ROOMS.index)]
    lines += ["```", "", "| room | what it holds | imports |", "|---|---|---|"]
    for room, others in rooms.items():
        named = ", ".join(f"`{other}`" for other in sorted(others, key=ROOMS.index)) or "nothing of ours"
        lines.append(f"| `{room}` | {_purpose(ROOT / room)} | {named} |")
    text = "\n".join([*lines, ""])
    return _PICTURE.sub(lambda _: text, PAGE.read_text(encoding="utf-8"))


def _reach(rooms: Mapping[str, set[str]], start: str) -> set[str]:
    reached, ahead = set(), [start]
    while ahead:
        room = ahead.pop()
        if room not in reached:
            reached.add(room)
            ahead += rooms[room]
    return reached


def _quoted(room: str) -> str:
    return f'{re.sub("[^a-z]", "_", room)}["{room}"]'


def _purpose(room: Path) -> str:
    """Return the first line of the docstring of a package or a module."""
    docstring = ast.get_docstring(parse(room / "__init__.py" if room.is_dir() else room)) or ""
    return docstring.partition("\n")[0].replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(draw(), encoding="utf-8")
