"""The one room that writes commits: sessions, navigation, edits, replay, imports, archives."""
