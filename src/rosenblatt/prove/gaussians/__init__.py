"""Two Gaussian classes: covariances, quadratic and linear rules, and what they err."""
