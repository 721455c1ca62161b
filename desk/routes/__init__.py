"""The routes of the desk, by what they are about."""
