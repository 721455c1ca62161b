"""A chat with OpenAI's own client: start `recurrentgpt serve`, then

python examples/openai_client.py http://127.0.0.1:8067/v1
"""

import sys

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam


def main(client: OpenAI, turns: list[str]) -> None:
    """Say each turn with all that was said before, and print the replies as they are written."""
    chat: list[ChatCompletionMessageParam] = []
    for turn in turns:
        chat.append({"role": "user", "content": turn})
        reply = ""
        for chunk in client.chat.completions.create(model="recurrentgpt", messages=chat, stream=True):
            piece = chunk.choices[0].delta.content or ""
            reply += piece
            print(piece, end="", flush=True)
        chat.append({"role": "assistant", "content": reply})
        print("\n")


if __name__ == "__main__":
    main(
        OpenAI(base_url=sys.argv[1], api_key="the token of `recurrentgpt serve`, if it has one"), ["A lighthouse.", "2"]
    )
