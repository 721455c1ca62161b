"""Train on an accelerator what training.pack packed: `python accelerator.py sft PACKED -o sft.safetensors`.

It needs PyTorch, transformers and safetensors, and nothing of this project, so that it runs where nothing can be installed. The
result is a checkpoint as training.train writes it, for `training.export`.

    sft     learn the replies of the conversations
    sample  write scenes of the conversations with an adapter, several of each
    dpo     go on from an adapter by direct preference optimisation (arXiv 2305.18290) of mended scenes against their drafts,
            with the likelihood of the mended ones, and of the authors' replies, beside it
    write   write the held-out contexts with an adapter, for readers
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as functional
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import LogitsProcessor, LogitsProcessorList, Qwen2Config, Qwen2ForCausalLM

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BETAS, WEIGHT_DECAY, GRADIENT_NORM, WARM_UP, LOWEST = (0.9, 0.95), 0.01, 1.0, 0.06, 0.05

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
OUTSIDE = {"output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight"}
"""As training.weights has them; the input embeddings are the output's."""


def halves(block: Tensor) -> Tensor:
    """Return pairs of bytes as float16 numbers, in float32."""
    return block.contiguous().view(torch.float16).float()


def q4_k(rows: Tensor) -> Tensor:
    """Return what Q4_K stores: blocks of 256 numbers in 144 bytes."""
    blocks = rows.reshape(-1, 144)
    scale, least = halves(blocks[:, :2]), halves(blocks[:, 2:4])
    packed = blocks[:, 4:16].int().reshape(-1, 3, 4)
    low, middle, high = packed[:, 0], packed[:, 1], packed[:, 2]
    scales = torch.cat([low & 63, (high & 15) | ((low >> 2) & 48)], 1).float() * scale
    leasts = torch.cat([middle & 63, (high >> 4) | ((middle >> 2) & 48)], 1).float() * least
    numbers = blocks[:, 16:].reshape(-1, 4, 1, 32)
    numbers = torch.cat([numbers & 15, numbers >> 4], 2).reshape(-1, 8, 32).float()
    return scales[:, :, None] * numbers - leasts[:, :, None]


def q6_k(rows: Tensor) -> Tensor:
    """Return what Q6_K stores: blocks of 256 numbers in 210 bytes."""
    blocks = rows.reshape(-1, 210)
    low = blocks[:, :128].reshape(-1, 2, 1, 64)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32)
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float() * halves(blocks[:, 208:])
    low = torch.cat([low & 15, low >> 4], 2).reshape(-1, 8, 32)
    high = torch.cat([(high >> shift) & 3 for shift in (0, 2, 4, 6)], 2).reshape(-1, 8, 32)
    numbers = (low.int() | (high.int() << 4)) - 32
    return scales[:, :, None] * numbers.reshape(-1, 16, 16).float()


def plain(rows: Tensor) -> Tensor:
    """Return numbers that are stored as float32."""
    return rows.contiguous().view(torch.float32)


DEQUANTIZE = {"Q4_K": q4_k, "Q6_K": q6_k, "F32": plain}


@dataclass
class Base:
    """The frozen model and its vocabulary."""

    model: Any
    number: Tensor
    """The model's own number of each token of the whole vocabulary; 0 for those that were left out."""
    vocabulary: Tensor


