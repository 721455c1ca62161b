"""Pack what a machine without this project needs to train: `python -m training.pack training/data/mended -o packed`.

`conversations.safetensors` holds the token ids of all that is learnt from and measured on, and of the contexts that are
written when the training is done; the other files hold the model as its GGUF file stores it, cut into pieces that a small upload
takes. Of the vocabulary only the common tokens go along, and those of the conversations: the rest is two thirds of what would
have to be sent, and hardly ever said.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from training.conversation import exchanges, openings, templates_fingerprint, writing
from training.data import DATA, Premise, Scene, read_premises, read_scenes
from training.encode import Example, encode, tokenizer
from training.evaluate import contexts
from training.product import WRITER, RecurrentGPTError, SettingsError, fetch, sha256
from training.train import data_fingerprint, held_out
from training.weights import field, open_gguf

COMMON_TOKENS = 32_768
"""Tokens that go along in any case: a tokenizer's first ones are the commonest."""
LONGEST = 2400


def conversations(
    tokens: Any, scenes: Sequence[Scene], premises: Sequence[Premise]
) -> Iterator[tuple[str, str, Example]]:
    """Yield story, call and tokens of every conversation: a scene's writing, followed by each of its later calls in turn."""
    for scene in scenes:
        name = f"{scene.story} scene {scene.step}"
        first, *later = exchanges(scene)
        for after in later or [first]:
            done = [first, after] if later else [first]
            yield scene.story, after.call, encode(tokens, name, scene.mode, done, LONGEST)
    for premise in premises:
        name = f"{premise.story} opening"
        for call in openings(premise):
            yield premise.story, "open", encode(tokens, name, premise.mode, [call], LONGEST)


def prompt(tokens: Any, scene: Scene) -> list[int]:
    """Return the tokens that ask for a scene."""
    example = encode(tokens, scene.story, scene.mode, [writing(scene.model_copy(update={"passage": "."}))], LONGEST)
    return [int(number) for number in example.ids[0, : int(example.learnt.nonzero()[0])]]


def preferences(tokens: Any, scenes: Sequence[Scene], share: float) -> list[dict[str, Any]]:
    """Return the tokens of each mended scene that is learnt from: what asks for it, its text, and the draft it is better than."""
    return [
        {
            "asked": prompt(tokens, scene),
            **{
                side: [*tokens(text, add_special_tokens=False)["input_ids"], int(tokens.eos_token_id)]
                for side, text in (("better", scene.passage), ("worse", scene.draft))
            },
        }
        for scene in scenes
        if scene.draft and not held_out(scene.story, share)
    ]


def pack_conversations(
    path: Path,
    scenes: Sequence[Scene],
    premises: Sequence[Premise],
    mended: Sequence[Scene],
    share: float,
    output: Path,
) -> set[int]:
    """Write all conversations to `output` and return the tokens they use."""
    tokens = tokenizer(path)
    rows: list[dict[str, Any]] = []
    ids: list[Tensor] = []
    learnt: list[Tensor] = []
    for story, call, example in conversations(tokens, scenes, premises):
        rows.append({"name": example.name, "call": call, "held_out": held_out(story, share)})
        ids.append(example.ids[0].to(torch.int32))
        learnt.append(example.learnt.to(torch.uint8))
    asked = [(scene, prompt(tokens, scene)) for scene in contexts(read_premises([DATA / "heldout"]))]
    preferred = preferences(tokens, mended, share)
    about = {
        "rows": rows,
        "preferences": preferred,
        "lengths": [len(piece) for piece in ids],
        "contexts": [{"story": scene.story, "step": scene.step, "ids": numbers} for scene, numbers in asked],
        "end": int(tokens.eos_token_id),
        "base": sha256(path),
        "data": data_fingerprint(scenes, premises),
        "templates": templates_fingerprint(),
        "held_out": share,
    }
    save_file({"ids": torch.cat(ids), "learnt": torch.cat(learnt)}, output, metadata={"about": json.dumps(about)})
    said = [numbers for _, numbers in asked] + [
        pair[side] for pair in preferred for side in ("asked", "better", "worse")
    ]
    return {int(tokens.eos_token_id), *torch.cat(ids).tolist(), *(number for numbers in said for number in numbers)}


def pack_model(path: Path, used: set[int], folder: Path, megabytes: int) -> int:
    """Write the model of `path` in pieces of at most so many megabytes, and return how many there are."""
    reader = open_gguf(path)
    family = str(field(reader, "general.architecture"))
    if family != "qwen2":
        raise SettingsError(f"Only Qwen2 models are packed, and {path.name} is a {family} model: train it here.")
    vocabulary = np.array(sorted(used | set(range(COMMON_TOKENS))))
    numbers = {
        name: float(field(reader, f"{family}.{name}"))
        for name in (
            "embedding_length",
            "block_count",
            "attention.head_count",
            "attention.head_count_kv",
            "feed_forward_length",
            "attention.layer_norm_rms_epsilon",
            "rope.freq_base",
        )
    }
    pieces: list[dict[str, Tensor]] = [{"vocabulary": torch.from_numpy(vocabulary.astype(np.int32))}]
    kinds: dict[str, str] = {}
    sizes = [pieces[0]["vocabulary"].nbytes]
    for tensor in reader.tensors:
        if tensor.name == "token_embd.weight" and any(other.name == "output.weight" for other in reader.tensors):
            # The model was tied, and its output is stored with more bits.
            continue
        data = np.ascontiguousarray(tensor.data)
        if data.shape[0] > 100_000:
            data = data[vocabulary]
        kinds[tensor.name] = tensor.tensor_type.name
        place = next((n for n, size in enumerate(sizes) if size + data.nbytes <= megabytes * 2**20), len(pieces))
        if place == len(pieces):
            pieces.append({})
            sizes.append(0)
        pieces[place][tensor.name] = torch.from_numpy(data.view(np.uint8).copy())
        sizes[place] += data.nbytes
    about = json.dumps({"numbers": numbers, "kinds": kinds, "pieces": len(pieces)})
    for number, piece in enumerate(pieces):
        save_file(piece, folder / f"model-{number:02}.safetensors", metadata={"about": about})
    return len(pieces)


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m training.pack", description="Pack model and conversations for training.accelerator."
    )
    parser.add_argument("data", nargs="+", type=Path, help="files or folders of scenes")
    parser.add_argument("--openings", nargs="*", type=Path, default=[], help="files or folders of stories laid out")
    parser.add_argument(
        "--preferences", nargs="*", type=Path, default=[], help="of dpo: scenes that are preferred to their drafts"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder")
    parser.add_argument("--model", type=Path, help="a Qwen2 GGUF file; the embedded writer by default")
    parser.add_argument("--held-out", type=float, default=0.05, help="share of the stories that are held out")
    parser.add_argument("--megabytes", type=int, default=60, help="that a piece of the model may have (default 60)")
    options = parser.parse_args(arguments)
    try:
        path = options.model or fetch(WRITER)
        scenes = [scene for scene in read_scenes(options.data) if scene.passage]
        premises = read_premises(options.openings)
        options.output.mkdir(parents=True, exist_ok=True)
        file = options.output / "conversations.safetensors"
        mended = read_scenes(options.preferences)
        used = pack_conversations(path, scenes, premises, mended, options.held_out, file)
        count = pack_model(path, used, options.output, options.megabytes)
    except (RecurrentGPTError, OSError) as error:
        print(f"training.pack: {error}", file=sys.stderr)
        return 1
    print(f"{len(scenes)} scenes and {len(premises)} openings in {file}; the model in {count} pieces beside it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
