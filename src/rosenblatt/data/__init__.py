"""data: what we learn from."""
