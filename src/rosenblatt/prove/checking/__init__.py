"""checking: what the checker is made of."""
