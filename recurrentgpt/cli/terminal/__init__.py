"""What a person at a terminal sees and types: output, questions, and the turns of an interactive run."""
