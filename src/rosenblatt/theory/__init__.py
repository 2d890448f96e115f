"""theory: losses, the convex problem of the soft loss, and the Bayes oracle."""
