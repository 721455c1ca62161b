"""The words that are no two words run together: those of the contexts, of scenes that people have mended, and of a tokenizer."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from training.data import DATA, Premise, read_scenes
from training.measures import vocabulary
from training.product import EMBEDDER, SettingsError, fetch


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add to a command the options that say where the known words are."""
    parser.add_argument(
        "--known", nargs="*", type=Path, default=[DATA / "mended"], help="scenes whose words are known ones"
    )
    parser.add_argument(
        "--dictionary", type=Path, help="a tokenizer.json whose words are known, too; the embedder's by default"
    )


def known_words(premises: Iterable[Premise], options: argparse.Namespace) -> frozenset[str]:
    """Return the words of the premises, and of what a command's options name; raise SettingsError for what is no tokenizer."""
    texts = [premise.model_dump_json() for premise in premises]
    texts += [scene.passage for scene in read_scenes(options.known)]
    return vocabulary([*texts, *_entries(options.dictionary or fetch(EMBEDDER) / "tokenizer.json")])


def _entries(dictionary: Path) -> list[str]:
    """Return the words of a tokenizer's file, such as `footsteps`, which are no two run together."""
    try:
        return [str(entry) for entry in json.loads(dictionary.read_text(encoding="utf-8"))["model"]["vocab"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{dictionary} is no tokenizer.json with a vocabulary: name one with --dictionary."
        ) from error
