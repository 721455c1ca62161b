"""Draw the exported graphs as Mermaid beside this file and into the README: `python docs/draw.py`. A test keeps them fresh."""

import re
from pathlib import Path

from recurrentgpt.graph.story import fiction, novel, novel_autonomous, one_step

_README_GRAPH = re.compile(r"(?<=<!-- graph -->\n).*(?=<!-- /graph -->)", re.DOTALL)
_GRAPHS = {"novel": novel, "fiction": fiction, "novel_autonomous": novel_autonomous, "one_step": one_step}


def drawings() -> dict[Path, str]:
    """Return what each file is to hold."""
    folder = Path(__file__).parent
    drawn = {name: graph.get_graph().draw_mermaid() for name, graph in _GRAPHS.items()}
    readme = folder.parent / "README.md"
    return {
        folder / "graph.mmd": drawn["novel"],
        folder / "step-graph.mmd": drawn["one_step"],
        readme: _README_GRAPH.sub(_block(drawn).replace("\\", r"\\"), readme.read_text(encoding="utf-8")),
    }


def _block(drawn: dict[str, str]) -> str:
    """Return the README's part: each drawing once, with the names of the graphs that it is of."""
    named: dict[str, list[str]] = {}
    for name, drawing in drawn.items():
        named.setdefault(drawing, []).append(f"`{name}`")
    return "\n".join(f"{', '.join(names)}:\n\n```mermaid\n{drawing}```\n" for drawing, names in named.items())


if __name__ == "__main__":
    for path, text in drawings().items():
        path.write_text(text, encoding="utf-8")
