"""Make `python -m recurrentgpt.cli` the same as `recurrentgpt`."""

from recurrentgpt.cli import main

main()
