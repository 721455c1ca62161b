"""Draw the exported graphs as Mermaid files beside this one: `python docs/draw.py`. A test keeps them fresh."""

from pathlib import Path

from recurrentgpt.graph.story import graph, one_step


def drawings() -> dict[Path, str]:
    """Return what each file is to hold."""
    folder = Path(__file__).parent
    return {
        folder / "graph.mmd": graph.get_graph().draw_mermaid(),
        folder / "step-graph.mmd": one_step.get_graph().draw_mermaid(),
    }


if __name__ == "__main__":
    for path, text in drawings().items():
        path.write_text(text, encoding="utf-8")
