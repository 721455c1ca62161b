"""Which fields an endpoint refuses: declared first, and learnt only from a retry that succeeds."""

from __future__ import annotations

import logging

import pytest

from recurrentgpt.models.calls import Meter, ask
from recurrentgpt.schema.errors import ModelRefused
from recurrentgpt.testing import FaultyServer

from .calling import FACTS, QUESTION, Facts, model_of, written


async def test_a_filter_that_names_fields_turns_none_of_them_off() -> None:
    with FaultyServer("filter", "ok", text=FACTS) as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="content policy"):
            await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter(), temperature=0.5, seed=3)
        assert await ask(model, QUESTION, Facts, max_tokens=50, meter=Meter(), temperature=0.5, seed=3)
    assert [{"response_format", "seed", "temperature"} <= set(request) for request in server.requests] == [True, True]


async def test_a_refusal_that_the_retry_meets_too_is_raised_as_it_was_and_forgotten() -> None:
    with FaultyServer("no temperature", "filter", "ok") as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="'temperature' does not support"):
            await written(model, Meter(), temperature=0.2)
        assert await written(model, Meter(), temperature=0.2) == "TELL ME A FACT"
    assert ["temperature" in request for request in server.requests] == [True, False, True]


async def test_a_field_that_was_refused_is_remembered_for_this_endpoint_alone_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with FaultyServer("no temperature") as server, FaultyServer() as other, caplog.at_level(logging.WARNING):
        for _ in range(2):
            await written(model_of(server), Meter(), temperature=0.2)
        await written(model_of(other), Meter(), temperature=0.2)
        said = [record.getMessage() for record in caplog.records if "temperature" in record.getMessage()]
        assert len(said) == 1
        assert server.base_url in said[0]
    assert ["temperature" in request for request in server.requests] == [True, False, False]
    assert "temperature" in other.requests[0]


async def test_a_field_that_somebody_asked_for_is_not_left_out() -> None:
    with FaultyServer("no temperature") as server, pytest.raises(ModelRefused, match="'temperature' does not support"):
        await written(model_of(server), Meter(), chosen={"temperature": 0.2})
    assert len(server.requests) == 1
