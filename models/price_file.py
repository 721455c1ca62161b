"""The file in which the reader has written down what tokens cost, checked; `models.prices` says what stands in it."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.parts import Usage

MILLION = 1_000_000


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class Prices:
    """Prices of a million tokens each."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    currency: str = Field(default="", max_length=8)

    def of(self, usage: Usage) -> str:
        """Return what this usage costs, for a reader: "0.0123 EUR"."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage["input_tokens"] - usage["cached_tokens"]
        cost = (fresh * self.input + usage["cached_tokens"] * cached + usage["output_tokens"] * self.output) / MILLION
        return f"{cost:.4f} {self.currency}".strip()


def read_prices(path: Path) -> Prices:
    """Return the prices in a file; raise SettingsError for one that cannot be used."""
    try:
        return TypeAdapter(Prices).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The prices in {path} cannot be read ({_reason(error)}); see `recurrentgpt show --help`."
        ) from error


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return error.strerror or "the file cannot be opened"
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors()[0]
    name = ".".join(map(str, fault["loc"]))
    if fault["type"] == "missing":
        return f"{name} is missing"
    if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{name} is no price"
    return f"{name} is {'a text' if name == 'currency' else 'a number, 0 or more'}; it is {str(fault['input'])!r:.40}"
