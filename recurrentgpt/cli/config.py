"""`recurrentgpt config`: the settings of this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from recurrentgpt.cli.console import print_json, print_table
from recurrentgpt.infrastructure.settings import SETTINGS, Resolved, resolve


def show_settings(*, json: bool) -> None:
    """Print every setting, its value and where that came from."""
    resolved = [resolve(setting.name) for setting in SETTINGS]
    if json:
        for item in resolved:
            print_json(
                {
                    "setting": item.setting.name,
                    "value": shown(item),
                    "source": item.source,
                    "variable": item.setting.variable,
                    "description": item.setting.description,
                }
            )
        return
    rows = [(item.setting.name, shown(item), item.source, item.setting.variable) for item in resolved]
    print_table(("Setting", "Value", "From", "Variable"), rows, whole=(0, 2, 3))


def shown(item: Resolved) -> str:
    """Return a value that may be shown: no secret, and no password inside an address."""
    return without_password(item.shown) if item.setting.name == "base_url" else item.shown


def without_password(address: str) -> str:
    """Return an address with a user's name and password replaced by stars."""
    place = urlsplit(address).netloc
    return address.replace(place, f"***@{place.rpartition('@')[2]}", 1) if "@" in place else address
