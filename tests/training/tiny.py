"""Random models of a few thousand numbers as GGUF files, with every part that a real one has: made in a second."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WIDTH, HEADS, KV_HEADS, INNER, LAYERS, CONTEXT = 32, 4, 2, 64, 2, 8192
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def write_gguf(path: Path, architecture: str = "qwen2", *, template: str = TEMPLATE, seed: int = 0) -> Path:
    """Write a random model with a vocabulary of bytes, and return its file."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    _tokenizer(writer, template)
    numbers = np.random.default_rng(seed)

    def add(name: str, *shape: int) -> None:
        # Norms are near one, as trained ones are: without that, nothing reaches the output.
        array = numbers.normal(1.0 if name.endswith("norm.weight") else 0.0, 0.1 if len(shape) == 1 else 0.4, shape)
        writer.add_tensor(name, array.astype(np.float32))

    vocabulary = 257 + len(SPECIAL)
    add("token_embd.weight", vocabulary, WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", vocabulary, WIDTH)
    small = WIDTH * KV_HEADS // HEADS
    for layer in range(LAYERS):
        for name, shape in {
            "attn_norm": (WIDTH,),
            "ffn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (small, WIDTH),
            "attn_v": (small, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH),
            "ffn_down": (WIDTH, INNER),
        }.items():
            add(f"blk.{layer}.{name}.weight", *shape)
        if architecture == "qwen2":
            for name, size in (("attn_q", WIDTH), ("attn_k", small), ("attn_v", small)):
                add(f"blk.{layer}.{name}.bias", size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _tokenizer(writer: gguf.GGUFWriter, template: str) -> None:
    tokens = [*_byte_letters(), "he", *SPECIAL]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL] * len(SPECIAL))
    writer.add_token_merges(["h e"])
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)
    if template:
        writer.add_chat_template(template)


def _byte_letters() -> list[str]:
    """Return the letter that GPT-2's vocabulary writes for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
