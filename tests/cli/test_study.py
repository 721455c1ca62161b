"""`recurrentgpt study recall`: what it prints for the long-term memory alone, and for whole systems."""

import json

import pytest


def test_the_long_term_memory_is_measured_alone(cli):
    found = json.loads(cli("study", "recall", "--distance", "6", "--facts", "20", "--json").out)
    assert found["facts"] == 20
    assert list(found["hit_at_4"]) == ["1", "2", "4", "6"]
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


def test_worlds_of_people_who_are_everywhere_are_asked_of_the_memory_alone(cli, monkeypatch):
    monkeypatch.setenv("RECURRENTGPT_EMBEDDER", "hash-256")
    found = json.loads(cli("study", "recall", "--world", "station", "--distance", "3", "--json").out)
    shares = found["worlds"]["station"]
    assert found["among"] == [4, 8]
    assert {tuple(by_distance) for by_distance in shares.values()} == {("1", "3")}
    # Without meaning a rare name is found, and what is told of those who are everywhere is not.
    assert min(shares["once"]["1"]) > 0.9
    assert max(shares["person"]["1"]) < 0.5
    assert all(four <= eight for by_distance in shares.values() for four, eight in by_distance.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--world", "nowhere"), "There is no world 'nowhere': it is one of harbour, station, newsroom."),
        (("--world", "station", "--system", "paper"), "--system and --world do not go together"),
        (("--world", "station", "--facts", "20"), "--facts goes with neither --system nor --world"),
        (("--system", "bare", "--facts", "20"), "--facts goes with neither --system nor --world"),
    ],
)
def test_what_cannot_be_measured_is_refused(cli, options, message):
    result = cli("study", "recall", *options)
    assert result.code == 1
    assert message in result.err
