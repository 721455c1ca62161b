"""Prices that a reader wrote down."""

from __future__ import annotations

from pathlib import Path

import pytest

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.prices import price
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.state import Usage

USAGE = Usage(calls=4, input_tokens=1_000_000, cached_tokens=400_000, output_tokens=100_000, resamples=0, seconds=1.0)


@pytest.fixture
def file() -> Path:
    settings.home().mkdir(parents=True, exist_ok=True)
    return settings.home() / "prices.toml"


def test_without_a_file_nothing_is_said_of_prices() -> None:
    assert price(USAGE) is None


def test_cached_tokens_have_a_price_of_their_own(file: Path) -> None:
    file.write_text('currency = "EUR"\ninput = 1.0\ncached_input = 0.5\noutput = 10\n')
    assert price(USAGE) == "1.8000 EUR"
    file.write_text("input = 1.0\noutput = 10\n")
    assert price(USAGE) == "2.0000"


@pytest.mark.parametrize(
    "text", ["input = ", "output = 1", "input = -1\noutput = 1", "input = 1\noutput = 1\nother = 2"]
)
def test_a_file_that_cannot_be_used_is_a_sentence(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"prices\.toml cannot be read"):
        price(USAGE)
