"""prove: what is true of the data."""
