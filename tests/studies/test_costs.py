"""What a novel is said to have cost is what its recorded calls cost."""

import json
import math

import pytest

from recurrentgpt.models.calls import total_usage
from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.recording.recording import FileRecorder
from recurrentgpt.studies.scripted_author import author_replies


def rise_and_fall(messages):
    """Grade the first passage of a leaf high and later ones low, so that doc leaves drafts behind."""
    asked = str(messages[-1].text)
    reply = author_replies(messages)
    if "Grade every draft" not in asked or SCHEMA_HEADING not in asked:
        return reply
    grade = 9 if "In it," in asked else 2
    return json.dumps({name: [grade] * len(grades) for name, grades in json.loads(reply).items()})


def characters(row):
    return math.ceil(sum(len(text) for _, text in row["messages"]) / 4), math.ceil(len(row["reply"]) / 4)


@pytest.mark.parametrize("system", SYSTEMS)
async def test_the_calls_of_a_tape_are_those_of_its_novel(write, system, tmp_path):
    path = tmp_path / "calls.jsonl"
    novel = await write(system, 2400, replies=rise_and_fall, candidates=2, recorder=FileRecorder(path))
    rows = [row for line in path.read_text().splitlines() if "key" in (row := json.loads(line))]
    spent = total_usage(commit["usage"] for commit in novel.commits)
    assert spent["calls"] == len(rows) == len(novel.model.calls)
    # A stream that was cut short tells of no tokens: they are estimated from the characters.
    told = [(row["usage"].get("input"), row["usage"].get("output")) for row in rows]
    counted = [pair if pair[0] else characters(row) for pair, row in zip(told, rows, strict=True)]
    assert spent["input_tokens"] == sum(sent for sent, _ in counted)
    assert spent["output_tokens"] == sum(got for _, got in counted)


@pytest.mark.parametrize("system", ["re3", "doc", "rolling_1024"])
async def test_what_the_plan_cost_is_the_openings(write, system):
    novel = await write(system, 900, candidates=1)
    planned = {"re3": 3, "rolling_1024": 1}
    spent = [commit["usage"]["calls"] for commit in novel.commits]
    assert spent[0] == planned.get(system, 2 + 2 + 3 * 3)
    assert sum(spent) == len(novel.model.calls)
