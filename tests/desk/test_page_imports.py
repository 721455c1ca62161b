"""The files of the page import each other in one direction."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "desk" / "web" / "src"
IMPORT = re.compile(
    r"""(?:^|;)\s*(?:import|export)\b[^;"']*?["'](?P<module>[^"']+)["']|import\(\s*["'](?P<lazy>[^"']+)["']""", re.M
)


def imports(folder: Path) -> dict[str, set[str]]:
    """Return which file imports which others of its folder, types and re-exports included; raise for one that is not there."""
    graph: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.ts*")):
        found = graph.setdefault(path.relative_to(folder).as_posix(), set())
        for match in IMPORT.finditer(path.read_text()):
            module = match["module"] or match["lazy"]
            if not module.startswith(".") or module.endswith(".css"):
                continue
            target = (path.parent / module).resolve()
            file = next(file for suffix in (".ts", ".tsx") if (file := target.with_name(target.name + suffix)).exists())
            found.add(file.relative_to(folder.resolve()).as_posix())
    return graph


def order(graph: dict[str, set[str]]) -> list[str]:
    """Return the files, each after those that it imports; raise CycleError where there is no such order."""
    return list(TopologicalSorter(graph).static_order())


def test_no_file_of_the_page_imports_itself_by_way_of_others() -> None:
    graph = imports(SOURCES)
    assert graph["App.tsx"] >= {"StartPage.tsx", "StoryPage.tsx"}
    assert not graph["types.ts"]
    assert order(graph)[-1] == "main.tsx"


@pytest.mark.parametrize(
    "line",
    [
        'import type { A } from "./a";',
        'import {\n  a,\n  type A,\n} from "./a";',
        'export { a } from "./a";',
        'export * from "./a";',
        'const a = await import("./a");',
        'import "./a";',
    ],
)
def test_a_circle_is_seen_however_it_is_written(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.ts").write_text('import { b } from "./b";\n')
    (tmp_path / "b.tsx").write_text(f"const first = 1;\n{line}\n")
    with pytest.raises(CycleError):
        order(imports(tmp_path))
