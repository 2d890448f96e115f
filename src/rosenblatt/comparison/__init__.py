"""Comparison of rules, and of the weights to keep, on the user's data."""
