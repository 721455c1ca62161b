"""The short form of `benchmarks.crash`: processes that die at random moments, and the log they leave."""

import json
import os

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the benchmark forks its processes")
def test_killed_processes_lose_and_double_nothing(warm):
    done = warm.run("-m", "benchmarks.crash", "--kills", "8")
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert report["kills"] == 8
    assert report["stories"] == 1
    assert (report["lost"], report["doubled"], report["orphans"]) == (0, 0, 0)
    assert report["steps"] >= 2
