"""What is done to a story: sessions, navigation, edits, replay, imports, exports. Commits are appended by `nodes/commit.py`."""
