"""Savers and stores that keep stories: SQLite by default, Postgres by one setting, bounded by retention."""
