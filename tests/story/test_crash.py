"""The short form of `benchmarks.crash`: processes that die at random moments, and the log they leave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the benchmark forks its processes")
def test_killed_processes_lose_and_double_nothing():
    command = [sys.executable, "-m", "benchmarks.crash", "--kills", "8"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert report["kills"] == 8
    assert report["stories"] == 1
    assert (report["lost"], report["doubled"], report["orphans"]) == (0, 0, 0)
    assert report["steps"] >= 2
