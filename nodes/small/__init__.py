"""What only a small model needs: decks of plot moves and seed ideas, and patterns for its replies."""
