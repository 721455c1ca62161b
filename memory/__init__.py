"""The long-term memory (the story log and exact recall), and the gates of the short-term one."""
