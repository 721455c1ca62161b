"""The desk for a host's server, such as LangGraph's: `http.app` of langgraph.json names `app`.

It shows the library of whoever runs the server, to this machine only. RECURRENTGPT_DESK=off leaves it out, for a server of
several people.
"""

from __future__ import annotations

import os

from fastapi import FastAPI

app = FastAPI(openapi_url=None)
"""The page is at /desk/; every other path is left to the host."""

if os.environ.get("RECURRENTGPT_DESK") != "off":
    from recurrentgpt.desk.app import create_app

    app = create_app(mounted=True)
