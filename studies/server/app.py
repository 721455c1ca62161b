"""What stands before the systems on a server: `http.app` of langgraph-studies.json names `app`."""

from __future__ import annotations

from starlette.applications import Starlette

from recurrentgpt.graph.context_middleware import RefuseUnknownSettings
from recurrentgpt.studies.baselines.catalogue import all_systems
from recurrentgpt.studies.study_context import StudyContext

app = Starlette()
"""It has no paths of its own."""

app.add_middleware(RefuseUnknownSettings, graphs=frozenset(all_systems()), context=StudyContext)
