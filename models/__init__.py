"""Roles to chat models, profiles of endpoints, and the calls themselves."""
