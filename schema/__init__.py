"""The floor: the state, the settings of a run, messages, events and errors; it imports nothing of ours."""
