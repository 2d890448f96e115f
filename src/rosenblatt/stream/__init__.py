"""Training and prediction on files and streams of rows, and checkpoints of such runs."""
