"""The long-term memory (the story log and recall by FAISS), and the gates of the short-term one."""
