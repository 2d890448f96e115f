"""removal: how rows that stand in the way are found."""
