"""The systems on a server of LangGraph's protocol: their graphs, and what stands before them."""
