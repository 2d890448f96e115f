"""Scale: the same rules on more than one machine."""
