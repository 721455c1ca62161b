"""What the desk's routes stand on: the stories that are open, their jobs, and what is kept on disk."""
