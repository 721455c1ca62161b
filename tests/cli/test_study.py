"""`recurrentgpt study recall`: what it prints for the long-term memory alone, and for whole systems."""

import json

import pytest


def test_the_long_term_memory_is_measured_alone(cli):
    found = json.loads(cli("study", "recall", "--distance", "4", "--facts", "20", "--json").out)
    assert found["facts"] == 20
    assert list(found["hit_at_4"]) == ["1", "2", "4"]
    assert min(found["hit_at_4"].values()) >= 0.95


def test_systems_are_measured_at_four_levels(cli):
    chosen = ["--system", "rolling_1024", "--system", "no_long_term_memory"]
    found = json.loads(cli("study", "recall", "--distance", "4", *chosen, "--json").out)
    rolling, forgetful = found["levels"]
    assert found["edges"] == {"rolling_1024": pytest.approx(2, abs=0.5)}
    assert found["half_life"] == pytest.approx(4.5, abs=0.1)
    assert rolling["prompt"]["1"][0] > rolling["prompt"]["4"][0] == 0
    assert forgetful["retrieval"] == {}, "it does not retrieve"
    printed = cli("study", "recall", "--distance", "2", "--system", "rolling_1024")
    assert "rolling_1024 reaches 2.1 passages back." in printed.err
    begins = [line.split()[0] for line in printed.out.splitlines()]
    assert [level for level in begins if level != "rolling_1024"] == ["prompt", "text", "prompt"]


def test_an_unknown_system_is_a_sentence(cli):
    result = cli("study", "recall", "--system", "re3")
    assert result.code == 1
    assert "Facts are not planted for re3: one of recurrentgpt" in result.err
