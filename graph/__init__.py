"""The graphs of a story, each assembled from the nodes."""
