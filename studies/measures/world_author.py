"""An author of the world of planted facts: it writes what the plan's scene holds, and remembers with a known half-life.

It answers every prompt of recurrentgpt, its variants and rolling, knows nothing but the prompt, and notes which facts each
prompt held.
"""

from __future__ import annotations

import json
import math
import random
import re
from typing import Any, ClassVar

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic import PrivateAttr

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.studies.baselines.text_windows import count_tokens
from recurrentgpt.studies.measures.world import World
from recurrentgpt.testing import ScriptedChatModel

MEMORY = 14
"""Sentences that the author's memory holds: each step two come and two others go, at random."""
NEW = 2

_SCENE = re.compile(r"Scene (\d+)\.")
_DAY = re.compile(r"So ended day (\d+)\.")


def memory_half_life() -> float:
    """Return after how many steps half of what the memory learned is forgotten."""
    return math.log(2) / -math.log(1 - NEW / MEMORY)


class WorldAuthor(ScriptedChatModel):
    """The author as a chat model; `held` says which facts the prompt of each passage held."""

    model_name: str = "world"
    world: Any
    distances: list[int]
    # Whole paragraphs: a thousand passages word by word would measure the streaming.
    pieces: ClassVar[re.Pattern[str]] = re.compile(r".+?(?:\n\n|$)", re.DOTALL)

    _held: dict[int, dict[int, bool]] = PrivateAttr(default_factory=dict)
    _used: dict[int, bool] = PrivateAttr(default_factory=dict)

    @property
    def held(self) -> dict[int, dict[int, bool]]:
        """By passage and distance: whether the prompt held the fact that was planted so many passages before."""
        return self._held

    @property
    def used(self) -> dict[int, bool]:
        """By passage: whether its text says the fact that its plan needs."""
        return self._used

    def due(self, step: int) -> int:
        """Return how far back the fact lies that passage `step` needs; 0 for the first, which needs none."""
        known = [distance for distance in self.distances if distance < step]
        return known[step % len(known)] if known else 0

    def plan(self, step: int) -> str:
        """Return the plan of a passage: its scene, and what it needs."""
        distance = self.due(step)
        need = self.world.fact(step - distance).plan if distance else "Mira opens the house. Tobias comes by."
        return f"Scene {step:04d}. {need}"

    def answer(self, messages: list[BaseMessage]) -> str:
        """Return the answer to a prompt."""
        asked = "\n".join(str(message.text) for message in messages)
        _, found, schema = asked.rpartition(SCHEMA_HEADING)
        if not found:
            return self._passage(asked)
        fields = json.loads(schema)["properties"]
        written = next((str(turn.text) for turn in reversed(messages) if _DAY.search(str(turn.text))), "")
        step = int(_DAY.findall(written)[-1]) if written else 0
        made = {name: self._field(name, step, asked) for name in fields}
        return json.dumps(made)

    def _field(self, name: str, step: int, asked: str) -> Any:
        match name:
            case "plans":
                return [
                    self.plan(step + 1),
                    *(f"{what} happens elsewhere." for what in ("A quarrel", "One long winter")),
                ]
            case "short_term_memory":
                return ["Mira keeps a house.", "Tobias comes by."]
            case "drop":
                return [{"number": number, "why": "There is no room."} for number in self._forgotten(step, asked)]
            case "add":
                known = (self.world.fact(step).sentence, self.world.summary(step))
                return [{"sentence": sentence, "why": "It has just happened."} for sentence in known]
            case "summary":
                return self.world.summary(step) if step else "Nothing has happened."
            case "index":
                plans = asked.rpartition("The plans for the next passage are:")[2]
                return int(re.findall(r"^(\d)\. Scene", plans, re.MULTILINE)[0])
            case "plan":
                return self.plan(int(_SCENE.findall(asked)[-1]))
            case "replace" | "numbers" | "clues" | "turns" | "codex":
                return []
            case "characters":
                return ["Mira: keeps a house", "Tobias: comes by"]
            case "outline":
                return ["Mira opens the house.", "Tobias loses a key.", "They quarrel.", "The house is sold."]
        return "Because it is the next scene."

    def _forgotten(self, step: int, asked: str) -> list[int]:
        """Return the numbers of the sentences that make way for those of a passage."""
        told = asked.partition("Short-term memory, what has happened so far:\n")[2].partition("\n\n")[0]
        if "With that the short-term memory holds:" in asked:
            # They have made way; this is about how a sentence reads.
            return []
        left = list(range(1, len(told.splitlines()) + 1))
        dealer = random.Random(f"memory {self.world.seed} {step}")
        return [left.pop(dealer.randrange(len(left))) for _ in range(max(0, len(left) - (MEMORY - NEW)))]

    def _passage(self, asked: str) -> str:
        scenes, days = _SCENE.findall(asked), _DAY.findall(asked)
        step = int(scenes[-1]) if scenes else int(days[-1]) + 1 if days else 1
        self._held[step] = {
            # The sentence, not the value: a passage that used it says the value again, nearer by.
            distance: self.world.fact(step - distance).sentence in asked
            for distance in self.distances
            if distance < step
        }
        distance = self.due(step)
        self._used[step] = bool(distance) and self._held[step][distance]
        said = f" It was {self.world.fact(step - distance).value}, as before." if self._used[step] else ""
        return f"{self.world.passage(step)}{said} So ended day {step:04d}."

    def _reply(self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> AIMessage:
        # Calls are not kept: a thousand passages of them would be searched for what they share.
        text = self.answer(messages)
        size, length = sum(count_tokens(str(message.text)) for message in messages), count_tokens(text)
        return AIMessage(
            text, usage_metadata=UsageMetadata(input_tokens=size, output_tokens=length, total_tokens=size + length)
        )


def author(world: World, distances: list[int]) -> WorldAuthor:
    """Return the author of a world, who notes facts at these distances."""
    return WorldAuthor(world=world, distances=distances)
