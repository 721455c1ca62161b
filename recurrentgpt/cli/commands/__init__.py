"""The commands, a subject a file: what each takes, says and does. Heavy modules are imported when one runs."""
