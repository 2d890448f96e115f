"""model: hyperplanes with names, saved, explained and exported."""
