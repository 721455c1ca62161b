"""The long-term memory: the story log (chronicle), recall by FAISS, embeddings, and what to forget."""
