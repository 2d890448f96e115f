"""The convex problem of the soft loss: its rows, its linear program, its minimum."""
