"""Train the adapter: `python -m training.train training/data/mended -o run`.

A run can be broken off at any moment and started again with the same command: it goes on from the last checkpoint, which is
written every few minutes, and comes to the same numbers as a run that was left alone. The loss on stories that were held out is
measured as it goes; the adapter of the lowest one is kept as best.safetensors, and a run that no longer gets better stops.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from training.conversation import lesson, openings, templates_fingerprint
from training.data import Premise, Scene, line, read_premises, read_scenes
from training.encode import Example, encode, tokenizer
from training.lora import LoraLinear, attach, read_adapter, restore, tensors
from training.loss import loss, mean_loss
from training.product import WRITER, RecurrentGPTError, SettingsError, fetch, sha256
from training.weights import PRECISIONS, Base, Precision, load

BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.01
GRADIENT_NORM = 1.0
WARM_UP = 0.06
"""Share of the steps over which the learning rate rises; it falls in a line to LOWEST of itself from there."""
LOWEST = 0.05

CHECKPOINT, BEST, LOG = "checkpoint.safetensors", "best.safetensors", "log.jsonl"


@dataclass(frozen=True)
class Settings:
    """What decides the outcome of a run; it stands in every checkpoint."""

    base: str
    """SHA-256 of the model's file."""
    data: str
    """SHA-256 of the scenes and openings, in their order."""
    templates: str
    rank: int = 16
    alpha: float = 32.0
    learning_rate: float = 2e-4
    epochs: float = 2.0
    accumulate: int = 4
    """Conversations to a step of the optimiser."""
    seed: int = 0
    evaluate_every: int = 20
    """Optimiser steps between measurements on the held-out stories."""
    patience: int = 3
    """Measurements without a lower loss after which a run stops."""
    held_out: float = 0.08
    """Share of the stories that are held out."""
    first_layer: int = 0
    """Layers below it stay as they are, which saves the time of their gradients."""
    precision: Precision = "int8"
    """What the frozen weights are computed in."""
    begin_with: str = ""
    """SHA-256 of the checkpoint or adapter that the run began with; empty where it began with none."""


_OPTIONS = (
    "rank",
    "learning_rate",
    "epochs",
    "accumulate",
    "seed",
    "evaluate_every",
    "patience",
    "held_out",
    "first_layer",
    "precision",
)
"""Of the command, each a setting of the same name."""


@dataclass
class Progress:
    """How far a run is."""

    step: int = 0
    """Optimiser steps done."""
    best: float = float("inf")
    """Lowest held-out loss so far."""
    stale: int = 0
    """Measurements since then."""
    seconds: float = 0.0
    """Time spent in all sittings together."""
    tokens: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    """One row per step: step, loss or held_out, seconds."""


def held_out(story: str, share: float) -> bool:
    """Return whether a story is never learnt from: by its name alone, so that new stories move none."""
    return int(hashlib.sha256(story.encode()).hexdigest()[:8], 16) / 2**32 < share


def data_fingerprint(scenes: Sequence[Scene], premises: Sequence[Premise]) -> str:
    """Return the SHA-256 of all that is learnt from and measured on."""
    return hashlib.sha256("".join(line(record) for record in (*scenes, *premises)).encode()).hexdigest()


