"""Training: rules, machines and the engine that drives them."""
