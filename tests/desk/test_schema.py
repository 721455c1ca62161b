"""The described interface, asked at random: no answer is a fault of the server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.desk.conftest import Served

ENDLESS = "/desk/api/stories/{story}/events"
RANDOM = settings(
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.filterwarnings("ignore:Overriding standard format:hypothesis.errors.HypothesisWarning")
@pytest.mark.parametrize("examples", [5, pytest.param(50, marks=pytest.mark.long)])
def test_no_request_is_a_fault_of_the_server(own_desk: Served, examples: int) -> None:
    # Here, as it takes a second to import, and every worker imports every file.
    schemathesis = pytest.importorskip("schemathesis", reason="no schemathesis: pip install schemathesis")
    story = httpx.post(f"{own_desk.address}api/stories", json={}, timeout=60).json()["story"]
    schema = schemathesis.openapi.from_url(f"{own_desk.address}api/openapi.json")
    asked: dict[str, int] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path == ENDLESS:
            continue

        @settings(RANDOM, max_examples=examples)
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            if "story" in (case.path_parameters or {}):
                case.path_parameters["story"] = story
            response = case.call(timeout=60)
            asked[case.operation.label] = asked.get(case.operation.label, 0) + 1
            assert response.status_code < 500, (case.as_curl_command(), response.text[:500])

        ask()
    assert len(asked) > 25
    print(f"{sum(asked.values())} requests to {len(asked)} operations, none a fault of the server")
