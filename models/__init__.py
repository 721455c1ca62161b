"""Roles to chat models, the embedded llama.cpp server, the catalogue and the verified fetcher."""