def load(folder: Path, layers: int | None = None) -> Base:
    """Return the packed model, with the weights in bfloat16; of its layers the first ones alone, to try the code."""
    weights: dict[str, Tensor] = {}
    with safe_open(folder / "model-00.safetensors", framework="pt") as file:
        about = json.loads(file.metadata()["about"])
    kinds, numbers = about["kinds"], about["numbers"]
    width = int(numbers["embedding_length"])
    count = min(layers or sys.maxsize, int(numbers["block_count"]))
    vocabulary = torch.empty(0)
    for piece in range(about["pieces"]):
        for name, stored in load_file(folder / f"model-{piece:02}.safetensors", device=DEVICE).items():
            if name == "vocabulary":
                vocabulary = stored.long()
                continue
            parts = name.split(".")
            if parts[0] == "blk" and int(parts[1]) >= count:
                continue
            values = DEQUANTIZE[kinds[name]](stored).to(torch.bfloat16)
            if parts[0] == "blk":
                inner = int(numbers["feed_forward_length"]) if parts[2] == "ffn_down" else width
                target = f"model.layers.{parts[1]}.{NAMES[parts[2]]}.{parts[3]}"
                weights[target] = values.reshape(-1) if kinds[name] == "F32" else values.reshape(-1, inner)
            else:
                weights[OUTSIDE[name]] = values.reshape(-1) if kinds[name] == "F32" else values.reshape(-1, width)
    weights["model.embed_tokens.weight"] = weights["lm_head.weight"]
    config = Qwen2Config(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=count,
        num_attention_heads=int(numbers["attention.head_count"]),
        num_key_value_heads=int(numbers["attention.head_count_kv"]),
        intermediate_size=int(numbers["feed_forward_length"]),
        rms_norm_eps=numbers["attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": numbers["rope.freq_base"]},
        max_position_embeddings=8192,
        tie_word_embeddings=False,
    )
    with torch.device("meta"):
        model = Qwen2ForCausalLM(config)
    missing, unknown = model.load_state_dict(weights, strict=False, assign=True)
    if missing or unknown:
        raise SystemExit(f"The packed model does not fit: {missing[:3]} {unknown[:3]}")
    model.model.rotary_emb = type(model.model.rotary_emb)(config).to(DEVICE)
    model.requires_grad_(False)
    model.train(False)
    number = torch.zeros(int(vocabulary.max()) + 1, dtype=torch.long)
    number[vocabulary.cpu()] = torch.arange(len(vocabulary))
    return Base(model, number, vocabulary.cpu())


class Lora(nn.Module):
    """Add `scale * b(a(x))` to a frozen linear layer."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float, generator: torch.Generator) -> None:
        super().__init__()
        self.base, self.scale, self.on = base, alpha / rank, True
        first = torch.randn(rank, base.in_features, generator=generator) / math.sqrt(base.in_features)
        self.a = nn.Parameter(first.to(DEVICE))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=DEVICE))
        self.kept: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output with the adapter's part added."""
        frozen: Tensor = self.base(x)
        if not self.on:
            return frozen
        return frozen + self.scale * ((x @ self.a.to(x.dtype).T) @ self.b.to(x.dtype).T)

    def merge(self, strength: float) -> None:
        """Put the adapter's part into the weights themselves, so that writing costs nothing more."""
        self.kept, self.on = self.base.weight.data, False
        added = strength * self.scale * (self.b @ self.a)
        self.base.weight.data = (self.kept.float() + added).to(self.kept.dtype)

    def part(self) -> None:
        """Undo `merge`."""
        if self.kept is not None:
            self.base.weight.data, self.kept, self.on = self.kept, None, True


