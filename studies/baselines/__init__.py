"""Every system of the paper as a LangGraph over the same model roles."""
