"""The genres that a story is drawn from where nobody names one."""

from __future__ import annotations

GENRES = (
    "science fiction",
    "romance",
    "fantasy",
    "horror",
    "mystery",
    "thriller",
    "historical",
    "western",
    "young adult",
    "literary",
)
