"""margins: how the largest margin is found."""
