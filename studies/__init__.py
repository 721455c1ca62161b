"""The systems of the paper, run, measured and compared on the same models, premises and lengths."""
