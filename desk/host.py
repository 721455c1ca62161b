"""The desk for a host's server, such as LangGraph's: `http.app` of langgraph.json names `app`.

It shows the library of whoever runs the server, to this machine only. A server with auth, or Aegra, is one of several people
and has none: behind a proxy, everybody comes from this machine. RECURRENTGPT_DESK=off leaves it out elsewhere.
"""

from __future__ import annotations

import os
import sys

from fastapi import FastAPI

from recurrentgpt.graph.context_middleware import RefuseUnknownSettings

app = FastAPI(openapi_url=None)
"""The page is at /desk/; every other path is left to the host."""

# LangGraph's servers tell of the "auth" of their langgraph.json in LANGGRAPH_AUTH.
SHARED = bool(os.environ.get("LANGGRAPH_AUTH")) or "aegra_api" in sys.modules

if not SHARED and os.environ.get("RECURRENTGPT_DESK") != "off":
    from recurrentgpt.desk.app import create_app

    app = create_app(mounted=True)

app.add_middleware(RefuseUnknownSettings, graphs=frozenset({"novel", "fiction", "novel_autonomous", "one_step"}))
