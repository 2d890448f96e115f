"""runs: what a training run was allowed to do, and what it proved."""