class Run:
    """One training run in its folder."""

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        base: Base,
        learn: Sequence[Example],
        measure: Sequence[Example],
        *,
        begin_with: Mapping[str, Tensor] | None = None,
        checkpoint_minutes: float = 5.0,
        report: Callable[[str], None] = print,
    ) -> None:
        if not learn:
            raise SettingsError("There is no scene to learn from: every story is held out, or the files are empty.")
        self.folder, self.settings, self.base = folder, settings, base
        self.learn, self.measure = list(learn), list(measure)
        self.checkpoint_seconds, self.report = 60 * checkpoint_minutes, report
        self.adapters: dict[str, LoraLinear] = attach(
            base, settings.rank, settings.alpha, settings.seed, settings.first_layer
        )
        if begin_with is not None:
            restore(self.adapters, begin_with)
        self.parameters = [parameter for _, parameter in tensors(self.adapters)]
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=settings.learning_rate, betas=BETAS, weight_decay=WEIGHT_DECAY
        )
        self.progress = Progress()
        self.total = max(1, round(settings.epochs * len(self.learn) / settings.accumulate))
        self._order: tuple[int, list[int]] = (-1, [])
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / CHECKPOINT).exists():
            self._resume()

    def train(self, *, most_steps: int | None = None, minutes: float = float("inf")) -> bool:
        """Go on until the run is complete, or for `most_steps` more steps or `minutes`; return whether it is complete."""
        began = saved = last = time.monotonic()
        first = self.progress.step
        try:
            if self._lacks_evaluation():
                self._evaluate()
            while not self._complete():
                if most_steps is not None and self.progress.step - first >= most_steps:
                    break
                if time.monotonic() - began > 60 * minutes:
                    break
                mean = self._step()
                now = time.monotonic()
                self.progress.seconds += now - last
                last = now
                self._note(loss=mean)
                if self._lacks_evaluation():
                    self._evaluate()
                if now - saved > self.checkpoint_seconds:
                    self.save()
                    saved = now
        finally:
            # Between steps of the optimiser nothing changes, so an interrupted step is simply done again.
            self.save()
        return self._complete()

    def save(self, name: str = CHECKPOINT) -> None:
        """Write the whole state of the run into one file that is either the old or the new one, whatever happens."""
        state: dict[str, Tensor] = {}
        for key, parameter in tensors(self.adapters):
            state[key] = parameter.detach()
            for moment, value in self.optimizer.state.get(parameter, {}).items():
                state[f"{key}.{moment}"] = torch.as_tensor(value)
        metadata = {"settings": json.dumps(asdict(self.settings)), "progress": json.dumps(asdict(self.progress))}
        partial = self.folder / f".{name}.partial"
        save_file(state, partial, metadata=metadata)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(self.folder / name)
        rows = "".join(json.dumps(row) + "\n" for row in self.progress.history)
        (self.folder / LOG).write_text(rows, encoding="utf-8")

    def _complete(self) -> bool:
        return self.progress.step >= self.total or self.progress.stale >= self.settings.patience

    def _step(self) -> float:
        done, accumulate = self.progress.step, self.settings.accumulate
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * self._rate(done)
        mean = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        for place in range(done * accumulate, (done + 1) * accumulate):
            example = self._example(place)
            part = loss(self.base, example) / accumulate
            part.backward()  # type: ignore[no-untyped-call]
            mean += float(part.detach())
            self.progress.tokens += example.ids.shape[1]
        torch.nn.utils.clip_grad_norm_(self.parameters, GRADIENT_NORM)
        self.optimizer.step()
        self.progress.step += 1
        return mean

    def _rate(self, step: int) -> float:
        warm = max(1, round(WARM_UP * self.total))
        left = (self.total - step) / max(1, self.total - warm)
        return min((step + 1) / warm, LOWEST + (1 - LOWEST) * min(1.0, left))

    def _example(self, place: int) -> Example:
        epoch, index = divmod(place, len(self.learn))
        if self._order[0] != epoch:
            # From the seed and the epoch alone, so that a run that was broken off meets the same order.
            order = list(range(len(self.learn)))
            random.Random(f"order {self.settings.seed} {epoch}").shuffle(order)
            self._order = (epoch, order)
        return self.learn[self._order[1][index]]

    def _lacks_evaluation(self) -> bool:
        """Tell whether the held-out loss is due at this step, and was not measured: somebody may have stopped the run at it."""
        step = self.progress.step
        due = step % self.settings.evaluate_every == 0 or step == self.total
        known = any("held_out" in note and note["step"] == step for note in self.progress.history)
        return due and not known and bool(self.measure)

    def _evaluate(self) -> None:
        measured = mean_loss(self.base, self.measure)
        if measured < self.progress.best:
            self.progress.best, self.progress.stale = measured, 0
            self._note(held_out=measured)
            self.save(BEST)
        else:
            self.progress.stale += 1
            self._note(held_out=measured)

    def _note(self, **figures: float) -> None:
        progress = self.progress
        progress.history.append({"step": progress.step, **figures, "seconds": round(progress.seconds, 1)})
        shown = ", ".join(f"{name.replace('_', '-')} {value:.3f}" for name, value in figures.items())
        speed = progress.tokens / progress.seconds if progress.seconds else 0
        self.report(f"step {progress.step} of {self.total}: {shown} ({speed:.0f} tokens a second)")

    def _resume(self) -> None:
        state, metadata = read_checkpoint(self.folder / CHECKPOINT)
        was, now = json.loads(metadata["settings"]), asdict(self.settings)
        if changed := sorted(name for name in now if was.get(name) != now[name]):
            raise SettingsError(
                f"{self.folder} holds a run with another {' and '.join(changed)}: give it back, or name a new folder with -o."
            )
        restore(self.adapters, state)
        for name, parameter in tensors(self.adapters):
            moments = {key.rpartition(".")[2]: state[key] for key in state if key.startswith(f"{name}.")}
            if moments:
                self.optimizer.state[parameter] = moments
        self.progress = Progress(**json.loads(metadata["progress"]))
        self.report(f"Going on from step {self.progress.step} of {self.total}.")


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    """Return the tensors and the metadata of a checkpoint; raise SettingsError where it cannot be read."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118 - no mapping
    except (OSError, SafetensorError) as error:
        raise SettingsError(f"The checkpoint {path} cannot be read ({error}): name another folder.") from error


def examples(
    tokens: Any, scenes: Sequence[Scene], premises: Sequence[Premise], share: float, longest: int
) -> tuple[list[Example], list[Example]]:
    """Return the conversations to learn from and those that are held out, a story wholly on one side."""
    learn: list[Example] = []
    measure: list[Example] = []
    for scene in scenes:
        name = f"{scene.story} scene {scene.step}"
        found = encode(tokens, name, scene.mode, lesson(scene), longest)
        (measure if held_out(scene.story, share) else learn).append(found)
    for premise in premises:
        for call in openings(premise):
            found = encode(tokens, f"{premise.story} opening", premise.mode, [call], longest)
            (measure if held_out(premise.story, share) else learn).append(found)
    return learn, measure


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says."""
    options = _options(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        path = options.model or fetch(WRITER)
        scenes = [scene for scene in read_scenes(options.data) if scene.passage]
        premises = read_premises(options.openings)
        settings = Settings(
            base=sha256(path),
            data=data_fingerprint(scenes, premises),
            templates=templates_fingerprint(),
            begin_with=sha256(options.begin_with) if options.begin_with else "",
            alpha=options.alpha if options.alpha is not None else 2.0 * options.rank,
            **{name: getattr(options, name) for name in _OPTIONS},
        )
        learn, measure = examples(tokenizer(path), scenes, premises, options.held_out, options.longest)
        print(f"{len(learn)} conversations to learn from, {len(measure)} held out.", flush=True)
        base = load(path, settings.precision)
        run = Run(
            options.output,
            settings,
            base,
            learn,
            measure,
            begin_with=_first_adapter(options.begin_with, base) if options.begin_with else None,
            checkpoint_minutes=options.checkpoint_minutes,
            report=lambda text: print(text, flush=True),
        )
        complete = run.train(most_steps=options.most_steps, minutes=options.minutes)
    except (RecurrentGPTError, OSError) as error:
        print(f"training.train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from the last checkpoint.", file=sys.stderr)
        return 130
    print("The run is complete." if complete else "The same command goes on from here.")
    return 0


def _first_adapter(path: Path, base: Base) -> Mapping[str, Tensor]:
    return read_adapter(path, base) if path.suffix == ".gguf" else read_checkpoint(path)[0]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    defaults = Settings("", "", "")
    parser = argparse.ArgumentParser(
        prog="python -m training.train", description="Train an adapter for the embedded writer."
    )
    parser.add_argument("data", nargs="+", type=Path, help="files or folders of scenes")
    parser.add_argument(
        "--openings", nargs="*", type=Path, default=[], help="files or folders of stories laid out: learn to found them"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="folder of the run; one that holds a run is gone on with"
    )
    parser.add_argument("--model", type=Path, help="a Qwen2 or Llama GGUF file; the embedded writer by default")
    parser.add_argument("--rank", type=int, default=defaults.rank)
    parser.add_argument("--alpha", type=float, help="strength; twice the rank by default")
    parser.add_argument("--learning-rate", type=float, default=defaults.learning_rate)
    parser.add_argument("--epochs", type=float, default=defaults.epochs)
    parser.add_argument("--accumulate", type=int, default=defaults.accumulate, help="conversations to a step")
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument(
        "--evaluate-every", type=int, default=defaults.evaluate_every, help="steps between held-out measurements"
    )
    parser.add_argument(
        "--patience", type=int, default=defaults.patience, help="measurements without progress before it stops"
    )
    parser.add_argument(
        "--held-out", type=float, default=defaults.held_out, help="share of the stories that are held out"
    )
    parser.add_argument(
        "--first-layer",
        type=int,
        default=defaults.first_layer,
        help="leave the layers below it as they are, to save time",
    )
    parser.add_argument(
        "--begin-with",
        type=Path,
        help="a checkpoint of another run or an exported adapter, of the same rank and layers",
    )
    parser.add_argument("--longest", type=int, default=2400, help="tokens that a conversation may have")
    parser.add_argument("--checkpoint-minutes", type=float, default=5.0)
    parser.add_argument("--most-steps", type=int, help="stop after so many steps of this sitting")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after so many minutes of this sitting"
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=defaults.precision,
        help="what the frozen weights are computed in; float32 is slower by half or more, and wants three times the memory",
    )
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch thinks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
