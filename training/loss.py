"""The loss of a model on what it should reply: the mean over the replies' tokens, in nats."""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as functional
from torch import Tensor

from training.encode import Example
from training.weights import Base


def loss(base: Base, example: Example) -> Tensor:
    """Return the mean cross-entropy over the tokens to be learnt, a scalar that gradients flow through.

    None flow through the first prompt: it is read as a server reads it, and half of a conversation costs no backward pass.
    """
    learnt = example.learnt[1:]
    begin = int(learnt.nonzero()[0])
    with torch.no_grad():
        prompt = base.model.model(input_ids=example.ids[:, :begin], use_cache=True).past_key_values if begin else None
    rest = base.model.model(input_ids=example.ids[:, begin:], past_key_values=prompt, use_cache=begin > 0)
    hidden = rest.last_hidden_state[0, :-1][learnt[begin:]]
    # The vocabulary is large: logits only where they are needed.
    logits = base.model.lm_head(hidden)
    return functional.cross_entropy(logits, example.ids[0, 1:][learnt])


def mean_loss(base: Base, examples: Iterable[Example]) -> float:
    """Return the mean over all tokens to be learnt of all `examples`, without gradients."""
    total, count = 0.0, 0
    with torch.inference_mode():
        for example in examples:
            tokens = int(example.learnt[1:].sum())
            total += float(loss(base, example)) * tokens
            count += tokens
    return total / max(count, 1)
