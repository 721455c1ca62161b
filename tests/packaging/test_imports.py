"""The import graph: no circle, no arrow from a lower room to a higher one, and a drawing that is as the code is."""

import ast

import pytest

from docs.imports import (
    PAGE,
    ROOMS,
    ROOT,
    draw,
    find_arrows_up,
    find_circles,
    find_modules,
    find_room,
    import_rooms,
    parse,
    read_imports,
)

MODULES = find_modules()


@pytest.fixture(scope="module")
def imports():
    """Give what each module imports: read once, and not by every worker that collects this file."""
    return read_imports(MODULES)


def test_no_room_imports_one_above_it(imports):
    assert find_arrows_up(import_rooms(MODULES, imports)) == set()


def test_no_modules_import_one_another_in_a_circle(imports):
    assert find_circles(imports) == []


def test_every_module_has_a_room_and_every_room_a_module():
    assert {find_room(path) for path in MODULES.values()} == set(ROOMS)


def test_the_page_shows_the_imports_as_they_are():
    assert PAGE.read_text(encoding="utf-8") == draw(), "run: python -m docs.imports"


@pytest.mark.parametrize(
    "line",
    [
        "import recurrentgpt.memory.recall",
        "from recurrentgpt.memory import recall",
        "from recurrentgpt.memory.recall import remember",
        "from ..memory import recall",
        "from ..memory.recall import remember",
        "def late():\n    import recurrentgpt.memory.recall",
        "if TYPE_CHECKING:\n    from recurrentgpt.memory.recall import remember",
        "from importlib import import_module\nimport_module('recurrentgpt.memory.recall')",
        "class Late:\n    def open(self):\n        from recurrentgpt.memory.recall import remember",
    ],
)
def test_every_way_to_import_is_seen(line, tmp_path):
    path = tmp_path / "late.py"
    path.write_text(line)
    modules = {"recurrentgpt.memory.recall": tmp_path / "recall.py", "recurrentgpt.prose.late": path}
    modules["recurrentgpt.memory.recall"].write_text("")
    assert read_imports(modules)["recurrentgpt.prose.late"] == {"recurrentgpt.memory.recall"}


def test_a_module_named_by_an_expression_may_be_any_of_its_folder(tmp_path):
    modules = {f"recurrentgpt.books.{name}": tmp_path / f"{name}.py" for name in ("epub", "docx")}
    modules["recurrentgpt.books"] = tmp_path / "__init__.py"
    for path in modules.values():
        path.write_text("from importlib import import_module\nimport_module(f'.{name}', __package__)")
    assert read_imports(modules)["recurrentgpt.books"] == {"recurrentgpt.books.epub", "recurrentgpt.books.docx"}


def test_circles_are_found():
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(find_circles(imports)) == [["a", "b", "c"], ["d", "e"]]


def test_an_arrow_up_is_found():
    assert find_arrows_up({"schema": {"memory"}, "memory": {"schema"}}) == {("schema", "memory")}


def test_packages_are_imported_by_their_full_name():
    folders = {path.relative_to(ROOT).parts[0] for path in MODULES.values()} - {"recurrentgpt"}
    paths = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py"), *ROOT.glob("training/*.py"), *MODULES.values()]
    assert len(paths) > 300
    for path in paths:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            assert not {name.partition(".")[0] for name in names} & folders, path
