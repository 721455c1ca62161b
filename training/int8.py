"""Frozen layers in eight bits: on a processor with instructions for them, several times as fast as with floating point.

Weights have a scale for each row of their matrix, activations and gradients one for each token, found as they come (as in
SwitchBack, arXiv 2304.13013). What is trained beside them, and all that is no matrix product, stays in 32 bits.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

LARGEST = 127.0


def quantize(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return `rows` (n x m) as int8 numbers and the scale of each row (n x 1): the number times its scale is the value."""
    scale = rows.abs().amax(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny) / LARGEST
    return (rows / scale).round_().to(torch.int8), scale


class _Product(torch.autograd.Function):
    """x (tokens x inputs) times the transpose of a frozen weight (outputs x inputs), with a gradient for x alone."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(weight, scale)
        numbers, sizes = quantize(x)
        return torch._int_mm(numbers, weight.t()).float().mul_(sizes).mul_(scale.t())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        weight, scale = ctx.saved_tensors
        numbers, sizes = quantize(gradients[0] * scale.t())
        return torch._int_mm(numbers, weight).float().mul_(sizes), None, None


class Int8Linear(nn.Module):
    """A linear layer whose weight is frozen, in int8; its inputs, outputs and bias are float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        weight, scale = quantize(linear.weight.detach().float())
        self.register_buffer("weight", weight)
        self.register_buffer("scale", scale)
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output, in the shape that a linear layer gives it."""
        rows = _Product.apply(x.reshape(-1, self.in_features), self.weight, self.scale)
        out: Tensor = rows if self.bias is None else rows + self.bias
        return out.reshape(*x.shape[:-1], self.out_features)


def in_int8(model: nn.Module) -> None:
    """Put every linear layer of `model` into eight bits, where it stands."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, Int8Linear(child))
