"""Stories on a server of LangGraph's protocol."""