def attach(base: Base, rank: int, alpha: float, seed: int) -> dict[str, Lora]:
    """Put an adapter on every projection and return them by llama.cpp's names."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[str, Lora] = {}
    for number, layer in enumerate(base.model.model.layers):
        for name, path in NAMES.items():
            if path.endswith("_proj"):
                owner = getattr(layer, path.partition(".")[0])
                attribute = path.partition(".")[2]
                adapter = Lora(getattr(owner, attribute), rank, alpha, generator)
                setattr(owner, attribute, adapter)
                found[f"blk.{number}.{name}.weight"] = adapter
    return found


class WeakPenalties(LogitsProcessor):
    """Make what a reply has said less likely, as llama.cpp's presence and frequency penalties do."""

    def __init__(self, asked: int, presence: float, frequency: float) -> None:
        self.asked, self.presence, self.frequency = asked, presence, frequency

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return the scores less the penalties of the tokens after the prompt."""
        said = input_ids[:, self.asked :]
        counts = torch.zeros_like(scores).scatter_add_(1, said, torch.ones_like(said, dtype=scores.dtype))
        return scores - self.presence * (counts > 0) - self.frequency * counts


class Conversations:
    """The packed conversations, by the model's own numbers."""

    def __init__(self, folder: Path, base: Base) -> None:
        path = folder / "conversations.safetensors"
        with safe_open(path, framework="pt") as file:
            self.about = json.loads(file.metadata()["about"])
            ids, learnt = file.get_tensor("ids").long(), file.get_tensor("learnt").bool()
        self.ids = list(torch.split(base.number[ids], self.about["lengths"]))
        self.learnt = list(torch.split(learnt, self.about["lengths"]))
        self.end = int(base.number[self.about["end"]])
        self.contexts = [base.number[torch.tensor(context["ids"])] for context in self.about["contexts"]]
        self.preferences: list[tuple[Tensor, ...]] = [
            tuple(base.number[torch.tensor(pair[part])] for part in ("asked", "better", "worse"))
            for pair in self.about["preferences"]
        ]
        """What asks for a scene, the better reply and the worse one."""
        self.by_scene: dict[str, list[int]] = {}
        for number, row in enumerate(self.about["rows"]):
            self.by_scene.setdefault(row["name"], []).append(number)

    def names(self, held_out: bool) -> list[str]:
        """Return the scenes and openings on one side of the division."""
        return [name for name, rows in self.by_scene.items() if self.about["rows"][rows[0]]["held_out"] is held_out]

    def lesson(self, name: str, epoch: int) -> int:
        """Return the conversation that a scene teaches in this epoch: its later calls take turns."""
        rows = self.by_scene[name]
        return rows[(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) + epoch) % len(rows)]

    def scene(self, name: str) -> tuple[Tensor, Tensor]:
        """Return the prompt and the author's reply of a scene."""
        row = self.by_scene[name][0]
        learnt = self.learnt[row].nonzero()[:, 0]
        begin = int(learnt[0])
        gaps = (learnt.diff() > 1).nonzero()
        after = int(learnt[int(gaps[0])]) + 1 if len(gaps) else int(learnt[-1]) + 1
        return self.ids[row][:begin], self.ids[row][begin:after]


