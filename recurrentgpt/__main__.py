"""`python -m recurrentgpt` is the command `recurrentgpt`."""

from recurrentgpt.cli import main

main()
