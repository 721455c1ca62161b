"""The layer over the log in which passages are written ahead."""

from __future__ import annotations

import pytest
from langgraph.store.memory import InMemoryStore

from recurrentgpt.memory.layered_store import LayeredStore


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("changed", [0, 4, 9])
@pytest.mark.parametrize("deleted", [None, 0, 5])
def test_pages_hold_every_row_once_as_it_stands_in_the_layer(limit, changed, deleted):
    below = InMemoryStore()
    for number in range(10):
        below.put(("log", "story"), f"row {number}", {"is": "below"})
    layered = LayeredStore(below)
    layered.put(("log", "story"), "new", {"is": "here"})
    layered.put(("log", "story"), f"row {changed}", {"is": "here"})
    layered.put(("log", "other"), "new", {"is": "elsewhere"})
    if deleted is not None:
        layered.delete(("log", "story"), f"row {deleted}")

    rows, page = [], layered.search(("log", "story"), limit=limit)
    while page:
        rows += [(item.key, item.value["is"]) for item in page]
        if len(page) < limit:
            break
        page = layered.search(("log", "story"), limit=limit, offset=len(rows))

    there = {f"row {number}": "below" for number in range(10)} | {"new": "here", f"row {changed}": "here"}
    there.pop(f"row {deleted}", None)
    assert sorted(rows) == sorted(there.items())
    assert len(below.search(("log",), limit=100)) == 10
