"""The exported graphs for langgraph.json, by file: servers that load a file make a copy of it, and of nothing else."""

from recurrentgpt.graph.story import fiction, novel, novel_autonomous, one_step

__all__ = ["fiction", "novel", "novel_autonomous", "one_step"]
