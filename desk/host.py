"""The desk for a host's server, such as LangGraph's: `http.app` of langgraph.json names `app`."""

from __future__ import annotations

from recurrentgpt.desk.app import create_app

app = create_app(mounted=True)
"""The page is at /desk/; every other path is left to the host."""
