"""Measure how long a novel takes to import and to export: `python -m benchmarks.books --words 120000`.

Every format is measured in a process of its own, so that peak memory is that of the one job, the interpreter included:
read + split + vocabulary + a key sentence a passage, and write. `--novel FILE` takes a real book. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.novel import make_novel
from recurrentgpt.books.book import Book, Chapter
from recurrentgpt.books.extract import key_sentence, vocabulary
from recurrentgpt.books.readers import SOURCES, read_book
from recurrentgpt.books.split import split_passages
from recurrentgpt.books.writers import FORMATS, write_book
from recurrentgpt.prose.sentences import count_words

_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    """Print the figures of every format as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=120_000, help="how long the made-up novel is")
    parser.add_argument("--novel", type=Path, help="a book to take instead of the made-up one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        writes = {format: _alone(_write, options, format, folder) for format in FORMATS}
        reads = {format: _alone(_read, Path(folder, f"book{format}")) for format in FORMATS if format in SOURCES}
    print(json.dumps({"write": writes, "read": reads}, indent=2))


def _alone(job: Any, *given: Any) -> dict[str, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        figures: dict[str, float] = pool.submit(job, *given).result()
    return figures


def _write(options: argparse.Namespace, format: str, folder: str) -> dict[str, float]:
    book = _book(options)
    start = time.perf_counter()
    path = write_book(book, Path(folder, f"book{format}"))
    return {"seconds": _since(start), "peak_mb": _peak(), "bytes": path.stat().st_size}


def _book(options: argparse.Namespace) -> Book:
    made = make_novel(options.words)
    if options.novel is None:
        return made
    manuscript = read_book(options.novel)
    chapters = [Chapter(chapter.title, chapter.paragraphs) for chapter in manuscript.chapters]
    return Book(manuscript.title, manuscript.author, "English", "", "", "", made.created, chapters)


def _read(path: Path) -> dict[str, float]:
    start = time.perf_counter()
    manuscript = read_book(path)
    read = _since(start)
    passages = [passage for chapter in split_passages(manuscript) for passage in chapter.passages]
    split = _since(start) - read
    known = vocabulary(passages)
    summaries = [key_sentence(passage, known) for passage in passages]
    return {
        "seconds": _since(start),
        "read_seconds": read,
        "split_seconds": round(split, 3),
        "peak_mb": _peak(),
        "words": sum(map(count_words, passages)),
        "chapters": len(manuscript.chapters),
        "passages": len(passages),
        "summary_words": sum(map(count_words, summaries)),
    }


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 3)


def _peak() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT / 1e6, 1)


if __name__ == "__main__":
    main()