def batches(lengths: Sequence[int], order: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield places of `order` in micro-batches of at most so many tokens, those of like length together."""
    group: list[int] = []
    for place in sorted(order, key=lambda place: lengths[place]):
        if group and lengths[place] * (len(group) + 1) > most:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def padded(rows: Sequence[Tensor], fill: int = 0) -> Tensor:
    """Return rows of different lengths as one matrix, padded on the right, on the device."""
    return nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=fill).to(DEVICE)


def likelihoods(base: Base, ids: Tensor, learnt: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-likelihood of each token to be learnt, and the number of its row.

    Padding stands on the right, where causal attention never looks back from, so no mask is needed.
    """
    hidden = base.model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    chosen = learnt[:, 1:]
    logits = base.model.lm_head(hidden[chosen]).float()
    found = -functional.cross_entropy(logits, ids[:, 1:][chosen], reduction="none")
    return found, chosen.nonzero()[:, 0]


def of_rows(base: Base, talks: Conversations, rows: Sequence[int]) -> Tensor:
    """Return the log-likelihood of each token that these conversations teach."""
    found, _ = likelihoods(base, padded([talks.ids[row] for row in rows]), padded([talks.learnt[row] for row in rows]))
    return found


def rate(step: int, total: int) -> float:
    """Return the share of the learning rate at a step."""
    warm = max(1, round(WARM_UP * total))
    return min((step + 1) / warm, LOWEST + (1 - LOWEST) * min(1.0, (total - step) / max(1, total - warm)))


def held_out_loss(base: Base, talks: Conversations, most: int) -> float:
    """Return the mean loss over all replies of the held-out stories."""
    rows = [row for name in talks.names(held_out=True) for row in talks.by_scene[name]]
    total, count = 0.0, 0
    with torch.inference_mode():
        for group in batches([len(ids) for ids in talks.ids], rows, most):
            found = of_rows(base, talks, group)
            total, count = total - float(found.sum()), count + len(found)
    return total / max(1, count)


def optimizer_of(adapters: dict[str, Lora], learning_rate: float) -> torch.optim.AdamW:
    """Return the optimiser of all that is trained."""
    parameters = [parameter for adapter in adapters.values() for parameter in (adapter.a, adapter.b)]
    return torch.optim.AdamW(
        parameters, lr=learning_rate, betas=BETAS, weight_decay=WEIGHT_DECAY, fused=DEVICE == "cuda"
    )


def update(optimizer: torch.optim.AdamW, learning_rate: float) -> None:
    """Take one step of the optimiser with the gradients clipped."""
    parameters = optimizer.param_groups[0]["params"]
    optimizer.param_groups[0]["lr"] = learning_rate
    torch.nn.utils.clip_grad_norm_(parameters, GRADIENT_NORM)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def sft(base: Base, talks: Conversations, adapters: dict[str, Lora], options: argparse.Namespace) -> dict[str, Any]:
    """Learn the replies of all conversations; return what the checkpoint is to say."""
    optimizer, began, tokens = optimizer_of(adapters, options.learning_rate), time.monotonic(), 0
    names = talks.names(held_out=False)
    steps_an_epoch = max(1, len(names) // options.batch)
    total = round(options.epochs * steps_an_epoch)
    lengths = [len(ids) for ids in talks.ids]
    measured = held_out_loss(base, talks, options.most_tokens)
    print(f"step 0 of {total}: held-out {measured:.3f}", flush=True)
    history = [{"step": 0, "held_out": measured}]
    for step in range(total):
        epoch, place = divmod(step, steps_an_epoch)
        order = sorted(names)
        random.Random(f"order {options.seed} {epoch}").shuffle(order)
        rows = [talks.lesson(name, epoch) for name in order[place * options.batch : (place + 1) * options.batch]]
        count = sum(int(talks.learnt[row][1:].sum()) for row in rows)
        said = 0.0
        for group in batches(lengths, rows, options.most_tokens):
            loss = -of_rows(base, talks, group).sum() / count
            loss.backward()  # type: ignore[no-untyped-call]
            said += float(loss.detach())
            tokens += sum(lengths[row] for row in group)
        update(optimizer, options.learning_rate * rate(step, total))
        history.append({"step": step + 1, "loss": said})
        if (step + 1) % max(1, steps_an_epoch // 2) == 0 or step + 1 == total:
            measured = held_out_loss(base, talks, options.most_tokens)
            history.append({"step": step + 1, "held_out": measured})
            seconds = time.monotonic() - began
            newest = [row["loss"] for row in history if "loss" in row][-20:]
            mean, speed = sum(newest) / len(newest), tokens / seconds
            news = f"loss {mean:.3f}, held-out {measured:.3f}"
            print(f"step {step + 1} of {total}: {news}, {seconds:.0f} s, {speed:.0f} tokens a second", flush=True)
    return {"step": total, "best": measured, "history": history, "seconds": time.monotonic() - began, "tokens": tokens}


def write(
    base: Base,
    adapters: dict[str, Lora],
    prompts: Sequence[Tensor],
    end: int,
    strength: float,
    options: argparse.Namespace,
) -> list[list[int]]:
    """Return what the model replies to every prompt, by its own numbers."""
    for adapter in adapters.values():
        adapter.merge(strength)
    found: list[list[int]] = [[] for _ in prompts]
    torch.manual_seed(options.seed)
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    for first in range(0, len(order), options.together):
        places = order[first : first + options.together]
        longest = max(len(prompts[place]) for place in places)
        ids = torch.full((len(places), longest), end)
        mask = torch.zeros((len(places), longest), dtype=torch.long)
        for row, place in enumerate(places):
            ids[row, longest - len(prompts[place]) :] = prompts[place]
            mask[row, longest - len(prompts[place]) :] = 1
        with torch.inference_mode():
            out = base.model.generate(
                input_ids=ids.to(DEVICE),
                attention_mask=mask.to(DEVICE),
                do_sample=True,
                temperature=options.temperature,
                top_p=0.95,
                top_k=0,
                min_p=0.1,
                logits_processor=LogitsProcessorList([WeakPenalties(longest, options.presence, options.frequency)]),
                max_new_tokens=options.longest,
                eos_token_id=end,
                pad_token_id=end,
                use_cache=True,
            )
        for row, place in enumerate(places):
            said = out[row, longest:].tolist()
            found[place] = said[: said.index(end)] if end in said else said
        print(f"{first + len(places)} of {len(order)} replies", flush=True)
    for adapter in adapters.values():
        adapter.part()
    return found


def whole_numbers(base: Base, reply: Sequence[int]) -> list[int]:
    """Return a reply by the numbers of the whole vocabulary."""
    return [int(number) for number in base.vocabulary[torch.tensor(reply, dtype=torch.long)]]


def dpo(base: Base, talks: Conversations, adapters: dict[str, Lora], options: argparse.Namespace) -> dict[str, Any]:
    """Prefer the mended scenes to their drafts, from the adapter as it is; return what the checkpoint is to say."""
    began = time.monotonic()
    if not talks.preferences:
        raise SystemExit("Nothing is preferred to anything: pack the mended scenes with --preferences.")
    # The better reply to a prompt and the worse one stand beside each other.
    asked = [len(prompt) for prompt, _, _ in talks.preferences]
    rows = [torch.cat([prompt, reply]) for prompt, *both in talks.preferences for reply in both]
    learnt = [torch.arange(len(row)) >= asked[place // 2] for place, row in enumerate(rows)]
    lengths = [len(row) for row in rows]

    def sums(places: Sequence[int]) -> Tensor:
        found, number = likelihoods(
            base, padded([rows[place] for place in places]), padded([learnt[place] for place in places])
        )
        return torch.zeros(len(places), device=DEVICE).index_add(0, number, found)

    before = torch.zeros(len(rows))
    with torch.inference_mode():
        for group in batches(lengths, range(len(rows)), options.most_tokens):
            before[group] = sums(group).float().cpu()
    longer = [max(lengths[2 * pair], lengths[2 * pair + 1]) for pair in range(len(asked))]
    names, whole = sorted(talks.names(held_out=False)), [len(ids) for ids in talks.ids]
    optimizer = optimizer_of(adapters, options.learning_rate)
    steps_an_epoch = max(1, len(asked) // options.batch)
    total, history = round(options.epochs * steps_an_epoch), []
    for step in range(total):
        epoch, place = divmod(step, steps_an_epoch)
        order = list(range(len(asked)))
        random.Random(f"pairs {options.seed} {epoch}").shuffle(order)
        chosen = order[place * options.batch : (place + 1) * options.batch]
        lost = won = 0.0
        for group in batches(longer, chosen, options.most_tokens // 2):
            places = [row for pair in group for row in (2 * pair, 2 * pair + 1)]
            now = sums(places)
            gain = (now - before[places].to(DEVICE)).reshape(-1, 2)
            margin = options.beta * (gain[:, 0] - gain[:, 1])
            words = torch.tensor([float(learnt[2 * pair].sum()) for pair in group], device=DEVICE)
            preferred = -functional.logsigmoid(margin) - options.likelihood * now.reshape(-1, 2)[:, 0] / words
            loss = preferred.sum() / len(chosen)
            loss.backward()  # type: ignore[no-untyped-call]
            lost += float(loss.detach())
            won += float((margin > 0).sum()) / len(chosen)
        drawn = random.Random(f"{options.seed} {step}").sample(names, min(len(names), len(chosen)))
        authors = [talks.lesson(name, step) for name in drawn]
        count = sum(int(talks.learnt[row][1:].sum()) for row in authors)
        for group in batches(whole, authors if options.authors else [], options.most_tokens):
            (-options.authors * of_rows(base, talks, group).sum() / count).backward()  # type: ignore[no-untyped-call]
        update(optimizer, options.learning_rate * rate(step, total))
        history.append({"step": step + 1, "loss": lost, "preferred": won})
        if (step + 1) % max(1, total // 8) == 0:
            newest = [float(row["preferred"]) for row in history[-8:]]
            print(
                f"step {step + 1} of {total}: loss {lost:.3f}, preferred {sum(newest) / len(newest):.2f}, "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
    measured = held_out_loss(base, talks, options.most_tokens)
    print(f"held-out {measured:.3f}", flush=True)
    return {"step": total, "best": measured, "history": history, "seconds": time.monotonic() - began, "tokens": 0}


def read(path: Path, adapters: dict[str, Lora]) -> None:
    """Give the adapters the tensors of a checkpoint."""
    state = load_file(path, device=DEVICE)
    with torch.no_grad():
        for name, adapter in adapters.items():
            adapter.a.copy_(state[f"{name}.lora_a"])
            adapter.b.copy_(state[f"{name}.lora_b"])


def save(
    path: Path, talks: Conversations, adapters: dict[str, Lora], told: dict[str, Any], options: argparse.Namespace
) -> None:
    """Write a checkpoint as training.train writes it; it is small, for its numbers are in float16."""
    state = {}
    for name, adapter in adapters.items():
        state[f"{name}.lora_a"], state[f"{name}.lora_b"] = (
            part.detach().half().cpu() for part in (adapter.a, adapter.b)
        )
    about = {key: talks.about[key] for key in ("base", "data", "templates", "held_out")}
    names = (
        "rank",
        "alpha",
        "learning_rate",
        "epochs",
        "batch",
        "seed",
        "beta",
        "likelihood",
        "authors",
        "temperature",
    )
    settings = {
        **about,
        **{name: getattr(options, name) for name in names},
        "method": options.what,
        "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu",
    }
    if options.adapter:
        settings["begin_with"] = hashlib.sha256(options.adapter.read_bytes()).hexdigest()
    save_file(state, path, metadata={"settings": json.dumps(settings), "progress": json.dumps(told)})


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=("sft", "sample", "dpo", "write"))
    parser.add_argument("packed", type=Path, help="the folder that training.pack wrote")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, help="a checkpoint to begin with, or to write with")
    parser.add_argument("--each", type=int, default=4, help="of sample: replies to each prompt")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--alpha", type=float, default=16.0)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--batch", type=int, default=16, help="conversations, or pairs, to a step of the optimiser")
    parser.add_argument("--beta", type=float, default=0.1, help="of dpo")
    parser.add_argument(
        "--likelihood", type=float, default=0.2, help="of dpo: weight of the preferred one's own likelihood"
    )
    parser.add_argument("--authors", type=float, default=0.5, help="of dpo: weight of the authors' replies")
    parser.add_argument("--temperature", type=float, default=0.6, help="of sample and write")
    parser.add_argument("--presence", type=float, default=0.35, help="of sample and write: penalty on a word once said")
    parser.add_argument("--frequency", type=float, default=0.06, help="of sample and write: for each time it was said")
    parser.add_argument(
        "--strength", type=float, action="append", help="of write: of the adapter; may be given several times"
    )
    parser.add_argument("--longest", type=int, default=520, help="tokens of a reply that is written")
    parser.add_argument("--together", type=int, default=256, help="replies that are written at once")
    parser.add_argument("--most-tokens", type=int, default=16_384, help="of a micro-batch")
    parser.add_argument("--prompts", type=int, help="of sample: only so many of the scenes, drawn by the seed")
    parser.add_argument("--scenes", type=int, help="only so many, to try it")
    parser.add_argument("--layers", type=int, help="only so many, to try it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    base = load(options.packed, options.layers)
    talks = Conversations(options.packed, base)
    if options.scenes:
        kept = sorted(talks.by_scene)[: options.scenes]
        talks.by_scene = {name: talks.by_scene[name] for name in kept}
        talks.contexts = talks.contexts[: options.scenes]
    adapters = attach(base, options.rank, options.alpha, options.seed)
    if options.adapter:
        read(options.adapter, adapters)
    print(f"Loaded in {time.monotonic() - began:.0f} s on {DEVICE}.", flush=True)
    if options.what == "sft":
        save(options.output, talks, adapters, sft(base, talks, adapters, options), options)
    elif options.what == "dpo":
        save(options.output, talks, adapters, dpo(base, talks, adapters, options), options)
    elif options.what == "sample":
        names = [name for name in talks.names(held_out=False) if not name.endswith(" opening")]
        names = random.Random(f"samples {options.seed}").sample(names, min(options.prompts or len(names), len(names)))
        prompts = [talks.scene(name)[0] for name in names for _ in range(options.each)]
        said = write(base, adapters, prompts, talks.end, 1.0, options)
        found: dict[str, list[list[int]]] = {name: [] for name in names}
        for place, reply in enumerate(said):
            found[names[place // options.each]].append(whole_numbers(base, reply))
        options.output.write_text(json.dumps(found))
    else:
        rows = []
        for strength in options.strength or [1.0]:
            for context, reply in zip(
                talks.about["contexts"],
                write(base, adapters, talks.contexts, talks.end, strength, options),
                strict=False,
            ):
                about = {"story": context["story"], "step": context["step"], "strength": strength}
                rows.append({**about, "ids": whole_numbers(base, reply)})
        options.output.write_text(json.dumps(rows))
    print(f"{options.what}: {time.monotonic() - began:.0f} s in all.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
