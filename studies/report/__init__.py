"""Tables, plots and pages of a run."""
