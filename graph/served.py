"""Deprecated path of `graph/server_graphs.py`, for a langgraph.json that names it; it goes with version 0.3."""

from recurrentgpt.graph.server_graphs import fiction, novel, novel_autonomous, one_step

__all__ = ["fiction", "novel", "novel_autonomous", "one_step"]
