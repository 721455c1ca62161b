"""What makes text fit to read: sentences, shared runs, faults. Pure functions of strings."""
