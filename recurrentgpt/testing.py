"""The testing kit: a chat model that follows a script, and a server that misbehaves on request.

Both are made for tests of programs that build on this library, and need neither a network nor a key.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from bisect import bisect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field, PrivateAttr

from recurrentgpt.models.embedded.catalogue import Tier
from recurrentgpt.models.json_replies import SCHEMA_HEADING, describe
from recurrentgpt.testing_server import Behaviour, FaultyServer, Streaming, pieces_of

__all__ = [
    "Behaviour",
    "FaultyServer",
    "Replies",
    "ScriptedChatModel",
    "Streaming",
    "pieces_of",
    "story_answers",
    "story_replies",
]

Replies = Callable[[list[BaseMessage]], str]

_WORDS = {
    "what": "grey narrow painted borrowed silver crooked frozen hollow foreign scarlet rusted gentle hidden broken early",
    "thing": "lantern ledger bridge kettle orchard stairs letter harbour mirror garden engine window violin compass tower coat",
    "who": "Mira Tobias Adela Corvin Sunniva Marek Yolanda Piers Nadine Oswin Leoni Ruben Talia Bruno Edda Kasimir",
    "did": "buried followed mended counted questioned polished traded guarded measured copied forgot lifted named sold drew",
    "how": "slowly twice gladly alone badly again quietly today upstairs outside backwards together sideways early later somehow",
}
_LISTS = {kind: words.split() for kind, words in _WORDS.items()}
_FORMS = (
    "{who} {did} the {what} {thing} {how}.",
    "Beside the {thing}, {who} {did} a {what} {thing2} for {who2}.",
    "Nobody {did} the {what} {thing}, and {who} {did2} it {how}.",
    "A {what} {thing} stood where {who} {did} the {thing2} {how}.",
    "{who} and {who2} {did} the {thing}, then {did2} its {what} {thing2}.",
)
_OVER = "over"
"""The numbers of facts that are over: a script that made them up would end what it has only just noted."""


def story_replies(messages: list[BaseMessage]) -> str:
    """Answer any call of this library: JSON where a schema is asked for, a passage of about 250 words elsewhere.

    The same messages always get the same answer.
    """
    asked = "\n".join(str(message.text) for message in messages)
    seed = zlib.crc32(asked.encode())
    found = re.search(rf"{re.escape(SCHEMA_HEADING)}\s*(?=\{{)", asked)
    if found:
        schema, _ = json.JSONDecoder().raw_decode(asked, found.end())
        return json.dumps(_example(schema, schema, seed), ensure_ascii=False)
    return "\n\n".join(" ".join(_sentence(seed + 7 * row + column) for column in range(7)) for row in range(5))


def story_answers(body: Mapping[str, Any], replies: Replies = story_replies) -> str:
    """Answer the body of an OpenAI request like `replies`; made for `FaultyServer(text=story_answers)`."""
    messages: list[BaseMessage] = [HumanMessage(message["content"]) for message in body["messages"]]
    if held := body.get("response_format", {}).get("json_schema"):
        messages = describe(messages, held["schema"])
    return replies(messages)


def _sentence(number: int) -> str:
    """Return one plain sentence; neighbouring numbers give different ones."""
    dealer = random.Random(number)
    words = {kind: dealer.sample(known, 2) for kind, known in _LISTS.items()}
    chosen = {
        f"{kind}{suffix}": word for kind, pair in words.items() for suffix, word in zip(("", "2"), pair, strict=True)
    }
    return dealer.choice(_FORMS).format(**chosen)


def _example(node: dict[str, Any], root: dict[str, Any], seed: int) -> Any:
    """Return a value that fits a JSON schema of the kinds that Pydantic writes."""
    if "$ref" in node:
        target: Any = root
        for key in node["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        return _example(target, root, seed)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return node["enum"][seed % len(node["enum"])]
    for union in ("anyOf", "oneOf", "allOf"):
        if union in node:
            return _example(node[union][0], root, seed)
    match node.get("type"):
        case "object":
            fields = enumerate(_fields(node))
            return {key: [] if key == _OVER else _example(value, root, seed + 31 * at) for at, (key, value) in fields}
        case "array" if "prefixItems" in node:
            return [_example(item, root, seed + 17 * at) for at, item in enumerate(node["prefixItems"])]
        case "array":
            count = max(node.get("minItems", 0), min(3, node.get("maxItems", 3)))
            return [_example(node.get("items", {}), root, seed + 17 * at) for at in range(count)]
        case "integer" | "number":
            return node.get("minimum", node.get("maximum", 1))
        case "boolean":
            return True
        case "null":
            return None
    return _sentence(seed)


def _fields(node: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(node.get("properties", {}).items())


class ScriptedChatModel(Streaming, BaseChatModel):
    """A chat model that streams prepared replies in `pieces` (words) and remembers what it was asked.

    `replies` is a function of the messages, or a list that is used up in order; a call beyond its end is an error of
    the test. Usage counts words as tokens; the words shared with the beginning of an earlier call count as cached.
    """

    replies: Any = Field(default=story_replies)
    tier: Tier = "full"
    model_name: str = "scripted"
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None

    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _prompts: list[str] = PrivateAttr(default_factory=list)
    _options: list[Mapping[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[list[BaseMessage]]:
        """The messages of every call so far, oldest first."""
        return self._calls

    @property
    def options(self) -> list[Mapping[str, Any]]:
        """The keyword arguments of every call so far, oldest first."""
        return self._options

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _reply(self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> AIMessage:
        number = len(self._calls)
        prompt = " ".join(" ".join(str(message.text) for message in messages).split())
        # In order, so that the two beside its place are those that begin most like it.
        place = bisect(self._prompts, prompt)
        cached = max(
            (_shared_words(earlier, prompt) for earlier in self._prompts[max(0, place - 1) : place + 1]), default=0
        )
        self._calls.append(list(messages))
        self._prompts.insert(place, prompt)
        self._options.append(options)
        if callable(self.replies):
            text = self.replies(messages)
        elif number < len(self.replies):
            text = self.replies[number]
        else:
            raise AssertionError(f"The script has {len(self.replies)} replies; this is call {number + 1}.")
        for mark in stop or ():
            text = text.partition(mark)[0]
        asked, answered = len(prompt.split()), len(text.split())
        usage = UsageMetadata(
            input_tokens=asked,
            output_tokens=answered,
            total_tokens=asked + answered,
            input_token_details=InputTokenDetails(cache_read=cached),
        )
        return AIMessage(text, usage_metadata=usage, response_metadata={"model_name": self.model_name})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, stop, kwargs))])

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages, stop, options)
        for word in self.pieces.findall(reply.text) or [""]:
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=reply.usage_metadata, chunk_position="last"),
            generation_info={"finish_reason": "stop"},
        )

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, stop, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.text), chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, stop, kwargs):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.text), chunk=chunk)
            yield chunk


def _shared(earlier: str, later: str) -> int:
    """Return how many characters two prompts begin with in common."""
    shared, most = 0, min(len(earlier), len(later))
    while shared < most:
        middle = (shared + most + 1) // 2
        if later.startswith(earlier[shared:middle], shared):
            shared = middle
        else:
            most = middle - 1
    return shared


def _shared_words(earlier: str, later: str) -> int:
    """Return how many whole words two prompts begin with in common."""
    shared = _shared(earlier, later)
    ends = {text[shared : shared + 1] for text in (earlier, later)}
    count = len(later[:shared].split())
    return count if ends <= {"", " "} or later[:shared].endswith(" ") else max(0, count - 1)
