"""What a small model that wears an adapter is asked: the conversation that it was taught, which grows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recurrentgpt.nodes.runtime as surroundings
from recurrentgpt.models.embedded.adapter import Adapter
from recurrentgpt.models.roles import ResolvedModel, Role, aresolve_model
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import ScriptedChatModel


@pytest.fixture(autouse=True)
def worn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every model wear an adapter."""

    async def resolve(role: Role, context: Context) -> ResolvedModel:
        return replace(await aresolve_model(role, context), adapter=Adapter(Path("teller.gguf")))

    monkeypatch.setattr(surroundings, "aresolve_model", resolve)


@pytest.fixture
def model(model: ScriptedChatModel) -> ScriptedChatModel:
    """Give a small scripted model."""
    model.tier = "small"
    return model


def said(call: list[Any]) -> list[str]:
    return [str(turn.text) for turn in call]


@pytest.mark.parametrize("mode", ["novel", "fiction"])
async def test_every_call_of_a_step_goes_on_from_the_passage(write: Any, model: ScriptedChatModel, mode: str) -> None:
    commits = await write(steps=2, mode=mode)
    calls = [said(call) for call in model.calls]
    written = {commit["passage"] for commit in commits[1:]}
    first, second = commits[1]["passage"], commits[2]["passage"]
    after = [call for call in calls if len(call) > 2 and call[2] in written]
    notes = [call for call in after if call[3].startswith("Note what happened in this scene")]
    assert [call[2] for call in notes] == [first, second]
    (choosing,) = [call for call in after if call[3].startswith(("Plans for the next", "Choices of the reader"))]
    assert choosing[:3] == notes[0][:3], "one conversation, so that a server reads only what is new"
    assert all(plan in choosing[3] for plan in commits[1]["candidate_plans"])
    planning = [call for call in after if " ways" in call[3] or "choices" in call[3]]
    assert [call[:3] for call in planning] == [call[:3] for call in notes]
    assert all(first not in turn for call in after if call[2] == first for turn in (call[0], call[1], call[3]))


async def test_nothing_is_told_twice(write: Any, model: ScriptedChatModel) -> None:
    await write(steps=1)
    (asked,) = [said(call)[1] for call in model.calls if "Write this scene" in str(call[-1].text)]
    listed = [line.rstrip(".") for line in asked.splitlines() if line.startswith("- ")]
    assert len(listed) == len(set(listed)) > 1, "who people are is no news"
