"""Judges, readers and the statistics of their verdicts."""
