"""The weights of a GGUF file as a model that can be trained: what a quantised file stores, as plain numbers.

An adapter learnt on these weights fits the quantised file, because they are the same numbers. transformers can read a GGUF
too, but keeps its own form of the weights; the names and the two permutations below are all that is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import gguf
import numpy as np
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from training.int8 import in_int8
from training.product import ModelRefused

Precision = Literal["int8", "float32"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

NAMES = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""What llama.cpp and transformers call the parts of a layer."""

_OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


@dataclass(frozen=True)
class Architecture:
    """A family of models that this module can load."""

    name: str
    config: type[Any]
    model: type[Any]
    rotated: bool
    """Whether llama.cpp stores the rows of the query and key projections in an order of its own."""


ARCHITECTURES = {
    "qwen2": Architecture("qwen2", Qwen2Config, Qwen2ForCausalLM, rotated=False),
    "llama": Architecture("llama", LlamaConfig, LlamaForCausalLM, rotated=True),
}


@dataclass(frozen=True)
class Base:
    """A model that was loaded from a GGUF file."""

    model: PreTrainedModel
    architecture: Architecture
    heads: int
    kv_heads: int


def open_gguf(path: Path) -> gguf.GGUFReader:
    """Return the reader of a GGUF file; raise ModelRefused where it is none."""
    try:
        return gguf.GGUFReader(path)
    except (OSError, ValueError) as error:
        raise ModelRefused(f"{path} cannot be read as a GGUF file ({error}): name the model's own file.") from error


def field(reader: gguf.GGUFReader, name: str) -> Any:
    """Return one of the file's metadata; raise ModelRefused where it is missing."""
    found = reader.get_field(name)
    if found is None:
        raise ModelRefused(f"The GGUF file says nothing of {name}: it is not a whole model.")
    return found.contents()


def load(path: Path, precision: Precision = "int8") -> Base:
    """Return the model of a GGUF file with its weights dequantised and frozen; with int8, its layers' matrices in eight bits.

    Raises ModelRefused where it is of a kind that cannot be trained.
    """
    reader = open_gguf(path)
    family = ARCHITECTURES.get(str(field(reader, "general.architecture")))
    if family is None:
        raise ModelRefused(
            f"{path.name} is a {field(reader, 'general.architecture')} model: only {' and '.join(ARCHITECTURES)} can be trained."
        )
    heads, kv_heads = (
        _number(reader, family, "attention.head_count"),
        _number(reader, family, "attention.head_count_kv"),
    )
    weights = _weights(reader, family, heads, kv_heads)
    config = _config(reader, family, weights)
    with torch.device("meta"):
        model = family.model(config)
    missing, unknown = model.load_state_dict(weights, strict=False, assign=True)
    if missing or unknown:
        raise ModelRefused(f"{path.name} does not fit its architecture: {', '.join([*missing, *unknown][:3])}.")
    # The rotary frequencies are no weights: what was made on the meta device has to be made again.
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    model.requires_grad_(False)
    if precision == "int8":
        # Not the output layer: a reply's gradient is spread over a vocabulary, of which eight bits keep the right token and
        # round the rest away.
        in_int8(model.model)
    model.config.use_cache = False
    model.eval()
    return Base(model, family, heads, kv_heads)


def interleaved(rows: Tensor, heads: int) -> Tensor:
    """Return the rows of a query or key projection (rows x anything) in llama.cpp's order for Llama models."""
    size = rows.shape[0] // heads // 2
    return rows.reshape(heads, 2, size, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def halved(rows: Tensor, heads: int) -> Tensor:
    """Undo `interleaved`."""
    size = rows.shape[0] // heads // 2
    return rows.reshape(heads, size, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def _weights(reader: gguf.GGUFReader, family: Architecture, heads: int, kv_heads: int) -> dict[str, Tensor]:
    order: dict[str, Callable[[Tensor], Tensor]] = {}
    if family.rotated:
        order = {"attn_q": lambda rows: halved(rows, heads), "attn_k": lambda rows: halved(rows, kv_heads)}
    found: dict[str, Tensor] = {}
    for tensor in reader.tensors:
        numbers = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=True)
        weight = torch.from_numpy(numbers).reshape([int(size) for size in reversed(tensor.shape)])
        parts = tensor.name.split(".")
        if parts[0] == "blk" and parts[2] in NAMES:
            if (reorder := order.get(parts[2])) is not None:
                weight = reorder(weight)
            found[f"model.layers.{parts[1]}.{NAMES[parts[2]]}.{parts[3]}"] = weight
        elif parts[0] in _OUTSIDE:
            found[f"{_OUTSIDE[parts[0]]}.{parts[1]}"] = weight
        else:
            raise ModelRefused(
                f"The file holds {tensor.name}, which this version cannot train with: use another model."
            )
    found.setdefault("lm_head.weight", found["model.embed_tokens.weight"])
    return found


def _config(reader: gguf.GGUFReader, family: Architecture, weights: dict[str, Tensor]) -> Any:
    vocabulary, width = weights["model.embed_tokens.weight"].shape
    return family.config(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=_number(reader, family, "block_count"),
        num_attention_heads=_number(reader, family, "attention.head_count"),
        num_key_value_heads=_number(reader, family, "attention.head_count_kv"),
        intermediate_size=_number(reader, family, "feed_forward_length"),
        rms_norm_eps=float(field(reader, f"{family.name}.attention.layer_norm_rms_epsilon")),
        max_position_embeddings=_number(reader, family, "context_length"),
        rope_parameters={"rope_type": "default", "rope_theta": float(field(reader, f"{family.name}.rope.freq_base"))},
        tie_word_embeddings=False,
    )


def _number(reader: gguf.GGUFReader, family: Architecture, name: str) -> int:
    return int(field(reader, f"{family.name}.{name}"))
