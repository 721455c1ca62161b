"""Measure what the embedded model gains by writing several texts at once: `python -m benchmarks.parallel_decoding`.

For each number of texts a server is started as a study starts it. As many prompts, which share nothing, are read at once, and
then as many texts written; the tokens a second are those of all of them together, by the clock. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence
from typing import Any

from openai import AsyncOpenAI

from recurrentgpt.models.embedded.catalogue import WRITER
from recurrentgpt.models.embedded.fetch import fetch
from recurrentgpt.models.embedded.server import Endpoint, embedded_server, side_by_side, stop_servers

WORDS = ["lamp", "river", "coat", "winter", "letter", "stone", "kitchen", "captain", "glass", "horse", "window", "rope"]


def prompt(number: int, words: int) -> str:
    """Return a prompt of so many words, the same for a number on every machine."""
    dealt = random.Random(number).choices(WORDS, k=words)
    return f"Story {number} has these words: {' '.join(dealt)}. Tell it."


async def measure(endpoint: Endpoint, texts: int, words: int, tokens: int) -> dict[str, Any]:
    """Return the tokens a second of prompts that are read at once, and of texts that are written at once."""
    async with AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0) as client:

        async def ask(number: int, longest: int) -> int:
            answer = await client.chat.completions.create(
                model=WRITER.id,
                messages=[{"role": "user", "content": prompt(number, words)}],
                max_tokens=longest,
                seed=number,
                extra_body={"ignore_eos": True, "id_slot": number},
            )
            assert answer.usage is not None
            return answer.usage.prompt_tokens if longest == 1 else answer.usage.completion_tokens

        async def a_second(longest: int) -> float:
            began = time.perf_counter()
            counted = await asyncio.gather(*(ask(number, longest) for number in range(texts)))
            return round(sum(counted) / (time.perf_counter() - began), 1)

        return {"texts": texts, "read_a_second": await a_second(1), "written_a_second": await a_second(tokens)}


def measured(texts: Sequence[int], words: int, tokens: int) -> list[dict[str, Any]]:
    """Measure each number of texts with a server of its own, one after the other."""
    rows = []
    for number in texts:
        with side_by_side(number):
            rows.append(asyncio.run(measure(embedded_server(fetch(WRITER)), number, words, tokens)))
        stop_servers()
    return rows


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--words", type=int, default=800, help="of each prompt")
    parser.add_argument("--tokens", type=int, default=200, help="of each text")
    chosen = parser.parse_args()
    print(json.dumps(measured(chosen.texts, chosen.words, chosen.tokens), indent=2))


if __name__ == "__main__":
    main()
