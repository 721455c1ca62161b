"""What stands before the systems on a server: `http.app` of langgraph-studies.json names `app`."""

from __future__ import annotations

from fastapi import FastAPI

from recurrentgpt.graph.context_middleware import RefuseUnknownSettings
from recurrentgpt.studies.baselines.catalogue import all_systems
from recurrentgpt.studies.study_context import StudyContext

app = FastAPI(openapi_url=None)
"""It has no paths of its own; Aegra takes no other kind of app."""

app.add_middleware(RefuseUnknownSettings, graphs=frozenset(all_systems()), context=StudyContext, stories=False)
