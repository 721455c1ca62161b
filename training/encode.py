"""Conversations as tokens, with the tokenizer and the chat template that the GGUF file itself carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from training.conversation import Exchange, messages
from training.data import Mode
from training.product import SettingsError


@dataclass(frozen=True)
class Example:
    """One conversation of a step."""

    name: str
    ids: Tensor
    """Tokens, 1 x length."""
    learnt: Tensor
    """Whether each token is of a reply, and so has to be learnt: length, bool."""


def tokenizer(path: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer of a GGUF file; raise SettingsError where it has no chat template."""
    found: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    if not found.chat_template:
        raise SettingsError(f"{path.name} has no chat template: train the instruct form of the model.")
    return found


def encode(tokens: PreTrainedTokenizerBase, name: str, mode: Mode, done: Sequence[Exchange], longest: int) -> Example:
    """Return the conversation of `done` as one example; raise SettingsError where it is longer than `longest` tokens.

    It is rendered reply by reply, as a server sees it: prompt and reply are never one token.
    """
    talk = messages(mode, done)
    ids: list[int] = []
    learnt: list[bool] = []
    rendered = ""
    for place, message in enumerate(talk):
        if message["role"] != "assistant":
            continue
        asked = _render(tokens, talk[:place], True)
        answered = _render(tokens, talk[: place + 1], False)
        if not (asked.startswith(rendered) and answered.startswith(asked)):
            raise SettingsError(
                "The model's chat template rewrites earlier turns, so that a conversation cannot grow with it."
            )
        for text, reply in ((asked[len(rendered) :], False), (answered[len(asked) :], True)):
            piece = tokens(text, add_special_tokens=False)["input_ids"]
            ids += piece
            learnt += [reply] * len(piece)
        rendered = answered
    if len(ids) > longest:
        raise SettingsError(
            f"{name} has {len(ids)} tokens, more than {longest}: shorten it, or allow more with --longest."
        )
    return Example(name, torch.tensor([ids]), torch.tensor(learnt))


def _render(tokens: PreTrainedTokenizerBase, talk: Sequence[dict[str, str]], reply_follows: bool) -> str:
    return str(tokens.apply_chat_template(list(talk), tokenize=False, add_generation_prompt=reply_follows))
