"""Comparison: rules and keeps side by side on the user's own data."""
