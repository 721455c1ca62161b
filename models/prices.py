"""What tokens cost, where the reader has written it down: `prices.toml` in the home folder.

currency = "EUR"
input = 0.50          # a million tokens read
cached_input = 0.05   # a million of them from the endpoint's cache; as `input` when left out
output = 2.00         # a million tokens written
"""

from __future__ import annotations

from recurrentgpt.infrastructure import settings
from recurrentgpt.schema.parts import Usage


def price(usage: Usage) -> str | None:
    """Return what this usage costs by the reader's prices, or None where there are none.

    Raises SettingsError for a file that cannot be used.
    """
    path = settings.home() / "prices.toml"
    if not path.exists():
        return None
    # Pydantic checks the file, and most readers have none.
    from recurrentgpt.models.price_file import read_prices

    return read_prices(path).of(usage)
