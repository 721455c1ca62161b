"""What was worked out and may be asked for again, as long as it is among the newest."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Keep the `most` values that were put in last, for any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value of a key; None where there is none, or none any more."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value as the newest, and let the oldest go beyond the bound."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def drop(self, is_over: Callable[[K], bool]) -> None:
        """Forget the values of all keys that `is_over` names."""
        with self._lock:
            for key in [key for key in self._values if is_over(key)]:
                del self._values[key]
