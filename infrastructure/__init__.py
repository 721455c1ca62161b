"""What every part stands on: settings of the machine, the background event loop, locks, logs, traces."""
