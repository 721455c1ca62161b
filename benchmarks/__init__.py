"""Figures that can be run again: each module is a command that prints JSON."""
