"""A passage while it streams: the one place that knows what `prose` and `retract` events mean.

A stream tells of a passage by two events. `prose` adds `text` at the end and says that the first `settled` characters of
all there is will stay as they are; `retract` takes away what stands beyond `length` characters. A `stage` of the node
`write` begins anew. The writer makes these events with `become`, every reader follows them with `apply`, and both hold the
same text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

from recurrentgpt.schema.events import ProseEvent, RetractEvent


@dataclass
class StreamBuffer:
    """The text of a passage in the making, and how many of its characters are settled."""

    text: str = ""
    settled: int = 0
    _released: int = 0

    @property
    def settled_text(self) -> str:
        """What will stay as it is."""
        return self.text[: self.settled]

    def apply(self, event: Mapping[str, Any]) -> bool:
        """Follow an event of a stream; return whether it changed the text or what of it is settled."""
        match event.get("event"):
            case "prose":
                self.add(event["text"], event["settled"])
            case "retract":
                self.retract(event["length"])
            case "stage" if event["node"] == "write":
                self.clear()
            case _:
                return False
        return True

    def add(self, text: str, settled: int) -> None:
        """Add text at the end; of all there is, `settled` characters will not be taken back."""
        self.text += text
        self.settled = max(self.settled, settled)

    def retract(self, length: int) -> None:
        """Take away what stands beyond `length` characters."""
        self.text = self.text[:length]
        self.settled = min(self.settled, length)

    def clear(self) -> None:
        """Begin with another passage, or with this one anew."""
        self.text, self.settled, self._released = "", 0, 0

    def release(self) -> str:
        """Return what is settled and was not returned before, for a listener from whom nothing can be taken back."""
        piece = self.text[self._released : self.settled]
        self._released += len(piece)
        return piece

    def become(self, text: str, settled: int, why: str = "") -> list[ProseEvent | RetractEvent]:
        """Hold `text` from now on, and return the events by which every reader comes to hold it too; `why` what is taken back."""
        kept = len(self.text) if text.startswith(self.text) else len(commonprefix([text, self.text]))  # noqa: RUF071
        events: list[ProseEvent | RetractEvent] = []
        if kept < len(self.text):
            events.append({"event": "retract", "length": kept, "why": why})
        if len(text) > kept or settled != self.settled:
            events.append({"event": "prose", "text": text[kept:], "settled": settled})
        self.text, self.settled = text, settled
        return events
