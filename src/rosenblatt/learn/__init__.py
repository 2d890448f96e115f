"""learn: how weights move."""
