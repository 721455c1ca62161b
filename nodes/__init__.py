"""The verbs of one timestep, one file each."""
