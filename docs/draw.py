"""Draw the exported graphs as Mermaid beside this file and into the README: `python docs/draw.py`. A test keeps them fresh."""

import re
from pathlib import Path

from recurrentgpt.graph.story import graph, one_step

_README_GRAPH = re.compile(r"(?<=<!-- graph -->\n).*(?=<!-- /graph -->)", re.DOTALL)


def drawings() -> dict[Path, str]:
    """Return what each file is to hold."""
    folder = Path(__file__).parent
    drawn = graph.get_graph().draw_mermaid()
    readme = folder.parent / "README.md"
    return {
        folder / "graph.mmd": drawn,
        folder / "step-graph.mmd": one_step.get_graph().draw_mermaid(),
        readme: _README_GRAPH.sub(f"```mermaid\n{drawn}```\n", readme.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    for path, text in drawings().items():
        path.write_text(text, encoding="utf-8")
