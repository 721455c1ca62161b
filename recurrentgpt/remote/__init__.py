"""Stories on a server of LangGraph's protocol."""

from recurrentgpt.remote.client import RemoteStory

__all__ = ["RemoteStory"]
