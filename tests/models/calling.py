"""What the tests of calls share: a question, an object to ask for, and models that answer or fail as they are told."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage
from pydantic import BaseModel, Field

from recurrentgpt.models.calls import Meter, write_stream
from recurrentgpt.models.roles import ResolvedModel, resolve_model
from recurrentgpt.schema.context import Context
from recurrentgpt.testing import FaultyServer, ScriptedChatModel

QUESTION = [HumanMessage("Tell me a fact")]
FACTS = '{"facts": ["The lamp went out."]}'


class Facts(BaseModel):
    """What a passage adds."""

    facts: list[str] = Field(min_length=1)


def model_of(server: FaultyServer, timeout: float = 10.0) -> ResolvedModel:
    return resolve_model("writer", Context(model="m", base_url=server.base_url, timeout=timeout))


def scripted(*replies: str) -> tuple[ResolvedModel, ScriptedChatModel]:
    chat = ScriptedChatModel(replies=list(replies))
    return resolve_model("writer", Context(model=chat)), chat


async def written(model: ResolvedModel, meter: Meter, **options: Any) -> str:
    options = {"max_tokens": 50, **options}
    return "".join([piece async for piece in write_stream(model, QUESTION, meter=meter, **options)])
