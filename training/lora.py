"""Low-rank adapters (LoRA, arXiv 2106.09685) on every projection of a model's layers: the only weights that are trained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import gguf
import numpy as np
import torch
from torch import Tensor, nn

from training.product import SettingsError
from training.weights import NAMES, Base, halved, open_gguf

PROJECTIONS = {name: path for name, path in NAMES.items() if path.endswith("_proj")}


class LoraLinear(nn.Module):
    """Add `scale * b(a(x))` to a frozen linear layer; it begins as no change at all, for b begins as zeros.

    `a` is rank x inputs and `b` outputs x rank, in float32 whatever the layer computes in.
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float, generator: torch.Generator) -> None:
        super().__init__()
        self.base = base
        self.scale = alpha / rank
        self.a = nn.Parameter(torch.randn(rank, base.in_features, generator=generator) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output with the adapter's part added."""
        added = (x @ self.a.T) @ self.b.T
        frozen: Tensor = self.base(x)
        return frozen + self.scale * added


def attach(base: Base, rank: int, alpha: float, seed: int, first_layer: int = 0) -> dict[str, LoraLinear]:
    """Put an adapter on every projection from `first_layer` on and return them by llama.cpp's names of the weights.

    Such a name is `blk.0.attn_q.weight`. Layers below are only read through: they take no gradients, a third of the time or more.
    Raises SettingsError where the model has no such layer.
    """
    layers = base.model.model.layers
    if not 0 <= first_layer < len(layers):
        raise SettingsError(f"The model has layers 0 to {len(layers) - 1}, not {first_layer}: name one of them.")
    generator = torch.Generator().manual_seed(seed)
    adapters: dict[str, LoraLinear] = {}
    for number, layer in enumerate(layers[first_layer:], first_layer):
        for name, path in PROJECTIONS.items():
            part, _, attribute = path.partition(".")
            owner = getattr(layer, part)
            adapter = LoraLinear(getattr(owner, attribute), rank, alpha, generator)
            setattr(owner, attribute, adapter)
            adapters[f"blk.{number}.{name}.weight"] = adapter
    return adapters


def tensors(adapters: Mapping[str, LoraLinear]) -> Iterator[tuple[str, nn.Parameter]]:
    """Yield every trained tensor with its name in the adapter's file, in a fixed order."""
    for name, adapter in adapters.items():
        yield f"{name}.lora_a", adapter.a
        yield f"{name}.lora_b", adapter.b


def restore(adapters: Mapping[str, LoraLinear], saved: Mapping[str, Tensor]) -> None:
    """Give the adapters the tensors of a checkpoint; raise SettingsError where they are of another shape."""
    with torch.no_grad():
        for name, parameter in tensors(adapters):
            if name not in saved or saved[name].shape != parameter.shape:
                raise SettingsError(
                    f"The checkpoint does not fit this model or rank (at {name}): start in a new folder."
                )
            parameter.copy_(saved[name])


def read_adapter(path: Path, base: Base) -> dict[str, Tensor]:
    """Return the tensors of an exported adapter by the names of `tensors`, as `base` has its rows."""
    heads = {"attn_q": base.heads, "attn_k": base.kv_heads} if base.architecture.rotated else {}
    found: dict[str, Tensor] = {}
    for tensor in open_gguf(path).tensors:
        numbers = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=True)
        rows = torch.from_numpy(numbers)
        projection = tensor.name.split(".")[2]
        if tensor.name.endswith(".lora_b") and projection in heads:
            rows = halved(rows, heads[projection])
        found[tensor.name] = rows
    return found
