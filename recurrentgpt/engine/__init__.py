"""What is done to a story: sessions, navigation, edits, replay, imports, exports, and passages written ahead."""
