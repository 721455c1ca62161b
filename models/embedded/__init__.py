"""The embedded model: llama.cpp's server, and where its file comes from."""
