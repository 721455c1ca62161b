"""The short form of `benchmarks.books`: a novel of 100,000 words through every format, in bounded memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recurrentgpt.books.writers import FORMATS

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_a_long_novel_goes_through_every_format():
    command = [sys.executable, "-m", "benchmarks.books", "--words", "100000"]
    figures = json.loads(subprocess.check_output(command, cwd=ROOT))
    assert set(figures["write"]) == set(FORMATS)
    assert set(figures["read"]) == {".md", ".txt", ".epub", ".docx"}
    assert len({read["words"] for read in figures["read"].values()}) == 1
    for read in figures["read"].values():
        assert read["words"] >= 100_000
        assert read["chapters"] > 20
        assert 200 <= read["words"] / read["passages"] <= 400
        assert 0 < read["summary_words"] <= 40 * read["passages"]
    for job in (*figures["read"].values(), *figures["write"].values()):
        assert job["peak_mb"] < 300
