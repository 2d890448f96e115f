"""show: what people look at."""
