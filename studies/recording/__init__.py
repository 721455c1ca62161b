"""Recorded calls of chat models, and models that answer from them."""
