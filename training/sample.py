"""Let the model write the scenes of stories laid out by hand: `python -m training.sample training/data/premises -o drafts.jsonl`.

The drafts are what an editor mends into training data, so they are the model's own: a low temperature, weak penalties, no
grammar, no guard, and at most one scene shown as an example, without which many models answer with a film script. Each line of
the output is one scene. A run that was broken off goes on where it stopped, and stories added to the files meanwhile are taken
up as they come.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from training.client import CompletionEndpoint, complete
from training.conversation import messages, templates_fingerprint, writing
from training.data import DATA, Premise, Scene, Source, append, read_premises, read_scenes
from training.product import (
    WRITER,
    Adapter,
    ModelUnavailable,
    RecurrentGPTError,
    embedded_server,
    fetch,
    mend,
    sha256,
    stop_servers,
)

TEMPERATURE = 0.6
SAMPLING = {
    "min_p": 0.06,
    "top_p": 0.95,
    "top_k": 0,
    "max_tokens": 480,
    # At a low temperature a small model says the same two sentences for ever; these weak penalties look at single tokens, so
    # that, unlike DRY's, they do not join words.
    "presence_penalty": 0.35,
    "frequency_penalty": 0.08,
    "repeat_last_n": 256,
}

Key = tuple[str, int, int | None]


def wanted(
    premises: Sequence[Premise], seeds: int, done: Collection[Key], mended: Mapping[tuple[str, int], Scene]
) -> tuple[Scene, int] | None:
    """Return the next context without a draft and its seed, whole stories first; None when every scene has its drafts.

    A scene follows the mended one before it, found by story and step, where there is one.
    """
    for seed in range(seeds):
        for premise in premises:
            for step in range(1, len(premise.turns) + 1):
                if (premise.story, step, seed) not in done:
                    return premise.context(step, mended.get((premise.story, step - 1))), seed
    return None


def draft(
    server: CompletionEndpoint,
    context: Scene,
    seed: int,
    *,
    temperature: float,
    made_by: Source,
    shown: Scene | None = None,
) -> Scene:
    """Return `context` with the passage that the model writes for it; `shown` is a scene that it sees as an example.

    `made_by` says which model it is and what it wears.
    """
    example = [writing(shown)] if shown else []
    reply = complete(
        server,
        messages(context.mode, [*example, writing(context)]),
        seed=1_000 * seed + context.step,
        temperature=temperature,
        **SAMPLING,
    )
    source = made_by.model_copy(
        update={
            "seed": seed,
            "temperature": temperature,
            "templates": templates_fingerprint(),
            "example": shown.story if shown else "",
            "finish": reply.finish,
            "seconds": round(reply.seconds, 1),
        }
    )
    return context.model_copy(update={"passage": reply.text, "source": source})


def main(arguments: Sequence[str] | None = None) -> int:
    """Write drafts until every story has all of them, or the time is up."""
    options = _options(arguments)
    try:
        return _run(options)
    except (RecurrentGPTError, OSError) as error:
        print(f"training.sample: {error}", file=sys.stderr)
        return 1
    finally:
        stop_servers()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.sample", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "premises", nargs="*", type=Path, default=[DATA / "premises"], help="files or folders of stories laid out"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the drafts, JSON Lines; a file that exists is gone on with"
    )
    parser.add_argument(
        "--mended", type=Path, action="append", default=[], help="mended scenes: the next one follows from them"
    )
    parser.add_argument("--example", type=Path, help="scenes: the first of the mode is shown before what is asked")
    parser.add_argument("--seeds", type=int, default=1, help="drafts of each scene (default 1)")
    parser.add_argument("--temperature", type=float, default=TEMPERATURE, help=f"default {TEMPERATURE}")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after the scene that is under way by then"
    )
    parser.add_argument("--model", type=Path, help="a GGUF file; the embedded writer by default")
    parser.add_argument(
        "--adapter", type=Path, help="a GGUF adapter that the model wears, so that its drafts need less mending"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="the adapter's strength (default 1)")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    path = options.model or fetch(WRITER)
    adapter = Adapter(options.adapter, options.scale) if options.adapter else None
    made_by = Source(
        hand="model",
        model=(WRITER.files[0].sha256 if options.model is None else sha256(path))[:12],
        adapter=f"{sha256(adapter.path)[:12]} at {adapter.scale:g}" if adapter else "",
    )
    deadline = time.monotonic() + 60 * options.minutes
    mend(options.output)
    done = {scene.key for scene in read_scenes([options.output] if options.output.exists() else [])}
    shown = read_scenes([options.example] if options.example else [])
    made = failed = 0
    while time.monotonic() < deadline:
        mended = {(scene.story, scene.step): scene for scene in read_scenes(options.mended)}
        premises = read_premises(options.premises)
        following = wanted(premises, options.seeds, done, mended)
        if following is None:
            break
        context, seed = following
        try:
            server = embedded_server(path, adapter)
            example = next(
                (scene for scene in shown if scene.mode == context.mode and scene.story != context.story), None
            )
            scene = draft(server, context, seed, temperature=options.temperature, made_by=made_by, shown=example)
        except ModelUnavailable as error:
            # llama.cpp's process may have died; the next call starts it again. Three failures in a row are no accident.
            failed += 1
            if failed == 3:
                raise
            print(f"{context.story} scene {context.step}: {error}", file=sys.stderr)
            continue
        failed = 0
        append(options.output, scene)
        done.add(scene.key)
        made += 1
        total = sum(len(premise.turns) for premise in premises) * options.seeds
        print(
            f"{len(done)} of {total}: {scene.story} scene {scene.step}, seed {seed}: {len(scene.passage.split())} words "
            f"in {scene.source.seconds:.0f} s ({scene.source.finish})",
            flush=True,
        )
    print(f"{made} drafts written to {options.output}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
