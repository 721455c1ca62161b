"""The errors of this package, by their public path; `recurrentgpt.schema.errors` defines them."""

from recurrentgpt.schema.errors import *  # noqa: F403
