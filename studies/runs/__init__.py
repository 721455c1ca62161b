"""Runs of a study: the plan, the folder, the runner, what it costs."""
