"""Write a trained adapter as the GGUF file that llama.cpp loads beside the model: `python -m training.export run -o FILE.gguf`.

A manifest beside it says what it was made from: hashes of the base, the data, the templates and this code.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from training.lora import PROJECTIONS
from training.product import WRITER, RecurrentGPTError, SettingsError, fetch, sha256
from training.train import BEST, CHECKPOINT, read_checkpoint
from training.weights import ARCHITECTURES, field, interleaved, open_gguf

TYPES = {"f16": gguf.GGMLQuantizationType.F16, "q8_0": gguf.GGMLQuantizationType.Q8_0}
BLOCK = 32
"""Numbers that Q8_0 stores together; a row has to be a multiple of it."""


def export(checkpoint: Path, model: Path, output: Path, *, kind: str) -> dict[str, Any]:
    """Write `checkpoint` to `output` as a GGUF adapter of `model` and return its manifest, which is written beside it.

    `kind` is f16 or q8_0; tensors whose rows Q8_0 cannot hold (those of a rank that is no multiple of 32) stay in f16.
    """
    state, metadata = read_checkpoint(checkpoint)
    settings, progress = json.loads(metadata["settings"]), json.loads(metadata["progress"])
    base = sha256(model)
    if settings["base"] != base:
        raise SettingsError(f"The adapter was trained on another file than {model.name}: name that one with --model.")
    reader = open_gguf(model)
    family = ARCHITECTURES[str(field(reader, "general.architecture"))]
    heads = {
        "attn_q": int(field(reader, f"{family.name}.attention.head_count")),
        "attn_k": int(field(reader, f"{family.name}.attention.head_count_kv")),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f".{output.name}.partial")
    writer = gguf.GGUFWriter(partial, family.name)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", settings["alpha"])
    writer.add_string("general.name", output.stem)
    writer.add_string("general.base_model.0.sha256", base)
    for name, tensor in state.items():
        if not name.endswith((".lora_a", ".lora_b")):
            continue
        projection = name.split(".")[2]
        if projection not in PROJECTIONS:
            raise SettingsError(f"The checkpoint adapts {name}, which llama.cpp has no place for: train it anew.")
        if family.rotated and name.endswith(".lora_b") and projection in heads:
            tensor = interleaved(tensor, heads[projection])
        rows = tensor.numpy().astype(np.float32)
        stored = TYPES[kind] if rows.shape[-1] % BLOCK == 0 else TYPES["f16"]
        writer.add_tensor(name, gguf.quantize(rows, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(output)
    manifest = {
        "file": output.name,
        "sha256": sha256(output),
        "bytes": output.stat().st_size,
        "type": kind,
        "code": code_fingerprint(),
        "settings": settings,
        "steps": progress["step"],
        "held_out_loss": progress["best"] if math.isfinite(progress["best"]) else None,
    }
    output.with_suffix(".json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def code_fingerprint() -> str:
    """Return the SHA-256 of the code of this folder, file by file in the order of their names."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Export as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m training.export", description="Write a trained adapter for llama.cpp."
    )
    parser.add_argument("run", type=Path, help="folder of a training run, or one of its checkpoints")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the adapter's file, NAME.gguf")
    parser.add_argument(
        "--type", choices=sorted(TYPES), default="f16", help="q8_0 is about half the size (default f16)"
    )
    parser.add_argument(
        "--model", type=Path, help="the GGUF file that it was trained on; the embedded writer by default"
    )
    options = parser.parse_args(arguments)
    run: Path = options.run
    checkpoint = run if run.is_file() else run / (BEST if (run / BEST).exists() else CHECKPOINT)
    try:
        manifest = export(checkpoint, options.model or fetch(WRITER), options.output, kind=options.type)
    except (RecurrentGPTError, OSError) as error:
        print(f"training.export: {error}", file=sys.stderr)
        return 1
    print(json.dumps(manifest, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
