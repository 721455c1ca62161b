"""State, context and the assembly of every exported graph."""
