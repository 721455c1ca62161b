"""The writing desk: a page in the browser over `Story`, served by one process on this machine."""

NEEDS = "The desk and the endpoint need their extra: pip install 'recurrentgpt[desk]'."
"""What is said where a package of that extra is missing."""
